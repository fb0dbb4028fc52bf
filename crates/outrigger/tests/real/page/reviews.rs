//! Reviewing in the page: whatever it shows when the person accepts is what the agent writes.

use testkit::{Agent, Call, Look, Terminal};

use super::{ESCAPE, Page, TO_THE_END};
use crate::served_household;

/// Control and Home, as `WebDriver` writes them.
const TO_THE_START: &str = "\u{e009}\u{e011}\u{e000}";

#[test]
fn what_qwen_writes_is_what_the_page_showed() {
    review(Agent::Qwen);
}

#[test]
fn what_gemini_writes_is_what_the_page_showed() {
    review(Agent::Gemini);
}

/// One start of the agent for all, because the start is what takes the time.
fn review(agent: Agent) {
    let Some(house) = served_household() else {
        return;
    };
    let mut terminal = house.start_connected(agent);
    let page = Page::open(&house, Look::DESK);
    accept(&page, &mut terminal, agent);
    one_hunk_of_two(&page, &mut terminal, agent);
    edited(&page, &mut terminal, agent);
    windows_text(&page, &mut terminal, agent);
    reject(&page, &mut terminal, agent);
    keyboard_only(&page, &mut terminal, agent);
    terminal.quit();
}

fn accept(page: &Page<'_>, terminal: &mut Terminal, agent: Agent) {
    let text = "fn main() {\n    println!(\"hello\");\n}\n";
    let (mark, proposal) = page.propose(terminal, agent, "new.rs", text);
    page.wait_until_shown(text);
    page.browser.wait_for("[data-badge=new-file]");
    page.act("accept");
    page.house.wait_for_file(terminal, "new.rs", text);
    page.house.wait_until_done(terminal, &mark);
    page.wait_until_closed(&proposal);
}

/// A poem with two places that can change.
fn poem(second: &str, eighth: &str) -> String {
    format!("one\n{second}\nthree\nfour\nfive\nsix\nseven\n{eighth}\nnine\n")
}

fn one_hunk_of_two(page: &Page<'_>, terminal: &mut Terminal, agent: Agent) {
    page.house.write("poem.txt", poem("two", "eight"));
    let proposed = poem("TWO", "EIGHT");
    let (mark, proposal) = page.propose(terminal, agent, "poem.txt", &proposed);
    assert_eq!(proposal.hunks, 2, "{proposal:?}");
    page.wait_until_shown(&proposed);
    page.browser
        .click("[data-hunk='1'] button[data-act=toggle-hunk]");
    page.browser
        .wait_for("[data-hunk='1'][data-hunk-state=dropped]");
    let kept = poem("two", "EIGHT");
    page.wait_until_shown(&kept);
    page.act("accept");
    page.house.wait_for_file(terminal, "poem.txt", &kept);
    page.house.wait_until_done(terminal, &mark);
    page.wait_until_closed(&proposal);
}

fn edited(page: &Page<'_>, terminal: &mut Terminal, agent: Agent) {
    let (mark, proposal) = page.propose(terminal, agent, "edited.txt", "as it wants\n");
    page.wait_until_shown("as it wants\n");
    page.act("edit");
    page.browser.wait_for("[data-detail][data-editing=true]");
    page.browser.press("BUT ");
    page.wait_until_shown("BUT as it wants\n");
    page.browser.wait_for("[data-detail][data-changed=true]");
    page.act("accept");
    page.house
        .wait_for_file(terminal, "edited.txt", "BUT as it wants\n");
    page.house.wait_until_done(terminal, &mark);
    page.wait_until_closed(&proposal);
    let told = page.house.model.requests_containing("BUT as it wants");
    assert!(!told.is_empty(), "the model was not told of the change");
}

/// A byte order mark and Windows line ends, none of which the person sees, survive an edit.
fn windows_text(page: &Page<'_>, terminal: &mut Terminal, agent: Agent) {
    let file = |first: &str, second: &str| format!("\u{feff}{first}\r\n{second}\r\nlast");
    page.house.write("windows.txt", file("one", "two"));
    let call = Call::edit(page.house.path("windows.txt"), "two", "TWO");
    let (mark, proposal) = page.propose_with(terminal, agent, "windows.txt", call);
    assert_eq!(proposal.hunks, 1, "{proposal:?}");
    page.wait_until_shown("one\nTWO\nlast");
    page.act("edit");
    page.browser.wait_for("[data-detail][data-editing=true]");
    page.browser.press(TO_THE_START);
    page.browser.press("ONE AND ");
    page.wait_until_shown("ONE AND one\nTWO\nlast");
    page.act("accept");
    let expected = file("ONE AND one", "TWO");
    page.house.wait_for_file(terminal, "windows.txt", expected);
    page.house.wait_until_done(terminal, &mark);
    page.wait_until_closed(&proposal);
}

fn reject(page: &Page<'_>, terminal: &mut Terminal, agent: Agent) {
    page.house.write("kept.txt", "as it was\n");
    let (_, proposal) = page.propose(terminal, agent, "kept.txt", "something else\n");
    page.act("reject");
    page.wait_until_closed(&proposal);
    page.house.wait_for_no_proposals();
    page.house.wait_for_prompt(terminal);
    assert_eq!(page.house.read("kept.txt").unwrap(), b"as it was\n");
}

/// From the queue to the decision without the mouse.
fn keyboard_only(page: &Page<'_>, terminal: &mut Terminal, agent: Agent) {
    page.house.write("keys.txt", poem("two", "eight"));
    let path = page.house.path("keys.txt");
    let write = Call::write(&path, &poem("TWO", "EIGHT"));
    let mark = page
        .house
        .ask(terminal, vec![vec![Call::read(&path)], vec![write]]);
    let proposal = page.house.wait_for_proposal(terminal, agent, "keys.txt");
    page.browser.wait_for(&format!(
        "[data-detail='{}'][data-settled=true]",
        proposal.id
    ));
    page.browser.wait_for("[data-hunk='1'][aria-current=true]");
    page.browser.press("j");
    page.browser.wait_for("[data-hunk='2'][aria-current=true]");
    page.browser.press(" ");
    page.browser
        .wait_for("[data-hunk='2'][data-hunk-state=dropped]");
    page.browser.press("e");
    page.browser.wait_for("[data-detail][data-editing=true]");
    page.browser.press(TO_THE_END);
    page.browser.press("ten\n");
    page.browser.press(ESCAPE);
    page.browser.wait_for("[data-detail][data-editing=false]");
    let expected = poem("TWO", "eight") + "ten\n";
    page.wait_until_shown(&expected);
    page.browser.press("a");
    page.house.wait_for_file(terminal, "keys.txt", &expected);
    page.house.wait_until_done(terminal, &mark);

    page.house.write("keys.txt", "as it was\n");
    let (_, proposal) = page.propose(terminal, agent, "keys.txt", "something else\n");
    page.browser.press("r");
    page.wait_until_closed(&proposal);
    page.house.wait_for_prompt(terminal);
    assert_eq!(page.house.read("keys.txt").unwrap(), b"as it was\n");
    page.browser.press("?");
    page.browser.wait_for("dialog[open]");
    page.browser.press(ESCAPE);
    page.browser.wait_for_no("dialog[open]");
}
