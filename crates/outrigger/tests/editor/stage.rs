//! An editor on a machine of the test's own.

use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use testkit::{Machine, PlayedAgent, ScriptedEditor, until};

/// An editor with a plugin that has started the program and is ready.
pub(crate) struct Stage {
    pub(crate) editor: ScriptedEditor,
    /// What the program said when it was ready.
    pub(crate) ready: Value,
    pub(crate) port: u16,
}

impl Stage {
    /// The editor's process is the test's own.
    pub(crate) fn set(machine: &Machine, args: &[&str]) -> Stage {
        Stage::for_process(machine, args, std::process::id())
    }

    pub(crate) fn for_process(machine: &Machine, args: &[&str], process: u32) -> Stage {
        Stage::begin(
            start(machine, args),
            "My Editor",
            &machine.workspace(),
            process,
        )
    }

    /// An editor with another name, in the same folder.
    pub(crate) fn named(machine: &Machine, name: &str) -> Stage {
        Stage::begin(
            start(machine, &[]),
            name,
            &machine.workspace(),
            std::process::id(),
        )
    }

    fn begin(mut editor: ScriptedEditor, name: &str, folder: &Path, process: u32) -> Stage {
        let ready = editor.begin(name, folder, process);
        let port = ready["port"].as_u64().unwrap().try_into().unwrap();
        Stage {
            editor,
            ready,
            port,
        }
    }

    /// Qwen Code, connected and listening.
    pub(crate) fn qwen(&self, machine: &Machine) -> PlayedAgent {
        PlayedAgent::connect(self.port, &machine.qwen_token(self.port))
    }
}

/// Kills the companion, as a crash would.
pub(crate) fn crash_companion(machine: &Machine) {
    let pid = machine.status()["pid"].as_i64().unwrap();
    let pid = Pid::from_raw(pid.try_into().unwrap()).unwrap();
    kill_process(pid, Signal::KILL).unwrap();
    until("the companion is gone", || {
        machine.served_by().is_none().then_some(())
    });
}

/// The name under which agents find the companion on a port.
pub(crate) fn found_name(machine: &Machine, port: u16) -> Option<String> {
    let lock = machine.home().join(format!(".qwen/ide/{port}.lock"));
    let file: Value = serde_json::from_slice(&fs::read(lock).ok()?).ok()?;
    Some(file["ideInfo"]["displayName"].as_str()?.to_owned())
}

/// The program at the end of a pipe, which has not been told anything yet.
pub(crate) fn start(machine: &Machine, args: &[&str]) -> ScriptedEditor {
    ScriptedEditor::start(machine.command(&[&["lsp"], args].concat()))
}

/// A process that stands for an editor.
pub(crate) fn somebody() -> Child {
    Command::new("cat")
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .spawn()
        .unwrap()
}

/// Waits until no discovery file of a port is left.
#[track_caller]
pub(crate) fn files_gone(machine: &Machine, port: u16) {
    until("the discovery files are gone", || {
        machine.discovery_files(port).is_empty().then_some(())
    });
}
