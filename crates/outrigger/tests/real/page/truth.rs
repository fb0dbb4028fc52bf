//! What the page says is so: of the connection, of proposals whose file has changed, and of agents
//! that are gone.

use serde_json::{Value, json};
use testkit::{Browser, Household, Look};

use super::played::{Played, list};
use super::{ESCAPE, Page, TO_THE_END, link};
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
        house.serve();
        browser.wait_for("html[data-state=live]");
        browser.wait_for("[data-notice=restarted]");
        assert_eq!(browser.count("[data-notice=stopped]"), 0);
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

/// What a merge leaves when both have changed a line.
const CONFLICT: &str = "one\n<<<<<<< yours\nmine\n=======\ntwo\n>>>>>>> the agent's\nthree\n";

#[test]
fn a_stale_proposal_says_so_and_waits_for_its_conflicts() {
    let Some(house) = served_household() else {
        return;
    };
    house.write("poem.txt", "one\nzwei\nthree\n");
    let mut agent = Played::qwen(&house);
    let page = Page::open(&house, Look::DESK);
    let browser = &page.browser;
    page.pretend(
        &format!(
            "return {{ revision: 3, stale: 'the file has changed since then', conflicts: 1,\
             ...(proposal.proposed && {{ current: proposal.current ?? {CONFLICT:?} }}) }}"
        ),
        "return {}",
    );
    let proposal = agent.propose("poem.txt", "one\ntwo\nthree\n");
    page.show(&proposal);
    browser.wait_for("[data-proposal] [data-mark=conflicts]");
    let told = browser.texts("[data-notice=stale]").concat();
    assert!(told.contains("the file has changed since then"), "{told}");
    let told = browser.texts("[data-notice=conflicts]").concat();
    assert!(told.contains("1 conflict"), "{told}");
    browser.wait_for(".cm-line.conflict-marker");
    browser.wait_for("button[data-act=accept][disabled]");
    browser.press("a");
    assert!(page.decisions().is_empty(), "{:?}", page.decisions());

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
    assert_eq!(page.asked_to("accept")[0]["body"]["revision"], 3);
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
fn a_refusal_because_of_newer_texts_shows_them() {
    let Some(house) = served_household() else {
        return;
    };
    house.write("poem.txt", "one\ntwo\n");
    let mut agent = Played::qwen(&house);
    let page = Page::open(&house, Look::DESK);
    let browser = &page.browser;
    page.pretend(
        "return { revision: window.newer ? 2 : 1,\
         ...(window.newer && proposal.proposed && { proposed: proposal.proposed + window.newer }) }",
        "return {}",
    );
    let proposal = agent.propose("poem.txt", "one\nTWO\n");
    page.show(&proposal);
    page.wait_until_shown("one\nTWO\n");
    let refusal = json!({ "kind": "stale", "message": "the file has changed, look again" });
    browser.run(
        "window.newer = 'three\\n'; window.refuse = arguments[0]",
        vec![refusal],
    );
    browser.press("a");
    page.wait_until_shown("one\nTWO\nthree\n");
    let told = browser.texts("[data-notice=refused]").concat();
    assert!(told.contains("the file has changed"), "{told}");
    assert_eq!(list(&house), [proposal.id], "nothing is decided");
    // What has just come to the screen waits, too; then its own revision is accepted.
    page.show(&proposal);
    browser.press("a");
    page.wait_until_closed(&proposal);
    let revisions: Vec<Value> = page.asked_to("accept");
    let revisions: Vec<&Value> = revisions.iter().map(|it| &it["body"]["revision"]).collect();
    assert_eq!(revisions, [1, 2]);
}

/// What a companion tells of a proposal for a new file.
fn summary(house: &Household, name: &str, id: u64) -> Value {
    json!({
        "id": id, "path": house.path(name), "agent": "qwen", "session": "s",
        "openedAt": 0, "newFile": true, "hunks": 1, "editable": true,
    })
}

#[test]
fn nothing_typed_is_lost_when_a_proposal_is_revised() {
    let Some(house) = served_household() else {
        return;
    };
    let text = "one\ntwo\nthree\nfour\nfive\n";
    let mut agent = Played::qwen(&house);
    let page = Page::open(&house, Look::DESK);
    let browser = &page.browser;
    // The companion merges into what it has; here it has what was proposed, and nothing typed.
    page.pretend(
        "if (!window.newer) return { revision: 1 };\
         const { proposed } = proposal;\
         return { revision: 2, ...(proposed && { proposed: proposed.replace('five', window.newer), \
                  current: undefined, currentHunksAt: undefined }) }",
        "return {}",
    );
    let proposal = agent.propose("poem.txt", text);
    page.show(&proposal);
    page.act("edit");
    browser.wait_for("[data-detail][data-editing=true]");
    let revise = "window.newer = arguments[0];\
        document.execCommand('insertText', false, arguments[1]);\
        window.tell('revised', { ...arguments[2], revision: 2 })";
    let summary = summary(&house, "poem.txt", proposal.id);
    let first = vec!["FIVE".into(), "typed ".into(), summary.clone()];
    browser.run(revise, first);
    page.wait_until_shown("typed one\ntwo\nthree\nfour\nFIVE\n");
    // Whoever is typing goes on typing, so that no letter is taken for a key.
    browser.wait_for("[data-detail][data-editing=true]");
    browser.press("a ");
    page.wait_until_shown("typed a one\ntwo\nthree\nfour\nFIVE\n");
    browser.wait_until("the draft to arrive", || {
        let shown = house.run(&["show", &proposal.id.to_string(), "--json"]);
        shown.good().contains("typed a one")
    });

    // Where both changed the same lines, the newer text is shown, and what was typed is kept.
    browser.press(TO_THE_END);
    browser.run(revise, vec!["SIX".into(), "and more".into(), summary]);
    page.wait_until_shown("one\ntwo\nthree\nfour\nSIX\n");
    assert_eq!(list(&house), [proposal.id], "nothing is decided");
    browser.click("[data-kept]");
    browser.wait_for("[data-notice=closed] textarea");
    let kept = "return document.querySelector('[data-notice=closed] textarea').value";
    let kept = browser.run(kept, Vec::new());
    assert_eq!(kept, "typed a one\ntwo\nthree\nfour\nFIVE\nand more");
}

#[test]
fn what_a_gone_agent_left_can_only_be_dismissed() {
    let Some(house) = served_household() else {
        return;
    };
    let mut agent = Played::qwen(&house);
    let _other = Played::qwen(&house);
    let page = Page::open(&house, Look::DESK);
    let browser = &page.browser;
    page.pretend(
        "return { gone: window.isGone === true, who: 'Qwen Code · pts/3 · process 4711' }",
        "return { label: 'Qwen Code · pts/3', presence: window.firstSession === undefined \
         || window.firstSession === session.id ? (window.firstSession = session.id, 'connected') : 'away' }",
    );
    browser.wait_for("[data-connected='1']");
    browser.click("button[data-nav=live]");
    browser.wait_for("[data-session] [data-presence=away]");
    let told = browser.texts("[data-presence=away]").concat();
    assert!(told.contains("delivered when it is back"), "{told}");
    assert_eq!(browser.count("[data-presence]"), 1);
    browser.click("button[data-nav=review]");

    // It goes while its proposal is on the screen.
    let proposal = agent.propose("ghost.txt", "boo\n");
    page.show(&proposal);
    let who = browser.texts("[aria-label='About this proposal']").concat();
    assert!(who.contains("pts/3 · process 4711"), "{who}");
    browser.wait_for("button[data-act=accept]:not([disabled])");
    let gone = "window.isGone = true; window.tell('revised', { ...arguments[0], gone: true })";
    browser.run(gone, vec![summary(&house, "ghost.txt", proposal.id)]);
    browser.wait_for("[data-proposal] [data-mark=gone]");
    browser.wait_for("[data-notice=gone]");
    browser.wait_for("button[data-act=accept][disabled]");
    page.show(&proposal);
    browser.press("a");
    assert!(page.decisions().is_empty(), "{:?}", page.decisions());
    assert!(
        browser
            .texts("button[data-act=reject]")
            .concat()
            .contains("Dismiss")
    );
    page.act("reject");
    page.wait_until_closed(&proposal);
    house.wait_for_no_proposals();
}
