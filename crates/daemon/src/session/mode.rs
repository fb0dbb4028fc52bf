//! The approval mode of a session, over every way in which the daemon forgets it.
//!
//! The daemon keeps the mode in memory only. A session that it brings back from disk has the mode of
//! its settings, which by default asks nobody; so whoever was in it sets the mode again.

use std::sync::Mutex;

use super::shared::SharedSession;
use crate::error::DaemonError;
use crate::locked;
use crate::wire::{ApprovalMode, ApprovalModeSet, OpenedSession};

#[derive(Debug, Default)]
pub(super) struct SessionMode {
    known: Mutex<KnownMode>,
    /// Held while a mode is set, so that what is restored never follows what the person has chosen.
    setting: tokio::sync::Mutex<()>,
}

/// What is known of the approval mode.
#[derive(Debug, Default)]
struct KnownMode {
    /// The mode in force, or the one that has to be restored.
    in_force: Option<ApprovalMode>,
    /// The daemon has restored the session, which makes it forget the mode.
    is_lost: bool,
}

impl SessionMode {
    /// The mode in force, if it is known.
    pub(super) fn in_force(&self) -> Option<ApprovalMode> {
        locked(&self.known).in_force.clone()
    }

    /// Records the mode in force, if there is news.
    pub(super) fn learn(&self, mode: Option<ApprovalMode>) {
        if mode.is_some() {
            locked(&self.known).in_force = mode;
        }
    }
}

impl SharedSession {
    /// The daemon has answered a request that may have restored the session. If it did, or if somebody
    /// else's request did since, the mode has to be set again. That stays so until it is set, at
    /// whichever attempt: a second request would find a live session.
    pub(super) fn notice_restore(&self, opened: &OpenedSession) {
        let before = self.cursor().epoch;
        let is_other = before.is_some() && opened.event_epoch.is_some();
        let is_other = is_other && before != opened.event_epoch;
        locked(&self.mode.known).is_lost |= !opened.attached || is_other;
    }

    /// Gives the session the approval mode that it had, if it was restored from disk. Returns that
    /// mode then.
    pub(super) async fn restore_mode(&self) -> Result<Option<ApprovalMode>, DaemonError> {
        if !locked(&self.mode.known).is_lost {
            return Ok(None);
        }
        let _turn = self.mode.setting.lock().await;
        let mode = {
            let known = locked(&self.mode.known);
            known.in_force.clone().filter(|_| known.is_lost)
        };
        if let Some(mode) = &mode {
            let us = self.identity.current();
            self.client
                .set_approval_mode(&self.id, mode, false, us.as_ref())
                .await?;
        }
        locked(&self.mode.known).is_lost = false;
        Ok(mode)
    }

    /// Sets the mode that the person has chosen. It is what counts from then on, whether or not the
    /// event about it arrives.
    pub(super) async fn choose_mode(
        &self,
        mode: &ApprovalMode,
        persist: bool,
    ) -> Result<ApprovalModeSet, DaemonError> {
        self.as_registered(|us| async move {
            let _turn = self.mode.setting.lock().await;
            let set = self
                .client
                .set_approval_mode(&self.id, mode, persist, us.as_ref())
                .await?;
            self.mode.learn(Some(mode.clone()));
            Ok(set)
        })
        .await
    }
}
