//! Processes on Unix: signals tell whether they live, and `/proc` or `ps` tells the rest.

use rustix::io::Errno;
use rustix::process::{Pid, test_kill_process};

#[cfg(target_os = "linux")]
use super::proc as table;
#[cfg(not(target_os = "linux"))]
use super::ps as table;
use super::walk;

pub(super) use table::started;

pub(super) fn alive(pid: u32) -> bool {
    probe(pid) == Some(Ok(())) && !table::ended(pid)
}

pub(super) fn exists(pid: u32) -> bool {
    // A process that we may not send a signal to is there all the same.
    matches!(probe(pid), Some(Ok(()) | Err(Errno::PERM))) && !table::ended(pid)
}

pub(super) fn parent(pid: u32) -> Option<u32> {
    Some(table::look(pid)?.parent)
}

pub(super) fn name(pid: u32) -> Option<String> {
    Some(table::look(pid)?.name)
}

pub(super) fn ide_pid(from: u32) -> u32 {
    walk::unix(from, table::look)
}

/// Asks the kernel without sending anything; `None` for a number that cannot be a process.
fn probe(pid: u32) -> Option<Result<(), Errno>> {
    let pid = Pid::from_raw(i32::try_from(pid).ok()?)?;
    Some(test_kill_process(pid))
}
