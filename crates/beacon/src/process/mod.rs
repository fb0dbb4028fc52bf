//! The process table: which processes are alive, which one an agent takes for its editor, and how
//! an agent itself was started.
//!
//! Older versions of the agents read a file only when its name carries the id of the process
//! that they take for the editor. So we predict which process they will find, by walking up the
//! process tree as they do. This module only reads; it sends no signals.

mod details;
#[cfg(unix)]
#[path = "unix.rs"]
mod platform;
#[cfg(windows)]
#[path = "windows.rs"]
mod platform;
#[cfg(target_os = "linux")]
mod proc;
#[cfg(all(unix, any(test, not(target_os = "linux"))))]
mod ps;
mod walk;

pub use details::{ProcessDetails, ProcessId, details, variable};

/// Whether there is a process with this id that we may send a signal to, which means that it
/// belongs to the same user. Qwen Code applies the same test to the `ppid` of a lock. On Linux a
/// zombie does not count: it has ended and only waits for its parent to collect it.
pub fn alive(pid: u32) -> bool {
    platform::alive(pid)
}

/// Whether there is a process with this id, of any user.
pub fn exists(pid: u32) -> bool {
    platform::exists(pid)
}

/// The process that started it, or that has adopted it since.
fn parent(pid: u32) -> Option<u32> {
    platform::parent(pid)
}

/// A number that distinguishes a process from a later one with the same id. It has no other
/// meaning.
pub fn started(pid: u32) -> Option<u64> {
    platform::started(pid)
}

/// Whether a process that has [`started`] at `now` is the one that had started at `then`. Where either
/// is not known, the id has to tell: a program that cannot open a file at the moment must not take
/// everybody for gone.
pub fn is_same_run(then: Option<u64>, now: Option<u64>) -> bool {
    then.is_none() || now.is_none() || then == now
}

/// The process that an agent with the id `from` would take for its editor.
fn ide_pid(from: u32) -> u32 {
    platform::ide_pid(from)
}

/// The processes that an agent may take for its editor, the likeliest first: the editor that we
/// serve and its parent (an editor's terminal is often one process further down), the one that
/// an agent started beside us would find, and we ourselves.
///
/// They need not belong to this user, because only the id is in a file's name: the shell of a
/// login over SSH has a process of root for its grandparent.
pub fn candidates(own: u32, serves: Option<u32>) -> Vec<u32> {
    let editor = serves
        .into_iter()
        .flat_map(|editor| [Some(editor), parent(editor)])
        .flatten();
    let mut found = Vec::new();
    for pid in editor.chain([ide_pid(own), own]) {
        if pid > 1 && exists(pid) && !found.contains(&pid) {
            found.push(pid);
        }
    }
    found
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use std::io::{Read, Write};
    use std::process::{Child, Command, Stdio};

    use super::*;

    /// A process that lives until its standard input is closed. It has echoed a byte, so its
    /// `exec` is done.
    fn waiting() -> Child {
        let mut child = Command::new("cat")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        child.stdin.as_mut().unwrap().write_all(b"x").unwrap();
        child.stdout.as_mut().unwrap().read_exact(&mut [0]).unwrap();
        child
    }

    #[test]
    fn a_process_is_seen_while_it_lives() {
        let mut child = waiting();
        let pid = child.id();
        assert!(alive(pid) && exists(pid));
        assert_eq!(parent(pid), Some(std::process::id()));
        let name = platform::entry(pid).map(|process| process.name);
        assert_eq!(name.as_deref(), Some("cat"));
        assert!(started(pid).is_some());
        assert_eq!(started(pid), started(pid));

        child.kill().unwrap();
        child.wait().unwrap();
        assert!(!alive(pid) && !exists(pid));
        assert_eq!((parent(pid), started(pid)), (None, None));
        assert_eq!(platform::entry(pid), None);
    }

    #[test]
    fn a_later_process_with_the_same_number_is_another_one() {
        let mut child = waiting();
        let id = ProcessId::of(child.id()).unwrap();
        assert!(id.is_running());
        let earlier = ProcessId {
            started: id.started.wrapping_sub(1),
            ..id
        };
        assert!(!earlier.is_running());
        child.kill().unwrap();
        // Not yet collected: it is a zombie, which has ended.
        while id.is_running() {
            std::thread::yield_now();
        }
        child.wait().unwrap();
        assert_eq!(ProcessId::of(child.id()), None);
    }

    #[test]
    fn a_process_whose_start_cannot_be_read_is_not_another_one() {
        for (then, now, is_same) in [
            (Some(1), Some(1), true),
            (Some(1), Some(2), false),
            (Some(1), None, true),
            (None, Some(1), true),
            (None, None, true),
        ] {
            assert_eq!(is_same_run(then, now), is_same, "{then:?} {now:?}");
        }
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn how_a_process_was_started() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path().canonicalize().unwrap();
        let mut child = Command::new("cat")
            .arg("-")
            .current_dir(&folder)
            .env("OUTRIGGER_TEST_VARIABLE", "a = b")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        child.stdin.as_mut().unwrap().write_all(b"x").unwrap();
        child.stdout.as_mut().unwrap().read_exact(&mut [0]).unwrap();
        let found = details(child.id()).unwrap();
        assert_eq!(found.parent, std::process::id());
        assert_eq!(found.arguments, ["cat", "-"]);
        assert_eq!(found.folder.as_deref(), Some(folder.as_path()));
        // A test may be run in a terminal or in none; its child is where it is.
        assert_eq!(
            found.terminal,
            details(std::process::id()).unwrap().terminal
        );
        let value = |name| variable(child.id(), name);
        assert_eq!(value("OUTRIGGER_TEST_VARIABLE"), Some("a = b".into()));
        assert_eq!(value("OUTRIGGER_TEST"), None);
        child.kill().unwrap();
        child.wait().unwrap();
        assert_eq!(details(child.id()), None);
    }

    #[test]
    fn numbers_that_are_no_process_are_not_alive() {
        for pid in [0, u32::MAX, i32::MAX as u32] {
            assert!(!alive(pid) && !exists(pid), "{pid}");
            assert_eq!(parent(pid), None, "{pid}");
        }
    }

    #[test]
    fn candidates_are_live_and_named_once() {
        let own = std::process::id();
        let mut editor = waiting();
        let found = candidates(own, Some(editor.id()));
        // The parent of this editor is this very process.
        assert_eq!(found[..2], [editor.id(), own]);
        let mut unique = found.clone();
        unique.sort_unstable();
        unique.dedup();
        assert_eq!(unique.len(), found.len());

        editor.kill().unwrap();
        editor.wait().unwrap();
        let found = candidates(own, Some(editor.id()));
        assert!(!found.contains(&editor.id()));
        assert_eq!(candidates(own, None), found);
        assert_eq!(found.last(), Some(&own));
    }
}
