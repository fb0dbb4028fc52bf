//! An editor on a machine of the test's own.

use std::process::{Child, Command, Stdio};

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
        let mut editor = start(machine, args);
        let ready = editor.begin("My Editor", &machine.workspace(), process);
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
