//! The companion inside an editor: `outrigger lsp` at the end of a pipe, and a plugin that decides.

use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use serde_json::{Value, json};
use testkit::{Agent, Call, Clients, Household, ScriptedEditor, Terminal, wait_for};

use crate::{PROGRAM, asks};

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
    let Some(clients) = Clients::find() else {
        return;
    };
    let house = Household::new(PROGRAM, &clients);
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
    let call = Call::write(house.path("new.txt"), text);
    let mark = house.ask(terminal, vec![vec![call]]);
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
    closed(editor, &proposal);
}

fn accept_edited(house: &Household, editor: &mut ScriptedEditor, terminal: &mut Terminal) {
    let call = Call::write(house.path("edited.txt"), "as the agent wants it\n");
    let mark = house.ask(terminal, vec![vec![call]]);
    let proposal = editor.show_proposal();
    let mine = "AS THE PERSON WANTS IT\n";
    editor.decide(&proposal, json!({ "accepted": true, "text": mine }));
    house.wait_for_file(terminal, "edited.txt", mine);
    house.wait_until_done(terminal, &mark);
    closed(editor, &proposal);
}

fn accept_some_hunks(house: &Household, editor: &mut ScriptedEditor, terminal: &mut Terminal) {
    let poem = |third: &str, seventeenth: &str| -> String {
        (1..=20)
            .map(|number| match number {
                3 => format!("{third}\n"),
                17 => format!("{seventeenth}\n"),
                _ => format!("line {number}\n"),
            })
            .collect()
    };
    house.write("poem.txt", poem("third", "seventeenth"));
    let path = house.path("poem.txt");
    let write = Call::write(&path, &poem("THIRD", "SEVENTEENTH"));
    let mark = house.ask(terminal, vec![vec![Call::read(&path)], vec![write]]);
    let proposal = editor.show_proposal();
    assert_eq!(proposal["hunks"].as_array().map(Vec::len), Some(2));
    editor.decide(&proposal, json!({ "accepted": true, "hunks": [2] }));
    house.wait_for_file(terminal, "poem.txt", poem("third", "SEVENTEENTH"));
    house.wait_until_done(terminal, &mark);
    closed(editor, &proposal);
}

/// The person says yes in the terminal, and the agent takes its proposal back. Gemini CLI writes
/// what the editor says the text is by now; Qwen Code does not wait for that and writes its own.
fn answer_in_the_terminal(
    house: &Household,
    editor: &mut ScriptedEditor,
    terminal: &mut Terminal,
    agent: Agent,
) {
    let (own, typed) = ("as the agent wants it\n", "typed in the editor\n");
    let call = Call::write(house.path("terminal.txt"), own);
    let mark = house.ask(terminal, vec![vec![call]]);
    let proposal = editor.show_proposal();
    terminal.wait_until("the question", asks);
    terminal.choose(1);
    let close = editor.hear("outrigger/proposal/close");
    assert_eq!(close["params"], json!({ "id": proposal["id"] }));
    editor.reply(&close, json!({ "text": typed }));
    house.wait_until_done(terminal, &mark);
    house.wait_for_no_proposals();
    let written = match agent {
        Agent::Qwen => own,
        Agent::Gemini => typed,
    };
    house.wait_for_file(terminal, "terminal.txt", written);
}

fn reject(house: &Household, editor: &mut ScriptedEditor, terminal: &mut Terminal) {
    house.write("keep.txt", "as it was\n");
    let path = house.path("keep.txt");
    let turns = vec![
        vec![Call::read(&path)],
        vec![Call::edit(&path, "as it was", "something else")],
    ];
    house.ask(terminal, turns);
    let proposal = editor.show_proposal();
    editor.decide(&proposal, json!({ "accepted": false }));
    terminal.wait_until("the end of the question", |screen| !asks(screen));
    house.wait_for_prompt(terminal);
    house.wait_for_no_proposals();
    closed(editor, &proposal);
    assert_eq!(house.read("keep.txt").unwrap(), b"as it was\n");
}

/// The editor is told to put the proposal away.
fn closed(editor: &mut ScriptedEditor, proposal: &Value) {
    let close = editor.hear("outrigger/proposal/close");
    assert_eq!(close["params"], json!({ "id": proposal["id"] }));
    editor.reply(&close, json!({}));
}

fn editor_killed(agent: Agent) {
    let Some(clients) = Clients::find() else {
        return;
    };
    let house = Household::new(PROGRAM, &clients);
    let mut process = somebody();
    let mut editor = house.edit(process.id());
    let mut terminal = house.start_connected(agent);
    let text = "decided in the terminal\n";
    let call = Call::write(house.path("orphan.txt"), text);
    let mark = house.ask(&mut terminal, vec![vec![call]]);
    editor.show_proposal();
    assert!(!discovery_files(&house).is_empty());

    // Only the editor's process goes; the pipe stays, as it does when a child has inherited it.
    process.kill().unwrap();
    editor.ended();
    assert_eq!(discovery_files(&house), Vec::<PathBuf>::new());
    process.wait().unwrap();
    // The question is still there in the terminal, and the agent goes on without an editor.
    terminal.wait_until("the question", asks);
    terminal.choose(1);
    house.wait_for_file(&terminal, "orphan.txt", text);
    house.wait_until_done(&terminal, &mark);
}

fn companion_killed(agent: Agent) {
    let Some(clients) = Clients::find() else {
        return;
    };
    let house = Household::new(PROGRAM, &clients);
    let mut editor = house.edit(std::process::id());
    let mut terminal = house.start_connected(agent);
    let text = "accepted after the crash\n";
    let call = Call::write(house.path("crash.txt"), text);
    house.ask(&mut terminal, vec![vec![call]]);
    let before = editor.show_proposal();
    // By the time that it asks, it has heard that the diff is open.
    terminal.wait_until("the question", asks);
    editor.crash();

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
