//! Exit codes: scripts tell one kind of failure from another by them.

use std::net::TcpListener;

use testkit::{PlayedAgent, finish};

use crate::machine;

#[test]
fn without_a_companion() {
    let machine = machine();
    let file = machine.write("a", "");
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
        let done = machine.run(args);
        assert_eq!(done.code, 3, "{args:?}: {done:?}");
        assert_eq!(done.stdout, "", "{args:?}");
        assert!(
            done.stderr.contains("no companion serves"),
            "{args:?}: {done:?}"
        );
        assert!(done.stderr.contains("hint: "), "{args:?}: {done:?}");
    }
    let status = machine.run(&["status"]);
    assert!(status.good().contains("no companion is running"));
}

#[test]
fn wrong_usage() {
    let machine = machine();
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
        let done = machine.run(args);
        assert_eq!(done.code, 2, "{args:?}: {done:?}");
        assert!(done.stderr.starts_with("error: "), "{args:?}: {done:?}");
    }
}

#[test]
fn wrong_configuration() {
    let machine = machine();
    let with = |variable: &str, value: &str, args: &[&str]| {
        let mut command = machine.command(args);
        command.env(variable, value);
        finish(command, b"")
    };
    let config = machine.home().join("c.toml");
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
        ("--log loud", machine.run(&["serve", "--log", "loud"])),
        ("--name ''", machine.run(&["serve", "--name", " "])),
        ("no port", file("port = 'x'")),
        ("a wrong table", file("daemon = 1")),
        (
            "a bad pattern",
            machine.run(&["serve", "--ignore", "a[z-a]"]),
        ),
    ];
    for (name, done) in table {
        assert_eq!(done.code, 6, "{name}: {done:?}");
        assert!(done.stderr.contains("hint: "), "{name}: {done:?}");
    }
}

#[test]
fn what_cannot_be_started() {
    let machine = machine();
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    let file = machine.write("a file", "");
    let table: [(&[&str], &str); 4] = [
        (&["serve", "--port", &port], &port),
        (&["serve", "no/such/folder"], "no/such/folder"),
        (&["serve", &file], "not a folder"),
        (&["serve", "--parent", "4194304"], "4194304"),
    ];
    for (args, part) in table {
        let done = machine.run(args);
        assert_eq!(done.code, 7, "{args:?}: {done:?}");
        assert!(done.stderr.contains(part), "{args:?}: {done:?}");
        assert_eq!(done.stdout, "", "{args:?}");
    }
    // Nothing of a companion that never was is left.
    assert_eq!(machine.run(&["proposals"]).code, 3);
    let lock = machine.home().join(format!(".qwen/ide/{port}.lock"));
    assert!(!lock.exists());
}

#[test]
fn files_that_a_command_cannot_use() {
    let machine = machine();
    let served = machine.start_companion(&[]);
    PlayedAgent::qwen(&machine, &served).open_diff("/x", "new");
    let table: [(&[&str], i32); 4] = [
        (&["accept", "1", "--content-from", "nope"], 1),
        (&["accept", "1", "--content-from", "."], 1),
        (&["focus", "."], 4),
        (&["focus", "nope"], 4),
    ];
    for (args, code) in table {
        let done = machine.run(args);
        assert_eq!(done.code, code, "{args:?}: {done:?}");
        assert!(done.stderr.starts_with("outrigger: "), "{done:?}");
    }
    machine.run(&["accept", "1"]).good();
}

#[test]
fn a_reader_that_goes_away_is_no_failure() {
    let machine = machine();
    let script = format!(
        "{} completions bash | head -1",
        env!("CARGO_BIN_EXE_outrigger")
    );
    let mut shell = std::process::Command::new("sh");
    shell.args(["-c", &script]).env("HOME", machine.home());
    let done = finish(shell, b"");
    assert_eq!((done.code, done.stderr.as_str()), (0, ""), "{done:?}");
}
