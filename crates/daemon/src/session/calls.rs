//! The requests of a session. Those that carry our client id are repeated once with a new id if the
//! daemon has forgotten it; see `identity`. Only closing and leaving are not: a new id would bring back
//! what is to end.

use super::{DisconnectMode, Session, SessionEndReason, SharedSession, Turn, TurnEnd};
use crate::error::DaemonError;
use crate::wire::{
    ApprovalMode, ApprovalModeSet, Heartbeat, ModelSet, PendingPrompt, PermissionVote, PromptId,
    PromptRequest, PromptResponse, RequestId, SessionContext, SessionMetadata, SessionSummary,
    TranscriptPage, TranscriptRequest, TurnStatus, VoteResult,
};

impl Session {
    /// Sends a prompt. It is never sent twice.
    pub async fn prompt(&self, prompt: impl Into<PromptRequest>) -> Result<Turn, DaemonError> {
        let prompt = &prompt.into();
        let shared = &*self.shared;
        let SharedSession { client, id, .. } = shared;
        match shared
            .as_registered(|us| async move { client.prompt(id, prompt, us.as_ref()).await })
            .await?
        {
            PromptResponse::Accepted(accepted) => Ok(shared.prompts.expect(accepted.prompt_id)),
            PromptResponse::Finished(stop_reason) => {
                Ok(Turn::over(TurnEnd::Complete { stop_reason }))
            }
        }
    }

    /// Cancels the running turn. Its end still comes through [`Turn::end`].
    pub async fn cancel(&self) -> Result<(), DaemonError> {
        let SharedSession { client, id, .. } = &*self.shared;
        self.shared
            .as_registered(|us| async move { client.cancel(id, us.as_ref()).await })
            .await
    }

    /// Votes on a permission request.
    pub async fn vote(
        &self,
        request: &RequestId,
        ballot: &PermissionVote,
    ) -> Result<VoteResult, DaemonError> {
        let SharedSession { client, id, .. } = &*self.shared;
        self.shared
            .as_registered(|us| async move { client.vote(id, request, ballot, us.as_ref()).await })
            .await
    }

    /// Switches the model. The daemon also writes it into the user's settings.
    pub async fn set_model(&self, model: &str) -> Result<ModelSet, DaemonError> {
        let SharedSession { client, id, .. } = &*self.shared;
        self.shared
            .as_registered(|us| async move { client.set_model(id, model, us.as_ref()).await })
            .await
    }

    /// Sets the approval mode for this session, or with `persist` in the settings too.
    pub async fn set_approval_mode(
        &self,
        mode: &ApprovalMode,
        persist: bool,
    ) -> Result<ApprovalModeSet, DaemonError> {
        self.shared.choose_mode(mode, persist).await
    }

    /// Sets the title.
    pub async fn set_display_name(&self, name: &str) -> Result<SessionMetadata, DaemonError> {
        let SharedSession { client, id, .. } = &*self.shared;
        self.shared
            .as_registered(|us| async move { client.set_display_name(id, name, us.as_ref()).await })
            .await
    }

    /// Tells the daemon that this client is alive.
    pub async fn heartbeat(&self) -> Result<Heartbeat, DaemonError> {
        let SharedSession { client, id, .. } = &*self.shared;
        self.shared
            .as_registered(|us| async move { client.heartbeat(id, us.as_ref()).await })
            .await
    }

    /// Removes a prompt from the queue. `false` if it was not queued (any more).
    pub async fn remove_pending_prompt(&self, prompt: &PromptId) -> Result<bool, DaemonError> {
        let SharedSession { client, id, .. } = &*self.shared;
        self.shared
            .as_registered(|us| async move {
                client.remove_pending_prompt(id, prompt, us.as_ref()).await
            })
            .await
    }

    /// The state of the session, with the open requests.
    pub async fn status(&self) -> Result<SessionSummary, DaemonError> {
        self.shared.client.session_status(&self.shared.id).await
    }

    /// The available models and approval modes.
    pub async fn context(&self) -> Result<SessionContext, DaemonError> {
        self.shared.client.session_context(&self.shared.id).await
    }

    /// One page of the transcript.
    pub async fn transcript(
        &self,
        page: &TranscriptRequest,
    ) -> Result<TranscriptPage, DaemonError> {
        self.shared.client.transcript(&self.shared.id, page).await
    }

    /// The daemon's record of a turn.
    pub async fn turn(&self, prompt: &PromptId) -> Result<TurnStatus, DaemonError> {
        self.shared.client.turn(&self.shared.id, prompt).await
    }

    /// The prompts that run or are queued.
    pub async fn pending_prompts(&self) -> Result<Vec<PendingPrompt>, DaemonError> {
        self.shared.client.pending_prompts(&self.shared.id).await
    }

    /// Closes the session for all clients. [`SessionEvent::Ended`](super::SessionEvent::Ended)
    /// follows when it is done.
    pub async fn close(&self) -> Result<bool, DaemonError> {
        let client = self.shared.identity.current();
        self.shared
            .client
            .close_session(&self.shared.id, client.as_ref())
            .await
    }

    /// Leaves the session. [`SessionEvent::Ended`](super::SessionEvent::Ended) is queued at once;
    /// the result tells whether the daemon accepted the sign-off.
    pub async fn leave(&self, disconnect_mode: DisconnectMode) -> Result<(), DaemonError> {
        self.reader.0.abort();
        self.shared.end(SessionEndReason::Left);
        if disconnect_mode == DisconnectMode::KeepRunning {
            return Ok(());
        }
        let SharedSession {
            client,
            id,
            identity,
            ..
        } = &*self.shared;
        // A registration that is on its way has to be given back, too.
        identity.settled().await;
        let cancelled = if disconnect_mode == DisconnectMode::Cancel {
            client.cancel(id, identity.current().as_ref()).await
        } else {
            Ok(())
        };
        while let Some(us) = identity.to_detach() {
            client.detach(id, &us).await?;
            identity.detached();
        }
        cancelled
    }
}
