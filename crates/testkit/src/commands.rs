//! What the person of a household types: the commands of the program under test.

use std::ffi::OsStr;
use std::fs;
use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};
use std::sync::mpsc;
use std::thread;

use rustix::process::{Pid, Signal, kill_process};
use serde::Deserialize;
use serde_json::Value;

use crate::{Household, PATIENCE};

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

impl Household {
    /// What `outrigger proposals` lists.
    #[track_caller]
    pub fn proposals(&self) -> Vec<Proposal> {
        let output = self.outrigger(["proposals", "--json"], "");
        serde_json::from_slice(&output).unwrap()
    }

    /// What `outrigger status` says about the one companion.
    #[track_caller]
    pub fn status(&self) -> Value {
        let output = self.outrigger(["status", "--json"], "");
        let mut status: Value = serde_json::from_slice(&output).unwrap();
        let companions = status["companions"].as_array().map(Vec::len);
        assert_eq!(companions, Some(1), "not one companion: {status}");
        status["companions"][0].take()
    }

    /// The process of the companion, if one runs; an editor may start one at any time.
    #[track_caller]
    pub fn served_by(&self) -> Option<u32> {
        let output = run_to_end(self.command().args(["status", "--json"]), "");
        let status: Value = serde_json::from_slice(&output.stdout).unwrap_or_default();
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
        self.outrigger(["accept", &proposal.id.to_string()], "");
    }

    /// Accepts a proposal with another text.
    #[track_caller]
    pub fn accept_edited(&self, proposal: &Proposal, text: &str) {
        let id = proposal.id.to_string();
        self.outrigger(["accept", &id, "--content-from", "-"], text);
    }

    /// Accepts some hunks of a proposal.
    #[track_caller]
    pub fn accept_hunks(&self, proposal: &Proposal, hunks: &str) {
        self.outrigger(["accept", &proposal.id.to_string(), "--hunks", hunks], "");
    }

    /// Rejects a proposal.
    #[track_caller]
    pub fn reject(&self, proposal: &Proposal) {
        self.outrigger(["reject", &proposal.id.to_string()], "");
    }

    /// Tells the companion where the person is.
    #[track_caller]
    pub fn focus(&self, name: &str, line: u32, column: u32, selection: &str) {
        let path = self.path(name);
        let (line, column) = (line.to_string(), column.to_string());
        let arguments = [
            OsStr::new("focus"),
            path.as_os_str(),
            "--line".as_ref(),
            line.as_ref(),
            "--column".as_ref(),
            column.as_ref(),
            "--selection-from".as_ref(),
            "-".as_ref(),
        ];
        self.outrigger(arguments, selection);
    }

    /// Runs a command of the program to its end, with `input` on its stdin; its stdout.
    ///
    /// # Panics
    /// When it fails or does not end.
    #[track_caller]
    pub fn outrigger<S: AsRef<OsStr>>(
        &self,
        arguments: impl IntoIterator<Item = S>,
        input: &str,
    ) -> Vec<u8> {
        let mut command = self.command();
        command.args(arguments);
        let output = run_to_end(&mut command, input);
        assert!(
            output.status.success(),
            "{command:?} failed with {}: {}",
            output.status,
            String::from_utf8_lossy(&output.stderr)
        );
        output.stdout
    }

    /// The program under test, as typed in a plain terminal in the workspace.
    pub fn command(&self) -> Command {
        let mut command = Command::new(self.program());
        command.current_dir(self.workspace());
        command.env_clear().envs(self.environment());
        command
    }
}

/// Runs `command` to its end, with `input` on its stdin.
///
/// # Panics
/// When it does not end.
#[track_caller]
pub fn run_to_end(command: &mut Command, input: &str) -> Output {
    command.stdin(Stdio::piped());
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let pid = Pid::from_child(&child);
    // A program that does not read its input may have gone already.
    let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
    let (send, receive) = mpsc::channel();
    thread::spawn(move || send.send(child.wait_with_output()));
    let Ok(output) = receive.recv_timeout(PATIENCE) else {
        let _ = kill_process(pid, Signal::KILL);
        panic!("{command:?} did not end");
    };
    output.unwrap()
}
