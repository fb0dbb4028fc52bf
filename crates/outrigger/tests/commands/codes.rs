//! Exit codes: scripts tell one kind of failure from another by them.

use std::net::TcpListener;

use crate::sandbox::{Sandbox, finish};

#[test]
fn without_a_companion() {
    let sandbox = Sandbox::new();
    let file = sandbox.file("a", "");
    let table: [&[&str]; 10] = [
        &["proposals"],
        &["proposals", "--json"],
        &["show", "1"],
        &["accept", "1"],
        &["reject", "1"],
        &["focus", &file],
        &["env"],
        &["bridge"],
        &["restart"],
        &["stop"],
    ];
    for args in table {
        let done = sandbox.run(args);
        assert_eq!(done.code, 3, "{args:?}: {done:?}");
        assert_eq!(done.stdout, "", "{args:?}");
        assert!(
            done.stderr.contains("no companion serves"),
            "{args:?}: {done:?}"
        );
        assert!(done.stderr.contains("hint: "), "{args:?}: {done:?}");
    }
    let status = sandbox.run(&["status"]);
    assert!(status.good().contains("no companion is running"));
}

#[test]
fn wrong_usage() {
    let sandbox = Sandbox::new();
    let table: [&[&str]; 11] = [
        &["show"],
        &["show", "x"],
        &["accept", "-1"],
        &["accept", "1", "--hunks", "a"],
        &["accept", "1", "--hunks", "1", "--content-from", "x"],
        &["focus"],
        &["focus", "a", "--column", "3"],
        &["env", "--shell", "cmd"],
        &["serve", "--port", "99999"],
        &["serve", "--agents", "claude"],
        &["run"],
    ];
    for args in table {
        let done = sandbox.run(args);
        assert_eq!(done.code, 2, "{args:?}: {done:?}");
        assert!(done.stderr.starts_with("error: "), "{args:?}: {done:?}");
    }
}

#[test]
fn wrong_configuration() {
    let sandbox = Sandbox::new();
    let with = |variable: &str, value: &str, args: &[&str]| {
        let mut command = sandbox.command(args);
        finish(
            {
                command.env(variable, value);
                command
            },
            b"",
        )
    };
    let config = sandbox.home.join("c.toml");
    let file = |text: &str| {
        std::fs::write(&config, text).unwrap();
        with(
            "OUTRIGGER_CONFIG",
            config.to_str().unwrap(),
            &["serve", "--json"],
        )
    };
    let table = [
        ("OUTRIGGER_PORT=x", with("OUTRIGGER_PORT", "x", &["serve"])),
        (
            "OUTRIGGER_AGENTS=claude",
            with("OUTRIGGER_AGENTS", "claude", &["config"]),
        ),
        ("--log loud", sandbox.run(&["serve", "--log", "loud"])),
        ("--name ''", sandbox.run(&["serve", "--name", " "])),
        ("an unknown key", file("prot = 1")),
        ("no TOML", file("= =")),
        (
            "a bad pattern",
            sandbox.run(&["serve", "--ignore", "a[z-a]"]),
        ),
    ];
    for (name, done) in table {
        assert_eq!(done.code, 6, "{name}: {done:?}");
        assert!(done.stderr.contains("hint: "), "{name}: {done:?}");
    }
}

#[test]
fn what_cannot_be_started() {
    let sandbox = Sandbox::new();
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    let file = sandbox.file("a file", "");
    let table: [(&[&str], &str); 4] = [
        (&["serve", "--port", &port], &port),
        (&["serve", "no/such/folder"], "no/such/folder"),
        (&["serve", &file], "not a folder"),
        (&["serve", "--parent", "4194304"], "4194304"),
    ];
    for (args, part) in table {
        let done = sandbox.run(args);
        assert_eq!(done.code, 7, "{args:?}: {done:?}");
        assert!(done.stderr.contains(part), "{args:?}: {done:?}");
        assert_eq!(done.stdout, "", "{args:?}");
    }
    // Nothing of a companion that never was is left.
    assert_eq!(sandbox.run(&["proposals"]).code, 3);
    let lock = sandbox.home.join(format!(".qwen/ide/{port}.lock"));
    assert!(!lock.exists());
}

#[test]
fn files_that_a_command_cannot_use() {
    let sandbox = Sandbox::new();
    let served = sandbox.serve(&[]);
    crate::agent::Agent::qwen(&sandbox, &served).open_diff("/x", "new");
    let table: [(&[&str], i32); 4] = [
        (&["accept", "1", "--content-from", "nope"], 1),
        (&["accept", "1", "--content-from", "."], 1),
        (&["focus", "."], 4),
        (&["focus", "nope"], 4),
    ];
    for (args, code) in table {
        let done = sandbox.run(args);
        assert_eq!(done.code, code, "{args:?}: {done:?}");
        assert!(done.stderr.starts_with("outrigger: "), "{done:?}");
    }
    sandbox.run(&["accept", "1"]).good();
}

#[test]
fn a_reader_that_goes_away_is_no_failure() {
    let sandbox = Sandbox::new();
    let script = format!(
        "{} completions bash | head -1",
        env!("CARGO_BIN_EXE_outrigger")
    );
    let mut shell = std::process::Command::new("sh");
    shell.args(["-c", &script]).env("HOME", &sandbox.home);
    let done = finish(shell, b"");
    assert_eq!((done.code, done.stderr.as_str()), (0, ""), "{done:?}");
}
