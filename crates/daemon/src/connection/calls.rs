//! What an editor asks of its conversation besides turns, and of the daemon's other conversations.
//!
//! To open another conversation, connect with [`SessionChoice::Known`](super::SessionChoice::Known).

use super::{CallError, IdeConnection, LiveConnection};
use crate::client::WorkspaceClient;
use crate::session::{Session, SessionCopy};
use crate::wire::{
    Attachment, AttachmentContent, AttachmentId, ContextUsageReport, MidTurnMessage, MidTurnQueue,
    MidTurnReceipt, NewAttachment, PageRequest, PendingPrompt, PromptId, RewindFiles,
    RewindPointId, RewindPointList, RewindResponse, SessionId, SessionMetadata, SessionPage,
    SessionStats, SupportedCommands, TaskCancelResponse, TaskId, TaskKind, TaskList,
    TranscriptPage, TranscriptRequest,
};

/// The conversations of the folder.
impl IdeConnection {
    /// The conversations, newest first.
    pub async fn conversations(&self, page: &PageRequest) -> Result<SessionPage, CallError> {
        let LiveConnection {
            session, folder, ..
        } = self.live()?;
        Ok(session.client().sessions(&folder.path, page).await?)
    }

    /// Gives a conversation a title, at most 256 characters, whether or not it is live.
    pub async fn rename(
        &self,
        conversation: &SessionId,
        title: &str,
    ) -> Result<SessionMetadata, CallError> {
        let LiveConnection {
            session, folder, ..
        } = self.live()?;
        if session.id() == conversation {
            return Ok(session.set_display_name(title).await?);
        }
        let client = session.client();
        Ok(client.rename(&folder.path, conversation, title).await?)
    }

    /// Closes a conversation for all clients. Its transcript stays, and it can be opened again.
    /// `false` if it was closed already. Closing the current one ends the connection.
    pub async fn close(&self, conversation: &SessionId) -> Result<bool, CallError> {
        let session = self.live()?.session;
        if session.id() == conversation {
            return Ok(session.close().await?);
        }
        Ok(session.client().close_session(conversation, None).await?)
    }

    /// The folder at the daemon: its files, to read, and what the agent has there.
    pub fn workspace(&self) -> Result<WorkspaceClient, CallError> {
        let LiveConnection {
            session, folder, ..
        } = self.live()?;
        let client = session.client();
        Ok(if folder.is_primary {
            client.primary_workspace()
        } else {
            client.workspace(folder.path)
        })
    }
}

/// The current conversation.
impl IdeConnection {
    /// One page of the transcript.
    pub async fn transcript(&self, page: &TranscriptRequest) -> Result<TranscriptPage, CallError> {
        Ok(self.current()?.transcript(page).await?)
    }

    /// The prompts that run or are queued.
    pub async fn pending_prompts(&self) -> Result<Vec<PendingPrompt>, CallError> {
        Ok(self.current()?.pending_prompts().await?)
    }

    /// Sends a file to the conversation. A prompt refers to it with
    /// [`ContentBlock::attachment`](crate::wire::ContentBlock::attachment).
    pub async fn upload_attachment(&self, new: &NewAttachment) -> Result<Attachment, CallError> {
        Ok(self.current()?.upload_attachment(new).await?)
    }

    /// The files that the conversation has.
    pub async fn attachments(&self) -> Result<Vec<Attachment>, CallError> {
        Ok(self.current()?.attachments().await?)
    }

    /// The content of a file that the conversation has.
    pub async fn attachment(&self, id: &AttachmentId) -> Result<AttachmentContent, CallError> {
        Ok(self.current()?.attachment(id).await?)
    }

    /// Removes a file. `false` if the conversation does not have it (any more).
    pub async fn remove_attachment(&self, id: &AttachmentId) -> Result<bool, CallError> {
        Ok(self.current()?.remove_attachment(id).await?)
    }

    /// Sends a message to the agent while it works; see [`Session::send_mid_turn`].
    pub async fn send_mid_turn(
        &self,
        message: impl Into<MidTurnMessage>,
    ) -> Result<MidTurnReceipt, CallError> {
        Ok(self.current()?.send_mid_turn(message).await?)
    }

    /// The messages that the agent has not read.
    pub async fn mid_turn_queue(&self) -> Result<MidTurnQueue, CallError> {
        Ok(self.current()?.mid_turn_queue().await?)
    }

    /// Takes a message back. `false` if the agent has read it, or if it never was there.
    pub async fn remove_mid_turn(&self, message: &PromptId) -> Result<bool, CallError> {
        Ok(self.current()?.remove_mid_turn(message).await?)
    }

    /// The background tasks, also those that have ended.
    pub async fn tasks(&self) -> Result<TaskList, CallError> {
        Ok(self.current()?.tasks().await?)
    }

    /// Cancels a background task.
    pub async fn cancel_task(
        &self,
        task: &TaskId,
        kind: &TaskKind,
    ) -> Result<TaskCancelResponse, CallError> {
        Ok(self.current()?.cancel_task(task, kind).await?)
    }

    /// How the context window is used; with `detail` also by each tool, file and skill.
    pub async fn context_usage(&self, detail: bool) -> Result<ContextUsageReport, CallError> {
        Ok(self.current()?.context_usage(detail).await?)
    }

    /// Requests, tokens and tool calls since the conversation is live.
    pub async fn stats(&self) -> Result<SessionStats, CallError> {
        Ok(self.current()?.stats().await?)
    }

    /// The slash commands and skills.
    pub async fn supported_commands(&self) -> Result<SupportedCommands, CallError> {
        Ok(self.current()?.supported_commands().await?)
    }

    /// The turns that the conversation can be taken back to.
    pub async fn rewind_points(&self) -> Result<RewindPointList, CallError> {
        Ok(self.current()?.rewind_points().await?)
    }

    /// Lets the agent forget a turn and all after it. The event `session_rewound` follows as
    /// [`IdeEvent::Other`](super::IdeEvent::Other).
    pub async fn rewind(
        &self,
        point: &RewindPointId,
        files: RewindFiles,
    ) -> Result<RewindResponse, CallError> {
        Ok(self.current()?.rewind(point, files).await?)
    }

    /// Copies the conversation, in which no turn may run; see [`Session::branch`]. To go on in the
    /// copy, connect to it.
    pub async fn branch(&self, title: Option<&str>) -> Result<SessionCopy, CallError> {
        Ok(self.current()?.branch(title).await?)
    }

    fn current(&self) -> Result<Session, CallError> {
        Ok(self.live()?.session)
    }
}
