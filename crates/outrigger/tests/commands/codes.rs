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

#[cfg(unix)]
#[test]
fn with_a_companion_that_does_not_answer() {
    use rustix::process::Signal;

    let machine = machine();
    let served = machine.start_companion(&[]);
    served.signal(Signal::STOP);
    let (status, as_json, listed) = std::thread::scope(|scope| {
        let run = |args: &'static [&str]| scope.spawn(|| machine.run(args));
        let status = run(&["status"]);
        let as_json = run(&["status", "--json"]);
        let listed = run(&["proposals"]);
        (
            status.join().unwrap(),
            as_json.join().unwrap(),
            listed.join().unwrap(),
        )
    });
    served.signal(Signal::CONT);

    let said = format!(
        "a companion runs (process {}, port {}) but does not answer",
        served.pid(),
        served.port()
    );
    let shown = status.good();
    assert!(shown.contains(&said), "{shown}");
    assert!(!shown.contains("no companion"), "{shown}");
    let json = as_json.json();
    assert_eq!(json["silent"][0]["pid"], served.pid());
    assert_eq!(json["companions"], serde_json::json!([]));
    assert_eq!(listed.code, 5, "{listed:?}");
    assert!(listed.stderr.contains(&said), "{listed:?}");
}

#[test]
fn wrong_usage() {
    let machine = machine();
    let table: [&[&str]; 17] = [
        &["show", "x"],
        &["accept", "-1"],
        &["accept", "1", "--hunks", "a"],
        &["accept", "1", "--hunks", "0"],
        &["accept", "1", "--hunks", "3-1"],
        &["accept", "1", "--hunks", "1", "--content-from", "x"],
        &["accept", "1", "--all"],
        &["accept", "--all", "--hunks", "1"],
        &["reject", "1", "--agent", "qwen"],
        &["focus"],
        &["focus", "a", "--line", "0"],
        &["focus", "a", "--column", "3"],
        &["env", "--shell", "cmd"],
        &["serve", "--port", "99999"],
        &["serve", "--agents", "claude"],
        &["man", "accept", "--dir", "x"],
        &["run"],
    ];
    for args in table {
        let done = machine.run(args);
        assert_eq!(done.code, 2, "{args:?}: {done:?}");
        assert!(done.stderr.starts_with("error: "), "{args:?}: {done:?}");
        // What Rust calls a wrong number is of no use to anybody.
        assert!(!done.stderr.contains("invalid digit"), "{args:?}: {done:?}");
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
    let file = |text: &str, args: &[&str]| {
        std::fs::write(&config, text).unwrap();
        with("OUTRIGGER_CONFIG", config.to_str().unwrap(), args)
    };
    let table = [
        ("OUTRIGGER_PORT=x", with("OUTRIGGER_PORT", "x", &["serve"])),
        ("--log loud", machine.run(&["serve", "--log", "loud"])),
        ("--name ''", machine.run(&["serve", "--name", " "])),
        ("no port", file("port = 'x'", &["serve", "--json"])),
        ("a wrong table", file("daemon = 1", &["daemon", "status"])),
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
    let table: [(&[&str], &str); 11] = [
        (&["serve", "--port", &port], &port),
        (&["no/such/folder"], "there is no folder no/such/folder"),
        (&["serve", "no/such/folder"], "there is no folder"),
        (&["config", "no/such/folder"], "there is no folder"),
        (&["-C", "no/such/folder"], "there is no folder"),
        (&["-C", "no/such/folder", "status"], "there is no folder"),
        (&["-C", "no/such/folder", "proposals"], "there is no folder"),
        (
            &["-C", "no/such/folder", "focus", &file],
            "there is no folder",
        ),
        (&["-C", &file, "accept"], "not a folder"),
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

#[test]
fn a_mistyped_command_is_no_folder() {
    let machine = machine();
    for (word, rest, command) in [
        ("statsu", &[][..], "status"),
        ("acept", &["3"], "accept"),
        ("shwo", &["1", "--json"], "show"),
    ] {
        let done = machine.run(&[&[word], rest].concat());
        assert_eq!(done.code, 2, "{done:?}");
        let question = format!("did you mean {command}?");
        assert!(done.stderr.contains(&question), "{done:?}");
    }
    // A folder of that very name is served.
    std::fs::create_dir(machine.workspace().join("statsu")).unwrap();
    let mut command = machine.command(&["statsu", "--json"]);
    command.env("OUTRIGGER_OPEN", "false");
    let served = testkit::Companion::start(command);
    assert!(
        machine.status()["roots"][0]
            .as_str()
            .unwrap()
            .ends_with("statsu")
    );
    drop(served);
}

#[test]
fn every_command_has_a_manual_page() {
    let machine = machine();
    let main = machine.run(&["man"]).good();
    assert!(main.contains(".TH outrigger 1"), "{main}");
    for (words, title) in [
        (&["accept"][..], "outrigger-accept"),
        (&["daemon", "prompt"], "outrigger-daemon-prompt"),
    ] {
        let page = machine.run(&[&["man"], words].concat()).good();
        assert!(page.contains(&format!(".TH {title} 1")), "{page}");
    }
    let accept = machine.run(&["man", "accept"]).good();
    for part in ["\\-\\-hunks", "\\-\\-state\\-dir", "outrigger accept 3"] {
        assert!(accept.contains(part), "{part} in {accept}");
    }
    let unknown = machine.run(&["man", "acept"]);
    assert_eq!(unknown.code, 2, "{unknown:?}");

    machine.run(&["man", "--dir", "pages/man1"]).good();
    let written = std::fs::read_dir(machine.path("pages/man1")).unwrap();
    let names: Vec<_> = written.map(|file| file.unwrap().file_name()).collect();
    let help = machine.run(&["--help"]).good();
    let commands = help.split_once("Commands:\n").unwrap().1;
    let commands = commands.split_once("\n\n").unwrap().0;
    for line in commands
        .lines()
        .filter(|line| line.starts_with("  ") && !line.starts_with("   "))
    {
        let command = line.split_whitespace().next().unwrap();
        if command != "help" {
            let page = format!("outrigger-{command}.1");
            assert!(
                names.iter().any(|name| *name == *page),
                "{page} in {names:?}"
            );
        }
    }
    assert!(
        names
            .iter()
            .any(|name| *name == *"outrigger-daemon-answer.1")
    );
}
