//! What makes a review quick: one sees what is dropped, far away or alike, and decides on several.

use serde_json::{Value, json};
use testkit::Look;

use super::played::{Played, list};
use super::{ESCAPE, Page, TO_THE_END};
use crate::served_household;

/// Control and Enter, as `WebDriver` writes them.
const ACCEPT: &str = "\u{e009}\u{e007}\u{e000}";

const ENTER: &str = "\u{e007}";

fn lines(changed: &[(usize, &str)]) -> String {
    let line = |number| {
        let other = changed.iter().find(|(at, _)| *at == number);
        other.map_or(format!("line {number}\n"), |(_, text)| format!("{text}\n"))
    };
    (1..=100).map(line).collect()
}

#[test]
fn what_is_dropped_stays_in_sight_and_comes_back() {
    let Some(house) = served_household() else {
        return;
    };
    house.write("a.txt", lines(&[]));
    let mut agent = Played::qwen(&house);
    let page = Page::open(&house, Look::DESK);
    let browser = &page.browser;
    let proposal = agent.propose("a.txt", &lines(&[(40, "forty"), (90, "ninety")]));
    page.show(&proposal);

    // Twenty lines of context at a time.
    let folded = || {
        browser
            .texts("[data-side=result] [data-fold=all]")
            .join(",")
    };
    assert_eq!(
        folded(),
        "36 unchanged lines,43 unchanged lines,8 unchanged lines"
    );
    browser.click("[data-side=result] [data-fold=end]");
    browser.wait_until("twenty lines more", || {
        folded().starts_with("16 unchanged lines,43")
    });
    browser.click("[data-side=result] [data-fold=start]");
    browser.wait_until("twenty lines more", || {
        folded().starts_with("16 unchanged lines,23")
    });

    // A dropped hunk shows what was dropped.
    browser.press(" ");
    browser.wait_for("[data-hunk='1'][data-hunk-state=dropped]");
    assert_eq!(browser.texts(".dropped-lines").concat(), "forty");
    browser.press("u");
    browser.wait_for("[data-hunk='1'][data-hunk-state=kept]");
    assert_eq!(browser.count(".dropped-lines"), 0);

    // What was typed into a hunk comes back, too, wherever the focus is.
    browser.press("e");
    browser.wait_for("[data-detail][data-editing=true]");
    assert_eq!(browser.texts("[data-act=reject] kbd").concat(), "");
    browser.press("mine and ");
    browser.press(ESCAPE);
    browser.wait_for("[data-hunk='1'][data-hunk-state=edited]");
    browser.click("[data-hunk='1'] [data-act=toggle-hunk]");
    browser.wait_for("[data-hunk='1'][data-hunk-state=kept]");
    page.act("undo");
    browser.wait_for("[data-hunk='1'][data-hunk-state=edited]");
    let shown = browser.texts("[data-side=result] .cm-line").join("\n");
    assert!(shown.contains("mine and forty"), "{shown}");

    // Letters are text in the editor, so that another key accepts there.
    browser.press("e");
    browser.wait_for("[data-detail][data-editing=true]");
    browser.press(TO_THE_END);
    browser.press("a");
    assert_eq!(list(&house), [proposal.id]);
    browser.press(ACCEPT);
    page.wait_until_closed(&proposal);
}

#[test]
fn a_button_in_the_diff_has_a_successor_for_the_keyboard() {
    let Some(house) = served_household() else {
        return;
    };
    house.write("a.txt", lines(&[]));
    let mut agent = Played::qwen(&house);
    let page = Page::open(&house, Look::DESK);
    let browser = &page.browser;
    let proposal = agent.propose("a.txt", &lines(&[(40, "forty"), (90, "ninety")]));
    page.show(&proposal);
    let focused = |css: &str| {
        let script = "return document.activeElement.matches(arguments[0])";
        browser.run(script, vec![css.into()]) == json!(true)
    };
    let fold = "[data-side=result] [data-fold-number='1']";
    let toggle = "[data-side=result] [data-hunk='1'] [data-act=toggle-hunk]";
    let cases = [
        // Hunk 1 is dropped, and kept again.
        (toggle.to_owned(), toggle.to_owned()),
        (toggle.to_owned(), toggle.to_owned()),
        // Of 43 lines 20 are shown, then 20 more, then the rest.
        (
            format!("{fold} [data-fold=end]"),
            format!("{fold} [data-fold=end]"),
        ),
        (
            format!("{fold} [data-fold=end]"),
            format!("{fold} [data-fold=all]"),
        ),
        (format!("{fold} [data-fold=all]"), "section.diff".to_owned()),
    ];
    for layout in ["split", "unified"] {
        page.act(&format!("layout-{layout}"));
        browser.wait_for(&format!("[data-layout={layout}][data-ready=true]"));
        for (pressed, successor) in &cases {
            let script = "document.querySelector(arguments[0]).focus()";
            browser.run(script, vec![pressed.as_str().into()]);
            browser.press(ENTER);
            browser.wait_until(&format!("the focus on {successor}"), || focused(successor));
        }
    }
}

#[test]
fn a_change_far_to_the_right_is_shown() {
    let Some(house) = served_household() else {
        return;
    };
    let line = |one: &str, two: &str, three: &str| {
        let filler = |letter: &str| format!("{} ", letter.repeat(9)).repeat(9_000);
        let (x, y, z) = (filler("x"), filler("y"), filler("z"));
        format!("{x}{one} {y}{two} {z}{three}\n")
    };
    house.write("long.txt", line("1", "2", "3"));
    let mut agent = Played::qwen(&house);
    let page = Page::open(&house, Look::DESK);
    let browser = &page.browser;
    let proposal = agent.propose("long.txt", &line("one", "two", "three"));
    page.show(&proposal);
    browser.wait_until("the number of changes", || {
        browser.texts(".hunk-places").concat() == "3 changes in one line"
    });
    let in_sight = |texts: [&str; 2]| {
        let script = "return ['original', 'result'].map((side, index) => {\
                const frame = document.querySelector(`[data-side=${side}]`).getBoundingClientRect();\
                return [...document.querySelectorAll(`[data-side=${side}] .cm-changedText`)]\
                    .filter(it => it.textContent === arguments[0][index])\
                    .map(it => it.getBoundingClientRect())\
                    .some(({ left, right }) => left > frame.left && right < frame.right);\
            })";
        browser.run(script, vec![json!(texts)]) == json!([true, true])
    };
    browser.wait_until("the first change on both sides", || in_sight(["1", "one"]));
    page.act("next-change");
    browser.wait_until("the second change on both sides", || in_sight(["2", "two"]));
    browser.press("a");
    page.wait_until_closed(&proposal);
}

/// Has the page wait for its rejections.
const SLOW_REJECT: &str = "\
    const real = window.fetch;\
    const held = new Promise(goOn => { window.goOn = goOn; });\
    window.fetch = async (path, init) => {\
        if (path.endsWith('/reject')) await held;\
        return real(path, init);\
    };";

#[test]
fn several_proposals_are_decided_after_a_summary() {
    let Some(house) = served_household() else {
        return;
    };
    house.write("same.txt", "one\ntwo\n");
    let mut first = Played::qwen(&house);
    let mut second = Played::qwen(&house);
    let page = Page::open(&house, Look::DESK);
    let browser = &page.browser;
    page.pretend(
        "return { added: 2, removed: 1, who: `Qwen Code · ${proposal.session.slice(0, 4)}`,\
          ...(proposal.path.endsWith('stale.txt') && { stale: 'the file has changed' }) }",
        "return {}",
    );
    let fresh = first.propose("fresh.txt", "fresh\n");
    let stale = first.propose("stale.txt", "stale\n");
    let other = second.propose("same.txt", "one\nTWO\n");
    let same = first.propose("same.txt", "one\r\ntwo\r\n");
    page.show(&same);
    browser.wait_for("[data-notice=same-file]");
    browser.wait_for("[data-notice=line-endings]");
    browser.wait_for("[data-proposal] [data-lines='2,1']");

    page.act("several");
    browser.wait_for("dialog[open] [data-settling=false] [data-act=accept-all]");
    browser.wait_for("[data-total='8,4']");
    let left = format!("[data-several-left='{}']", stale.id);
    let told = browser.texts(&left).concat();
    assert!(told.contains("the file has changed"), "{told}");

    // Only those of one agent, and not the stale one.
    let session = "const it = document.querySelector('[data-several-agent]');\
        it.value = it.options[1].value;\
        it.dispatchEvent(new Event('change', { bubbles: true }))";
    browser.run(session, Vec::new());
    browser.wait_for("[data-total='6,3']");
    page.act("accept-all");
    browser.wait_for_no("dialog[open]");
    page.wait_until_closed(&fresh);
    page.wait_until_closed(&same);
    assert_eq!(list(&house), [stale.id, other.id]);
    assert_eq!(page.accepts(), [fresh.id, same.id]);

    page.act("several");
    browser.wait_for("dialog[open] [data-settling=false] [data-act=reject-all]");
    // Nobody leaves while it decides, because nobody would see what fails.
    browser.run(SLOW_REJECT, Vec::new());
    page.act("reject-all");
    browser.wait_for("[data-act=several-close][disabled]");
    for _ in 0..3 {
        browser.press(ESCAPE);
        assert_eq!(browser.count("dialog[open]"), 1, "{browser}");
    }
    browser.run("window.goOn()", Vec::new());
    browser.wait_for_no("dialog[open]");
    house.wait_for_no_proposals();
    browser.wait_for_no("[data-proposal]");
}

#[test]
fn back_leads_to_the_queue_on_a_phone() {
    let Some(house) = served_household() else {
        return;
    };
    let mut agent = Played::qwen(&house);
    agent.propose("one.txt", "one\n");
    let second = agent.propose("two.txt", "two\n");
    let page = Page::open(&house, Look::PHONE);
    let browser = &page.browser;
    browser.wait_for("[data-pane=proposal] [data-settled=true]");
    page.act("back");
    browser.wait_for("[data-pane=queue]");
    browser.click(&format!("button[data-proposal='{}']", second.id));
    browser.wait_for("[data-pane=proposal]");
    browser.click("button[data-nav=live]");
    browser.wait_for("main[data-view=live]");
    for place in ["[data-pane=proposal]", "[data-pane=queue]"] {
        browser.run("history.back()", Vec::new());
        browser.wait_for(place);
    }
    // No key decides on a proposal that is not on the screen.
    page.pretend("return {}", "return {}");
    for key in ["j", "e", " ", "a", "r"] {
        browser.press(key);
    }
    assert!(page.decisions().is_empty(), "{:?}", page.decisions());
    browser.wait_for("[data-pane=queue] [data-editing=false]");
    browser.click(&format!("button[data-proposal='{}']", second.id));
    browser.wait_for("[data-pane=proposal] [data-settled=true]");
    browser.press("q");
    browser.wait_for("[data-pane=queue]");
    // The head of the page leaves room for it.
    let share = browser.run(
        "return document.querySelector('.bar').offsetHeight / innerHeight",
        Vec::new(),
    );
    assert!(share.as_f64().unwrap() < 0.2, "{share}");
}

#[test]
fn tabs_do_not_move_when_they_are_chosen() {
    let Some(house) = served_household() else {
        return;
    };
    let page = Page::open(&house, Look::DESK);
    let places = || -> Value {
        let script = "return [...document.querySelectorAll('[data-nav]')].map(it => it.offsetLeft)";
        page.browser.run(script, Vec::new())
    };
    let before = places();
    for view in ["live", "chat", "review"] {
        page.browser.click(&format!("button[data-nav={view}]"));
        page.browser.wait_for(&format!("main[data-view={view}]"));
        assert_eq!(places(), before, "{view}");
    }
}
