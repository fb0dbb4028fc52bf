//! What a process is, beyond its id: which run of a program, and how it was started.

use std::ffi::OsString;
use std::path::PathBuf;

use super::{alive, is_same_run, platform, started};

/// A process that is not confused with a later one that got the same number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ProcessId {
    /// The number that the system gave it.
    pub pid: u32,
    /// When it was started, see [`started`].
    pub started: u64,
}

impl ProcessId {
    /// The process that has this number now.
    pub fn of(pid: u32) -> Option<ProcessId> {
        let started = started(pid)?;
        Some(ProcessId { pid, started })
    }

    /// Whether this very process still runs.
    pub fn is_running(&self) -> bool {
        alive(self.pid) && is_same_run(Some(self.started), started(self.pid))
    }
}

/// How a process of this user was started, and where it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProcessDetails {
    /// The process that started it, or that has adopted it since.
    pub parent: u32,
    /// The terminal that it is in, such as `pts/3`.
    pub terminal: Option<String>,
    /// The folder that it works in.
    pub folder: Option<PathBuf>,
    /// Its command line, the program first.
    pub arguments: Vec<OsString>,
}

/// How a process of this user was started. Known on Linux only.
pub fn details(pid: u32) -> Option<ProcessDetails> {
    platform::details(pid)
}

/// The value that a variable had when a process of this user was started. Known on Linux only.
/// Other variables are not looked at, because an environment often contains secrets.
pub fn variable(pid: u32, name: &str) -> Option<OsString> {
    platform::variable(pid, name)
}
