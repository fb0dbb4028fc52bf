//! What a person types: the commands of the program under test.

use std::fs;
use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use serde::Deserialize;
use serde_json::Value;

use crate::{Machine, PATIENCE};

/// A proposal as `outrigger proposals --json` lists it.
#[derive(Clone, Debug, Deserialize)]
pub struct Proposal {
    /// The number the commands take.
    pub id: u64,
    /// The file it would change.
    pub path: PathBuf,
    /// The agent that asks.
    pub agent: String,
    /// The session that asks.
    pub session: String,
    /// How many separate changes it makes.
    pub hunks: usize,
}

impl Machine {
    /// What `outrigger proposals` lists.
    #[track_caller]
    pub fn proposals(&self) -> Vec<Proposal> {
        let listed = self.run(&["proposals", "--json"]).json();
        serde_json::from_value(listed).unwrap()
    }

    /// What `outrigger status` says about the one companion.
    #[track_caller]
    pub fn status(&self) -> Value {
        let mut status = self.run(&["status", "--json"]).json();
        let companions = status["companions"].as_array().map(Vec::len);
        assert_eq!(companions, Some(1), "not one companion: {status}");
        status["companions"][0].take()
    }

    /// The process of the companion, if one runs; an editor may start one at any time.
    #[track_caller]
    pub fn served_by(&self) -> Option<u32> {
        let done = self.run(&["status", "--json"]);
        let status: Value = serde_json::from_str(&done.stdout).unwrap_or_default();
        let process = status["companions"][0]["pid"].as_u64();
        process.and_then(|process| process.try_into().ok())
    }

    /// The sessions of the one companion.
    #[track_caller]
    pub fn sessions(&self) -> Vec<Value> {
        let status = self.status();
        let sessions = status["sessions"].as_array();
        sessions
            .unwrap_or_else(|| panic!("no sessions in {status}"))
            .clone()
    }

    /// What a companion has written down about itself, secrets included.
    pub fn record(&self) -> Value {
        let companions = self.home().join(".local/state/outrigger/companions");
        let mut companions = fs::read_dir(companions).unwrap();
        let folder = companions.next().unwrap().unwrap().path();
        let record = fs::read(folder.join("companion.json")).unwrap();
        serde_json::from_slice(&record).unwrap()
    }

    /// Accepts a proposal as it is.
    #[track_caller]
    pub fn accept(&self, proposal: &Proposal) {
        self.run(&["accept", &proposal.id.to_string()]).good();
    }

    /// Accepts a proposal with another text.
    #[track_caller]
    pub fn accept_edited(&self, proposal: &Proposal, text: &str) {
        let id = proposal.id.to_string();
        self.run_with(&["accept", &id, "--content-from", "-"], text)
            .good();
    }

    /// Accepts some hunks of a proposal.
    #[track_caller]
    pub fn accept_hunks(&self, proposal: &Proposal, hunks: &str) {
        let id = proposal.id.to_string();
        self.run(&["accept", &id, "--hunks", hunks]).good();
    }

    /// Rejects a proposal.
    #[track_caller]
    pub fn reject(&self, proposal: &Proposal) {
        self.run(&["reject", &proposal.id.to_string()]).good();
    }

    /// Tells the companion where the person is.
    #[track_caller]
    pub fn focus(&self, name: &str, line: u32, column: u32, selection: &str) {
        let path = self.path(name);
        let arguments = [
            "focus",
            path.to_str().unwrap(),
            "--line",
            &line.to_string(),
            "--column",
            &column.to_string(),
            "--selection-from",
            "-",
        ];
        self.run_with(&arguments, selection).good();
    }

    /// Runs a command of the program to its end.
    #[track_caller]
    pub fn run(&self, arguments: &[&str]) -> Done {
        self.run_with(arguments, "")
    }

    /// The same, with `input` on its stdin.
    #[track_caller]
    pub fn run_with(&self, arguments: &[&str], input: impl AsRef<[u8]>) -> Done {
        finish(self.command(arguments), input)
    }
}

/// A command that has ended.
#[derive(Debug)]
pub struct Done {
    /// Its exit code; -1 if a signal ended it.
    pub code: i32,
    /// What it printed.
    pub stdout: String,
    /// What it complained about.
    pub stderr: String,
}

impl Done {
    /// What a command printed that went well.
    ///
    /// # Panics
    /// When it did not.
    #[track_caller]
    pub fn good(self) -> String {
        assert_eq!(self.code, 0, "{self:?}");
        self.stdout
    }

    /// The same, read as JSON.
    #[track_caller]
    pub fn json(self) -> Value {
        serde_json::from_str(&self.good()).unwrap()
    }
}

/// Runs a command that prints text to its end, with `input` on its stdin.
#[track_caller]
pub fn finish(mut command: Command, input: impl AsRef<[u8]>) -> Done {
    let output = run_to_end(&mut command, input);
    Done {
        code: output.status.code().unwrap_or(-1),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}

/// Runs `command` to its end, with `input` on its stdin.
///
/// # Panics
/// When it does not end.
#[track_caller]
pub fn run_to_end(command: &mut Command, input: impl AsRef<[u8]>) -> Output {
    run_within(PATIENCE, command, input)
}

/// The same for a command that runs many tests of its own, each of which may wait for something.
///
/// # Panics
/// When it does not end.
#[track_caller]
pub fn run_suite(command: &mut Command) -> Output {
    run_within(PATIENCE * 10, command, "")
}

#[track_caller]
fn run_within(patience: Duration, command: &mut Command, input: impl AsRef<[u8]>) -> Output {
    command.stdin(Stdio::piped());
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let pid = Pid::from_child(&child);
    // A program that does not read its input may have gone already.
    let _ = child.stdin.take().unwrap().write_all(input.as_ref());
    let (send, receive) = mpsc::channel();
    thread::spawn(move || send.send(child.wait_with_output()));
    let Ok(output) = receive.recv_timeout(patience) else {
        let _ = kill_process(pid, Signal::KILL);
        panic!("{command:?} did not end");
    };
    output.unwrap()
}
