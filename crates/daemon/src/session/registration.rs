//! Our registration in a session that is being opened.

use super::retries::with_retries;
use crate::client::DaemonClient;
use crate::error::DaemonError;
use crate::wire::{ApprovalMode, ClientId, OpenedSession, SessionId};

/// A registration that nobody uses yet. It is given back unless it is kept: one that stays at the
/// daemon keeps the session in memory, and counts wherever several clients have to agree.
#[derive(Debug)]
pub(super) struct Registration {
    client: DaemonClient,
    session: SessionId,
    /// Our client id; `None` once there is nothing to give back.
    us: Option<ClientId>,
}

impl Registration {
    /// The registration that came with the answer of the daemon.
    pub(super) fn of(client: &DaemonClient, opened: &OpenedSession) -> Registration {
        Registration {
            client: client.clone(),
            session: opened.session_id.clone(),
            us: opened.client_id.clone(),
        }
    }

    /// Somebody has taken it over, and leaves the session at its end.
    pub(super) fn keep(mut self) {
        self.us = None;
    }

    /// Gives it back, and waits for that: who opens the session next would find it alive.
    pub(super) async fn give_back(mut self) -> Result<(), DaemonError> {
        match self.us.take() {
            Some(us) => with_retries(|| self.client.detach(&self.session, &us))
                .await
                .map(drop),
            None => Ok(()),
        }
    }

    /// Sets the mode of a session that was just created or restored. It is left again if that fails:
    /// an agent that does not ask is worse than none.
    pub(super) async fn in_mode(
        self,
        mode: Option<&ApprovalMode>,
    ) -> Result<Registration, DaemonError> {
        let Some(mode) = mode else { return Ok(self) };
        let us = self.us.as_ref();
        let set = || {
            self.client
                .set_approval_mode(&self.session, mode, false, us)
        };
        match with_retries(set).await {
            Ok(_) => Ok(self),
            Err(error) => {
                if let Err(error) = self.give_back().await {
                    tracing::warn!(%error, "a session whose mode could not be set could not be left");
                }
                Err(error)
            }
        }
    }
}

impl Drop for Registration {
    /// Whoever opened the session has stopped waiting for it.
    fn drop(&mut self) {
        let Some(us) = self.us.take() else { return };
        let Ok(runtime) = tokio::runtime::Handle::try_current() else {
            return;
        };
        let (client, session) = (self.client.clone(), self.session.clone());
        runtime.spawn(async move {
            if let Err(error) = with_retries(|| client.detach(&session, &us)).await {
                tracing::debug!(%error, "a session that nobody waits for could not be left");
            }
        });
    }
}
