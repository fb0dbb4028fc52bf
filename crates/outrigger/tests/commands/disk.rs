//! What a companion writes down cannot be written: said, tried again, and never a loss of more than
//! was said.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use rustix::process::{Pid, Resource, Rlimit, prlimit};
use testkit::{Companion, Machine, PlayedAgent, until};

use crate::machine;

/// Starts a companion that gets an error where others are killed: when a file grows too large.
fn start(machine: &Machine) -> Companion {
    let plain = machine.command(&["serve", "--json"]);
    let mut shell = Command::new("sh");
    shell.args(["-c", "trap '' XFSZ; exec \"$@\"", "sh"]);
    shell.arg(plain.get_program()).args(plain.get_args());
    shell.current_dir(machine.workspace());
    shell.env_clear().envs(machine.environment());
    Companion::start(shell)
}

/// From now on the companion cannot write a byte into a file, as on a full disk; or it can again.
/// Unlike a full disk, that can be had by every user.
fn set_disk_full(served: &Companion, is_full: bool) {
    let pid = Pid::from_raw(served.pid().try_into().unwrap());
    let limit = Rlimit {
        current: is_full.then_some(0),
        maximum: None,
    };
    prlimit(pid, Resource::Fsize, limit).unwrap();
}

fn problems(machine: &Machine) -> String {
    machine.status()["problems"].to_string()
}

/// The state folder of the one companion of this machine.
fn folder(machine: &Machine) -> PathBuf {
    let companions = machine.home().join(".local/state/outrigger/companions");
    let mut folders = fs::read_dir(companions).unwrap();
    folders.next().unwrap().unwrap().path()
}

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<_> = names
        .filter(|name| name.starts_with("proposal") || name.starts_with("verdict"))
        .collect();
    names.sort();
    names
}

/// An agent that has proposed an edit and is away, so that a decision has to wait for it.
fn away_with_a_proposal(machine: &Machine, served: &Companion) -> PlayedAgent {
    let path = machine.write("a.txt", "old");
    let mut agent = PlayedAgent::qwen(machine, served);
    agent.open_diff(&path, "new");
    agent.hang_up();
    until("it is away", || {
        (machine.status()["sessions"][0]["streaming"] == false).then_some(())
    });
    agent
}

#[test]
fn a_decision_that_cannot_be_written_says_so_and_keeps_its_proposal() {
    let machine = machine();
    let mut served = start(&machine);
    let _agent = away_with_a_proposal(&machine, &served);
    set_disk_full(&served, true);
    let accepted = machine.run(&["accept", "1"]);
    assert_eq!(accepted.code, 0, "{accepted:?}");
    assert!(accepted.stderr.contains("not saved yet"), "{accepted:?}");
    assert!(problems(&machine).contains("a crash now would lose"));
    let shown = machine.run(&["status"]).good();
    assert!(shown.contains("problem: a crash now would lose"), "{shown}");
    assert_eq!(names(&folder(&machine)), ["proposal-1.json"]);
    // What is not on disk would not survive a restart either.
    let refused = machine.run(&["restart"]);
    assert_ne!(refused.code, 0, "{refused:?}");
    assert!(refused.stderr.contains("would lose"), "{refused:?}");
    served.kill();
    let _next = machine.start_companion(&[]);
    assert_eq!(
        machine.proposals().len(),
        1,
        "as if it had not been decided"
    );
}

#[test]
fn what_could_not_be_written_is_written_when_there_is_room() {
    let machine = machine();
    let mut served = start(&machine);
    let mut agent = away_with_a_proposal(&machine, &served);
    set_disk_full(&served, true);
    let accepted = machine.run(&["accept", "1", "--json"]);
    let unsaved = accepted.json()[0]["unsaved"].to_string();
    assert!(unsaved.contains("not saved yet"), "{unsaved}");
    set_disk_full(&served, false);
    until("the verdict is written", || {
        (names(&folder(&machine)) == ["verdict-1.json"]).then_some(())
    });
    until("the problem is gone", || {
        (!problems(&machine).contains("a crash now would lose")).then_some(())
    });
    served.kill();
    let _next = machine.start_companion(&[]);
    agent.listen();
    assert_eq!(agent.hear_verdict()["params"]["content"], "new");
}
