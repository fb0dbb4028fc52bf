//! Routes that take a session back or copy it.

use serde_json::json;

use super::{DaemonClient, session_path};
use crate::error::DaemonError;
use crate::http::HttpRequest;
use crate::wire::{
    BranchedSession, ClientId, Rewound, RewoundFiles, SessionId, SnapshotId, SnapshotList,
};

impl DaemonClient {
    /// `GET /session/{id}/rewind/snapshots`: the turns that the session can be taken back to.
    pub async fn snapshots(&self, session: &SessionId) -> Result<SnapshotList, DaemonError> {
        self.json(self.get(session_path(session, "/rewind/snapshots")))
            .await
    }

    /// `POST /session/{id}/rewind`: lets the agent forget a turn and all after it.
    pub async fn rewind(
        &self,
        session: &SessionId,
        snapshot: &SnapshotId,
        files: RewoundFiles,
        client: Option<&ClientId>,
    ) -> Result<Rewound, DaemonError> {
        let body = json!({"promptId": snapshot, "rewindFiles": files == RewoundFiles::PutBack});
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
    ) -> Result<BranchedSession, DaemonError> {
        let body = title.map_or_else(|| json!({}), |title| json!({"name": title}));
        let request = self.post(session_path(session, "/branch"), &body)?;
        let timeout = self.restore_timeout();
        let request = HttpRequest { timeout, ..request };
        self.json(request.client(client)).await
    }
}
