//! An editor in a sandbox of the test's own.

use std::process::{Child, Command, Stdio};

use serde_json::Value;
use testkit::ScriptedEditor;

use crate::agent::Agent;
use crate::sandbox::{Sandbox, until};

/// An editor with a plugin that has started the program and is ready.
pub(crate) struct Stage {
    pub(crate) editor: ScriptedEditor,
    /// What the program said when it was ready.
    pub(crate) ready: Value,
    pub(crate) port: u16,
}

impl Stage {
    /// The editor's process is the test's own.
    pub(crate) fn set(sandbox: &Sandbox, args: &[&str]) -> Stage {
        Stage::for_process(sandbox, args, std::process::id())
    }

    pub(crate) fn for_process(sandbox: &Sandbox, args: &[&str], process: u32) -> Stage {
        let mut editor = start(sandbox, args);
        let ready = editor.begin("My Editor", &sandbox.work, process);
        let port = ready["port"].as_u64().unwrap().try_into().unwrap();
        Stage {
            editor,
            ready,
            port,
        }
    }

    /// Qwen Code, connected and listening.
    pub(crate) fn qwen(&self, sandbox: &Sandbox) -> Agent {
        Agent::connect(self.port, &sandbox.qwen_token(self.port))
    }
}

/// The program at the end of a pipe, which has not been told anything yet.
pub(crate) fn start(sandbox: &Sandbox, args: &[&str]) -> ScriptedEditor {
    ScriptedEditor::start(sandbox.command(&[&["lsp"], args].concat()))
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
pub(crate) fn files_gone(sandbox: &Sandbox, port: u16) {
    until("the discovery files are gone", || {
        sandbox.files(port).is_empty().then_some(())
    });
}
