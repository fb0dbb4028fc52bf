//! The process table where there is no `/proc`, such as on macOS: from `ps`, which the agents use
//! too. Each query starts a process, so do not query in a loop.

use std::process::{Command, Stdio};

#[cfg(not(target_os = "linux"))]
use super::ProcessDetails;
use super::walk::ProcessEntry;

pub(super) fn entry(pid: u32) -> Option<ProcessEntry> {
    parse(&query(pid, "ppid=,command=")?)
}

/// The time of its start as `ps` prints it, made into a number.
pub(super) fn started(pid: u32) -> Option<u64> {
    Some(fingerprint(query(pid, "lstart=")?.trim()))
}

/// Always `false`: liveness is polled, and each query here would start a process. A zombie counts
/// as alive until its parent has collected it.
pub(super) fn ended(_pid: u32) -> bool {
    false
}

/// Always `None`: `ps` joins the arguments with spaces, so the script among them cannot be told.
#[cfg(not(target_os = "linux"))]
pub(super) fn details(_pid: u32) -> Option<ProcessDetails> {
    None
}

/// Always `None`.
#[cfg(not(target_os = "linux"))]
pub(super) fn variable(_pid: u32, _name: &str) -> Option<std::ffi::OsString> {
    None
}

fn query(pid: u32, columns: &str) -> Option<String> {
    let output = Command::new("ps")
        .args(["-o", columns, "-p", &pid.to_string()])
        // The start time must not depend on the caller's locale or time zone.
        .envs([("LC_ALL", "C"), ("TZ", "UTC")])
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .output()
        .ok()?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    (output.status.success() && !text.trim().is_empty()).then_some(text)
}

fn parse(line: &str) -> Option<ProcessEntry> {
    let (parent, command) = line.trim().split_once(char::is_whitespace)?;
    let word = command.trim_start().split(' ').next()?;
    let name = word.trim_end_matches('/').rsplit('/').next()?;
    Some(ProcessEntry {
        parent: parent.parse().ok()?,
        name: name.to_owned(),
    })
}

/// FNV-1a: the same text gives the same number in every run, which the hasher of the standard
/// library does not promise.
fn fingerprint(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_ps_are_read() {
        let process = |parent, name: &str| {
            Some(ProcessEntry {
                parent,
                name: name.to_owned(),
            })
        };
        let table = [
            ("    1 /sbin/launchd\n", process(1, "launchd")),
            ("  501 -zsh\n", process(501, "-zsh")),
            ("12 /bin/bash -l -c 'x y'\n", process(12, "bash")),
            ("", None),
            ("x y\n", None),
        ];
        for (line, expected) in table {
            assert_eq!(parse(line), expected, "{line:?}");
        }
    }

    #[test]
    fn fingerprints_tell_times_apart() {
        let (a, b) = ("Mon Nov 15 20:13:00 2026", "Mon Nov 15 20:13:01 2026");
        assert_ne!(fingerprint(a), fingerprint(b));
    }

    /// Runs where `ps` is installed, whatever the system.
    #[test]
    fn ps_knows_this_process() {
        let own = std::process::id();
        if query(own, "pid=").is_none() {
            return;
        }
        assert_eq!(entry(own), super::super::platform::entry(own));
        assert!(started(own).is_some() && !ended(own));
        assert_eq!(entry(u32::MAX), None);
    }
}
