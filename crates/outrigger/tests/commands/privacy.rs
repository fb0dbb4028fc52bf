//! What the person has open, and what of it agents are told.

use std::os::unix::fs::symlink;

use serde_json::json;
use testkit::{Machine, PlayedAgent, until};

use crate::machine;

#[test]
fn agents_see_where_the_person_is() {
    let machine = machine();
    let served = machine.start_companion(&[]);
    let mut agent = PlayedAgent::qwen(&machine, &served);
    agent.hear();
    let path = machine.write("a.rs", "line\n".repeat(12));
    let table: [(&[&str], &[u8], serde_json::Value); 4] = [
        (&["a.rs"], b"", json!({})),
        (
            &["a.rs", "--line", "12"],
            b"",
            json!({ "cursor": { "line": 12, "character": 1 } }),
        ),
        (
            &["./a.rs", "--line", "12", "--column", "4"],
            b"",
            json!({ "cursor": { "line": 12, "character": 4 } }),
        ),
        (
            &[&path, "--line", "2", "--selection-from", "-"],
            "é\r\n\"x\"".as_bytes(),
            json!({ "cursor": { "line": 2, "character": 1 }, "selectedText": "é\r\n\"x\"" }),
        ),
    ];
    for (args, stdin, expected) in table {
        let done = machine.run_with(&[&["focus"], args].concat(), stdin);
        assert_eq!((done.code, done.stdout.as_str()), (0, ""), "{done:?}");
        let heard = agent.hear();
        let mut file = heard["params"]["workspaceState"]["openFiles"][0].clone();
        let fields = file.as_object_mut().unwrap();
        assert_eq!(fields.remove("path"), Some(json!(path)));
        assert!(fields.remove("timestamp").is_some_and(|it| it.is_u64()));
        assert_eq!(fields.remove("isActive"), Some(json!(true)));
        assert_eq!(file, expected, "{args:?}");
        assert!(heard["params"]["workspaceState"].get("isTrusted").is_none());
    }
    let shown = machine.run(&["status"]).good();
    assert!(
        shown.contains("a.rs:2:1 (6 characters selected)"),
        "{shown}"
    );
}

/// Focuses files that agents must not hear of, with a selection, and returns all that a
/// listening agent and one that comes later were told.
fn told(machine: &Machine, hidden: &[&str], shown: &str) -> String {
    let served = machine.start_companion(&[]);
    let mut agent = PlayedAgent::qwen(machine, &served);
    let mut text = String::new();
    for path in hidden {
        let done = machine.run_with(&["focus", path, "--selection-from", "-"], b"hunter2");
        assert_eq!(done.code, 0, "{done:?}");
        assert!(
            done.stderr.contains("agents are not told"),
            "{path}: {done:?}"
        );
        text += &PlayedAgent::gemini(machine, &served).hear().to_string();
        machine.run(&["focus", shown]).good();
        text += &agent.hear_until_active(shown);
    }
    let status = machine.status();
    assert!(status["heldBack"]["total"].as_u64() > Some(0));
    text + &PlayedAgent::gemini(machine, &served).hear().to_string()
}

#[test]
fn secrets_and_what_is_outside_are_never_told() {
    let machine = machine();
    let outside = machine.temporary().join("outside.txt");
    std::fs::write(&outside, "").unwrap();
    symlink(&outside, machine.workspace().join("link.txt")).unwrap();
    symlink(machine.temporary(), machine.workspace().join("linked")).unwrap();
    symlink(
        machine.write(".env", ""),
        machine.workspace().join("innocent.txt"),
    )
    .unwrap();
    machine.write("server.pem", "");
    let hidden = [
        ".env",
        "server.pem",
        "innocent.txt",
        outside.to_str().unwrap(),
        "link.txt",
        "linked/outside.txt",
        "../tmp/outside.txt",
    ];
    let shown = machine.write("shown.rs", "");
    let told = told(&machine, &hidden, &shown);
    for secret in [
        "hunter2",
        ".env",
        "server.pem",
        "innocent",
        "outside",
        "link",
    ] {
        assert!(!told.contains(secret), "{secret}: {told}");
    }
    assert!(told.contains("shown.rs"));
}

#[test]
fn the_workspace_can_narrow_what_is_shared() {
    let machine = machine();
    machine.write(".outriggerignore", "*.md\n!keep.md\n");
    machine.write(".outrigger.toml", "ignore = ['*.sql']\n");
    for name in ["notes.md", "dump.sql"] {
        machine.write(name, "");
    }
    let keep = machine.write("keep.md", "");
    let told = told(&machine, &["notes.md", "dump.sql"], &keep);
    for secret in ["hunter2", "notes.md", "dump.sql"] {
        assert!(!told.contains(secret), "{secret}: {told}");
    }
}

#[test]
fn a_workspace_takes_back_nothing_that_the_person_ignores() {
    let machine = machine();
    machine.write(".outrigger.toml", "ignore = ['!*', '!dump.sql']\n");
    machine.write(".outriggerignore", "!*\n");
    let served = machine.start_companion(&["--ignore", "*.sql"]);
    let mut agent = PlayedAgent::qwen(&machine, &served);
    let dump = machine.write("dump.sql", "");
    machine
        .run_with(&["focus", &dump, "--selection-from", "-"], b"hunter2")
        .good();
    let shown = machine.write("shown.txt", "");
    machine.run(&["focus", &shown]).good();
    let told = agent.hear_until_active(&shown);
    for secret in ["hunter2", "dump.sql"] {
        assert!(!told.contains(secret), "{secret}: {told}");
    }
}

#[test]
fn patterns_that_change_are_obeyed_at_once() {
    let machine = machine();
    let served = machine.start_companion(&[]);
    let mut agent = PlayedAgent::qwen(&machine, &served);
    let path = machine.write("notes.md", "");
    machine
        .run_with(&["focus", &path, "--selection-from", "-"], b"words")
        .good();
    agent.hear_until_active(&path);
    machine.write(".outriggerignore", "*.md\n");
    let heard = agent.hear();
    assert_eq!(heard["params"]["workspaceState"]["openFiles"], json!([]));
    std::fs::remove_file(machine.workspace().join(".outriggerignore")).unwrap();
    agent.hear_until_active(&path);
}

#[test]
fn a_file_that_is_deleted_is_forgotten() {
    let machine = machine();
    let served = machine.start_companion(&[]);
    let mut agent = PlayedAgent::qwen(&machine, &served);
    let path = machine.write("a.rs", "");
    machine.run(&["focus", "a.rs"]).good();
    agent.hear_until_active(&path);
    std::fs::remove_file(&path).unwrap();
    assert_eq!(
        agent.hear()["params"]["workspaceState"]["openFiles"],
        json!([])
    );
    until("status agrees", || {
        (machine.status()["files"] == json!([])).then_some(())
    });
}
