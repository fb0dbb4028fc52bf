//! The process table of Linux, read from `/proc`.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::ffi::OsStrExt;

use super::ProcessDetails;
use super::walk::ProcessEntry;

pub(super) fn entry(pid: u32) -> Option<ProcessEntry> {
    let stat = private::process_stat(pid)?;
    // Kernel threads and zombies have no command line; `ps` shows their name in brackets.
    let command = fs::read(format!("/proc/{pid}/cmdline")).ok()?;
    let name = first_word(&command).unwrap_or_else(|| format!("[{}]", stat.name));
    Some(ProcessEntry {
        parent: stat.parent,
        name,
    })
}

/// When it was started, in clock ticks since boot.
pub(super) fn started(pid: u32) -> Option<u64> {
    Some(private::process_stat(pid)?.started)
}

/// Whether it is a zombie or dead.
pub(super) fn ended(pid: u32) -> bool {
    private::process_stat(pid).is_some_and(|stat| matches!(stat.state, 'Z' | 'X' | 'x'))
}

pub(super) fn details(pid: u32) -> Option<ProcessDetails> {
    let stat = private::process_stat(pid)?;
    let command = fs::read(format!("/proc/{pid}/cmdline")).ok()?;
    Some(ProcessDetails {
        parent: stat.parent,
        terminal: terminal(stat.terminal),
        // Only the process's own user can follow the link.
        folder: fs::read_link(format!("/proc/{pid}/cwd")).ok(),
        arguments: strings(&command).map(OsStr::to_owned).collect(),
    })
}

pub(super) fn variable(pid: u32, name: &str) -> Option<OsString> {
    let environment = fs::read(format!("/proc/{pid}/environ")).ok()?;
    strings(&environment).find_map(|assignment| {
        let value = assignment.as_bytes().strip_prefix(name.as_bytes())?;
        Some(OsStr::from_bytes(value.strip_prefix(b"=")?).to_owned())
    })
}

/// The NUL-terminated strings of a file.
fn strings(bytes: &[u8]) -> impl Iterator<Item = &OsStr> {
    let bytes = bytes.strip_suffix(b"\0").unwrap_or(bytes);
    let strings = bytes.split(|byte| *byte == 0).map(OsStr::from_bytes);
    strings.filter(move |_| !bytes.is_empty())
}

/// The name of a terminal by its device number; `None` if there is no terminal, or one of a kind
/// that nobody works in.
fn terminal(device: u32) -> Option<String> {
    // The kernel writes the minor number in two parts around the major one.
    let (major, minor) = (
        (device >> 8) & 0xfff,
        (device & 0xff) | ((device >> 12) & 0xfff00),
    );
    match major {
        // Each major number of a pseudo terminal has room for 256 of them.
        136..=143 => Some(format!("pts/{}", (major - 136) * 256 + minor)),
        4 if minor < 64 => Some(format!("tty{minor}")),
        4 => Some(format!("ttyS{}", minor - 64)),
        _ => None,
    }
}

/// The first word of a command line with NUL-terminated arguments, without folders. The agents
/// split the command line at spaces, so a folder with a space in its name misleads them, and us in
/// the same way.
fn first_word(command: &[u8]) -> Option<String> {
    let command = String::from_utf8_lossy(command);
    let word = command.split(['\0', ' ']).next()?;
    let name = word.trim_end_matches('/').rsplit('/').next()?;
    (!word.is_empty()).then(|| name.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn terminals_have_names() {
        let table = [
            (0, None),
            (34816, Some("pts/0")),
            (34819, Some("pts/3")),
            // The 256th of the first 256, and the first of the next.
            (35071, Some("pts/255")),
            (35072, Some("pts/256")),
            (1_083_392, Some("pts/256")),
            (1026, Some("tty2")),
            (1088, Some("ttyS0")),
            // The one that stands for another.
            (1280, None),
        ];
        for (device, name) in table {
            assert_eq!(terminal(device).as_deref(), name, "{device}");
        }
    }

    #[test]
    fn strings_end_with_a_nul() {
        let table: [(&[u8], &[&str]); 5] = [
            (b"", &[]),
            (b"a\0", &["a"]),
            (b"a\0\0b\0", &["a", "", "b"]),
            (b"a", &["a"]),
            (b"\0", &[]),
        ];
        for (bytes, expected) in table {
            assert_eq!(strings(bytes).collect::<Vec<_>>(), expected, "{bytes:?}");
        }
    }

    #[test]
    fn the_name_is_the_first_word_without_folders() {
        let table: &[(&[u8], Option<&str>)] = &[
            (b"", None),
            (b"bash\0", Some("bash")),
            (b"-bash\0", Some("-bash")),
            (b"/usr/bin/zsh\0-i\0", Some("zsh")),
            (b"tmux: server\0", Some("tmux:")),
            (b"/opt/My Editor/edit\0", Some("My")),
            (b"\xff\0", Some("\u{fffd}")),
        ];
        for (command, expected) in table {
            assert_eq!(first_word(command).as_deref(), *expected, "{command:?}");
        }
    }

    #[test]
    fn a_zombie_has_ended() {
        use std::process::{Command, Stdio};
        let mut child = Command::new("cat")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        // Its output ends when it does, and nobody has asked for its exit code yet.
        let mut output = child.stdout.take().unwrap();
        std::io::copy(&mut output, &mut std::io::sink()).unwrap();
        while !ended(child.id()) {
            std::thread::yield_now();
        }
        assert!(!crate::process::alive(child.id()) && !crate::process::exists(child.id()));
        child.wait().unwrap();
    }
}
