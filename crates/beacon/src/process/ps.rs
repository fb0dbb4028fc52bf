//! The process table where there is no `/proc`, such as on macOS: `ps` is asked, as the agents
//! themselves do. Each question starts a process, so do not ask in a loop.

use std::process::{Command, Stdio};

use super::walk::Kin;

pub(super) fn look(pid: u32) -> Option<Kin> {
    parse(&ask(pid, "ppid=,command=")?)
}

/// The time of its start as `ps` prints it, made into a number.
pub(super) fn started(pid: u32) -> Option<u64> {
    Some(fingerprint(ask(pid, "lstart=")?.trim()))
}

/// Never: whether a process lives is asked again and again, and each question here starts a
/// process. A zombie passes for alive until its parent has noticed.
pub(super) fn ended(_pid: u32) -> bool {
    false
}

fn ask(pid: u32, columns: &str) -> Option<String> {
    let output = Command::new("ps")
        .args(["-o", columns, "-p", &pid.to_string()])
        // The time of a start is to be the same text whoever asks.
        .envs([("LC_ALL", "C"), ("TZ", "UTC")])
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .output()
        .ok()?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    (output.status.success() && !text.trim().is_empty()).then_some(text)
}

fn parse(line: &str) -> Option<Kin> {
    let (parent, command) = line.trim().split_once(char::is_whitespace)?;
    let word = command.trim_start().split(' ').next()?;
    let name = word.trim_end_matches('/').rsplit('/').next()?;
    Some(Kin {
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
        let kin = |parent, name: &str| {
            Some(Kin {
                parent,
                name: name.to_owned(),
            })
        };
        let table = [
            ("    1 /sbin/launchd\n", kin(1, "launchd")),
            ("  501 -zsh\n", kin(501, "-zsh")),
            ("12 /bin/bash -l -c 'x y'\n", kin(12, "bash")),
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
        if ask(own, "pid=").is_none() {
            return;
        }
        assert_eq!(look(own).map(|kin| kin.parent), super::super::parent(own));
        assert_eq!(look(own).map(|kin| kin.name), super::super::name(own));
        assert!(started(own).is_some() && !ended(own));
        assert_eq!(look(u32::MAX), None);
    }
}
