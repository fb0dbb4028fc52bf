//! Fingers that are too quick: nothing is decided that nobody has seen.

use serde_json::Value;
use testkit::Look;

use super::Page;
use super::played::{Played, list};
use crate::served_household;

/// Presses `a` and clicks accept in the moment in which another proposal comes to the screen.
const TOO_QUICK: &str = "\
    const wanted = `[data-detail='${arguments[0]}'][data-ready=true]`;\
    const observer = new MutationObserver(() => {\
        if (document.querySelector(wanted) === null) return;\
        observer.disconnect();\
        for (const repeat of [false, true]) {\
            document.body.dispatchEvent(new KeyboardEvent('keydown', { key: 'a', repeat, bubbles: true }));\
        }\
        document.querySelector('[data-act=accept]').click();\
        window.wasQuick = true;\
    });\
    observer.observe(document.body, { subtree: true, childList: true, attributes: true });";

#[test]
fn a_second_press_does_not_accept_what_nobody_has_seen() {
    let Some(house) = served_household() else {
        return;
    };
    let mut agent = Played::qwen(&house);
    let page = Page::open(&house, Look::DESK);
    page.pretend("return {}", "return {}");
    let first = agent.propose("first.txt", "one\n");
    let second = agent.propose("second.txt", "two\n");
    page.show(&first);
    page.browser.run(TOO_QUICK, vec![second.id.into()]);
    page.browser.press("a");
    page.wait_until_closed(&first);
    page.browser.wait_until("the quick finger", || {
        page.browser
            .run("return window.wasQuick === true", Vec::new())
            == Value::Bool(true)
    });
    page.show(&second);
    assert_eq!(page.accepts(), [first.id]);
    assert_eq!(list(&house), [second.id]);

    // The same key, with time to look.
    page.browser.press("a");
    page.wait_until_closed(&second);
    assert_eq!(page.accepts(), [first.id, second.id]);
}

#[test]
fn a_key_that_is_held_down_decides_nothing() {
    let Some(house) = served_household() else {
        return;
    };
    let mut agent = Played::qwen(&house);
    let page = Page::open(&house, Look::DESK);
    page.pretend("return {}", "return {}");
    let proposal = agent.propose("held.txt", "text\n");
    page.show(&proposal);
    let held = "const target = document.querySelector(arguments[1]);\
        target.focus();\
        return target.dispatchEvent(new KeyboardEvent('keydown', \
            { key: arguments[0], repeat: true, bubbles: true, cancelable: true }))";
    for key in ["a", "r"] {
        page.browser.run(held, vec![key.into(), "body".into()]);
    }
    // Enter would press the button that has the focus, unless that is prevented.
    for act in ["[data-act=accept]", "[data-act=reject]"] {
        let goes_on = page.browser.run(held, vec!["Enter".into(), act.into()]);
        assert_eq!(goes_on, Value::Bool(false), "{act}");
    }
    assert!(page.decisions().is_empty(), "{:?}", page.decisions());
    assert_eq!(list(&house), [proposal.id]);
}

/// Clicks where reject was, in the moment in which accept has grown to that place.
const MISPLACED: &str = "\
    const [accept, reject] = ['accept', 'reject']\
        .map(act => document.querySelector(`[data-act=${act}]`));\
    const { right, top, height } = reject.getBoundingClientRect();\
    const at = { clientX: right - 10, clientY: top + height / 2 };\
    const observer = new MutationObserver(() => {\
        if (!accept.textContent.includes(' of ')) return;\
        observer.disconnect();\
        const hit = document.elementFromPoint(at.clientX, at.clientY).closest('button');\
        hit.dispatchEvent(new MouseEvent('click', { ...at, detail: 1, bubbles: true }));\
        window.hit = hit.dataset.act;\
    });\
    observer.observe(accept, { subtree: true, childList: true, characterData: true });";

#[test]
fn a_button_that_moves_under_the_pointer_is_not_pressed() {
    let Some(house) = served_household() else {
        return;
    };
    let poem = |first: &str, last: &str| format!("{first}\n2\n3\n4\n5\n6\n7\n8\n{last}\n");
    house.write("poem.txt", poem("1", "9"));
    let mut agent = Played::qwen(&house);
    let page = Page::open(&house, Look::DESK);
    page.pretend("return {}", "return {}");
    let proposal = agent.propose("poem.txt", &poem("one", "nine"));
    page.show(&proposal);
    page.browser.run(MISPLACED, Vec::new());
    page.browser.press(" ");
    page.browser.wait_until("the click", || {
        page.browser.run("return window.hit", Vec::new()) == "accept"
    });
    assert!(page.decisions().is_empty(), "{:?}", page.decisions());
    assert_eq!(list(&house), [proposal.id]);
}

#[test]
fn nothing_is_not_accepted() {
    let Some(house) = served_household() else {
        return;
    };
    house.write("poem.txt", "one\ntwo\n");
    let mut agent = Played::qwen(&house);
    let page = Page::open(&house, Look::DESK);
    page.pretend("return {}", "return {}");
    let proposal = agent.propose("poem.txt", "one\nTWO\n");
    page.show(&proposal);
    page.browser
        .click("[data-hunk='1'] button[data-act=toggle-hunk]");
    page.browser.wait_for("[data-obstacle=nothing-left]");
    page.browser.wait_for("button[data-act=accept][disabled]");
    page.browser.press("a");
    assert!(page.decisions().is_empty(), "{:?}", page.decisions());
    let label = page.browser.texts("button[data-act=accept]").concat();
    assert!(!label.contains('0'), "{label}");
    page.browser.press(" ");
    page.browser.wait_for_no("[data-obstacle]");
    page.browser.press("a");
    page.wait_until_closed(&proposal);
}
