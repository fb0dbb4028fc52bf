//! The requests of a session besides its turns: attachments, messages in the middle of a turn, background
//! tasks, what is used, and the way back. Those that carry our client id are repeated once with a new
//! id if the daemon has forgotten it; see `identity`.

use super::registration::Registration;
use super::{Session, SharedSession};
use crate::error::DaemonError;
use crate::wire::{
    Attachment, AttachmentContent, AttachmentId, ContextUsageReport, MidTurnMessage, MidTurnQueue,
    MidTurnReceipt, NewAttachment, PromptId, RewindFiles, RewindPointId, RewindPointList,
    RewindResponse, SessionId, SessionStats, SupportedCommands, TaskCancelResponse, TaskId,
    TaskKind, TaskList,
};

/// A copy of a session. It is on disk; [`Session::load`] opens it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SessionCopy {
    /// The copy.
    pub session: SessionId,
    /// Its title, to which the daemon may have added a number.
    pub title: Option<String>,
}

impl Session {
    /// Sends a file to the session. A prompt refers to it with
    /// [`crate::wire::ContentBlock::attachment`].
    pub async fn upload_attachment(&self, new: &NewAttachment) -> Result<Attachment, DaemonError> {
        let SharedSession { client, id, .. } = &*self.shared;
        self.shared
            .as_registered(|us| async move { client.upload_attachment(id, new, us.as_ref()).await })
            .await
    }

    /// The files that the session has.
    pub async fn attachments(&self) -> Result<Vec<Attachment>, DaemonError> {
        self.shared.client.attachments(&self.shared.id).await
    }

    /// The content of a file that the session has.
    pub async fn attachment(&self, id: &AttachmentId) -> Result<AttachmentContent, DaemonError> {
        self.shared.client.attachment(&self.shared.id, id).await
    }

    /// Removes a file. `false` if the session does not have it (any more).
    pub async fn remove_attachment(&self, attachment: &AttachmentId) -> Result<bool, DaemonError> {
        let SharedSession { client, id, .. } = &*self.shared;
        self.shared
            .as_registered(|us| async move {
                client.remove_attachment(id, attachment, us.as_ref()).await
            })
            .await
    }

    /// Sends a message to the agent while it works. The agent reads it after its next tool call; then
    /// comes the event `mid_turn_message_injected`. If the turn ends before, the message becomes a
    /// prompt of its own.
    pub async fn send_mid_turn(
        &self,
        message: impl Into<MidTurnMessage>,
    ) -> Result<MidTurnReceipt, DaemonError> {
        let message = &message.into();
        let SharedSession { client, id, .. } = &*self.shared;
        self.shared
            .as_registered(|us| async move { client.send_mid_turn(id, message, us.as_ref()).await })
            .await
    }

    /// The messages that the agent has not read.
    pub async fn mid_turn_queue(&self) -> Result<MidTurnQueue, DaemonError> {
        self.shared.client.mid_turn_queue(&self.shared.id).await
    }

    /// Takes a message back. `false` if the agent has read it, or if it never was there.
    pub async fn remove_mid_turn(&self, message: &PromptId) -> Result<bool, DaemonError> {
        let SharedSession { client, id, .. } = &*self.shared;
        self.shared
            .as_registered(
                |us| async move { client.remove_mid_turn(id, message, us.as_ref()).await },
            )
            .await
    }

    /// The background tasks, also those that have ended.
    pub async fn tasks(&self) -> Result<TaskList, DaemonError> {
        self.shared.client.tasks(&self.shared.id).await
    }

    /// Cancels a background task.
    pub async fn cancel_task(
        &self,
        task: &TaskId,
        kind: &TaskKind,
    ) -> Result<TaskCancelResponse, DaemonError> {
        let SharedSession { client, id, .. } = &*self.shared;
        self.shared
            .as_registered(
                |us| async move { client.cancel_task(id, task, kind, us.as_ref()).await },
            )
            .await
    }

    /// How the context window is used; with `detail` also by each tool, file and skill.
    pub async fn context_usage(&self, detail: bool) -> Result<ContextUsageReport, DaemonError> {
        let SharedSession { client, id, .. } = &*self.shared;
        client.context_usage(id, detail).await
    }

    /// Requests, tokens and tool calls since the session is live.
    pub async fn stats(&self) -> Result<SessionStats, DaemonError> {
        self.shared.client.session_stats(&self.shared.id).await
    }

    /// The slash commands and skills.
    pub async fn supported_commands(&self) -> Result<SupportedCommands, DaemonError> {
        self.shared.client.supported_commands(&self.shared.id).await
    }

    /// The turns that the session can be taken back to.
    pub async fn rewind_points(&self) -> Result<RewindPointList, DaemonError> {
        self.shared.client.rewind_points(&self.shared.id).await
    }

    /// Lets the agent forget a turn and all after it. The event `session_rewound` follows.
    pub async fn rewind(
        &self,
        point: &RewindPointId,
        files: RewindFiles,
    ) -> Result<RewindResponse, DaemonError> {
        let SharedSession { client, id, .. } = &*self.shared;
        self.shared
            .as_registered(|us| async move { client.rewind(id, point, files, us.as_ref()).await })
            .await
    }

    /// Copies the session, in which no turn may run.
    ///
    /// The daemon 0.24.4 loses its agent, and with it every session of the folder, when it copies one
    /// with a prompt that refers to an attachment.
    pub async fn branch(&self, title: Option<&str>) -> Result<SessionCopy, DaemonError> {
        let SharedSession { client, id, .. } = &*self.shared;
        let branched = self
            .shared
            .as_registered(|us| async move { client.branch(id, title, us.as_ref()).await })
            .await?;
        let copy = branched.copy.opened;
        // The daemon has registered us in the copy, where our vote would be waited for.
        if let Err(error) = Registration::of(client, &copy).give_back().await {
            tracing::debug!(%error, "a copy of a session could not be left");
        }
        Ok(SessionCopy {
            session: copy.session_id,
            title: branched.display_name,
        })
    }
}
