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

/// A mistake: the file, its text with it and without it, and how the fault begins.
type Mistake = (&'static str, &'static str, &'static str, &'static str);

const MISTAKES: [Mistake; 6] = [
    (
        "project/.outrigger.toml",
        "ignore = '*.sql'\n",
        "ignore = ['*.sql']\n",
        "project/.outrigger.toml:1:10: `ignore` has to be a list of strings",
    ),
    (
        "project/.outrigger.toml",
        "# patterns\nignore = ['*.sql', 'a[z-a]']\n",
        "",
        "project/.outrigger.toml:2:20: the pattern \"a[z-a]\" cannot be used",
    ),
    (
        "project/.outrigger.toml",
        "ignore = [\n",
        "agents = ['qwen', 'gemini']\n",
        "project/.outrigger.toml:1:",
    ),
    (
        "project/.outriggerignore",
        "*.sql\na[z-a]\n",
        "*.sql\n",
        "project/.outriggerignore:2:1: the pattern \"a[z-a]\" cannot be used",
    ),
    (
        "home/.config/outrigger/config.toml",
        "port = 0\nignore = 3\n",
        "",
        "config.toml:2:10: `ignore` has to be a list of strings",
    ),
    (
        "home/.config/outrigger/config.toml",
        "ignor = ['*.sql']\n",
        "ignore = ['*.sql']\n",
        "config.toml:1:1: there is no setting `ignor`; did you mean `ignore`?",
    ),
];

fn has_no_file(context: &serde_json::Value) -> bool {
    context["params"]["workspaceState"]["openFiles"] == json!([])
}

#[test]
fn a_fault_closes_the_folder_until_it_is_mended() {
    for (file, broken, mended, fault) in MISTAKES {
        let machine = Machine::with_workspace(crate::PROGRAM, "project");
        let file = machine.workspace().parent().unwrap().join(file);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(&file, broken).unwrap();
        let served = machine.start_companion(&[]);
        let mut agent = PlayedAgent::qwen(&machine, &served);
        assert!(has_no_file(&agent.hear()), "{fault}");

        let path = machine.write("a.rs", "");
        let done = machine.run_with(&["focus", &path, "--selection-from", "-"], b"hunter2");
        assert!(done.stderr.contains("until a fault"), "{done:?}");
        // Somebody who comes now gets what is in force now.
        let told = PlayedAgent::gemini(&machine, &served).hear();
        assert!(has_no_file(&told), "{fault}: {told}");

        let status = machine.status();
        assert_eq!(status["files"], json!([]), "{fault}");
        assert_eq!(status["heldBack"]["closed"], 1, "{fault}");
        let [named] = &status["faults"].as_array().unwrap()[..] else {
            panic!("{fault}: {status}");
        };
        assert_eq!(named["source"], file.to_str().unwrap());
        let place = format!("{}:{}:", named["line"], named["column"]);
        let is_own = file.starts_with(machine.home());
        assert_eq!(named.get("folder").is_none(), is_own, "{named}");
        let shown = machine.run(&["status"]).good();
        for place in [fault, &place] {
            assert!(shown.contains(place), "{place}: {shown}");
        }
        let config = machine.run(&["config"]).good();
        assert!(config.contains("fault: nothing"), "{config}");
        assert!(config.contains(fault), "{config}");
        until("the terminal says so", || {
            (served.printed().matches(fault).count() == 1).then_some(())
        });

        std::fs::write(&file, mended).unwrap();
        let told = agent.hear_until_active(&path);
        assert!(told.contains("hunter2"), "{fault}: {told}");
        assert_eq!(machine.status()["faults"], json!([]), "{fault}");
        let line = format!("{} is mended", file.display());
        until("the terminal says so", || {
            (served.printed().matches(&line).count() == 1).then_some(())
        });

        // And it closes again while the companion runs.
        std::fs::write(&file, broken).unwrap();
        let told = agent.hear();
        assert!(has_no_file(&told), "{fault}: {told}");
        until("the terminal says so again", || {
            (served.printed().matches(fault).count() == 2).then_some(())
        });
    }
}

#[test]
fn a_fault_of_one_folder_says_nothing_about_another() {
    let machine = machine();
    let other = machine.temporary().join("other");
    std::fs::create_dir(&other).unwrap();
    std::fs::write(other.join(".outrigger.toml"), "agents = 'qwen'\n").unwrap();
    let hidden = other.join("hidden.rs");
    std::fs::write(&hidden, "").unwrap();
    let shown = machine.write("shown.rs", "");
    let workspace = machine.workspace();
    let folders = [workspace.to_str().unwrap(), other.to_str().unwrap()];
    let served = machine.start_companion(&folders);
    let mut agent = PlayedAgent::qwen(&machine, &served);
    for path in [hidden.to_str().unwrap(), &shown] {
        machine.run(&["focus", path]).good();
    }
    let told = agent.hear_until_active(&shown);
    assert!(!told.contains("hidden.rs"), "{told}");
    assert_eq!(machine.status()["heldBack"]["closed"], 1);

    std::fs::write(other.join(".outrigger.toml"), "").unwrap();
    until("the folder is open", || {
        let files = machine.status()["files"].clone();
        (files.as_array().unwrap().len() == 2).then_some(())
    });
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

#[test]
fn a_secret_file_is_accepted_whole_or_not_at_all() {
    let machine = machine();
    let text = "KEY=hunter2\nA=1\nB=2\nC=3\n";
    let path = machine.write(".env", text);
    symlink(&path, machine.workspace().join("innocent.txt")).unwrap();
    let served = machine.start_companion(&[]);
    let mut agent = PlayedAgent::qwen(&machine, &served);
    let proposed = "FIRST=1\nA=1\nB=2\nLAST=1\n";
    for (id, name) in [("1", ".env"), ("2", "innocent.txt")] {
        agent.open_diff(name, proposed);
        let listed = machine.run(&["proposals"]).good();
        assert!(listed.contains("not shared with agents"), "{listed}");
        let shown = machine.run(&["show", id]);
        assert!(shown.stderr.contains("holds secrets"), "{shown:?}");
        let json: serde_json::Value =
            serde_json::from_str(&machine.run(&["show", id, "--json"]).good()).unwrap();
        assert_eq!(json["editable"], false, "{json}");

        let ways: [&[&str]; 2] = [&["--hunks", "1"], &["--content-from", "-"]];
        for way in ways {
            let refused = machine.run_with(&[&["accept", id], way].concat(), b"KEY=hunter2\n");
            assert!(
                refused.stderr.contains("not shared with agents"),
                "{refused:?}"
            );
            assert_ne!(refused.code, 0);
        }
        machine.run(&["accept", id]).good();
        let told = agent.hear_verdict();
        assert_eq!(told["params"]["content"], proposed, "{told}");
    }
}
