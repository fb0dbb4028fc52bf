//! Our client id in a session.
//!
//! The daemon issues client ids, and forgets them when it restarts or restores a session. It does
//! not act on a request that it rejects for its id, so the request is repeated once with a new id.
//! If several requests are rejected at the same time, one of them gets the new id for all.

use std::future::Future;
use std::sync::Mutex;

use super::shared::SharedSession;
use crate::error::{DaemonError, ErrorReason};
use crate::wire::{ClientId, RestoreSession};

#[derive(Debug)]
pub(super) struct Identity {
    known: Mutex<Registration>,
    /// Held while a new id is requested.
    renewal: tokio::sync::Mutex<()>,
}

#[derive(Clone, Debug)]
struct Registration {
    id: Option<ClientId>,
    /// How often the daemon has registered us under this id. It wants as many detaches.
    registrations: u32,
}

impl Identity {
    pub(super) fn new(id: Option<ClientId>, registrations: u32) -> Self {
        Self {
            known: Mutex::new(Registration { id, registrations }),
            renewal: tokio::sync::Mutex::new(()),
        }
    }

    pub(super) fn current(&self) -> Option<ClientId> {
        self.lock().id.clone()
    }

    /// Records the id from a response that registered us.
    pub(super) fn registered(&self, id: Option<ClientId>) {
        let mut known = self.lock();
        let same = known.id == id;
        known.registrations = if same { known.registrations + 1 } else { 1 };
        known.id = id;
    }

    /// Our id, as long as the daemon wants a detach for it.
    pub(super) fn to_detach(&self) -> Option<ClientId> {
        let known = self.lock();
        known.id.clone().filter(|_| known.registrations > 0)
    }

    /// The daemon has taken one detach.
    pub(super) fn detached(&self) {
        let mut known = self.lock();
        known.registrations = known.registrations.saturating_sub(1);
    }

    /// Waits until no new id is being requested.
    pub(super) async fn settled(&self) {
        drop(self.renewal.lock().await);
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Registration> {
        crate::locked(&self.known)
    }
}

impl SharedSession {
    /// Sends a request with our client id, and once more with a new id if the daemon has forgotten
    /// it.
    pub(super) async fn as_registered<T, F: Future<Output = Result<T, DaemonError>>>(
        &self,
        call: impl Fn(Option<ClientId>) -> F,
    ) -> Result<T, DaemonError> {
        if self.queue.is_over() {
            // A new id would be a registration that nobody gives back.
            return Err(DaemonError::SessionEnded);
        }
        let attempt = async |id: Option<ClientId>| {
            // Nothing is asked of an agent that would not ask.
            self.restore_mode().await?;
            call(id).await
        };
        let id = self.identity.current();
        match attempt(id.clone()).await {
            Err(error) if error.reason() == Some(ErrorReason::InvalidClientId) => {
                self.renew(id.as_ref()).await?;
                attempt(self.identity.current()).await
            }
            result => result,
        }
    }

    /// Requests a new id, unless another task has replaced `stale` meanwhile. That may restore the
    /// session; then it gets the approval mode that it had before anything else is asked of it.
    pub(super) async fn renew(&self, stale: Option<&ClientId>) -> Result<(), DaemonError> {
        let _turn = self.identity.renewal.lock().await;
        if self.identity.current().as_ref() != stale {
            return Ok(());
        }
        if self.queue.is_over() {
            return Err(DaemonError::SessionEnded);
        }
        // Without the old id: the daemon would reject a malformed one, and replaces any other.
        let resumed = self
            .client
            .resume_session(&self.id, &RestoreSession::default(), None)
            .await?;
        self.registered(&resumed.opened);
        self.restore_mode().await.map(drop)
    }
}
