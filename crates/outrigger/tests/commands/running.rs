//! `outrigger run`: the environment and the family tree that every version of an agent needs.

use std::fs;
use std::path::Path;
use std::process::{Child, Stdio};

use rustix::process::{Pid, Signal, kill_process, test_kill_process};
use testkit::{Machine, until};

use crate::machine;

#[test]
fn the_command_sees_the_variables_and_its_exit_code_is_passed_on() {
    for companion in [true, false] {
        let machine = machine();
        let served = companion.then(|| machine.start_companion(&[]));
        let script = r#"echo "$QWEN_CODE_IDE_SERVER_PORT $QWEN_CODE_IDE_WORKSPACE_PATH ${#GEMINI_CLI_IDE_AUTH_TOKEN} $1"; exit 42"#;
        let done = machine.run(&["run", "--", "sh", "-c", script, "sh", "an 'odd' $argument"]);
        assert_eq!(done.code, 42, "{done:?}");
        let words: Vec<_> = done.stdout.trim_end().splitn(4, ' ').collect();
        let port: u16 = words[0].parse().unwrap();
        assert_eq!(
            words[1..],
            [
                machine.workspace().to_str().unwrap(),
                "64",
                "an 'odd' $argument"
            ]
        );
        if let Some(served) = &served {
            assert_eq!(port, served.port());
            assert_eq!(machine.status()["port"], port, "it stays");
        } else {
            assert!(
                machine.discovery_files(port).is_empty(),
                "it lived as long as the command"
            );
            assert_eq!(machine.run(&["proposals"]).code, 3);
        }
    }
}

#[test]
fn how_a_command_ends_is_how_it_ends() {
    let machine = machine();
    let table: [(&str, i32); 4] = [
        ("exit 0", 0),
        ("exit 255", 255),
        ("kill -TERM $$", 143),
        ("no-such-command", 127),
    ];
    for (script, code) in table {
        let done = machine.run(&["run", "--", "sh", "-c", script]);
        assert_eq!(done.code, code, "{script}: {done:?}");
    }
    let missing = machine.run(&["run", "--", "no-such-program"]);
    assert_eq!(missing.code, 7, "{missing:?}");
    assert!(missing.stderr.contains("no-such-program"), "{missing:?}");
    let echoed = machine.run_with(&["run", "--", "cat"], b"through and through");
    assert_eq!(echoed.good(), "through and through");
    let terminal = machine.run(&[
        "run",
        "--like-vscode",
        "--",
        "sh",
        "-c",
        "echo $TERM_PROGRAM",
    ]);
    assert_eq!(terminal.good(), "vscode\n");
}

/// A launcher whose command has started and waits for its input to end.
struct Launched {
    child: Child,
    command: i32,
}

impl Launched {
    fn start(machine: &Machine) -> Launched {
        let told = machine.temporary().join("told");
        let _ = fs::remove_file(&told);
        let script = r#"echo "$$" > "$1.new"; mv "$1.new" "$1"; cat; exit 7"#;
        let args = [
            "run",
            "--",
            "sh",
            "-c",
            script,
            "sh",
            told.to_str().unwrap(),
        ];
        let mut command = machine.command(&args);
        command.stdin(Stdio::piped()).stdout(Stdio::null());
        let child = command.spawn().unwrap();
        let pid = until("the command runs", || fs::read_to_string(&told).ok());
        Launched {
            child,
            command: pid.trim().parse().unwrap(),
        }
    }

    /// Lets the command end by itself.
    fn finish(mut self) -> Option<i32> {
        drop(self.child.stdin.take());
        until("the launcher ends", || self.child.try_wait().unwrap()).code()
    }
}

#[test]
fn the_launcher_is_the_editor_that_an_old_agent_looks_for() {
    for companion in [true, false] {
        let machine = machine();
        let served = companion.then(|| machine.start_companion(&[]));
        let agent = Launched::start(&machine);
        let launcher = i32::try_from(agent.child.id()).unwrap();
        let port: u16 = machine.status()["port"]
            .as_u64()
            .unwrap()
            .try_into()
            .unwrap();
        let named = |machine: &Machine| {
            let name = format!("gemini-ide-server-{launcher}-{port}.json");
            machine.temporary().join("gemini/ide").join(name).exists()
        };
        assert!(named(&machine), "the launcher's id is in no name");

        let shell = parent(agent.command);
        let between = parent(shell);
        assert_eq!(parent(between), launcher);
        assert_eq!(name(shell), "sh", "agents look for a shell above them");
        assert_eq!(name(between), "outrigger");

        assert_eq!(agent.finish(), Some(7));
        until("the name is gone with the launcher", || {
            (!named(&machine)).then_some(())
        });
        drop(served);
    }
}

#[test]
fn a_restart_of_the_companion_keeps_the_launchers_name() {
    let machine = machine();
    let served = machine.start_companion(&[]);
    let launched = Launched::start(&machine);
    let name = format!(
        "gemini-ide-server-{}-{}.json",
        launched.child.id(),
        served.port()
    );
    let path = machine.temporary().join("gemini/ide").join(name);
    assert!(path.exists());
    machine.run(&["restart"]).good();
    until("it is back", || machine.served_by());
    assert!(path.exists(), "an agent that starts later must find it");
    launched.finish();
    until("the name is gone with the launcher", || {
        (!path.exists()).then_some(())
    });
    let port = served.port();
    drop(served);
    assert!(machine.discovery_files(port).is_empty());
}

#[test]
fn a_companion_of_the_launcher_is_not_restarted() {
    let machine = machine();
    let launched = Launched::start(&machine);
    let port = machine.status()["port"].as_u64().unwrap();
    let refused = machine.run(&["restart"]);
    assert_ne!(refused.code, 0, "{refused:?}");
    assert!(refused.stderr.contains("quit the agent"), "{refused:?}");
    assert_eq!(machine.status()["port"], port, "it still serves");
    assert_eq!(launched.finish(), Some(7));
    assert!(machine.discovery_files(port.try_into().unwrap()).is_empty());
}

/// Writes another version into the record of the companion that runs, as one would have it that was
/// started before an upgrade.
fn make_old(machine: &Machine) {
    let companions = machine.home().join(".local/state/outrigger/companions");
    let folder = fs::read_dir(companions).unwrap().next().unwrap().unwrap();
    let path = folder.path().join("companion.json");
    let mut record = machine.record();
    record["version"] = "0.0.1".into();
    fs::write(path, record.to_string()).unwrap();
}

#[test]
fn what_can_be_done_about_another_version_depends_on_who_started_it() {
    let machine = machine();
    let launched = Launched::start(&machine);
    make_old(&machine);
    let advised = machine.run(&["serve", "--no-open"]).stderr;
    assert!(advised.contains("that is version 0.0.1"), "{advised}");
    assert!(advised.contains("quit the agent there"), "{advised}");
    assert!(!advised.contains("outrigger restart"), "{advised}");
    assert_eq!(launched.finish(), Some(7));

    let _served = machine.start_companion(&[]);
    make_old(&machine);
    let advised = machine.run(&["serve", "--no-open"]).stderr;
    assert!(advised.contains("`outrigger restart` brings"), "{advised}");
}

#[test]
fn a_signal_to_the_launcher_ends_the_agent_too() {
    for signal in [Signal::TERM, Signal::HUP] {
        let machine = machine();
        let mut launched = Launched::start(&machine);
        let command = Pid::from_raw(launched.command).unwrap();
        kill_process(Pid::from_child(&launched.child), signal).unwrap();
        until("the launcher ends", || launched.child.try_wait().unwrap());
        let end = std::time::Instant::now() + std::time::Duration::from_secs(5);
        while test_kill_process(command).is_ok() && std::time::Instant::now() < end {
            std::thread::sleep(std::time::Duration::from_millis(10));
        }
        let survives = test_kill_process(command).is_ok();
        drop(launched.child.stdin.take());
        assert!(!survives, "{signal:?} left the agent running");
        assert_eq!(machine.run(&["proposals"]).code, 3, "no companion is left");
    }
}

fn parent(pid: i32) -> i32 {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("PPid:"));
    line.unwrap().trim().parse().unwrap()
}

/// The name as agents read it off `ps`: the first word of the command line, without folders.
fn name(pid: i32) -> String {
    let line = fs::read(format!("/proc/{pid}/cmdline")).unwrap();
    let first = line.split(|byte| *byte == 0).next().unwrap();
    let first = Path::new(std::str::from_utf8(first).unwrap());
    first.file_name().unwrap().to_str().unwrap().to_owned()
}
