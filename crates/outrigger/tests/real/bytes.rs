//! What ends on disk is what the agent would have written without a companion.
//!
//! The agents show their edits with LF, and Qwen without the BOM, whatever the file has; they put
//! both back when they write. So a companion that takes the proposal for the file's own form, or
//! gives the verdict in another form than the proposal's, damages the file.

use testkit::{Agent, Call, Clients, Household, Proposal, Terminal};

use crate::{PROGRAM, asks};

/// Everything that is easily lost: a BOM, CRLF, and no final newline.
const BEFORE: &str = "\u{feff}first\r\nold words\r\nlast";
const AFTER: &str = "\u{feff}first\r\nnew words\r\nlast";

/// What the agent changes in both files.
const CHANGE: (&str, &str) = ("old words", "new words");

/// Line ends of both kinds, which the agents do not keep either.
const MIXED: &str = "first\r\nold words\nlast\r\n";

#[test]
fn qwen_keeps_the_bytes() {
    same_with_and_without_a_companion(Agent::Qwen);
}

#[test]
fn gemini_keeps_the_bytes() {
    same_with_and_without_a_companion(Agent::Gemini);
}

fn same_with_and_without_a_companion(agent: Agent) {
    let Some(clients) = Clients::find() else {
        return;
    };
    let house = Household::new(PROGRAM, &clients);
    let mut terminal = house.start(agent);
    let without = [BEFORE, MIXED].map(|before| {
        let mark = edit(&house, &mut terminal, before, CHANGE);
        terminal.wait_until("the question", asks);
        terminal.choose(1);
        house.wait_until_done(&terminal, &mark);
        text(&house)
    });
    drop(terminal);
    assert_eq!(without[0], AFTER);

    let house = Household::with_companion(PROGRAM, &clients);
    let mut terminal = house.start_connected(agent);
    let with = [BEFORE, MIXED].map(|before| {
        decide(&house, &mut terminal, agent, before, CHANGE, |proposal| {
            assert_eq!(proposal.hunks, 1, "{proposal:?}");
            house.accept(proposal);
        })
    });
    assert_eq!(with, without);

    some_hunks(&house, &mut terminal, agent);
    edited(&house, &mut terminal, agent);
}

fn some_hunks(house: &Household, terminal: &mut Terminal, agent: Agent) {
    // One replacement from the first changed line to the last makes two hunks.
    let middle = "same\n".repeat(20);
    let change = (&*format!("one\n{middle}two"), &*format!("ONE\n{middle}TWO"));
    let file = |first: &str, last: &str| {
        let middle = "same\r\n".repeat(20);
        format!("\u{feff}head\r\n{first}\r\n{middle}{last}\r\ntail")
    };
    let before = file("one", "two");
    let after = decide(house, terminal, agent, &before, change, |proposal| {
        assert_eq!(proposal.hunks, 2, "{proposal:?}");
        house.accept_hunks(proposal, "2");
    });
    assert_eq!(after, file("one", "TWO"));
}

fn edited(house: &Household, terminal: &mut Terminal, agent: Agent) {
    let wanted = "\u{feff}first\r\nother words\r\nmore words\r\nlast";
    let after = decide(house, terminal, agent, BEFORE, CHANGE, |proposal| {
        house.accept_edited(proposal, wanted);
    });
    assert_eq!(after, wanted);
}

/// Has the agent change a file with a companion, and decides; what is on disk afterwards.
fn decide(
    house: &Household,
    terminal: &mut Terminal,
    agent: Agent,
    before: &str,
    change: (&str, &str),
    decision: impl FnOnce(&Proposal),
) -> String {
    let mark = edit(house, terminal, before, change);
    let proposal = house.wait_for_proposal(terminal, agent, "odd.txt");
    decision(&proposal);
    house.wait_until_done(terminal, &mark);
    text(house)
}

fn edit(
    house: &Household,
    terminal: &mut Terminal,
    before: &str,
    (old, new): (&str, &str),
) -> String {
    house.write("odd.txt", before);
    let path = house.path("odd.txt");
    let turns = vec![vec![Call::read(&path)], vec![Call::edit(&path, old, new)]];
    house.ask(terminal, turns)
}

fn text(house: &Household) -> String {
    String::from_utf8(house.read("odd.txt").unwrap()).unwrap()
}
