//! What happens to a conversation beside its turns: it is taken back or copied, a person runs a
//! command in it, messages reach the agent during a turn.

use daemon::event::{DaemonEvent, EventBody, UserShellCommand, UserShellResult};

use super::Translator;
use crate::backend::{BackendEvent, RestoredFiles};
use crate::names::{ToolKind, ToolStatus};
use crate::tools::{ToolCall, ToolOutput};
use crate::view::{Notice, Speaker};

/// A command that a person runs. It is shown like one of the agent's tools.
#[derive(Debug)]
pub(super) struct Shell {
    id: String,
    /// What it has printed, cleaned and cut.
    output: String,
}

impl Translator {
    pub(super) fn session_event(&mut self, event: &DaemonEvent, told: &mut Vec<BackendEvent>) {
        match event.body() {
            EventBody::SessionRewound(rewound) => {
                let most = self.sanitiser.limits().entries;
                let files = |paths: &[String]| {
                    paths
                        .iter()
                        .take(most)
                        .map(|path| self.line(path))
                        .collect()
                };
                let event = BackendEvent::Rewound {
                    turn: rewound.target_turn_index,
                    files: RestoredFiles {
                        restored: files(&rewound.files_changed),
                        failed: files(&rewound.files_failed),
                    },
                };
                self.tell(Some(event), told);
            }
            EventBody::SessionBranched(branched) => {
                let title = self.line(&branched.display_name);
                self.notice(Notice::Branched { title }, told);
            }
            EventBody::RecordingDegraded(_) => self.not_recorded(told),
            EventBody::SessionSnapshot(snapshot) if snapshot.recording_degraded == Some(true) => {
                self.not_recorded(told);
            }
            EventBody::FolderChanged(changed) => {
                let folder = self.path(&changed.new_cwd, None);
                self.notice(Notice::FolderChanged { folder }, told);
            }
            EventBody::UserShellCommand(command) => self.shell_command(event, &command, told),
            EventBody::UserShellResult(result) => self.shell_result(&result, told),
            EventBody::MidTurnMessagesRead(batch) => {
                // The daemon tells all clients the same, and not whose message it was.
                for message in &batch.messages {
                    self.say(Speaker::Other, message, told);
                }
            }
            // New kinds of events are added to the daemon all the time, and most are about things
            // that no conversation shows: servers, settings, extensions.
            _ => tracing::debug!(kind = event.kind(), "not shown in a conversation"),
        }
    }

    fn not_recorded(&mut self, told: &mut Vec<BackendEvent>) {
        if self.given.insert("recording".into()) {
            self.notice(Notice::NotRecorded, told);
        }
    }

    fn notice(&mut self, notice: Notice, told: &mut Vec<BackendEvent>) {
        self.tell(Some(BackendEvent::Notice(notice)), told);
    }

    fn shell_command(
        &mut self,
        event: &DaemonEvent,
        command: &UserShellCommand,
        told: &mut Vec<BackendEvent>,
    ) {
        let id = format!("shell {}", event.id().unwrap_or_default());
        self.shell = Some(Shell {
            id: id.clone(),
            output: String::new(),
        });
        let call = ToolCall {
            id,
            title: Some("A command of a person".into()),
            kind: Some(ToolKind::Execute),
            status: Some(ToolStatus::InProgress),
            command: Some(self.sanitiser.content(&command.command)),
            ..ToolCall::default()
        };
        self.tell(Some(BackendEvent::Tool(call)), told);
    }

    pub(super) fn shell_output(&mut self, piece: &str, told: &mut Vec<BackendEvent>) {
        let Some(mut shell) = self.shell.take() else {
            return self.not_shown("shell_output", told);
        };
        shell.output = self.sanitiser.content(&(shell.output + piece));
        let call = ToolCall {
            id: shell.id.clone(),
            content: Some(vec![ToolOutput::Text(shell.output.clone())]),
            ..ToolCall::default()
        };
        self.shell = Some(shell);
        self.tell(Some(BackendEvent::Tool(call)), told);
    }

    fn shell_result(&mut self, result: &UserShellResult, told: &mut Vec<BackendEvent>) {
        let Some(shell) = self.shell.take() else {
            return;
        };
        let status = match result.exit_code {
            Some(0) => ToolStatus::Completed,
            _ => ToolStatus::Failed,
        };
        let call = ToolCall {
            id: shell.id,
            status: Some(status),
            ..ToolCall::default()
        };
        self.tell(Some(BackendEvent::Tool(call)), told);
    }
}
