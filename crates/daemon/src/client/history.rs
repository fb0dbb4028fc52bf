//! Routes that take a session back or copy it.

use serde_json::json;

use super::{DaemonClient, session_path};
use crate::error::DaemonError;
use crate::http::HttpRequest;
use crate::wire::{
    BranchResponse, ClientId, RewindFiles, RewindPointId, RewindPointList, RewindResponse,
    SessionId,
};

impl DaemonClient {
    /// `GET /session/{id}/rewind/snapshots`: the turns that the session can be taken back to.
    pub async fn rewind_points(&self, session: &SessionId) -> Result<RewindPointList, DaemonError> {
        self.json(self.get(session_path(session, "/rewind/snapshots")))
            .await
    }

    /// `POST /session/{id}/rewind`: lets the agent forget a turn and all after it.
    pub async fn rewind(
        &self,
        session: &SessionId,
        point: &RewindPointId,
        files: RewindFiles,
        client: Option<&ClientId>,
    ) -> Result<RewindResponse, DaemonError> {
        let body = json!({"promptId": point, "rewindFiles": files == RewindFiles::PutBack});
        let request = self.post(session_path(session, "/rewind"), &body)?;
        self.json(request.client(client)).await
    }

    /// `POST /session/{id}/branch`: copies a session in which no turn runs. The copy is live, and we
    /// are registered in it; leave it with [`DaemonClient::detach`]. The daemon may add a number to
    /// the title.
    pub async fn branch(
        &self,
        session: &SessionId,
        title: Option<&str>,
        client: Option<&ClientId>,
    ) -> Result<BranchResponse, DaemonError> {
        let body = title.map_or_else(|| json!({}), |title| json!({"name": title}));
        let request = self.post(session_path(session, "/branch"), &body)?;
        let timeout = self.restore_timeout();
        let request = HttpRequest { timeout, ..request };
        self.json(request.client(client)).await
    }
}
