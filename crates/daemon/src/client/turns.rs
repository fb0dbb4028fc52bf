//! Routes for prompts, turns and permissions.

use hyper::Method;
use serde::Deserialize;
use serde_json::json;

use super::{DaemonClient, session_path};
use crate::error::{DaemonError, ErrorReason};
use crate::http::encode;
use crate::wire::{
    ClientId, PendingPrompt, PermissionVote, PromptId, PromptRequest, PromptResponse, RequestId,
    SessionId, StopReason, TurnStatus, VoteResult,
};

impl DaemonClient {
    /// `POST /session/{id}/prompt`. The end of the turn comes as an event, which may arrive before
    /// this returns.
    ///
    /// Never repeat a prompt after [`DaemonError::Timeout`] or [`DaemonError::ConnectionLost`]: it
    /// may be running.
    pub async fn prompt(
        &self,
        session: &SessionId,
        prompt: &PromptRequest,
        client: Option<&ClientId>,
    ) -> Result<PromptResponse, DaemonError> {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Finished {
            stop_reason: StopReason,
        }
        let path = session_path(session, "/prompt");
        let request = self.post(path.clone(), prompt)?.client(client);
        let answer = self.http.fetch(request).await?;
        if answer.status == 200
            && let Ok(finished) = serde_json::from_slice::<Finished>(&answer.body)
        {
            return Ok(PromptResponse::Finished(finished.stop_reason));
        }
        self.read(&path, &answer).map(PromptResponse::Accepted)
    }

    /// `POST /session/{id}/cancel`: cancels the running turn. Queued prompts still run. No error if
    /// nothing runs.
    pub async fn cancel(
        &self,
        session: &SessionId,
        client: Option<&ClientId>,
    ) -> Result<(), DaemonError> {
        let request = self.post(session_path(session, "/cancel"), &json!({}))?;
        self.http.fetch(request.client(client)).await.map(drop)
    }

    /// `GET /session/{id}/turns/{prompt}`: the daemon's record of a turn.
    pub async fn turn(
        &self,
        session: &SessionId,
        prompt: &PromptId,
    ) -> Result<TurnStatus, DaemonError> {
        let tail = format!("/turns/{}", encode(prompt.as_str()));
        self.json(self.get(session_path(session, &tail))).await
    }

    /// `GET /session/{id}/turns/current`: the running turn, or the last one.
    pub async fn current_turn(&self, session: &SessionId) -> Result<TurnStatus, DaemonError> {
        self.json(self.get(session_path(session, "/turns/current")))
            .await
    }

    /// `GET /session/{id}/pending-prompts`: the prompts that run or are queued.
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
        let request = self.get(session_path(session, "/pending-prompts"));
        let pending: Pending = self.json(request).await?;
        Ok(pending.pending_prompts)
    }

    /// `DELETE /session/{id}/pending-prompts/{prompt}`. `false` if the prompt was not queued (any
    /// more).
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
        let request = self.request(Method::DELETE, session_path(session, &tail));
        let removed: Removed = self.json(request.client(client)).await?;
        Ok(removed.removed)
    }

    /// `POST /session/{id}/permission/{request}`: answers a permission request. Every workspace of
    /// the daemon has this route.
    pub async fn vote(
        &self,
        session: &SessionId,
        request: &RequestId,
        ballot: &PermissionVote,
        client: Option<&ClientId>,
    ) -> Result<VoteResult, DaemonError> {
        let tail = format!("/permission/{}", encode(request.as_str()));
        let request = self.post(session_path(session, &tail), ballot)?;
        match self.http.fetch(request.client(client)).await {
            Ok(_) => Ok(VoteResult::Taken),
            // Unknown, resolved before, or of another session: the daemon does not tell which.
            Err(error) if error.reason() == Some(ErrorReason::NotFound) => Ok(VoteResult::Lost),
            Err(error) => Err(error),
        }
    }
}
