//! What a session can be asked for. Calls that are made in our name survive that the daemon has
//! forgotten it; see `identity`.

use super::{End, Parting, Session, Shared, Turn, TurnEnd};
use crate::error::DaemonError;
use crate::wire::{
    Admission, ApprovalMode, ApprovalModeSet, Ballot, Heartbeat, Metadata, ModelSwitch,
    PendingPrompt, PromptId, PromptRequest, RequestId, SessionContext, SessionSummary, Transcript,
    TranscriptRequest, TurnStatus, Vote,
};

impl Session {
    /// Sends a prompt and hands out its turn. It is never sent twice.
    pub async fn prompt(&self, prompt: &PromptRequest) -> Result<Turn, DaemonError> {
        let shared = &*self.shared;
        if shared.queue.is_over() {
            return Err(DaemonError::Over);
        }
        let Shared { client, id, .. } = shared;
        match shared
            .as_registered(|us| async move { client.prompt(id, prompt, us.as_ref()).await })
            .await?
        {
            Admission::Accepted(accepted) => Ok(shared.prompts.expect(accepted.prompt_id)),
            Admission::Finished(stop_reason) => Ok(Turn::over(TurnEnd::Complete { stop_reason })),
        }
    }

    /// Asks for the running turn to be cancelled. Its end still comes through [`Turn::end`].
    pub async fn cancel(&self) -> Result<(), DaemonError> {
        let Shared { client, id, .. } = &*self.shared;
        self.shared
            .as_registered(|us| async move { client.cancel(id, us.as_ref()).await })
            .await
    }

    /// Answers a permission request.
    pub async fn vote(&self, request: &RequestId, ballot: &Ballot) -> Result<Vote, DaemonError> {
        let Shared { client, id, .. } = &*self.shared;
        self.shared
            .as_registered(|us| async move { client.vote(id, request, ballot, us.as_ref()).await })
            .await
    }

    /// Switches the model.
    pub async fn set_model(&self, model: &str) -> Result<ModelSwitch, DaemonError> {
        let Shared { client, id, .. } = &*self.shared;
        self.shared
            .as_registered(|us| async move { client.set_model(id, model, us.as_ref()).await })
            .await
    }

    /// Changes what the agent may do without asking, for this session or for good.
    pub async fn set_approval_mode(
        &self,
        mode: &ApprovalMode,
        persist: bool,
    ) -> Result<ApprovalModeSet, DaemonError> {
        let Shared { client, id, .. } = &*self.shared;
        self.shared
            .as_registered(|us| async move {
                client
                    .set_approval_mode(id, mode, persist, us.as_ref())
                    .await
            })
            .await
    }

    /// Gives the session a title.
    pub async fn set_display_name(&self, name: &str) -> Result<Metadata, DaemonError> {
        let Shared { client, id, .. } = &*self.shared;
        self.shared
            .as_registered(|us| async move { client.set_display_name(id, name, us.as_ref()).await })
            .await
    }

    /// Tells the daemon that we are alive.
    pub async fn heartbeat(&self) -> Result<Heartbeat, DaemonError> {
        let Shared { client, id, .. } = &*self.shared;
        self.shared
            .as_registered(|us| async move { client.heartbeat(id, us.as_ref()).await })
            .await
    }

    /// Takes a prompt out of the queue.
    pub async fn remove_pending_prompt(&self, prompt: &PromptId) -> Result<bool, DaemonError> {
        let Shared { client, id, .. } = &*self.shared;
        self.shared
            .as_registered(|us| async move {
                client.remove_pending_prompt(id, prompt, us.as_ref()).await
            })
            .await
    }

    /// How the session is, with everything that waits for a person.
    pub async fn status(&self) -> Result<SessionSummary, DaemonError> {
        self.shared.client.session_status(&self.shared.id).await
    }

    /// Models and modes.
    pub async fn context(&self) -> Result<SessionContext, DaemonError> {
        self.shared.client.session_context(&self.shared.id).await
    }

    /// A page of the transcript.
    pub async fn transcript(&self, page: &TranscriptRequest) -> Result<Transcript, DaemonError> {
        self.shared.client.transcript(&self.shared.id, page).await
    }

    /// What the daemon remembers about a turn.
    pub async fn turn(&self, prompt: &PromptId) -> Result<TurnStatus, DaemonError> {
        self.shared.client.turn(&self.shared.id, prompt).await
    }

    /// The prompts that run and wait.
    pub async fn pending_prompts(&self) -> Result<Vec<PendingPrompt>, DaemonError> {
        self.shared.client.pending_prompts(&self.shared.id).await
    }

    /// Closes the session for everybody. The stream tells when it is done.
    pub async fn close(&self) -> Result<bool, DaemonError> {
        let client = self.shared.identity.current();
        self.shared
            .client
            .close_session(&self.shared.id, client.as_ref())
            .await
    }

    /// Parts from the session. [`super::Update::Ended`] comes at once; the result tells whether the
    /// daemon took our leave.
    pub async fn leave(&self, parting: Parting) -> Result<(), DaemonError> {
        self.reader.0.abort();
        self.shared.end(End::Left);
        if parting == Parting::KeepRunning {
            return Ok(());
        }
        let client = self.shared.identity.current();
        let cancelled = if parting == Parting::Cancel {
            self.shared
                .client
                .cancel(&self.shared.id, client.as_ref())
                .await
        } else {
            Ok(())
        };
        if let Some(client) = client {
            for _ in 0..self.shared.identity.take_registrations() {
                self.shared.client.detach(&self.shared.id, &client).await?;
            }
        }
        cancelled
    }
}
