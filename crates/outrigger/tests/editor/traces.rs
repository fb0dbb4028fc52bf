//! `--record`: what was said, to look at or to say again.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use serde_json::{Value, json};
use testkit::{Machine, until};

use crate::machine;
use crate::stage::{Stage, start};

/// Records a conversation with a proposal; the trace and the tokens of the run.
fn recorded(machine: &Machine) -> (String, Vec<String>) {
    let file = machine.temporary().join("trace.jsonl");
    // An earlier one that everybody may read.
    fs::write(&file, "").unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o644)).unwrap();
    let mut stage = Stage::set(machine, &["--record", file.to_str().unwrap()]);
    let path = machine.write("a.txt", "old\n");
    stage.editor.open(Path::new(&path), "unsaved\n");
    stage.editor.focus(Path::new(&path));
    let hover = json!({ "textDocument": { "uri": testkit::uri(Path::new(&path)) }, "position": { "line": 0, "character": 0 } });
    stage.editor.request("textDocument/hover", hover);
    let mut agent = stage.qwen(machine);
    agent.open_diff(&path, "new\n");
    let proposal = stage.editor.show_proposal();
    stage.editor.decide(&proposal, json!({ "accepted": true }));
    agent.hear_verdict();
    let mode = fs::metadata(&file).unwrap().permissions().mode();
    assert_eq!(mode & 0o077, 0, "it holds the person's texts");
    let tokens = vec![
        machine.qwen_token(stage.port),
        machine.gemini_token(stage.port),
    ];
    assert!(stage.editor.quit().success());
    (fs::read_to_string(file).unwrap(), tokens)
}

#[test]
fn a_trace_has_every_message_and_no_token() {
    let machine = machine();
    let (trace, tokens) = recorded(&machine);
    for token in tokens {
        assert!(!trace.contains(&token));
    }
    let lines: Vec<Value> = trace
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    for (from, method) in [
        ("editor", "initialize"),
        ("editor", "initialized"),
        ("outrigger", "outrigger/ready"),
        ("editor", "textDocument/didOpen"),
        ("editor", "textDocument/didFocus"),
        ("outrigger", "outrigger/proposal/open"),
        ("editor", "outrigger/proposal/verdict"),
        ("outrigger", "outrigger/proposal/close"),
        ("editor", "shutdown"),
        ("editor", "exit"),
    ] {
        let said = lines
            .iter()
            .filter(|line| line["from"] == from && line["message"]["method"] == method);
        assert_eq!(said.count(), 1, "{from} {method} in {trace}");
    }
    let ready = lines
        .iter()
        .find(|line| line["message"]["method"] == "outrigger/ready");
    assert_eq!(
        ready.unwrap()["message"]["params"]["environment"],
        "left out"
    );
}

#[test]
fn a_trace_can_be_said_again() {
    let machine = machine();
    let (trace, _) = recorded(&machine);
    // Up to the proposal, which only an agent can bring about.
    let lines: Vec<_> = trace
        .lines()
        .take_while(|line| !line.contains("outrigger/proposal/open"))
        .collect();
    let mut editor = start(&machine, &[]);
    for (then, now) in editor.replay(&lines.join("\n")) {
        assert_eq!((&then["method"], &then["id"]), (&now["method"], &now["id"]));
        if then["method"] != "outrigger/ready" {
            assert_eq!(then, now);
        }
    }
    let path = machine.workspace().join("a.txt");
    until("the file is in front again", || {
        let front = &machine.status()["files"][0];
        (front["path"] == path.to_str().unwrap() && front["active"] == true).then_some(())
    });
}

#[test]
fn a_trace_that_cannot_be_written_is_an_error_at_once() {
    let machine = machine();
    let done = machine.run(&["lsp", "--record", "/no/such/folder/trace"]);
    assert_ne!(done.code, 0);
    assert!(done.stderr.contains("/no/such/folder/trace"), "{done:?}");
}
