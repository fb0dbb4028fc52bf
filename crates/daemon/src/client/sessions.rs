//! Routes for sessions as a whole.

use hyper::Method;
use serde_json::json;

use super::{DaemonClient, query, session_path};
use crate::error::{DaemonError, ErrorReason};
use crate::http::{HttpRequest, encode};
use crate::wire::{
    ApprovalMode, ApprovalModeSet, ClientId, Heartbeat, LoadedSession, ModelSet, NewSession,
    OpenedSession, PageRequest, RestoreSession, SessionContext, SessionId, SessionMetadata,
    SessionPage, SessionSummary, TranscriptPage, TranscriptRequest,
};

impl DaemonClient {
    /// `POST /session`: creates a session, or attaches to the one that is shared in this workspace.
    pub async fn create_session(&self, new: &NewSession) -> Result<OpenedSession, DaemonError> {
        let request = self.post("/session".into(), new)?;
        let timeout = self.restore_timeout();
        self.json(HttpRequest { timeout, ..request }).await
    }

    /// `POST /session/{id}/load`: restores a session with its history, from the daemon's memory or
    /// from disk.
    ///
    /// With a client id that is registered there, that id is kept and its registrations are counted
    /// up; any other id is replaced by a new one.
    pub async fn load_session(
        &self,
        session: &SessionId,
        restore: &RestoreSession,
        client: Option<&ClientId>,
    ) -> Result<LoadedSession, DaemonError> {
        self.restore(session, "/load", restore, client).await
    }

    /// `POST /session/{id}/resume`: restores a session without its history.
    pub async fn resume_session(
        &self,
        session: &SessionId,
        restore: &RestoreSession,
        client: Option<&ClientId>,
    ) -> Result<LoadedSession, DaemonError> {
        self.restore(session, "/resume", restore, client).await
    }

    async fn restore(
        &self,
        session: &SessionId,
        how: &str,
        restore: &RestoreSession,
        client: Option<&ClientId>,
    ) -> Result<LoadedSession, DaemonError> {
        let request = self
            .post(session_path(session, how), restore)?
            .client(client);
        let timeout = self.restore_timeout();
        self.json(HttpRequest { timeout, ..request }).await
    }

    /// `GET /workspace/{folder}/sessions`: the sessions of a folder, newest first.
    pub async fn sessions(
        &self,
        workspace: &str,
        page: &PageRequest,
    ) -> Result<SessionPage, DaemonError> {
        let parts = [
            ("size", page.size.map(|size| size.to_string())),
            ("cursor", page.cursor.clone()),
        ];
        let path = format!("/workspace/{}/sessions{}", encode(workspace), query(&parts));
        self.json(self.get(path)).await
    }

    /// `GET /session/{id}/status`: state of a live session, with the requests that are open.
    pub async fn session_status(&self, session: &SessionId) -> Result<SessionSummary, DaemonError> {
        self.json(self.get(session_path(session, "/status"))).await
    }

    /// `GET /session/{id}/context`: the models and approval modes of a session.
    pub async fn session_context(
        &self,
        session: &SessionId,
    ) -> Result<SessionContext, DaemonError> {
        self.json(self.get(session_path(session, "/context"))).await
    }

    /// `GET /session/{id}/transcript`: one page of the transcript.
    pub async fn transcript(
        &self,
        session: &SessionId,
        page: &TranscriptRequest,
    ) -> Result<TranscriptPage, DaemonError> {
        let parts = [
            ("limit", page.limit.map(|limit| limit.to_string())),
            ("cursor", page.cursor.clone()),
            ("beforeRecordId", page.before_record_id.clone()),
        ];
        let path = session_path(session, "/transcript") + &query(&parts);
        self.json(self.get(path)).await
    }

    /// `DELETE /session/{id}`: closes a session for all clients. The transcript stays. `false` if
    /// it was closed already.
    pub async fn close_session(
        &self,
        session: &SessionId,
        client: Option<&ClientId>,
    ) -> Result<bool, DaemonError> {
        let request = self
            .request(Method::DELETE, session_path(session, ""))
            .client(client);
        self.gone(request).await
    }

    /// `POST /session/{id}/detach`: removes one registration of a client. `false` if the session
    /// was gone already.
    pub async fn detach(
        &self,
        session: &SessionId,
        client: &ClientId,
    ) -> Result<bool, DaemonError> {
        let request = self.request(Method::POST, session_path(session, "/detach"));
        self.gone(request.client(Some(client))).await
    }

    /// Sends a request that removes something. A session that does not exist (any more) is no
    /// error.
    async fn gone(&self, request: HttpRequest) -> Result<bool, DaemonError> {
        match self.http.fetch(request).await {
            Ok(_) => Ok(true),
            Err(error) if error.reason() == Some(ErrorReason::SessionNotFound) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// `PATCH /session/{id}/metadata`: sets the title, at most 256 characters.
    pub async fn set_display_name(
        &self,
        session: &SessionId,
        name: &str,
        client: Option<&ClientId>,
    ) -> Result<SessionMetadata, DaemonError> {
        let body = json!({"displayName": name});
        let request = self.with_body(Method::PATCH, session_path(session, "/metadata"), &body)?;
        self.json(request.client(client)).await
    }

    /// `PATCH /workspaces/{workspace}/session/{id}/metadata`: sets the title of a session of a folder,
    /// which may be on disk only.
    pub async fn rename(
        &self,
        workspace: &str,
        session: &SessionId,
        title: &str,
    ) -> Result<SessionMetadata, DaemonError> {
        let (folder, id) = (encode(workspace), encode(session.as_str()));
        let path = format!("/workspaces/{folder}/session/{id}/metadata");
        let request = self.with_body(Method::PATCH, path, &json!({"displayName": title}))?;
        self.json(request).await
    }

    /// `POST /session/{id}/heartbeat`. The daemon records the time; it removes no client for being
    /// silent.
    pub async fn heartbeat(
        &self,
        session: &SessionId,
        client: Option<&ClientId>,
    ) -> Result<Heartbeat, DaemonError> {
        let request = self.post(session_path(session, "/heartbeat"), &json!({}))?;
        self.json(request.client(client)).await
    }

    /// `POST /session/{id}/model`: switches the model. The daemon also writes it into the user's
    /// settings.
    pub async fn set_model(
        &self,
        session: &SessionId,
        model: &str,
        client: Option<&ClientId>,
    ) -> Result<ModelSet, DaemonError> {
        let body = json!({"modelId": model});
        let request = self.post(session_path(session, "/model"), &body)?;
        self.json(request.client(client)).await
    }

    /// `POST /session/{id}/approval-mode`: for this session, or with `persist` in the settings too.
    pub async fn set_approval_mode(
        &self,
        session: &SessionId,
        mode: &ApprovalMode,
        persist: bool,
        client: Option<&ClientId>,
    ) -> Result<ApprovalModeSet, DaemonError> {
        let mut body = json!({"mode": mode});
        if persist {
            body["persist"] = true.into();
        }
        let request = self.post(session_path(session, "/approval-mode"), &body)?;
        self.json(request.client(client)).await
    }
}
