//! The approval mode of a session, over every way in which the daemon forgets it.
//!
//! The daemon keeps the mode in memory only. A session that it brings back from disk has the mode of
//! its settings, which by default edits without asking; so whoever was in it sets the mode again.

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
    /// How often the daemon has restored the session, which makes it forget the mode.
    restores: u64,
    /// After how many of them the mode was set again.
    repaired: u64,
}

impl KnownMode {
    fn is_lost(&self) -> bool {
        self.repaired < self.restores
    }
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
        if !opened.attached || is_other {
            locked(&self.mode.known).restores += 1;
        }
    }

    /// Gives the session the approval mode that it had, if it was restored from disk. Returns that
    /// mode then.
    pub(super) async fn restore_mode(&self) -> Result<Option<ApprovalMode>, DaemonError> {
        if !locked(&self.mode.known).is_lost() {
            return Ok(None);
        }
        let _turn = self.mode.setting.lock().await;
        let (mode, restores) = {
            let known = locked(&self.mode.known);
            let mode = known.in_force.clone().filter(|_| known.is_lost());
            (mode, known.restores)
        };
        if let Some(mode) = &mode {
            let us = self.identity.current();
            self.client
                .set_approval_mode(&self.id, mode, false, us.as_ref())
                .await?;
        }
        // A restore that was noticed meanwhile is still to be repaired.
        locked(&self.mode.known).repaired = restores;
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

#[cfg(test)]
mod tests {
    use serde_json::json;
    use testkit::fake_daemon::http;
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    use tokio::net::TcpListener;

    use super::*;
    use crate::client::{DaemonClient, EventCursor};
    use crate::{Address, SessionSettings};

    /// The first life of the daemon has set the mode; its second one has restored the session before
    /// the answer is read.
    #[tokio::test]
    async fn a_restore_that_comes_while_the_mode_is_set_is_repaired_too() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = Address::local(listener.local_addr().unwrap().port());
        let client = DaemonClient::new(address, None);
        let restored: OpenedSession = serde_json::from_value(json!({"sessionId": "s"})).unwrap();
        let start = EventCursor::default();
        let settings = SessionSettings::default();
        let shared = SharedSession::new(client, &restored, 1, start.clone(), start, settings);
        shared.mode.learn(Some(ApprovalMode::Default));
        shared.notice_restore(&restored);

        let patience = std::time::Duration::from_mins(1);
        for is_restored_again in [true, false] {
            let daemon = async {
                let (mut stream, _) = listener.accept().await.unwrap();
                let mut request = Vec::new();
                while !request.ends_with(b"}") {
                    stream.read_buf(&mut request).await.unwrap();
                }
                if is_restored_again {
                    shared.notice_restore(&restored);
                }
                let answer = http(200, "Connection: close\r\n", r#"{"mode":"default"}"#);
                stream.write_all(&answer).await.unwrap();
            };
            let both = async { tokio::join!(shared.restore_mode(), daemon) };
            let (mode, ()) = tokio::time::timeout(patience, both).await.unwrap();
            assert_eq!(mode.unwrap(), Some(ApprovalMode::Default));
        }
        assert_eq!(shared.restore_mode().await.unwrap(), None);
    }
}
