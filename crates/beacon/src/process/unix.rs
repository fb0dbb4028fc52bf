//! Processes on Unix: signal 0 shows whether they are alive, `/proc` or `ps` the rest.

use rustix::io::Errno;
use rustix::process::{Pid, test_kill_process};

#[cfg(target_os = "linux")]
use super::proc as table;
#[cfg(not(target_os = "linux"))]
use super::ps as table;
use super::walk;

pub(super) use table::{details, entry, started, variable};

pub(super) fn alive(pid: u32) -> bool {
    probe(pid) == Some(Ok(())) && !table::ended(pid)
}

pub(super) fn exists(pid: u32) -> bool {
    // A process that we may not send a signal to exists nevertheless.
    matches!(probe(pid), Some(Ok(()) | Err(Errno::PERM))) && !table::ended(pid)
}

pub(super) fn parent(pid: u32) -> Option<u32> {
    Some(entry(pid)?.parent)
}

pub(super) fn ide_pid(from: u32) -> u32 {
    walk::unix(from, entry)
}

/// Sends signal 0, which only checks; `None` for a number that cannot be a process id.
fn probe(pid: u32) -> Option<Result<(), Errno>> {
    let pid = Pid::from_raw(i32::try_from(pid).ok()?)?;
    Some(test_kill_process(pid))
}
