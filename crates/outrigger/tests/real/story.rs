//! What happens in the same way whoever decides about an edit: in each editor, and with commands.

use std::fmt::Display;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use testkit::{Agent, Household, Terminal, wait_for};

use crate::asks;

/// What an agent proposes where it does not matter what.
pub(crate) const PROPOSED: &str = "as the agent wants it\n";

/// A file with a byte order mark, Windows line endings and no newline at its end; and as it is once
/// the person has put words of their own in the place of the agent's.
const ODD: &str = "\u{feff}first\r\nold words\r\nlast";
const ODD_AND_EDITED: &str = "\u{feff}first\r\nother words\r\nlast";

/// Twenty lines of which the third and the seventeenth are these.
fn poem(third: &str, seventeenth: &str) -> String {
    (1..=20)
        .map(|number| match number {
            3 => format!("{third}\n"),
            17 => format!("{seventeenth}\n"),
            _ => format!("line {number}\n"),
        })
        .collect()
}

/// The agent wants to change `poem.txt` in two places, from small to capital letters.
pub(crate) fn two_changes(house: &Household, terminal: &mut Terminal) -> String {
    house.write("poem.txt", poem("third", "seventeenth"));
    house.ask_to_rewrite(terminal, "poem.txt", &poem("THIRD", "SEVENTEENTH"))
}

/// Only the second of the [`two_changes`] was accepted.
pub(crate) fn second_change_is_made(house: &Household, terminal: &Terminal, mark: &str) {
    house.wait_for_file(terminal, "poem.txt", poem("third", "SEVENTEENTH"));
    house.wait_until_done(terminal, mark);
}

/// The person saves a change of their own between the [`two_changes`], which are not decided yet.
pub(crate) fn person_changes_the_poem(house: &Household) {
    house.write("poem.txt", with_own_line(&poem("third", "seventeenth")));
}

/// The agent has written its changes and the person's.
pub(crate) fn both_changes_are_made(house: &Household, terminal: &Terminal, mark: &str) {
    let both = with_own_line(&poem("THIRD", "SEVENTEENTH"));
    house.wait_for_file(terminal, "poem.txt", both);
    house.wait_until_done(terminal, mark);
}

/// The agent has written nothing over the person's change.
pub(crate) fn persons_change_is_there(house: &Household) {
    let present = with_own_line(&poem("third", "seventeenth"));
    assert_eq!(house.read("poem.txt").unwrap(), present.as_bytes());
}

fn with_own_line(poem: &str) -> String {
    poem.replace("line 10\n", "line 10\nmy own line\n")
}

/// The agent wants `new words` in `odd.txt`, a file that no editor would write by itself.
pub(crate) fn change_of_odd_bytes(house: &Household, terminal: &mut Terminal) -> String {
    house.ask_to_edit(terminal, "odd.txt", "old words", "new words")
}

pub(crate) fn write_odd_bytes(house: &Household) {
    house.write("odd.txt", ODD);
}

/// The person made `other words` of them.
pub(crate) fn odd_bytes_are_edited(house: &Household, terminal: &Terminal, mark: &str) {
    house.wait_for_file(terminal, "odd.txt", ODD_AND_EDITED);
    house.wait_until_done(terminal, mark);
}

/// The agent wants to change `keep.txt` to `something else`, which the person does not.
pub(crate) fn unwanted_change(house: &Household, terminal: &mut Terminal) {
    house.write("keep.txt", "as it was\n");
    house.ask_to_edit(terminal, "keep.txt", "as it was", "something else");
}

/// The [`unwanted_change`] was rejected.
pub(crate) fn nothing_is_changed(house: &Household, terminal: &Terminal) {
    terminal.wait_until("the end of the question", |screen| !asks(screen));
    house.wait_for_prompt(terminal);
    house.wait_for_no_proposals();
    assert_eq!(house.read("keep.txt").unwrap(), b"as it was\n");
}

/// What the person writes at the end of a file for which a proposal is pending.
pub(crate) const MINE: &str = "MY OWN PARAGRAPH";

/// A file that the agent wants to change and the person goes on writing.
pub(crate) fn write_shared_file(house: &Household, name: &str) {
    house.write(name, poem("third", "seventeenth"));
}

/// The agent wants to change its third line to capital letters.
pub(crate) fn change_of_a_shared_file(
    house: &Household,
    terminal: &mut Terminal,
    name: &str,
) -> String {
    house.ask_to_rewrite(terminal, name, &poem("THIRD", "seventeenth"))
}

/// The person has added [`MINE`] and saved the file.
pub(crate) fn shared_file_is_saved(house: &Household, terminal: &Terminal, name: &str) {
    let saved = format!("{}{MINE}\n", poem("third", "seventeenth"));
    house.wait_for_file(terminal, name, saved);
}

/// The proposal was accepted with what the person has added. Qwen Code looks for itself whether the
/// file was written since it read it, and then does not write it.
pub(crate) fn shared_file_is_whole(
    house: &Household,
    terminal: &Terminal,
    name: &str,
    agent: Agent,
    is_saved: bool,
    mark: &str,
) {
    house.wait_until_done(terminal, mark);
    let third = match agent {
        Agent::Qwen if is_saved => "third",
        _ => "THIRD",
    };
    house.wait_for_file(
        terminal,
        name,
        format!("{}{MINE}\n", poem(third, "seventeenth")),
    );
}

/// The agent wants to create `terminal.txt`.
pub(crate) fn change_for_the_terminal(house: &Household, terminal: &mut Terminal) -> String {
    house.ask_to_create(terminal, "terminal.txt", PROPOSED)
}

/// The person says yes in the terminal.
pub(crate) fn yes_in_the_terminal(terminal: &mut Terminal) {
    terminal.wait_until("the question", asks);
    terminal.choose(1);
}

/// After that yes the agent takes its proposal back. Gemini CLI writes what the editor says the text
/// is by now; Qwen Code does not wait for that and writes its own.
pub(crate) fn terminal_has_decided(
    house: &Household,
    terminal: &Terminal,
    agent: Agent,
    mark: &str,
    typed: &str,
) {
    house.wait_until_done(terminal, mark);
    let written = match agent {
        Agent::Qwen => PROPOSED,
        Agent::Gemini => typed,
    };
    house.wait_for_file(terminal, "terminal.txt", written);
}

/// What the agent asked its editor for before that was killed; the question stays in the terminal.
pub(crate) struct Orphan {
    mark: String,
}

impl Orphan {
    pub(crate) const TEXT: &str = "decided in the terminal\n";

    pub(crate) fn propose(house: &Household, terminal: &mut Terminal) -> Self {
        let mark = house.ask_to_create(terminal, "orphan.txt", Self::TEXT);
        Self { mark }
    }

    pub(crate) fn decide_in(self, house: &Household, terminal: &mut Terminal) {
        yes_in_the_terminal(terminal);
        house.wait_for_file(terminal, "orphan.txt", Self::TEXT);
        house.wait_until_done(terminal, &self.mark);
    }
}

/// Waits until no agent listens any more.
pub(crate) fn no_stream_is_left(house: &Household) {
    let streams = |session: &Value| session["streaming"] == true;
    wait_for(
        "the end of all streams",
        || (!house.sessions().iter().any(streams)).then_some(()),
        || format!("{:?}", house.sessions()),
    );
}

/// Waits until agents see exactly as much selected as `text` has; `seen` is what the editor shows.
pub(crate) fn selected(house: &Household, seen: &impl Display, text: &str) {
    let length = u64::try_from(text.chars().count()).unwrap();
    wait_for(
        "the selection in what agents see",
        || (house.status()["files"][0]["selected"] == length).then_some(()),
        || format!("{length} expected, {}\n{seen}", house.status()),
    );
}

/// Kills the companion, and waits until the editor, which shows `seen`, has started another one.
pub(crate) fn another_companion(house: &Household, seen: &impl Display) -> u32 {
    let before = house.served_by().unwrap();
    kill(before);
    companion_after(house, seen, before)
}

/// Ends a process without any warning, as a crash would.
pub(crate) fn kill(process: u32) {
    let pid = Pid::from_raw(process.try_into().unwrap()).unwrap();
    kill_process(pid, Signal::KILL).unwrap();
}

/// Waits until another process than `before` is the companion.
pub(crate) fn companion_after(house: &Household, seen: &impl Display, before: u32) -> u32 {
    wait_for(
        "another companion",
        || house.served_by().filter(|process| *process != before),
        || seen.to_string(),
    )
}
