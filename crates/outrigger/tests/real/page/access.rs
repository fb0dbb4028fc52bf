//! The page for people with other eyes and hands, and its pictures for everybody else.

use serde_json::{Value, json};
use testkit::{Agent, Browser, Call, Household, Look, Terminal, picture};

use super::{ESCAPE, Page, link};
use crate::served_household_with;

#[test]
fn nothing_serious_keeps_anybody_from_using_the_page() {
    let Some(house) = served_household_with(&["axe"]) else {
        return;
    };
    let mut terminal = house.start_connected(Agent::Qwen);
    set_the_scene(&house, &mut terminal);
    for look in [
        Look::DESK,
        Look::DESK.in_the_dark(),
        Look::PHONE,
        Look::PHONE.in_the_dark(),
    ] {
        let page = Page::open(&house, look);
        let proposal = house.wait_for_proposal(&terminal, Agent::Qwen, "src/greeting.rs");
        page.show(&proposal);
        page.browser.wait_for("[data-hunk='2']");
        inspect(&house, &page.browser, look, "review");
        take_picture(&page.browser, look, "page");
        page.browser.press("?");
        page.browser.wait_for("dialog[open]");
        inspect(&house, &page.browser, look, "help");
        page.browser.press(ESCAPE);
        page.browser.wait_for_no("dialog[open]");
        page.browser.click("button[data-nav=live]");
        page.browser.wait_for("main[data-view=live]");
        inspect(&house, &page.browser, look, "live");
        page.browser.open_tab(&link(&house).replace('#', "#used"));
        page.browser.wait_for("html[data-state=locked]");
        inspect(&house, &page.browser, look, "locked");
    }
}

/// Something worth looking at: two agents' worth of state, and a proposal with two hunks.
fn set_the_scene(house: &Household, terminal: &mut Terminal) {
    let file = |greeting: &str, shout: &str| {
        format!(
            "//! Greets people.\n\nuse std::fmt::Display;\n\n/// A greeting for one person.\n\
             pub fn greet(name: impl Display) -> String {{\n    {greeting}\n}}\n\n\
             /// A greeting for a whole room.\npub fn shout(names: &[&str]) -> String {{\n    {shout}\n}}\n"
        )
    };
    std::fs::create_dir(house.path("src")).unwrap();
    house.write(
        "src/greeting.rs",
        file("format!(\"Hello, {name}\")", "names.join(\", \")"),
    );
    house.write(".env", "PASSWORD=1\n");
    house.focus(".env", 1, 1, "");
    house.focus("src/greeting.rs", 7, 5, "format!(\"Hello, {name}\")");
    let path = house.path("src/greeting.rs");
    let text = file(
        "format!(\"Hello, {name}!\")",
        "greet(names.join(\", \").to_uppercase())",
    );
    let turns = vec![vec![Call::read(&path)], vec![Call::write(&path, &text)]];
    house.ask(terminal, turns);
}

/// Fails if axe finds anything serious or critical on what is shown.
#[track_caller]
pub(crate) fn inspect(house: &Household, browser: &Browser, look: Look, what: &str) {
    let axe = std::fs::read_to_string(house.clients().axe()).unwrap();
    browser.run(&axe, Vec::new());
    let script = "const done = arguments[arguments.length - 1];\
                  axe.run({ resultTypes: ['violations'] }).then(\
                    found => done(found.violations), error => done(String(error)));";
    let found = browser.run_until_done(script, Vec::new());
    let found = found.as_array().expect("a list of findings");
    let grave: Vec<Value> = found
        .iter()
        .filter(|it| it["impact"] == "serious" || it["impact"] == "critical")
        .map(|it| {
            let places = it["nodes"].as_array().unwrap().iter();
            let places = places.map(|node| json!([node["target"], node["failureSummary"]]));
            json!({ "rule": it["id"], "places": places.take(5).collect::<Vec<_>>() })
        })
        .collect();
    assert!(grave.is_empty(), "{what}, {look:?}: {grave:#?}");
}

/// Keeps a picture for the documentation, if somebody asked for it.
pub(crate) fn take_picture(browser: &Browser, look: Look, what: &str) {
    let Some(folder) = picture::pictures() else {
        return;
    };
    let place = if look.width == Look::PHONE.width {
        "phone-"
    } else {
        ""
    };
    let theme = if look.dark { "dark" } else { "light" };
    let file = folder.join(format!("{what}-{place}{theme}.png"));
    std::fs::write(file, browser.picture()).unwrap();
}
