//! A command that a person runs through the daemon. It is shown like one of the agent's tools.

use daemon::event::{DaemonEvent, UserShellCommand, UserShellResult};
use daemon::sanitiser::{Held, Sanitiser};

use super::Translator;
use crate::backend::BackendEvent;
use crate::names::{ToolKind, ToolStatus};
use crate::tools::{ToolCall, ToolOutput};

/// How much of what a command prints is shown, in bytes. Each piece that comes shows all of it anew.
const LONGEST_OUTPUT: usize = 64 * 1024;

/// Marks where the output was cut.
const CUT: &str = "…";

/// A command that runs.
#[derive(Debug)]
pub(super) struct Shell {
    id: String,
    /// What it has printed, cleaned and cut.
    output: String,
    /// The end of what it has printed, which may be the beginning of a secret.
    held: Held,
    is_cut: bool,
}

impl Shell {
    fn new(id: String) -> Shell {
        Shell {
            id,
            output: String::new(),
            held: Held::default(),
            is_cut: false,
        }
    }

    /// Takes in what it prints; whether there is more to show than before.
    fn print(&mut self, sanitiser: &Sanitiser, piece: &str) -> bool {
        if self.is_cut {
            return false;
        }
        let text = sanitiser.piece(&mut self.held, piece);
        self.show(&text)
    }

    /// Shows what was held back, because nothing follows; whether there was something.
    fn finish(&mut self, sanitiser: &Sanitiser) -> bool {
        let text = sanitiser.rest(&mut self.held);
        !self.is_cut && self.show(&text)
    }

    fn show(&mut self, text: &str) -> bool {
        let room = LONGEST_OUTPUT - self.output.len();
        let end = text.floor_char_boundary(room);
        self.output.push_str(&text[..end]);
        if end < text.len() {
            self.is_cut = true;
            self.output.push_str(CUT);
        }
        !text.is_empty()
    }

    fn content(&self) -> ToolOutput {
        ToolOutput::Text(self.output.clone())
    }
}

impl Translator {
    pub(super) fn shell_command(
        &mut self,
        event: &DaemonEvent,
        command: &UserShellCommand,
        told: &mut Vec<BackendEvent>,
    ) {
        self.end_of_shell(told);
        let id = format!("shell {}", event.id().unwrap_or_default());
        let command = self.sanitiser.content(&command.command);
        self.begin_shell(id, Some(command), told);
    }

    fn begin_shell(
        &mut self,
        id: String,
        command: Option<String>,
        told: &mut Vec<BackendEvent>,
    ) -> &mut Shell {
        let call = ToolCall {
            id: id.clone(),
            title: Some("A command of a person".into()),
            kind: Some(ToolKind::Execute),
            status: Some(ToolStatus::InProgress),
            command,
            ..ToolCall::default()
        };
        self.tell(Some(BackendEvent::Tool(call)), told);
        self.shell.insert(Shell::new(id))
    }

    pub(super) fn shell_output(&mut self, piece: &str, told: &mut Vec<BackendEvent>) {
        if self.shell.is_none() {
            // It began in a part of the past that the daemon has not sent.
            self.unnamed_shells += 1;
            let id = format!("unnamed shell {}", self.unnamed_shells);
            self.begin_shell(id, None, told);
        }
        let Some(shell) = &mut self.shell else { return };
        if shell.print(&self.sanitiser, piece) {
            let call = ToolCall {
                id: shell.id.clone(),
                content: Some(vec![shell.content()]),
                ..ToolCall::default()
            };
            self.tell(Some(BackendEvent::Tool(call)), told);
        }
    }

    pub(super) fn shell_result(&mut self, result: &UserShellResult, told: &mut Vec<BackendEvent>) {
        let Some(mut shell) = self.shell.take() else {
            return;
        };
        let status = match result.exit_code {
            Some(0) if !result.aborted && result.error.is_none() => ToolStatus::Completed,
            _ => ToolStatus::Failed,
        };
        let error = result.error.as_deref().map(|why| self.line(why));
        let error = error.map(|why| format!("It could not be run: {why}"));
        let aborted = result.aborted.then(|| "It was cancelled.".to_owned());
        let ends: Vec<_> = error.into_iter().chain(aborted).collect();
        let has_more = shell.finish(&self.sanitiser) || !ends.is_empty();
        let printed = (!shell.output.is_empty()).then(|| shell.content());
        let ends = ends.into_iter().map(ToolOutput::Text);
        let call = ToolCall {
            content: has_more.then(|| printed.into_iter().chain(ends).collect()),
            id: shell.id,
            status: Some(status),
            ..ToolCall::default()
        };
        self.tell(Some(BackendEvent::Tool(call)), told);
    }

    /// Another command begins, and of the one before nothing more will come.
    fn end_of_shell(&mut self, told: &mut Vec<BackendEvent>) {
        let Some(mut shell) = self.shell.take() else {
            return;
        };
        if shell.finish(&self.sanitiser) {
            let call = ToolCall {
                content: Some(vec![shell.content()]),
                id: shell.id,
                ..ToolCall::default()
            };
            self.tell(Some(BackendEvent::Tool(call)), told);
        }
    }
}
