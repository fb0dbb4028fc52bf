//! Routes about prompts, turns and permissions.

use hyper::Method;
use serde::Deserialize;
use serde_json::json;

use super::{DaemonClient, session_path};
use crate::error::{DaemonError, Reason};
use crate::http::encode;
use crate::wire::{
    Admission, Ballot, ClientId, PendingPrompt, PromptId, PromptRequest, RequestId, SessionId,
    StopReason, TurnStatus, Vote,
};

impl DaemonClient {
    /// Sends a prompt. Its end comes as an event, which may well arrive before this returns.
    ///
    /// Never repeat one after [`DaemonError::Silent`] or [`DaemonError::Cut`]: it may be running.
    pub async fn prompt(
        &self,
        session: &SessionId,
        prompt: &PromptRequest,
        client: Option<&ClientId>,
    ) -> Result<Admission, DaemonError> {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Finished {
            stop_reason: StopReason,
        }
        let path = session_path(session, "/prompt");
        let call = self.post(path.clone(), prompt)?.client(client);
        let answer = self.link.ask(call).await?;
        if answer.status == 200
            && let Ok(finished) = serde_json::from_slice::<Finished>(&answer.body)
        {
            return Ok(Admission::Finished(finished.stop_reason));
        }
        self.read(&path, &answer).map(Admission::Accepted)
    }

    /// Asks for the running turn to be cancelled; queued prompts go on. Fine when nothing runs.
    pub async fn cancel(
        &self,
        session: &SessionId,
        client: Option<&ClientId>,
    ) -> Result<(), DaemonError> {
        let call = self.post(session_path(session, "/cancel"), &json!({}))?;
        self.link.ask(call.client(client)).await.map(drop)
    }

    /// What the daemon remembers about a turn.
    pub async fn turn(
        &self,
        session: &SessionId,
        prompt: &PromptId,
    ) -> Result<TurnStatus, DaemonError> {
        let tail = format!("/turns/{}", encode(prompt.as_str()));
        self.json(self.get(session_path(session, &tail))).await
    }

    /// The running turn, or the last one.
    pub async fn current_turn(&self, session: &SessionId) -> Result<TurnStatus, DaemonError> {
        self.json(self.get(session_path(session, "/turns/current")))
            .await
    }

    /// The prompts that run and wait.
    pub async fn pending_prompts(
        &self,
        session: &SessionId,
    ) -> Result<Vec<PendingPrompt>, DaemonError> {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Pending {
            #[serde(default)]
            pending_prompts: Vec<PendingPrompt>,
        }
        let call = self.get(session_path(session, "/pending-prompts"));
        let pending: Pending = self.json(call).await?;
        Ok(pending.pending_prompts)
    }

    /// Takes a prompt out of the queue. `false` if it was not there (any more).
    pub async fn remove_pending_prompt(
        &self,
        session: &SessionId,
        prompt: &PromptId,
        client: Option<&ClientId>,
    ) -> Result<bool, DaemonError> {
        #[derive(Deserialize)]
        struct Removed {
            removed: bool,
        }
        let tail = format!("/pending-prompts/{}", encode(prompt.as_str()));
        let call = self.call(Method::DELETE, session_path(session, &tail));
        let removed: Removed = self.json(call.client(client)).await?;
        Ok(removed.removed)
    }

    /// Answers a permission request, on the route that every workspace of the daemon has.
    pub async fn vote(
        &self,
        session: &SessionId,
        request: &RequestId,
        ballot: &Ballot,
        client: Option<&ClientId>,
    ) -> Result<Vote, DaemonError> {
        let tail = format!("/permission/{}", encode(request.as_str()));
        let call = self.post(session_path(session, &tail), ballot)?;
        match self.link.ask(call.client(client)).await {
            Ok(_) => Ok(Vote::Taken),
            // Unknown, resolved before, or of another session: the daemon does not tell which.
            Err(error) if error.reason() == Some(Reason::NotFound) => Ok(Vote::Lost),
            Err(error) => Err(error),
        }
    }
}
