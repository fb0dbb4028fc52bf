//! What the person has open, and what of it agents are told.

use std::os::unix::fs::symlink;

use serde_json::json;

use crate::agent::Agent;
use crate::sandbox::{Sandbox, until};

#[test]
fn agents_see_where_the_person_is() {
    let sandbox = Sandbox::new();
    let served = sandbox.serve(&[]);
    let mut agent = Agent::qwen(&sandbox, &served);
    agent.hear();
    let path = sandbox.file("a.rs", "");
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
        let done = sandbox.run_with(&[&["focus"], args].concat(), stdin);
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
    let shown = sandbox.run(&["status"]).good();
    assert!(
        shown.contains("a.rs:2:1 (6 characters selected)"),
        "{shown}"
    );
}

/// Focuses files that agents must not hear of, with a selection, and returns all that a
/// listening agent and one that comes later were told.
fn told(sandbox: &Sandbox, hidden: &[&str], shown: &str) -> String {
    let served = sandbox.serve(&[]);
    let mut agent = Agent::qwen(sandbox, &served);
    let mut text = String::new();
    for path in hidden {
        let done = sandbox.run_with(&["focus", path, "--selection-from", "-"], b"hunter2");
        assert_eq!(done.code, 0, "{done:?}");
        assert!(
            done.stderr.contains("agents are not told"),
            "{path}: {done:?}"
        );
        text += &Agent::gemini(sandbox, &served).hear().to_string();
        sandbox.run(&["focus", shown]).good();
        text += &agent.hear_until_active(shown);
    }
    let status = sandbox.status();
    assert!(status["heldBack"]["total"].as_u64() > Some(0));
    text + &Agent::gemini(sandbox, &served).hear().to_string()
}

#[test]
fn secrets_and_what_is_outside_are_never_told() {
    let sandbox = Sandbox::new();
    let outside = sandbox.tmp.join("outside.txt");
    std::fs::write(&outside, "").unwrap();
    symlink(&outside, sandbox.work.join("link.txt")).unwrap();
    symlink(&sandbox.tmp, sandbox.work.join("linked")).unwrap();
    symlink(sandbox.file(".env", ""), sandbox.work.join("innocent.txt")).unwrap();
    sandbox.file("server.pem", "");
    let hidden = [
        ".env",
        "server.pem",
        "innocent.txt",
        outside.to_str().unwrap(),
        "link.txt",
        "linked/outside.txt",
        "../tmp/outside.txt",
    ];
    let shown = sandbox.file("shown.rs", "");
    let told = told(&sandbox, &hidden, &shown);
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
    let sandbox = Sandbox::new();
    sandbox.file(".outriggerignore", "*.md\n!keep.md\n");
    sandbox.file(".outrigger.toml", "ignore = ['*.sql']\n");
    for name in ["notes.md", "dump.sql"] {
        sandbox.file(name, "");
    }
    let keep = sandbox.file("keep.md", "");
    let told = told(&sandbox, &["notes.md", "dump.sql"], &keep);
    for secret in ["hunter2", "notes.md", "dump.sql"] {
        assert!(!told.contains(secret), "{secret}: {told}");
    }
}

#[test]
fn a_workspace_takes_back_nothing_that_the_person_ignores() {
    let sandbox = Sandbox::new();
    sandbox.file(".outrigger.toml", "ignore = ['!*', '!dump.sql']\n");
    sandbox.file(".outriggerignore", "!*\n");
    let served = sandbox.serve(&["--ignore", "*.sql"]);
    let mut agent = Agent::qwen(&sandbox, &served);
    let dump = sandbox.file("dump.sql", "");
    sandbox
        .run_with(&["focus", &dump, "--selection-from", "-"], b"hunter2")
        .good();
    let shown = sandbox.file("shown.txt", "");
    sandbox.run(&["focus", &shown]).good();
    let told = agent.hear_until_active(&shown);
    for secret in ["hunter2", "dump.sql"] {
        assert!(!told.contains(secret), "{secret}: {told}");
    }
}

#[test]
fn patterns_that_change_are_obeyed_at_once() {
    let sandbox = Sandbox::new();
    let served = sandbox.serve(&[]);
    let mut agent = Agent::qwen(&sandbox, &served);
    let path = sandbox.file("notes.md", "");
    sandbox
        .run_with(&["focus", &path, "--selection-from", "-"], b"words")
        .good();
    agent.hear_until_active(&path);
    sandbox.file(".outriggerignore", "*.md\n");
    let heard = agent.hear();
    assert_eq!(heard["params"]["workspaceState"]["openFiles"], json!([]));
    std::fs::remove_file(sandbox.work.join(".outriggerignore")).unwrap();
    agent.hear_until_active(&path);
}

#[test]
fn a_file_that_is_deleted_is_forgotten() {
    let sandbox = Sandbox::new();
    let served = sandbox.serve(&[]);
    let mut agent = Agent::qwen(&sandbox, &served);
    let path = sandbox.file("a.rs", "");
    sandbox.run(&["focus", "a.rs"]).good();
    agent.hear_until_active(&path);
    std::fs::remove_file(&path).unwrap();
    assert_eq!(
        agent.hear()["params"]["workspaceState"]["openFiles"],
        json!([])
    );
    until("status agrees", || {
        (sandbox.status()["files"] == json!([])).then_some(())
    });
}
