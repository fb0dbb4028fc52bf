//! What happens to a conversation beside its turns: it is taken back or copied, a person runs a
//! command in it, messages reach the agent during a turn.

use daemon::event::{DaemonEvent, EventBody};

use super::Translator;
use crate::backend::{BackendEvent, RestoredFiles};
use crate::view::{Notice, Speaker};

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
        if !std::mem::replace(&mut self.is_loss_told, true) {
            self.notice(Notice::NotRecorded, told);
        }
    }

    fn notice(&mut self, notice: Notice, told: &mut Vec<BackendEvent>) {
        self.tell(Some(BackendEvent::Notice(notice)), told);
    }
}
