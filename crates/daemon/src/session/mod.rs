//! A session that outlives its connections.
//!
//! A [`Session`] is the handle for requests; [`SessionEvents`] delivers what happens, in order.
//! Behind them one task, the reader, holds the event stream. It never waits for the consumer:
//! events that have not been taken wait in a bounded queue, and a consumer that falls too far
//! behind gets the history anew.
//!
//! Guarantees:
//! - every event is delivered once, or an event says what was lost;
//! - every prompt that the daemon accepted ends exactly once ([`Turn::end`]), even if its end
//!   arrives before the response to the prompt, on another stream, or only in the daemon's records;
//! - whatever the daemon does, nothing waits for ever: [`SessionEvent::Ended`] comes at the latest
//!   when [`SessionSettings::give_up_after`] has passed without a connection.

mod calls;
mod event;
mod identity;
mod prompts;
mod queue;
mod reader;
mod settings;
mod shared;

use std::sync::Arc;

use tokio::task::AbortHandle;

use crate::client::{DaemonClient, EventCursor};
use crate::error::DaemonError;
use crate::wire::{ClientId, LoadedSession, NewSession, RestoreSession, SessionId};
use reader::StreamReader;
use shared::SharedSession;

pub use event::{
    Counters, DisconnectMode, History, HistoryCause, ResumeState, SessionEndReason, SessionEvent,
};
pub use prompts::{Turn, TurnEnd};
pub use queue::SessionEvents;
pub use settings::{Backoff, Jitter, SessionSettings};

/// A handle to one session. Clones share it; the reader ends with the last of them.
#[derive(Clone, Debug)]
pub struct Session {
    shared: Arc<SharedSession>,
    reader: Arc<ReaderTask>,
}

#[derive(Debug)]
struct ReaderTask(AbortHandle);

impl Drop for ReaderTask {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl Session {
    /// Creates a session, or attaches to the shared one, and opens its event stream.
    ///
    /// The first event of a session that existed before is [`SessionEvent::History`].
    pub async fn open(
        client: DaemonClient,
        new: &NewSession,
        settings: SessionSettings,
    ) -> Result<(Session, SessionEvents), DaemonError> {
        let opened = client.create_session(new).await?;
        if opened.attached {
            let loaded = client
                .load_session(
                    &opened.session_id,
                    &RestoreSession::default(),
                    opened.client_id.as_ref(),
                )
                .await?;
            // Creating and loading both count as a registration of the same client id.
            let kept = loaded.opened.client_id == opened.client_id;
            let registrations = if kept { 2 } else { 1 };
            let cause = HistoryCause::Attached;
            return Ok(Self::from_loaded(
                client,
                loaded,
                registrations,
                cause,
                settings,
            ));
        }
        // From the beginning: all events since the session was created.
        let cursor = EventCursor {
            last_event_id: 0,
            epoch: opened.event_epoch.clone(),
        };
        let shared = SharedSession::new(client, &opened, 1, cursor, settings);
        Ok(Self::start(shared))
    }

    /// Loads an existing session, live or on disk, and opens its event stream.
    pub async fn load(
        client: DaemonClient,
        id: &SessionId,
        restore: &RestoreSession,
        settings: SessionSettings,
    ) -> Result<(Session, SessionEvents), DaemonError> {
        let loaded = client.load_session(id, restore, None).await?;
        let cause = HistoryCause::Attached;
        Ok(Self::from_loaded(client, loaded, 1, cause, settings))
    }

    /// Continues where an earlier handle ended, if the daemon still keeps the events since then;
    /// otherwise the first event is [`SessionEvent::History`].
    pub async fn resume(
        client: DaemonClient,
        state: &ResumeState,
        settings: SessionSettings,
    ) -> Result<(Session, SessionEvents), DaemonError> {
        // The daemon's `resume` route restores a session from disk without its history, and after
        // that no client gets the history any more. So this loads.
        let restore = RestoreSession::default();
        let loaded = client
            .load_session(&state.session_id, &restore, None)
            .await?;
        if state.epoch.is_none() || state.epoch != loaded.opened.event_epoch {
            // The saved event id belongs to another epoch. The history holds what was missed.
            let cause = HistoryCause::Resync;
            return Ok(Self::from_loaded(client, loaded, 1, cause, settings));
        }
        let cursor = EventCursor {
            last_event_id: state.last_event_id,
            epoch: state.epoch.clone(),
        };
        let shared = SharedSession::new(client, &loaded.opened, 1, cursor, settings);
        shared.prompts.recall(&loaded.prompt_terminals);
        Ok(Self::start(shared))
    }

    fn from_loaded(
        client: DaemonClient,
        loaded: LoadedSession,
        registrations: u32,
        cause: HistoryCause,
        settings: SessionSettings,
    ) -> (Session, SessionEvents) {
        let cursor = event::cursor_of(&loaded);
        let shared = SharedSession::new(client, &loaded.opened, registrations, cursor, settings);
        shared.start_over(loaded, cause);
        Self::start(shared)
    }

    fn start(shared: Arc<SharedSession>) -> (Session, SessionEvents) {
        let updates = SessionEvents::new(shared.queue.clone());
        let reader = tokio::spawn(StreamReader::new(shared.clone()).run()).abort_handle();
        let reader = Arc::new(ReaderTask(reader));
        (Session { shared, reader }, updates)
    }

    /// The session id.
    pub fn id(&self) -> &SessionId {
        &self.shared.id
    }

    /// The client that this session uses.
    pub fn client_id(&self) -> Option<ClientId> {
        self.shared.identity.current()
    }

    /// The stateless client behind it.
    pub fn client(&self) -> &DaemonClient {
        &self.shared.client
    }

    /// Where to continue later. It covers what the consumer has taken out of [`SessionEvents`].
    pub fn resume_state(&self) -> ResumeState {
        let cursor = self
            .shared
            .queue
            .taken()
            .unwrap_or_else(|| self.shared.cursor());
        ResumeState {
            session_id: self.shared.id.clone(),
            epoch: cursor.epoch,
            last_event_id: cursor.last_event_id,
        }
    }

    /// Counters for diagnosis.
    pub fn counters(&self) -> Counters {
        self.shared.counters.read()
    }
}
