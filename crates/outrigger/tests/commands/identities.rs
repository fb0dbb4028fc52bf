//! Who is who: agents are told apart by their processes, and those that have ended are gone.
//!
//! The agent is a script in a package, as the published ones are, that has started itself a second
//! time, as they do; it speaks through `outrigger bridge`, which it starts too.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use rustix::process::{Pid, Signal, kill_process, kill_process_group};
use serde_json::{Value, json};
use testkit::{Machine, until};

use crate::machine;

/// Starts itself again under another role, with options for its interpreter as the published agents
/// do, and then the bridge; what it reads and writes is the bridge's.
const SCRIPT: &str = r#"
case "$1" in
    --worker) shift; "$BRIDGE" bridge --agent "$AGENT"; exit $? ;;
    *) bash -u -e "$0" --worker; exit $? ;;
esac
"#;

/// An agent that was installed from a package.
struct PackagedAgent {
    child: Child,
    /// Kept apart from the child, which would close it when it is waited for.
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl PackagedAgent {
    fn start(machine: &Machine, agent: &str, arguments: &[&str]) -> PackagedAgent {
        PackagedAgent::start_in(machine, agent, arguments, machine.workspace())
    }

    fn start_in(
        machine: &Machine,
        agent: &str,
        arguments: &[&str],
        folder: PathBuf,
    ) -> PackagedAgent {
        let (name, version) = match agent {
            "qwen" => ("@qwen-code/qwen-code", "0.24.4"),
            _ => ("@google/gemini-cli", "0.61.0"),
        };
        let package = machine.home().join("lib").join(name);
        fs::create_dir_all(package.join("dist")).unwrap();
        let manifest = json!({ "name": name, "version": version });
        fs::write(package.join("package.json"), manifest.to_string()).unwrap();
        let script = package.join("dist/cli.sh");
        fs::write(&script, SCRIPT).unwrap();
        let mut command = Command::new("bash");
        command.arg(&script).args(arguments).current_dir(folder);
        command.env_clear().envs(machine.environment());
        command.env("BRIDGE", machine.program()).env("AGENT", agent);
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        // A group of its own, so that all of it can be ended.
        let mut child = command.process_group(0).spawn().unwrap();
        let output = BufReader::new(child.stdout.take().unwrap());
        let input = child.stdin.take().unwrap();
        let mut this = PackagedAgent {
            child,
            input,
            output,
        };
        this.say(
            &json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
            "protocolVersion": "2025-06-18",
            "clientInfo": { "name": "streamable-http-client", "version": "1.0.0" },
        } }),
        );
        this.hear(|message| message["id"] == 1);
        this.say(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
        this.hear(|message| message["method"] == "ide/contextUpdate");
        this
    }

    fn say(&mut self, message: &Value) {
        writeln!(self.input, "{message}").unwrap();
    }

    fn hear(&mut self, wanted: impl Fn(&Value) -> bool) {
        loop {
            let mut line = String::new();
            assert_ne!(self.output.read_line(&mut line).unwrap(), 0, "it has ended");
            if wanted(&serde_json::from_str(&line).unwrap()) {
                return;
            }
        }
    }

    fn propose(&mut self, path: &str) {
        let arguments = json!({ "filePath": path, "newContent": "new" });
        let params = json!({ "name": "openDiff", "arguments": arguments });
        self.say(&json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": params }));
        self.hear(|message| message["id"] == 2);
    }

    /// Ends the process that a person sees, without any warning. What it has started lives on.
    fn kill(&mut self) {
        kill_process(Pid::from_child(&self.child), Signal::KILL).unwrap();
        self.child.wait().unwrap();
    }
}

impl Drop for PackagedAgent {
    fn drop(&mut self) {
        let _ = kill_process_group(Pid::from_child(&self.child), Signal::KILL);
        let _ = self.child.wait();
    }
}

#[test]
fn two_agents_of_a_kind_are_told_apart() {
    let machine = machine();
    let _served = machine.start_companion(&[]);
    let below = machine.workspace().join("below");
    fs::create_dir(&below).unwrap();
    let first = PackagedAgent::start(&machine, "qwen", &[]);
    let second = PackagedAgent::start_in(&machine, "qwen", &[], below.clone());
    let terminal = terminal(first.child.id());
    let expected = [
        format!("Qwen Code 0.24.4{terminal} · process {}", first.child.id()),
        format!(
            "Qwen Code 0.24.4{terminal} · process {} · in {}",
            second.child.id(),
            below.display()
        ),
    ];
    let sessions = machine.sessions();
    let labels: Vec<_> = sessions.iter().map(|it| it["label"].as_str()).collect();
    let expected: Vec<_> = expected.iter().map(|it| Some(it.as_str())).collect();
    assert_eq!(labels, expected);
    assert_eq!(sessions[0]["version"], "0.24.4");
    assert_eq!(sessions[0]["client"]["version"], "1.0.0");
    assert_eq!(sessions[0]["presence"], "connected");
    let told = machine.run(&["status"]).good();
    assert!(told.contains(expected[0].unwrap()), "{told}");
}

#[test]
fn a_killed_agent_is_gone_with_its_proposals() {
    let machine = machine();
    let _served = machine.start_companion(&[]);
    let mut killed = PackagedAgent::start(&machine, "qwen", &[]);
    let mut other = PackagedAgent::start(&machine, "gemini", &[]);
    killed.propose(&machine.write("a.txt", "old"));
    other.propose(&machine.write("b.txt", "old"));
    let who: Vec<_> = machine
        .run(&["proposals", "--json"])
        .json()
        .as_array()
        .unwrap()
        .iter()
        .map(|it| it["who"].as_str().unwrap().to_owned())
        .collect();
    assert!(who[0].starts_with("Qwen Code 0.24.4 · "), "{who:?}");
    assert!(who[1].starts_with("Gemini CLI 0.61.0 · "), "{who:?}");
    assert_eq!(machine.sessions().len(), 2);

    // The bridge below it still holds the stream; without its agent it counts for nothing.
    killed.kill();
    let refused = machine.run(&["accept", "1"]);
    assert_eq!(refused.code, 4, "{refused:?}");
    assert!(refused.stderr.contains("is gone"), "{refused:?}");
    assert_eq!(fs::read(machine.path("a.txt")).unwrap(), b"old");
    let left = machine.proposals();
    assert_eq!(left.len(), 1, "{left:?}");
    assert_eq!(left[0].agent, "gemini");
    let sessions = machine.sessions();
    assert_eq!(sessions.len(), 1, "{sessions:?}");
    assert_eq!(sessions[0]["agent"], "gemini");
    machine.accept(&left[0]);
    other.hear(|message| message["method"] == "ide/diffAccepted");
}

#[test]
fn an_agent_that_nobody_decides_about_is_gone_too() {
    let machine = machine();
    let _served = machine.start_companion(&[]);
    let mut killed = PackagedAgent::start(&machine, "qwen", &[]);
    killed.propose(&machine.write("a.txt", "old"));
    killed.kill();
    // Long before the minute that an agent of an unknown process is given.
    until("its proposal leaves", || {
        machine.proposals().is_empty().then_some(())
    });
    assert_eq!(machine.sessions(), [Value::Null; 0]);
}

#[test]
fn an_agent_whose_process_runs_is_away_at_worst() {
    let machine = machine();
    let served = machine.start_companion(&[]);
    let agent = testkit::PlayedAgent::qwen(&machine, &served);
    drop(agent);
    let away = until("it is away", || {
        let session = machine.sessions().into_iter().next()?;
        (session["presence"] == "away").then_some(session)
    });
    let note = away["note"].as_str().unwrap();
    assert!(note.starts_with("away: its connection is closed"), "{note}");
    let told = machine.run(&["status"]).good();
    assert!(told.contains("it may come back"), "{told}");
}

#[test]
fn a_mode_that_never_asks_is_said_aloud() {
    let machine = machine();
    let qwen = machine.home().join(".qwen");
    let project = machine.workspace().join(".qwen");
    fs::create_dir_all(&project).unwrap();
    let _served = machine.start_companion(&[]);
    let said = |agent: &str, arguments: &[&str]| {
        let running = PackagedAgent::start(&machine, agent, arguments);
        let note = machine.sessions()[0]["note"].as_str().map(str::to_owned);
        drop(running);
        until("it is gone", || machine.sessions().is_empty().then_some(()));
        note
    };
    let mode = |note: Option<String>| {
        let note = note?;
        let (_, rest) = note.split_once("started in ")?;
        let (mode, rest) = rest.split_once(" mode")?;
        assert!(rest.contains("does not ask before it writes"), "{note}");
        Some(mode.to_owned())
    };
    // With nothing set.
    assert_eq!(mode(said("qwen", &[])).as_deref(), Some("auto"));
    assert_eq!(said("gemini", &[]), None);
    assert_eq!(mode(said("gemini", &["-y"])).as_deref(), Some("yolo"));
    let remedy = said("qwen", &["--approval-mode", "yolo"]).unwrap();
    assert!(remedy.contains("`/approval-mode default`"), "{remedy}");
    assert_eq!(said("qwen", &["--approval-mode=default"]), None);
    // The person's settings, and those of the workspace, which go before.
    fs::create_dir_all(&qwen).unwrap();
    let asking = r#"{ "tools": { "approvalMode": "default" } } // asks"#;
    fs::write(qwen.join("settings.json"), asking).unwrap();
    assert_eq!(said("qwen", &[]), None);
    let unasking = r#"{"tools":{"approvalMode":"auto-edit"}}"#;
    fs::write(project.join("settings.json"), unasking).unwrap();
    assert_eq!(mode(said("qwen", &[])).as_deref(), Some("auto-edit"));
}

/// The terminal of a process as a label names it; a test may run in none.
fn terminal(pid: u32) -> String {
    let details = beacon::process::details(pid).unwrap();
    let terminal = details.terminal.map(|name| format!(" · {name}"));
    terminal.unwrap_or_default()
}
