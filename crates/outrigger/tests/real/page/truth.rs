//! What the page says is so: of the connection, of proposals whose file has changed, and of agents
//! that are gone.

use testkit::{Browser, Look};

use super::played::{Played, list};
use super::{ESCAPE, Page, link};
use crate::served_household;

#[test]
fn a_page_of_a_stopped_companion_says_so_and_how_to_start_it() {
    let Some(mut house) = served_household() else {
        return;
    };
    let browser = Page::open(&house, Look::DESK).browser;
    for _ in 0..2 {
        house.run(&["stop"]).good();
        browser.wait_for("[data-notice=stopped]");
        browser.wait_for("html[data-state=stopped]");
        let told = browser.texts("[data-notice=stopped]").concat();
        let start = format!("cd {} && outrigger", house.workspace().display());
        assert!(told.contains(&start), "{told}");
        // It says one thing only.
        assert_eq!(browser.texts("[role=status].state").concat(), "stopped");
        assert_eq!(browser.count("[data-notice=restarted]"), 0);
        // The next one has other keys: somebody else may have listened on the port meanwhile.
        house.serve();
        browser.wait_for("html[data-state=locked]");
        assert_eq!(browser.count("[data-notice=stopped]"), 0);
        assert!(browser.to_string().contains("outrigger url"), "{browser}");
        browser.open_tab(&link(&house));
        browser.wait_for("html[data-state=live]");
    }
}

#[test]
fn a_tab_without_a_key_says_what_to_do_under_one_header() {
    let Some(house) = served_household() else {
        return;
    };
    let browser = Browser::start(Look::DESK);
    let link = link(&house);
    browser.open(&link);
    browser.wait_for("html[data-state=live]");
    let (plain, _) = link.split_once('#').unwrap();
    // The link once more, a link that never was, and none at all.
    for address in [&link, &format!("{plain}#stale"), plain] {
        browser.open_tab(address);
        browser.wait_for("html[data-state=locked]");
        assert_eq!(browser.count("h1"), 1, "{address}: {browser}");
        assert_eq!(browser.count("header"), 1, "{address}: {browser}");
        assert!(browser.to_string().contains("outrigger url"), "{browser}");
    }
}

#[test]
fn a_stale_proposal_says_so_and_waits_for_its_conflicts() {
    let Some(house) = served_household() else {
        return;
    };
    house.write("poem.txt", "one\nzwei\nthree\n");
    let mut agent = Played::qwen(&house);
    let page = Page::open(&house, Look::DESK);
    let browser = &page.browser;
    let proposal = agent.propose("poem.txt", "one\ntwo\nthree\n");
    page.show(&proposal);
    // The person and the agent have changed the same line.
    house.write("poem.txt", "one\nmine\nthree\n");
    browser.wait_for("[data-proposal] [data-mark=conflicts]");
    // The texts are read after the queue has changed.
    browser.wait_for("[data-notice=stale]");
    let told = browser.texts("[data-notice=stale]").concat();
    assert!(
        told.contains("has changed since the agent read it"),
        "{told}"
    );
    let told = browser.texts("[data-notice=conflicts]").concat();
    assert!(told.contains("1 conflict"), "{told}");
    browser.wait_for(".cm-line.conflict-marker");
    browser.wait_for("button[data-act=accept][disabled]");
    page.show(&proposal);
    browser.press("a");
    assert_eq!(list(&house), [proposal.id], "nothing is decided");

    // The cursor goes to the conflict, where three of its lines are removed.
    browser.press("c");
    browser.press("e");
    browser.wait_for("[data-detail][data-editing=true]");
    remove_line(browser, "<<<<<<<");
    remove_line(browser, "mine");
    remove_line(browser, "=======");
    remove_line(browser, ">>>>>>>");
    browser.press(ESCAPE);
    page.wait_until_shown("one\ntwo\nthree\n");
    browser.wait_for_no("[data-notice=conflicts]");
    browser.wait_for("button[data-act=accept]:not([disabled])");
    browser.press("a");
    page.wait_until_closed(&proposal);
    assert_eq!(agent.written(), "one\ntwo\nthree\n");
}

/// Clicks into a line and removes it.
#[track_caller]
fn remove_line(browser: &Browser, beginning: &str) {
    let place = "const line = [...document.querySelectorAll('[data-side=result] .cm-line')]\
            .find(line => line.textContent.startsWith(arguments[0]));\
        const range = document.createRange();\
        range.selectNodeContents(line);\
        range.collapse(true);\
        getSelection().removeAllRanges();\
        getSelection().addRange(range);";
    browser.run(place, vec![beginning.into()]);
    // To the start, down with shift, and delete.
    browser.press("\u{e011}\u{e008}\u{e015}\u{e000}\u{e017}");
    browser.wait_until("the line to be gone", || {
        let lines = browser.texts("[data-side=result] .cm-line");
        !lines.iter().any(|line| line.starts_with(beginning))
    });
}

#[test]
fn nothing_is_accepted_against_a_text_that_was_not_on_the_screen() {
    let Some(house) = served_household() else {
        return;
    };
    house.write("poem.txt", "one\ntwo\nthree\n");
    let mut agent = Played::qwen(&house);
    let page = Page::open(&house, Look::DESK);
    let browser = &page.browser;
    let proposal = agent.propose("poem.txt", "one\ntwo\nTHREE\n");
    page.show(&proposal);
    page.wait_until_shown("one\ntwo\nTHREE\n");
    // The page may have heard of it before the key comes, or not.
    house.write("poem.txt", "ONE\ntwo\nthree\n");
    browser.press("a");
    page.wait_until_shown("ONE\ntwo\nTHREE\n");
    assert_eq!(list(&house), [proposal.id], "nothing is decided");
    // What has just come to the screen waits, too; then it is accepted.
    page.show(&proposal);
    browser.press("a");
    page.wait_until_closed(&proposal);
    assert_eq!(agent.written(), "ONE\ntwo\nTHREE\n");
}

#[test]
fn nothing_typed_is_lost_when_a_proposal_is_revised() {
    let Some(house) = served_household() else {
        return;
    };
    house.write("poem.txt", "one\ntwo\nthree\nfour\nfive\n");
    let mut agent = Played::qwen(&house);
    let page = Page::open(&house, Look::DESK);
    let browser = &page.browser;
    let proposal = agent.propose("poem.txt", "one\ntwo\nTHREE\nfour\nfive\n");
    page.show(&proposal);
    page.act("edit");
    browser.wait_for("[data-detail][data-editing=true]");
    let start = "\u{e009}\u{e011}\u{e000}";
    browser.press(start);
    browser.press("typed ");
    house.write("poem.txt", "one\ntwo\nthree\nfour\nFIVE\n");
    page.wait_until_shown("typed one\ntwo\nTHREE\nfour\nFIVE\n");
    // Whoever is typing goes on typing, so that no letter is taken for a key.
    browser.wait_for("[data-detail][data-editing=true]");
    browser.press("a ");
    page.wait_until_shown("typed a one\ntwo\nTHREE\nfour\nFIVE\n");
    browser.wait_until("the draft to arrive", || {
        let shown = house.run(&["show", &proposal.id.to_string(), "--json"]);
        shown.good().contains("typed a one")
    });

    // Where both changed the same line, both are there, and the person is asked.
    house.write("poem.txt", "ONE\ntwo\nthree\nfour\nFIVE\n");
    browser.wait_for("[data-notice=conflicts]");
    browser.wait_until("both lines", || {
        let lines = browser.texts("[data-side=result] .cm-line");
        ["ONE", "typed a one"]
            .iter()
            .all(|line| lines.iter().any(|it| it == line))
    });
    assert_eq!(list(&house), [proposal.id], "nothing is decided");
}

#[test]
fn agents_are_told_apart_and_those_who_are_away_are_explained() {
    let Some(house) = served_household() else {
        return;
    };
    let mut agent = Played::qwen(&house);
    let other = Played::qwen(&house);
    let page = Page::open(&house, Look::DESK);
    let browser = &page.browser;
    browser.wait_for("[data-connected='2']");
    // Its process goes on, so it may come back.
    drop(other);
    browser.wait_for("[data-connected='1']");
    browser.click("button[data-nav=live]");
    browser.wait_for("[data-session] [data-presence=away]");
    let told = browser.texts("[data-presence=away]").concat();
    assert!(told.contains("gets what you decide then"), "{told}");
    assert_eq!(browser.count("[data-presence]"), 1);
    browser.click("button[data-nav=review]");
    let proposal = agent.propose("new.txt", "new\n");
    page.show(&proposal);
    let who = browser.texts("[aria-label='About this proposal']").concat();
    let process = format!("process {}", std::process::id());
    assert!(who.contains(&process), "{who}");
}
