//! `outrigger run`: the environment and the family tree that every version of an agent needs.

use std::fs;
use std::path::Path;
use std::process::{Child, Stdio};

use rustix::process::{Pid, Signal, kill_process, test_kill_process};

use crate::sandbox::{Sandbox, until};

#[test]
fn the_command_sees_the_variables_and_its_exit_code_is_passed_on() {
    for companion in [true, false] {
        let sandbox = Sandbox::new();
        let served = companion.then(|| sandbox.serve(&[]));
        let script = r#"echo "$QWEN_CODE_IDE_SERVER_PORT $QWEN_CODE_IDE_WORKSPACE_PATH ${#GEMINI_CLI_IDE_AUTH_TOKEN} $1"; exit 42"#;
        let done = sandbox.run(&["run", "--", "sh", "-c", script, "sh", "an 'odd' $argument"]);
        assert_eq!(done.code, 42, "{done:?}");
        let words: Vec<_> = done.stdout.trim_end().splitn(4, ' ').collect();
        let port: u16 = words[0].parse().unwrap();
        assert_eq!(
            words[1..],
            [sandbox.work.to_str().unwrap(), "64", "an 'odd' $argument"]
        );
        if let Some(served) = &served {
            assert_eq!(port, served.port);
            assert_eq!(sandbox.status()["port"], port, "it stays");
        } else {
            assert!(
                sandbox.files(port).is_empty(),
                "it lived as long as the command"
            );
            assert_eq!(sandbox.run(&["proposals"]).code, 3);
        }
    }
}

#[test]
fn how_a_command_ends_is_how_it_ends() {
    let sandbox = Sandbox::new();
    let table: [(&str, i32); 4] = [
        ("exit 0", 0),
        ("exit 255", 255),
        ("kill -TERM $$", 143),
        ("no-such-command", 127),
    ];
    for (script, code) in table {
        let done = sandbox.run(&["run", "--", "sh", "-c", script]);
        assert_eq!(done.code, code, "{script}: {done:?}");
    }
    let missing = sandbox.run(&["run", "--", "no-such-program"]);
    assert_eq!(missing.code, 7, "{missing:?}");
    assert!(missing.stderr.contains("no-such-program"), "{missing:?}");
    let echoed = sandbox.run_with(&["run", "--", "cat"], b"through and through");
    assert_eq!(echoed.good(), "through and through");
    let terminal = sandbox.run(&[
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
    fn start(sandbox: &Sandbox) -> Launched {
        let told = sandbox.tmp.join("told");
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
        let mut command = sandbox.command(&args);
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
        let sandbox = Sandbox::new();
        let served = companion.then(|| sandbox.serve(&[]));
        let agent = Launched::start(&sandbox);
        let launcher = i32::try_from(agent.child.id()).unwrap();
        let port: u16 = sandbox.status()["port"]
            .as_u64()
            .unwrap()
            .try_into()
            .unwrap();
        let named = |sandbox: &Sandbox| {
            let name = format!("gemini-ide-server-{launcher}-{port}.json");
            sandbox.tmp.join("gemini/ide").join(name).exists()
        };
        assert!(named(&sandbox), "the launcher's id is in no name");

        let shell = parent(agent.command);
        let between = parent(shell);
        assert_eq!(parent(between), launcher);
        assert_eq!(name(shell), "sh", "agents look for a shell above them");
        assert_eq!(name(between), "outrigger");

        assert_eq!(agent.finish(), Some(7));
        until("the name is gone with the launcher", || {
            (!named(&sandbox)).then_some(())
        });
        drop(served);
    }
}

#[test]
fn a_restart_of_the_companion_keeps_the_launchers_name() {
    let sandbox = Sandbox::new();
    let served = sandbox.serve(&[]);
    let launched = Launched::start(&sandbox);
    let name = format!(
        "gemini-ide-server-{}-{}.json",
        launched.child.id(),
        served.port
    );
    let path = sandbox.tmp.join("gemini/ide").join(name);
    assert!(path.exists());
    sandbox.run(&["restart"]).good();
    until("it is back", || sandbox.status().is_object().then_some(()));
    assert!(path.exists(), "an agent that starts later must find it");
    launched.finish();
    until("the name is gone with the launcher", || {
        (!path.exists()).then_some(())
    });
    let port = served.port;
    drop(served);
    assert!(sandbox.files(port).is_empty());
}

#[test]
fn a_signal_to_the_launcher_ends_the_agent_too() {
    for signal in [Signal::TERM, Signal::HUP] {
        let sandbox = Sandbox::new();
        let mut launched = Launched::start(&sandbox);
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
        assert_eq!(sandbox.run(&["proposals"]).code, 3, "no companion is left");
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
