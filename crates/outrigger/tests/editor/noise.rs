//! What a pipe can carry that no editor should send.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};
use testkit::{Machine, PlayedAgent, ScriptedEditor};

use crate::machine;
use crate::stage::{Stage, files_gone};

/// A stage with a pending proposal, whose agent listens.
fn with_proposal(machine: &Machine) -> (Stage, PlayedAgent, Value) {
    let mut stage = Stage::set(machine, &[]);
    let path = machine.write("a.txt", "old\n");
    let mut agent = stage.qwen(machine);
    agent.open_diff(&path, "new\n");
    let proposal = stage.editor.show_proposal();
    (stage, agent, proposal)
}

fn framed(length: usize, content: &str) -> Vec<u8> {
    format!("Content-Length: {length}\r\n\r\n{content}").into_bytes()
}

/// The editor is still understood.
#[track_caller]
fn still_talks(editor: &mut ScriptedEditor, what: &str) {
    let status = editor.request("outrigger/status", Value::Null);
    assert_eq!(status["pending"], 1, "after {what}: {status}");
}

#[test]
fn noise_on_the_pipe_is_survived() {
    let ping = r#"{"jsonrpc":"2.0","method":"$/ping"}"#;
    let noise: [(&str, Vec<u8>); 12] = [
        ("empty lines", b"\r\n\r\n\n\n".to_vec()),
        (
            "a line of a shell",
            b"bash: warning: no such locale\n".to_vec(),
        ),
        (
            "other headers",
            format!(
                "X-Odd: 1\r\nContent-Length: {}\r\nContent-Type: x\r\n\r\n{ping}",
                ping.len()
            )
            .into_bytes(),
        ),
        (
            "a header without a number",
            b"Content-Length: many\r\n\r\n".to_vec(),
        ),
        ("a negative length", b"Content-Length: -1\r\n\r\n".to_vec()),
        (
            "an enormous length that is no number",
            format!("Content-Length: {}\r\n\r\n", "9".repeat(40)).into_bytes(),
        ),
        ("no content", framed(0, "")),
        ("content that is no JSON", framed(8, "nonsense")),
        (
            "content that is no text",
            [framed(3, ""), vec![0xff, 0xfe, 0x00]].concat(),
        ),
        ("binary lines", [&[0_u8, 255, 13, 7][..], b"\n"].concat()),
        ("a length that is too small", framed(ping.len() - 3, ping)),
        ("a long line", [&b"x".repeat(100_000)[..], b"\n"].concat()),
    ];
    let machine = machine();
    let (mut stage, mut agent, proposal) = with_proposal(&machine);
    for (what, bytes) in noise {
        stage.editor.say_bytes(&bytes);
        still_talks(&mut stage.editor, what);
    }
    stage.editor.decide(&proposal, json!({ "accepted": true }));
    assert_eq!(agent.hear_verdict()["params"]["content"], "new\n");
    assert!(stage.editor.quit().success());
}

/// A length that is too large swallows what follows; after that the conversation goes on.
#[test]
fn a_length_that_is_too_large_costs_the_next_message_only() {
    let machine = machine();
    let (mut stage, _agent, _) = with_proposal(&machine);
    let ping = r#"{"jsonrpc":"2.0","method":"$/ping"}"#;
    stage.editor.say_bytes(&framed(ping.len() + 20, ping));
    stage
        .editor
        .say(&json!({ "jsonrpc": "2.0", "method": "$/lost" }));
    let answer = stage
        .editor
        .take("an answer to no message", |it| it.get("error").is_some());
    assert_eq!(answer["error"]["code"], -32700);
    still_talks(&mut stage.editor, "a length that is too large");
}

#[test]
fn nothing_but_noise_ends_the_conversation_and_keeps_the_proposal() {
    let machine = machine();
    let (mut stage, mut agent, _) = with_proposal(&machine);
    stage.editor.say_bytes(&b"noise\n".repeat(1 << 18));
    assert_eq!(stage.editor.ended().code(), Some(1));
    // The companion waits for the decision, and the agent notices nothing.
    let mut again = Stage::set(&machine, &[]);
    assert_eq!(again.port, stage.port);
    let proposal = again.editor.show_proposal();
    again.editor.decide(&proposal, json!({ "accepted": true }));
    assert_eq!(agent.hear_verdict()["params"]["content"], "new\n");
}

#[test]
fn an_editor_that_dies_in_the_middle_of_a_message_keeps_its_proposals() {
    for half in [
        "Content-Length: 1000\r\n\r\n{\"jsonrpc\":\"2.0\",\"id\":1,",
        "Content-Length: 1000\r\n\r\n",
        "Content-Len",
    ] {
        let machine = machine();
        let (mut stage, mut agent, _) = with_proposal(&machine);
        stage.editor.say_bytes(half.as_bytes());
        stage.editor.hang_up();
        assert_eq!(stage.editor.ended().code(), Some(1), "{half:?}");
        let mut again = Stage::set(&machine, &[]);
        assert_eq!(again.port, stage.port, "{half:?}");
        let proposal = again.editor.show_proposal();
        again.editor.decide(&proposal, json!({ "accepted": false }));
        assert_eq!(agent.hear_verdict()["method"], "ide/diffRejected");
    }
}

/// The largest amount of memory that a process has had, in bytes.
fn peak(pid: u32) -> usize {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let line = status.lines().find(|line| line.starts_with("VmHWM:"));
    let kib: usize = line
        .unwrap()
        .split_whitespace()
        .nth(1)
        .unwrap()
        .parse()
        .unwrap();
    kib * 1024
}

#[cfg(target_os = "linux")]
#[test]
fn a_document_of_100_megabytes_costs_a_few_copies_of_it() {
    const SIZE: usize = 100 << 20;
    let machine = machine();
    let (mut stage, mut agent, proposal) = with_proposal(&machine);
    let line = "a line of a very large document, with an umlaut: ä\n";
    let text = line.repeat(SIZE / line.len());
    let path = machine.write("large.txt", "");
    let service = machine.served_by().unwrap();
    let before = peak(service);
    stage.editor.open(Path::new(&path), &text);
    still_talks(&mut stage.editor, "a large document");
    for _ in 0..3 {
        stage
            .editor
            .change(Path::new(&path), (1_000_000, 2), (1_000_000, 4), "ZZ");
        stage
            .editor
            .select(Path::new(&path), (1_000_000, 0), (1_000_000, 6));
    }
    agent.hear_until_active(&path);
    let taken = peak(service) - before;
    assert!(taken < 4 * SIZE, "{} MiB", taken >> 20);
    stage.editor.decide(&proposal, json!({ "accepted": true }));
    assert_eq!(agent.hear_verdict()["params"]["content"], "new\n");
}

/// A message that is larger than any document may be is skipped, not kept.
#[cfg(target_os = "linux")]
#[test]
fn a_message_that_is_too_large_is_skipped() {
    const SIZE: usize = 600 << 20;
    let machine = machine();
    let (mut stage, _agent, _) = with_proposal(&machine);
    let service = machine.served_by().unwrap();
    let before = peak(service);
    stage
        .editor
        .say_bytes(format!("Content-Length: {SIZE}\r\n\r\n").as_bytes());
    let part = vec![b' '; 1 << 20];
    for _ in 0..SIZE >> 20 {
        stage.editor.say_bytes(&part);
    }
    let answer = stage
        .editor
        .take("a refusal", |it| it.get("error").is_some());
    assert_eq!(answer["error"]["code"], -32600);
    still_talks(&mut stage.editor, "a message that is too large");
    let taken = peak(service) - before;
    assert!(taken < 64 << 20, "{} MiB", taken >> 20);
}

/// A length is only a promise: nothing is taken because of it.
#[cfg(target_os = "linux")]
#[test]
fn a_promise_of_much_takes_no_memory() {
    let machine = machine();
    let mut stage = Stage::set(&machine, &[]);
    let service = machine.served_by().unwrap();
    let before = peak(service);
    stage
        .editor
        .say_bytes(b"Content-Length: 500000000\r\n\r\n{");
    stage.qwen(&machine).hear();
    let taken = peak(service) - before;
    assert!(taken < 32 << 20, "{} MiB", taken >> 20);
    stage.editor.hang_up();
    stage.editor.ended();
}

#[test]
fn an_editor_that_does_not_read_holds_up_nobody_else() {
    let machine = machine();
    let (mut stage, mut agent, proposal) = with_proposal(&machine);
    stage.editor.stop_listening();
    // Far more than the pipe can hold.
    let path = machine.write("large.txt", "");
    agent.open_diff(&path, &"text\n".repeat(50_000));
    for id in 0..10 {
        let ask = json!({ "jsonrpc": "2.0", "id": id, "method": "outrigger/proposal/list" });
        stage.editor.say(&ask);
    }
    let accepted = machine.run(&["accept", &proposal["id"].to_string()]);
    accepted.good();
    assert_eq!(agent.hear_verdict()["params"]["content"], "new\n");
    let path = machine.write("b.txt", "old\n");
    agent.open_diff(&path, "second\n");
    machine.run(&["reject", "3"]).good();
    assert_eq!(agent.hear_verdict()["method"], "ide/diffRejected");
    machine.run(&["reject", "2"]).good();
    stage.editor.hang_up();
    stage.editor.ended();
    files_gone(&machine, stage.port);
}
