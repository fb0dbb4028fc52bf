//! Who we are in a session.
//!
//! The daemon mints client ids, and forgets them when it restarts or brings a session back. A call
//! that is refused for its id was not acted upon, so it is made once more with a new id; if several
//! calls are refused at the same time, one of them gets the new id for all.

use std::future::Future;
use std::sync::{Mutex, PoisonError};

use super::shared::Shared;
use crate::error::{DaemonError, Reason};
use crate::wire::{ClientId, Restore};

#[derive(Debug)]
pub(super) struct Identity {
    known: Mutex<Known>,
    /// Held while a new id is being fetched.
    renewal: tokio::sync::Mutex<()>,
}

#[derive(Clone, Debug)]
struct Known {
    id: Option<ClientId>,
    /// How often the daemon has counted us under this id; it wants as many goodbyes.
    registrations: u32,
}

impl Identity {
    pub(super) fn new(id: Option<ClientId>, registrations: u32) -> Self {
        Self {
            known: Mutex::new(Known { id, registrations }),
            renewal: tokio::sync::Mutex::new(()),
        }
    }

    pub(super) fn current(&self) -> Option<ClientId> {
        self.lock().id.clone()
    }

    /// Takes note of the id in an answer that registered us.
    pub(super) fn registered(&self, id: Option<ClientId>) {
        let mut known = self.lock();
        let same = known.id == id;
        known.registrations = if same { known.registrations + 1 } else { 1 };
        known.id = id;
    }

    /// How many goodbyes the daemon wants. They are owed only once.
    pub(super) fn take_registrations(&self) -> u32 {
        std::mem::take(&mut self.lock().registrations)
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Shared {
    /// Makes a call in our name, and once more under a new name if the daemon has forgotten us.
    pub(super) async fn as_registered<T, F: Future<Output = Result<T, DaemonError>>>(
        &self,
        call: impl Fn(Option<ClientId>) -> F,
    ) -> Result<T, DaemonError> {
        let id = self.identity.current();
        match call(id.clone()).await {
            Err(error) if error.reason() == Some(Reason::InvalidClientId) => {
                self.renew(id.as_ref()).await?;
                call(self.identity.current()).await
            }
            result => result,
        }
    }

    /// Gets a new id, unless somebody else has replaced `stale` meanwhile.
    pub(super) async fn renew(&self, stale: Option<&ClientId>) -> Result<(), DaemonError> {
        let _turn = self.identity.renewal.lock().await;
        if self.identity.current().as_ref() != stale {
            return Ok(());
        }
        // Without the old id: the daemon would refuse a malformed one, and replaces any other.
        let resumed = self
            .client
            .resume_session(&self.id, &Restore::default(), None)
            .await?;
        self.identity.registered(resumed.opened.client_id);
        Ok(())
    }
}
