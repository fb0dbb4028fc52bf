//! The companion of an editor: `outrigger lsp` at the end of a pipe, and a plugin that decides.

use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use serde_json::{Value, json};
use testkit::{Agent, Household, ScriptedEditor, Terminal, wait_for};

use crate::story::{self, Orphan};
use crate::{asks, household};

#[test]
fn qwen_is_decided_in_an_editor() {
    decide_in_the_editor(Agent::Qwen);
}

#[test]
fn gemini_is_decided_in_an_editor() {
    decide_in_the_editor(Agent::Gemini);
}

#[test]
fn qwen_outlives_the_editor() {
    editor_killed(Agent::Qwen);
}

#[test]
fn gemini_outlives_the_editor() {
    editor_killed(Agent::Gemini);
}

#[test]
fn qwen_gets_its_verdict_from_an_editor_that_restarts_us() {
    companion_killed(Agent::Qwen);
}

#[test]
fn gemini_gets_its_verdict_from_an_editor_that_restarts_us() {
    companion_killed(Agent::Gemini);
}

/// One start of the agent for all, because the start is what takes the time.
fn decide_in_the_editor(agent: Agent) {
    let Some(house) = household() else {
        return;
    };
    let mut editor = house.edit(std::process::id());
    let mut terminal = house.start_connected(agent);
    context_of_an_unsaved_buffer(&house, &mut editor, &mut terminal);
    accept_edited(&house, &mut editor, &mut terminal);
    accept_some_hunks(&house, &mut editor, &mut terminal);
    answer_in_the_terminal(&house, &mut editor, &mut terminal, agent);
    reject(&house, &mut editor, &mut terminal);
    terminal.quit();
    assert!(editor.quit().success());
}

fn context_of_an_unsaved_buffer(
    house: &Household,
    editor: &mut ScriptedEditor,
    terminal: &mut Terminal,
) {
    house.write("hello.txt", "as it is on disk\n");
    let path = house.path("hello.txt");
    editor.open(&path, "as it is on disk\n");
    editor.focus(&path);
    editor.change(&path, (0, 9), (0, 16), "TYPED-AND-NOT-SAVED 🙂");
    editor.select(&path, (0, 6), (0, 31));
    wait_for(
        "the selection in what agents see",
        || house.status()["files"][0]["selected"].as_u64(),
        || house.status().to_string(),
    );
    let text = "line one\nline two\n";
    let mark = house.ask_to_create(terminal, "new.txt", text);
    let proposal = editor.show_proposal();
    let request = &house.model.requests_containing(&mark)[0].to_string();
    for part in ["hello.txt", "is TYPED-AND-NOT-SAVED 🙂"] {
        assert!(request.contains(part), "no {part} in {request}");
    }
    assert_eq!(proposal["path"], house.path("new.txt").to_str().unwrap());
    assert_eq!(proposal["proposed"], text);
    assert_eq!(house.read("new.txt"), None, "written before the decision");
    editor.decide(&proposal, json!({ "accepted": true }));
    house.wait_for_file(terminal, "new.txt", text);
    house.wait_until_done(terminal, &mark);
    put_away(editor, &proposal, "accepted");
}

fn accept_edited(house: &Household, editor: &mut ScriptedEditor, terminal: &mut Terminal) {
    let mark = house.ask_to_create(terminal, "edited.txt", "as the agent wants it\n");
    let proposal = editor.show_proposal();
    let mine = "AS THE PERSON WANTS IT\n";
    editor.decide(&proposal, json!({ "accepted": true, "text": mine }));
    house.wait_for_file(terminal, "edited.txt", mine);
    house.wait_until_done(terminal, &mark);
    put_away(editor, &proposal, "accepted");
}

fn accept_some_hunks(house: &Household, editor: &mut ScriptedEditor, terminal: &mut Terminal) {
    let mark = story::two_changes(house, terminal);
    let proposal = editor.show_proposal();
    assert_eq!(proposal["hunks"].as_array().map(Vec::len), Some(2));
    editor.decide(&proposal, json!({ "accepted": true, "hunks": [2] }));
    story::second_change_is_made(house, terminal, &mark);
    put_away(editor, &proposal, "accepted");
}

fn answer_in_the_terminal(
    house: &Household,
    editor: &mut ScriptedEditor,
    terminal: &mut Terminal,
    agent: Agent,
) {
    let typed = "typed in the editor\n";
    let mark = story::change_for_the_terminal(house, terminal);
    let proposal = editor.show_proposal();
    story::yes_in_the_terminal(terminal);
    let close = closed(editor, &proposal, "withdrawn");
    editor.reply(&close, json!({ "text": typed }));
    story::terminal_has_decided(house, terminal, agent, &mark, typed);
    house.wait_for_no_proposals();
}

fn reject(house: &Household, editor: &mut ScriptedEditor, terminal: &mut Terminal) {
    story::unwanted_change(house, terminal);
    let proposal = editor.show_proposal();
    editor.decide(&proposal, json!({ "accepted": false }));
    story::nothing_is_changed(house, terminal);
    put_away(editor, &proposal, "rejected");
}

/// The editor is told to put the proposal away, and how it ended.
fn closed(editor: &mut ScriptedEditor, proposal: &Value, outcome: &str) -> Value {
    let close = editor.hear("outrigger/proposal/close");
    assert_eq!(close["params"]["id"], proposal["id"]);
    assert_eq!(close["params"]["outcome"], outcome, "{close}");
    close
}

/// The same for an editor that has nothing to say about it.
fn put_away(editor: &mut ScriptedEditor, proposal: &Value, outcome: &str) {
    let close = closed(editor, proposal, outcome);
    editor.reply(&close, json!({}));
}

fn editor_killed(agent: Agent) {
    let Some(house) = household() else {
        return;
    };
    let mut process = somebody();
    let mut editor = house.edit(process.id());
    let mut terminal = house.start_connected(agent);
    let orphan = Orphan::propose(&house, &mut terminal);
    editor.show_proposal();
    // By the time that it asks, it has heard that the diff is open.
    terminal.wait_until("the question", asks);
    assert!(!discovery_files(&house).is_empty());

    // Only the editor's process goes; the pipe stays, as it does when a child has inherited it.
    process.kill().unwrap();
    editor.ended();
    process.wait().unwrap();
    // The companion waits for what is open, and no longer.
    orphan.decide_in(&house, &mut terminal);
    nothing_is_left(&house);
}

fn companion_killed(agent: Agent) {
    let Some(house) = household() else {
        return;
    };
    let mut editor = house.edit(std::process::id());
    let mut terminal = house.start_connected(agent);
    let text = "accepted after the crash\n";
    house.ask_to_create(&mut terminal, "crash.txt", text);
    let before = editor.show_proposal();
    // By the time that it asks, it has heard that the diff is open.
    terminal.wait_until("the question", asks);
    story::kill(house.served_by().unwrap());
    assert_eq!(editor.ended().code(), Some(1));

    let mut editor = house.edit(std::process::id());
    let after = editor.show_proposal();
    assert_eq!(after, before);
    editor.decide(&after, json!({ "accepted": true }));
    house.wait_for_file(&terminal, "crash.txt", text);
}

/// A process that stands for an editor.
fn somebody() -> Child {
    Command::new("cat")
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .spawn()
        .unwrap()
}

/// Every file in the places where agents look.
pub(crate) fn discovery_files(house: &Household) -> Vec<PathBuf> {
    let folders = [
        house.home().join(".qwen/ide"),
        house.temporary().join("gemini/ide"),
        house.temporary().join("qwen/ide"),
    ];
    let entries = folders
        .iter()
        .filter_map(|folder| std::fs::read_dir(folder).ok());
    entries
        .flatten()
        .flatten()
        .map(|entry| entry.path())
        .collect()
}

/// Waits until agents find nothing any more.
#[track_caller]
pub(crate) fn nothing_is_left(house: &Household) {
    wait_for(
        "the end of the discovery files",
        || discovery_files(house).is_empty().then_some(()),
        || format!("{:?}", discovery_files(house)),
    );
}
