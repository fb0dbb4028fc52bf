//! The companion under test, as a process.

use std::fs;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use tempfile::NamedTempFile;

use crate::until;

/// How long a companion may take to leave after SIGTERM.
const LEAVING: Duration = Duration::from_secs(10);

/// A running `outrigger serve`. Dropping it asks it to leave, and ends it if it does not.
pub struct Companion {
    child: Child,
    port: u16,
    /// What it prints. A file has all of it as soon as the process has ended, however it did.
    stdout: NamedTempFile,
    stderr: NamedTempFile,
}

impl Companion {
    /// Starts `command` and waits for the line that says it is ready.
    #[track_caller]
    pub fn start(mut command: Command) -> Self {
        let [stdout, stderr] = [(), ()].map(|()| NamedTempFile::new().unwrap());
        command.stdin(Stdio::null());
        command.stdout(stdout.reopen().unwrap());
        command.stderr(stderr.reopen().unwrap());
        let mut this = Self {
            child: command.spawn().unwrap(),
            port: 0,
            stdout,
            stderr,
        };
        let ready = until("the companion is ready", || {
            let ended = this.child.try_wait().unwrap();
            assert_eq!(ended, None, "it ended before it was ready");
            let line = this.ready_line();
            line.ends_with('\n').then_some(line)
        });
        let ready: Value = serde_json::from_str(&ready).unwrap();
        this.port = ready["port"].as_u64().unwrap().try_into().unwrap();
        this
    }

    /// Its process id.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// The port it told in its line.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// What it has told scripts: the line that says it is ready.
    pub fn ready_line(&self) -> String {
        fs::read_to_string(&self.stdout).unwrap()
    }

    /// Everything that it has printed so far.
    pub fn printed(&self) -> String {
        self.ready_line() + &fs::read_to_string(&self.stderr).unwrap()
    }

    /// Sends it a signal.
    pub fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.child), signal).unwrap();
    }

    /// Waits until it has ended by itself.
    #[track_caller]
    pub fn ended(&mut self) -> ExitStatus {
        until("the companion ends", || self.child.try_wait().unwrap())
    }

    /// Ends it without any warning, as a crash would.
    pub fn kill(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Drop for Companion {
    fn drop(&mut self) {
        if thread::panicking() {
            eprintln!("--- printed by the companion ---\n{}", self.printed());
        }
        // It may have ended already; then there is nobody to tell.
        if let Ok(None) = self.child.try_wait() {
            self.signal(Signal::TERM);
        }
        let end = Instant::now() + LEAVING;
        while self.child.try_wait().is_ok_and(|ended| ended.is_none()) {
            if Instant::now() > end {
                self.kill();
            }
            thread::sleep(Duration::from_millis(5));
        }
    }
}
