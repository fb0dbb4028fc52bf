//! The companion under test, as a process.

use std::io::{BufRead, BufReader, Read};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::PATIENCE;

/// How long a companion may take to leave after SIGTERM.
const LEAVING: Duration = Duration::from_secs(10);

/// A running `outrigger serve`. Dropping it asks it to leave, and ends it if it does not.
pub struct Companion {
    child: Child,
    ready: Value,
    /// What it has written to stderr so far.
    log: Arc<Mutex<String>>,
}

impl Companion {
    /// Starts `command` and waits for the line that says it is ready.
    #[track_caller]
    pub(crate) fn start(mut command: Command) -> Self {
        command.stdin(Stdio::null());
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let log = Arc::<Mutex<String>>::default();
        let stderr = child.stderr.take().unwrap();
        let written = log.clone();
        thread::spawn(move || {
            for line in BufReader::new(stderr).lines().map_while(Result::ok) {
                *written.lock().unwrap() += &format!("{line}\n");
            }
        });
        let mut stdout = BufReader::new(child.stdout.take().unwrap());
        let (send, receive) = mpsc::channel();
        thread::spawn(move || {
            let mut line = String::new();
            let _ = stdout.read_line(&mut line);
            let _ = send.send(line);
            // Nobody may ever block on a full pipe.
            let _ = stdout.read_to_end(&mut Vec::new());
        });
        let line = receive.recv_timeout(PATIENCE).unwrap_or_default();
        let mut this = Self {
            child,
            ready: serde_json::from_str(&line).unwrap_or_default(),
            log,
        };
        if !this.ready.is_object() {
            this.kill();
            panic!("the companion did not get ready: {line:?}\n{}", this.log());
        }
        this
    }

    /// Its process id.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// The port it told in its line.
    pub fn port(&self) -> u16 {
        let port = self.ready["port"]
            .as_u64()
            .and_then(|it| it.try_into().ok());
        port.unwrap_or_else(|| panic!("no port in {}", self.ready))
    }

    /// What it has logged so far.
    pub fn log(&self) -> String {
        self.log.lock().unwrap().clone()
    }

    /// Ends it without any warning, as a crash would.
    pub fn kill(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }

    /// Asks it to leave.
    ///
    /// # Panics
    /// When it does not leave, or not with success.
    #[track_caller]
    pub fn stop(mut self) {
        let status = self.ask_to_leave(PATIENCE);
        assert!(
            status.is_some_and(|it| it.success()),
            "SIGTERM ended the companion with {status:?}\n{}",
            self.log()
        );
    }

    fn ask_to_leave(&mut self, patience: Duration) -> Option<std::process::ExitStatus> {
        let pid = Pid::from_child(&self.child);
        let end = Instant::now() + patience;
        if let Ok(None) = self.child.try_wait() {
            let _ = kill_process(pid, Signal::TERM);
        }
        while Instant::now() < end {
            if let Ok(Some(status)) = self.child.try_wait() {
                return Some(status);
            }
            thread::sleep(Duration::from_millis(20));
        }
        None
    }
}

impl Drop for Companion {
    fn drop(&mut self) {
        if thread::panicking() {
            eprintln!("--- log of the companion ---\n{}", self.log());
        }
        if self.ask_to_leave(LEAVING).is_none() {
            self.kill();
        }
    }
}
