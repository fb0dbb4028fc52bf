//! Processes on Windows, from one snapshot that PowerShell takes, as the agents themselves do.
//!
//! Each query starts PowerShell, so do not query in a loop. The owner of a process is not
//! checked, because an agent on Windows does not check it either.

use std::collections::BTreeMap;
use std::process::{Command, Stdio};

use super::{ProcessDetails, walk};

/// One line per process: id, parent, start time (0 when we may not read it).
const SNAPSHOT: &str = "Get-CimInstance Win32_Process | ForEach-Object { \
    $t = 0; if ($_.CreationDate) { $t = $_.CreationDate.ToFileTimeUtc() }; \
    \"$($_.ProcessId) $($_.ParentProcessId) $t\" }";

struct Row {
    parent: u32,
    started: u64,
}

pub(super) fn alive(pid: u32) -> bool {
    exists(pid)
}

pub(super) fn exists(pid: u32) -> bool {
    snapshot().contains_key(&pid)
}

pub(super) fn parent(pid: u32) -> Option<u32> {
    Some(snapshot().get(&pid)?.parent)
}

pub(super) fn started(pid: u32) -> Option<u64> {
    Some(snapshot().get(&pid)?.started)
}

/// Always `None`: the snapshot does not have the folder and the environment of a process.
pub(super) fn details(_pid: u32) -> Option<ProcessDetails> {
    None
}

/// Always `None`.
pub(super) fn variable(_pid: u32, _name: &str) -> Option<std::ffi::OsString> {
    None
}

pub(super) fn ide_pid(from: u32) -> u32 {
    let table = snapshot();
    walk::windows(from, |pid| Some(table.get(&pid)?.parent))
}

fn snapshot() -> BTreeMap<u32, Row> {
    let output = Command::new("powershell.exe")
        .args(["-NoProfile", "-NonInteractive", "-Command", SNAPSHOT])
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .output();
    let text = output.map(|output| output.stdout).unwrap_or_default();
    String::from_utf8_lossy(&text)
        .lines()
        .filter_map(row)
        .collect()
}

fn row(line: &str) -> Option<(u32, Row)> {
    let mut fields = line.trim_end().split(' ');
    let pid = fields.next()?.parse().ok()?;
    let parent = fields.next()?.parse().ok()?;
    let started = fields.next()?.parse().ok()?;
    Some((pid, Row { parent, started }))
}
