//! Routes for what a session does and has used: background tasks, tokens, commands.

use serde_json::json;

use super::{DaemonClient, query, session_path};
use crate::error::DaemonError;
use crate::http::encode;
use crate::wire::{
    ClientId, ContextUsageReport, SessionId, SessionStats, SupportedCommands, TaskCancelResponse,
    TaskId, TaskKind, TaskList,
};

impl DaemonClient {
    /// `GET /session/{id}/context-usage`: how the context window is used; with `detail` also by each
    /// tool, file and skill.
    pub async fn context_usage(
        &self,
        session: &SessionId,
        detail: bool,
    ) -> Result<ContextUsageReport, DaemonError> {
        let tail = query(&[("detail", detail.then(|| "true".into()))]);
        let path = session_path(session, "/context-usage") + &tail;
        self.json(self.get(path)).await
    }

    /// `GET /session/{id}/stats`: requests, tokens and tool calls since the session is live.
    pub async fn session_stats(&self, session: &SessionId) -> Result<SessionStats, DaemonError> {
        self.json(self.get(session_path(session, "/stats"))).await
    }

    /// `GET /session/{id}/supported-commands`: the slash commands and skills.
    pub async fn supported_commands(
        &self,
        session: &SessionId,
    ) -> Result<SupportedCommands, DaemonError> {
        self.json(self.get(session_path(session, "/supported-commands")))
            .await
    }

    /// `GET /session/{id}/tasks`: the background tasks, also those that have ended.
    pub async fn tasks(&self, session: &SessionId) -> Result<TaskList, DaemonError> {
        self.json(self.get(session_path(session, "/tasks"))).await
    }

    /// `POST /session/{id}/tasks/{task}/cancel`: cancels a background task.
    pub async fn cancel_task(
        &self,
        session: &SessionId,
        task: &TaskId,
        kind: &TaskKind,
        client: Option<&ClientId>,
    ) -> Result<TaskCancelResponse, DaemonError> {
        let tail = format!("/tasks/{}/cancel", encode(task.as_str()));
        let request = self.post(session_path(session, &tail), &json!({"kind": kind}))?;
        self.json(request.client(client)).await
    }
}
