//! The page over time: several tabs, decisions made elsewhere, companions that die and come back.

use testkit::{Agent, Browser, Clients, Household, Key, Look, Proposal};

use super::{Page, link};
use crate::{PROGRAM, served_household};

#[test]
fn tabs_stay_in_step() {
    let Some(house) = served_household() else {
        return;
    };
    let mut terminal = house.start_connected(Agent::Qwen);
    let page = Page::open(&house, Look::DESK);
    let first = page.browser.tab();
    let second = page.browser.open_tab(&link(&house));
    page.browser.wait_for("html[data-state=live]");

    // What is typed in one tab is shown in the other.
    let (mark, proposal) = page.propose(&mut terminal, Agent::Qwen, "a.txt", "proposed\n");
    page.browser.switch_to(&first);
    page.show(&proposal);
    page.act("edit");
    page.browser.wait_for("[data-detail][data-editing=true]");
    page.browser.press("typed and ");
    page.wait_until_shown("typed and proposed\n");
    page.browser.switch_to(&second);
    page.wait_until_shown("typed and proposed\n");

    // What is decided in one tab is over in the other.
    page.show(&proposal);
    page.act("accept");
    house.wait_for_file(&terminal, "a.txt", "typed and proposed\n");
    house.wait_until_done(&terminal, &mark);
    page.browser.switch_to(&first);
    page.wait_until_closed(&proposal);

    // So is what is decided by a command.
    let (mark, proposal) = page.propose(&mut terminal, Agent::Qwen, "b.txt", "B\n");
    house.accept(&proposal);
    page.wait_until_closed(&proposal);
    house.wait_until_done(&terminal, &mark);
    terminal.quit();
}

/// A browser opens six connections to one address, and a tab that listens holds one of them.
#[test]
fn there_can_be_more_tabs_than_a_browser_has_connections() {
    let Some(house) = served_household() else {
        return;
    };
    let mut terminal = house.start_connected(Agent::Qwen);
    let page = Page::open(&house, Look::DESK);
    let first = page.browser.tab();
    for _ in 0..8 {
        page.browser.open_tab(&link(&house));
        page.browser.wait_for("html[data-state=live]");
    }
    let (mark, proposal) = page.propose(&mut terminal, Agent::Qwen, "a.txt", "A\n");
    page.browser.switch_to(&first);
    page.show(&proposal);
    page.act("accept");
    house.wait_for_file(&terminal, "a.txt", "A\n");
    house.wait_until_done(&terminal, &mark);
    page.wait_until_closed(&proposal);
    terminal.quit();
}

#[test]
fn what_is_decided_in_the_terminal_closes_in_the_page() {
    let Some(clients) = Clients::find() else {
        return;
    };
    for agent in Agent::ALL {
        let house = Household::with_companion(PROGRAM, &clients);
        let mut terminal = house.start_connected(agent);
        let page = Page::open(&house, Look::DESK);

        // Gemini writes what stands in the page, also what is typed there and not decided. Qwen
        // is told of it, too, but always writes its own text.
        let written = match agent {
            Agent::Qwen => "proposed\n",
            Agent::Gemini => "typed and proposed\n",
        };
        let (mark, proposal) = page.propose(&mut terminal, agent, "a.txt", "proposed\n");
        page.act("edit");
        page.browser.wait_for("[data-detail][data-editing=true]");
        page.browser.press("typed and ");
        page.wait_until_shown("typed and proposed\n");
        page.browser.wait_until("the draft to arrive", || {
            let shown = house.run(&["show", &proposal.id.to_string(), "--json"]);
            shown.good().contains("typed and ")
        });
        terminal.press(Key::Enter);
        page.wait_until_closed(&proposal);
        house.wait_for_file(&terminal, "a.txt", written);
        house.wait_until_done(&terminal, &mark);

        let (_, proposal) = page.propose(&mut terminal, agent, "b.txt", "B\n");
        terminal.press(Key::Escape);
        page.wait_until_closed(&proposal);
        assert_eq!(house.read("b.txt"), None);
    }
}

#[test]
fn a_page_goes_on_after_a_restart() {
    let Some(house) = served_household() else {
        return;
    };
    let mut terminal = house.start_connected(Agent::Gemini);
    let page = Page::open(&house, Look::DESK);
    let (mark, proposal) = page.propose(&mut terminal, Agent::Gemini, "a.txt", "A\n");
    type_draft(&page, &proposal);
    house.run(&["restart"]).good();
    page.browser.wait_for("[data-notice=restarted]");
    wait_for_draft(&page, &proposal);
    page.wait_until_shown("typed A\n");
    page.show(&proposal);
    page.act("accept");
    house.wait_for_file(&terminal, "a.txt", "typed A\n");
    house.wait_until_done(&terminal, &mark);
}

/// Whoever had the port in between may have got the key from the page, so it is not valid any more.
#[test]
fn a_page_needs_a_fresh_link_after_a_crash_and_goes_on_with_it() {
    let Some(mut house) = served_household() else {
        return;
    };
    let mut terminal = house.start_connected(Agent::Gemini);
    let browser = {
        let page = Page::open(&house, Look::DESK);
        page.propose(&mut terminal, Agent::Gemini, "b.txt", "B\n");
        page.browser
    };
    let proposal = house.wait_for_proposal(&terminal, Agent::Gemini, "b.txt");
    house.companion().kill();
    browser.wait_for("html[data-state=reconnecting]");
    house.serve();
    browser.wait_for("html[data-state=locked]");
    assert!(browser.to_string().contains("outrigger url"), "{browser}");
    browser.open(&link(&house));
    let page = Page {
        house: &house,
        browser,
    };
    page.browser.wait_for("html[data-state=live]");
    page.show(&proposal);
    page.act("accept");
    house.wait_for_file(&terminal, "b.txt", "B\n");
    page.wait_until_closed(&proposal);
}

/// Types at the start of a proposal that is shown, until the companion has it.
#[track_caller]
fn type_draft(page: &Page<'_>, proposal: &Proposal) {
    page.act("edit");
    page.browser.wait_for("[data-detail][data-editing=true]");
    page.browser.press("typed ");
    wait_for_draft(page, proposal);
}

/// Waits until the companion has what was typed.
#[track_caller]
fn wait_for_draft(page: &Page<'_>, proposal: &Proposal) {
    page.browser.wait_until("the draft to arrive", || {
        let shown = page
            .house
            .run(&["show", &proposal.id.to_string(), "--json"]);
        shown.good().contains("typed ")
    });
}

#[test]
fn a_link_is_good_for_one_tab_and_leaves_no_trace() {
    let Some(house) = served_household() else {
        return;
    };
    let link = link(&house);
    let browser = Browser::start(Look::DESK);
    browser.open(&link);
    browser.wait_for("html[data-state=live]");
    let (plain, _) = link.split_once('#').unwrap();
    assert_eq!(browser.address(), plain, "the ticket is gone");

    // The tab keeps its key, another tab has none.
    browser.open(plain);
    browser.wait_for("html[data-state=live]");
    browser.open_tab(&link);
    browser.wait_for("html[data-state=locked]");
    assert!(browser.to_string().contains("outrigger url"), "{browser}");
}

#[test]
fn the_page_says_what_agents_see_and_how_to_get_one() {
    let Some(house) = served_household() else {
        return;
    };
    let page = Page::open(&house, Look::DESK);
    let browser = &page.browser;
    let root = house.workspace().display().to_string();
    for agent in Agent::ALL {
        let hint = format!("[data-hint={}]", agent.name());
        browser.wait_for(&hint);
        let told = browser.texts(&hint).concat();
        assert!(told.contains(&root), "{told}");
    }
    browser.click("button[data-nav=live]");
    browser.wait_for("main[data-view=live]");
    house.write("seen.txt", "one\ntwo\n");
    house.write(".env", "PASSWORD=1\n");
    house.focus(".env", 1, 1, "");
    browser.wait_for(&format!("[data-held='{root}/.env']"));
    house.focus("seen.txt", 2, 3, "SELECTED-BY-THE-PERSON");
    browser.wait_for(&format!("[data-file='{root}/seen.txt']"));
    browser.wait_until("the selection", || {
        browser.to_string().contains("SELECTED-BY-THE-PERSON")
    });
    assert!(!browser.to_string().contains("PASSWORD"), "only its name");

    let terminal = house.start_connected(Agent::Qwen);
    browser.wait_for("[data-session]");
    browser.wait_for("[data-log]");
    terminal.quit();
}
