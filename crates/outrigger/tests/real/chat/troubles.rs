//! Why there is no conversation, and what a person can do about it on the spot.

use serde_json::Value;
use testkit::{Companion, Look};

use super::scene::Scene;
use super::screen::Screen;
use crate::page::inspect;
use crate::{household, household_with};

#[test]
fn the_page_says_what_is_wrong_and_helps() {
    let Some(house) = household() else {
        return;
    };
    let elsewhere = house.home().join("elsewhere");
    std::fs::create_dir(&elsewhere).unwrap();
    let daemon = house.start_daemon(&elsewhere, 0);
    let url = daemon.url();
    let mut scene = Scene::over(house, &url);
    scene.daemon = Some(daemon);
    let screen = Screen::open(&scene.house, Look::DESK);
    let browser = &screen.browser;

    // The daemon works in another folder.
    screen.wait_for_text(
        "[data-trouble=wrong_folder]",
        &elsewhere.display().to_string(),
    );
    browser.wait_for("[data-trouble=wrong_folder] button[data-act=start-daemon]");
    screen.wait_for_text("[data-trouble=wrong_folder] .prose", "qwen serve");

    // It has another token.
    scene.house.companion().kill();
    scene.house.serve_with_token(&url, "not-the-token");
    screen.unlock(&scene.house);
    screen.wait_for_text("[data-trouble=unauthorized]", "token");
    screen.wait_for_text("[data-trouble=unauthorized] .prose", "QWEN_SERVER_TOKEN");
    browser.wait_for("[data-trouble=unauthorized] button[data-act=retry]");
    let tokens = ["not-the-token", testkit::TOKEN].map(str::to_owned).into();
    screen.never_received(&tokens, "unauthorized");

    // It is not there at all, and one is started from here.
    scene.daemon.as_mut().unwrap().kill();
    screen.act("retry");
    screen.wait_for_text("[data-trouble=no_daemon] .command code", "qwen serve");
    browser.wait_for("[data-trouble=no_daemon] button[data-act=copy-command]");
    // What was typed meanwhile is not lost.
    screen.type_text("START");
    screen.act("start-daemon");
    browser.wait_for_no("[data-trouble=no_daemon]");
    screen.wait_until_live();
    browser.wait_for_no("[data-trouble]");
    assert_eq!(screen.typed(), "START");
    screen.wait_for_text(
        "[data-place]",
        &scene.house.workspace().display().to_string(),
    );
    screen.wait_for_text("[data-place]", "started from here");
    screen.ask(&scene.house, "-PLEASE", vec![]);
    screen.wait_until_done("-PLEASE");
    assert_eq!(screen.said()[0], "me: START-PLEASE");
}

/// Of a page that is not wider than the screen everything can be read.
const IS_TOO_WIDE: &str = "return document.documentElement.scrollWidth > innerWidth || \
    [...document.querySelectorAll('.placeholder, .placeholder *')]\
        .some(it => it.scrollWidth > it.clientWidth + 1)";

#[test]
fn the_page_says_which_mistake_keeps_the_chat_from_being_there() {
    let Some(house) = household_with(&["axe"]) else {
        return;
    };
    // Names of machines come from anywhere, and may be long.
    let name = format!("<b>{}.example", "a".repeat(200));
    let mut command = house.command(&["serve", "--json"]);
    command.env("QWEN_IDE_DAEMON_URL", format!("http://{name}:4170"));
    let _companion = Companion::start(command);
    let why = house.status()["noConversation"]
        .as_str()
        .unwrap()
        .to_owned();
    assert!(why.contains(&name), "{why}");
    for look in [Look::DESK, Look::PHONE] {
        let screen = Screen::open(&house, look);
        screen.wait_for_text("[data-no-conversation]", &why);
        assert_eq!(screen.browser.count("[data-no-conversation] *"), 0);
        // How to switch it on is of no help: it is switched on.
        assert_eq!(screen.browser.count("button[data-act=copy-command]"), 0);
        let is_too_wide = screen.browser.run(IS_TOO_WIDE, Vec::new());
        assert_eq!(is_too_wide, Value::Bool(false), "{look:?}");
        inspect(&house, &screen.browser, look, "a mistake");
    }
}
