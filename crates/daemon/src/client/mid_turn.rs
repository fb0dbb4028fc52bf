//! Routes for messages to the agent while it works.

use hyper::Method;
use serde::Deserialize;

use super::{DaemonClient, session_path};
use crate::error::DaemonError;
use crate::http::encode;
use crate::wire::{ClientId, MidTurnMessage, MidTurnQueue, MidTurnReceipt, PromptId, SessionId};

impl DaemonClient {
    /// `POST /session/{id}/mid-turn-message`: sends a message to the agent while it works. The agent
    /// reads it after its next tool call, which an event tells.
    ///
    /// The queue shows a message only if it was sent with a client id.
    pub async fn send_mid_turn(
        &self,
        session: &SessionId,
        message: &MidTurnMessage,
        client: Option<&ClientId>,
    ) -> Result<MidTurnReceipt, DaemonError> {
        let request = self.post(session_path(session, "/mid-turn-message"), message)?;
        self.json(request.client(client)).await
    }

    /// `GET /session/{id}/mid-turn-messages`: the messages that the agent has not read.
    pub async fn mid_turn_queue(&self, session: &SessionId) -> Result<MidTurnQueue, DaemonError> {
        self.json(self.get(session_path(session, "/mid-turn-messages")))
            .await
    }

    /// `DELETE /session/{id}/mid-turn-messages/{message}`. `false` if the agent has read it, or if it
    /// never was there.
    pub async fn remove_mid_turn(
        &self,
        session: &SessionId,
        message: &PromptId,
        client: Option<&ClientId>,
    ) -> Result<bool, DaemonError> {
        #[derive(Deserialize)]
        struct Removed {
            removed: bool,
        }
        let tail = format!("/mid-turn-messages/{}", encode(message.as_str()));
        let request = self.request(Method::DELETE, session_path(session, &tail));
        let removed: Removed = self.json(request.client(client)).await?;
        Ok(removed.removed)
    }
}
