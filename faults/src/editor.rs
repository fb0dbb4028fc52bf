//! A scripted editor in a schedule: `outrigger lsp` at the other end of a pipe, which may be killed.

use std::time::Duration;

use serde_json::{Value, json};
use testkit::{Machine, ScriptedEditor, uri};

/// How long an editor waits for an answer.
const PATIENCE: Duration = Duration::from_secs(10);

/// An editor that has joined a companion, or started one.
pub(crate) struct Editor(ScriptedEditor);

impl Editor {
    /// Joins; `None` if it is not let in.
    pub(crate) fn join(machine: &Machine) -> Option<Editor> {
        let mut editor = ScriptedEditor::start(machine.command(&["lsp"]));
        let params = json!({
            "processId": std::process::id(),
            "clientInfo": { "name": "Scripted" },
            "workspaceFolders": [{ "uri": uri(&machine.workspace()), "name": "workspace" }],
            "capabilities": { "experimental": { "outrigger": true } },
        });
        let joined = editor.request_within(PATIENCE, "initialize", params);
        if !matches!(joined, Some(Ok(_))) {
            return None;
        }
        editor.notify("initialized", json!({}));
        Some(Editor(editor))
    }

    /// Decides; the answer or the refusal, or nothing if none came.
    pub(crate) fn decide(&mut self, verdict: Value) -> Option<Result<Value, Value>> {
        self.0
            .request_within(PATIENCE, "outrigger/proposal/verdict", verdict)
    }

    /// Says goodbye.
    pub(crate) fn quit(mut self) {
        self.0.request_within(PATIENCE, "shutdown", Value::Null);
        self.0.notify("exit", Value::Null);
    }

    /// Its pipe process is killed.
    pub(crate) fn kill(mut self) {
        self.0.crash();
    }
}
