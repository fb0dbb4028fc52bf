//! Routes about sessions as a whole.

use hyper::Method;
use serde_json::json;

use super::{DaemonClient, query, session_path};
use crate::error::{DaemonError, Reason};
use crate::http::{Call, encode};
use crate::wire::{
    ApprovalMode, ApprovalModeSet, ClientId, Heartbeat, Loaded, Metadata, ModelSwitch, NewSession,
    Opened, PageRequest, Restore, SessionContext, SessionId, SessionPage, SessionSummary,
    Transcript, TranscriptRequest,
};

impl DaemonClient {
    /// Creates a session, or attaches to the one that is there.
    pub async fn create_session(&self, new: &NewSession) -> Result<Opened, DaemonError> {
        let call = self.post("/session".into(), new)?;
        let patience = self.restore_patience();
        self.json(Call { patience, ..call }).await
    }

    /// Brings a session back with its history, from the daemon's memory or from disk.
    ///
    /// With a client id that is registered there, that id is kept and counted once more; any other
    /// id is replaced by a new one.
    pub async fn load_session(
        &self,
        session: &SessionId,
        restore: &Restore,
        client: Option<&ClientId>,
    ) -> Result<Loaded, DaemonError> {
        self.restore(session, "/load", restore, client).await
    }

    /// Brings a session back without its history.
    pub async fn resume_session(
        &self,
        session: &SessionId,
        restore: &Restore,
        client: Option<&ClientId>,
    ) -> Result<Loaded, DaemonError> {
        self.restore(session, "/resume", restore, client).await
    }

    async fn restore(
        &self,
        session: &SessionId,
        how: &str,
        restore: &Restore,
        client: Option<&ClientId>,
    ) -> Result<Loaded, DaemonError> {
        let call = self
            .post(session_path(session, how), restore)?
            .client(client);
        let patience = self.restore_patience();
        self.json(Call { patience, ..call }).await
    }

    /// The sessions of a folder, newest first.
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

    /// How a session is, with everything that waits for a person. Only for live sessions.
    pub async fn session_status(&self, session: &SessionId) -> Result<SessionSummary, DaemonError> {
        self.json(self.get(session_path(session, "/status"))).await
    }

    /// Models and modes of a session.
    pub async fn session_context(
        &self,
        session: &SessionId,
    ) -> Result<SessionContext, DaemonError> {
        self.json(self.get(session_path(session, "/context"))).await
    }

    /// A page of a session's transcript.
    pub async fn transcript(
        &self,
        session: &SessionId,
        page: &TranscriptRequest,
    ) -> Result<Transcript, DaemonError> {
        let parts = [
            ("limit", page.limit.map(|limit| limit.to_string())),
            ("cursor", page.cursor.clone()),
            ("beforeRecordId", page.before_record_id.clone()),
        ];
        let path = session_path(session, "/transcript") + &query(&parts);
        self.json(self.get(path)).await
    }

    /// Closes a session for everybody; its transcript stays. `false` if it was closed already.
    pub async fn close_session(
        &self,
        session: &SessionId,
        client: Option<&ClientId>,
    ) -> Result<bool, DaemonError> {
        let call = self
            .call(Method::DELETE, session_path(session, ""))
            .client(client);
        self.gone(call).await
    }

    /// Takes one registration of a client back. `false` if the session was gone already.
    pub async fn detach(
        &self,
        session: &SessionId,
        client: &ClientId,
    ) -> Result<bool, DaemonError> {
        let call = self.call(Method::POST, session_path(session, "/detach"));
        self.gone(call.client(Some(client))).await
    }

    /// Asks for something to go away, and is content if it has.
    async fn gone(&self, call: Call) -> Result<bool, DaemonError> {
        match self.link.ask(call).await {
            Ok(_) => Ok(true),
            Err(error) if error.reason() == Some(Reason::SessionNotFound) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Gives a session a title of at most 256 characters.
    pub async fn set_display_name(
        &self,
        session: &SessionId,
        name: &str,
        client: Option<&ClientId>,
    ) -> Result<Metadata, DaemonError> {
        let body = json!({"displayName": name});
        let call = self.with_body(Method::PATCH, session_path(session, "/metadata"), &body)?;
        self.json(call.client(client)).await
    }

    /// Tells the daemon that we are alive. It keeps a record; nobody is thrown out for silence.
    pub async fn heartbeat(
        &self,
        session: &SessionId,
        client: Option<&ClientId>,
    ) -> Result<Heartbeat, DaemonError> {
        let call = self.post(session_path(session, "/heartbeat"), &json!({}))?;
        self.json(call.client(client)).await
    }

    /// Switches the model. Beware: the daemon writes it into the person's settings.
    pub async fn set_model(
        &self,
        session: &SessionId,
        model: &str,
        client: Option<&ClientId>,
    ) -> Result<ModelSwitch, DaemonError> {
        let body = json!({"modelId": model});
        let call = self.post(session_path(session, "/model"), &body)?;
        self.json(call.client(client)).await
    }

    /// Changes what the agent may do without asking, for this session or for good.
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
        let call = self.post(session_path(session, "/approval-mode"), &body)?;
        self.json(call.client(client)).await
    }
}
