//! What the person has open, and what of it agents are told.

use std::os::unix::fs::symlink;

use serde_json::json;

use crate::agent::Agent;
use crate::world::{World, until};

#[test]
fn agents_see_where_the_person_is() {
    let world = World::new();
    let served = world.serve(&[]);
    let mut agent = Agent::qwen(&world, &served);
    agent.hear();
    let path = world.file("a.rs", "");
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
        let done = world.run_with(&[&["focus"], args].concat(), stdin);
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
    let shown = world.run(&["status"]).good();
    assert!(
        shown.contains("a.rs:2:1 (6 characters selected)"),
        "{shown}"
    );
}

/// Focuses files that agents must not hear of, with a selection, and returns all that a
/// listening agent and one that comes later were told.
fn told(world: &World, hidden: &[&str], shown: &str) -> String {
    let served = world.serve(&[]);
    let mut agent = Agent::qwen(world, &served);
    let mut text = String::new();
    for path in hidden {
        let done = world.run_with(&["focus", path, "--selection-from", "-"], b"hunter2");
        assert_eq!(done.code, 0, "{done:?}");
        assert!(
            done.stderr.contains("agents are not told"),
            "{path}: {done:?}"
        );
        text += &Agent::gemini(world, &served).hear().to_string();
        world.run(&["focus", shown]).good();
        text += &agent.hear_until_active(shown);
    }
    let status = world.status();
    assert!(status["held_back"]["total"].as_u64() > Some(0));
    text + &Agent::gemini(world, &served).hear().to_string()
}

#[test]
fn secrets_and_what_is_outside_are_never_told() {
    let world = World::new();
    let outside = world.tmp.join("outside.txt");
    std::fs::write(&outside, "").unwrap();
    symlink(&outside, world.work.join("link.txt")).unwrap();
    symlink(&world.tmp, world.work.join("linked")).unwrap();
    symlink(world.file(".env", ""), world.work.join("innocent.txt")).unwrap();
    world.file("server.pem", "");
    let hidden = [
        ".env",
        "server.pem",
        "innocent.txt",
        outside.to_str().unwrap(),
        "link.txt",
        "linked/outside.txt",
        "../tmp/outside.txt",
    ];
    let shown = world.file("shown.rs", "");
    let told = told(&world, &hidden, &shown);
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
    let world = World::new();
    world.file(".outriggerignore", "*.md\n!keep.md\n");
    world.file(".outrigger.toml", "ignore = ['*.sql']\n");
    for name in ["notes.md", "dump.sql"] {
        world.file(name, "");
    }
    let keep = world.file("keep.md", "");
    let told = told(&world, &["notes.md", "dump.sql"], &keep);
    for secret in ["hunter2", "notes.md", "dump.sql"] {
        assert!(!told.contains(secret), "{secret}: {told}");
    }
}

#[test]
fn patterns_that_change_are_obeyed_at_once() {
    let world = World::new();
    let served = world.serve(&[]);
    let mut agent = Agent::qwen(&world, &served);
    let path = world.file("notes.md", "");
    world
        .run_with(&["focus", &path, "--selection-from", "-"], b"words")
        .good();
    agent.hear_until_active(&path);
    world.file(".outriggerignore", "*.md\n");
    let heard = agent.hear();
    assert_eq!(heard["params"]["workspaceState"]["openFiles"], json!([]));
    std::fs::remove_file(world.work.join(".outriggerignore")).unwrap();
    agent.hear_until_active(&path);
}

#[test]
fn a_file_that_is_deleted_is_forgotten() {
    let world = World::new();
    let served = world.serve(&[]);
    let mut agent = Agent::qwen(&world, &served);
    let path = world.file("a.rs", "");
    world.run(&["focus", "a.rs"]).good();
    agent.hear_until_active(&path);
    std::fs::remove_file(&path).unwrap();
    assert_eq!(
        agent.hear()["params"]["workspaceState"]["openFiles"],
        json!([])
    );
    until("status agrees", || {
        (world.status()["files"] == json!([])).then_some(())
    });
}
