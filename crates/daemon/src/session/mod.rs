//! A conversation that outlives its connections.
//!
//! A [`Session`] is the handle to ask with; [`Updates`] is what comes back, in order. Behind them one
//! task, the reader, holds the event stream. It never waits for a person: what the consumer has not
//! taken is kept in a bounded queue, and a consumer that falls too far behind gets the history anew
//! instead of a queue without end.
//!
//! What is promised:
//! - every event is delivered once, or an update says what was lost;
//! - every prompt that the daemon accepted ends exactly once ([`Turn::end`]), even if its end was
//!   seen before the answer to the prompt, on another stream, or only in the daemon's records;
//! - whatever the daemon does, nothing waits for ever: [`Update::Ended`] comes at the latest when
//!   [`Settings::give_up_after`] has passed without a connection.

mod calls;
mod identity;
mod prompts;
mod queue;
mod reader;
mod settings;
mod shared;
mod update;

use std::sync::Arc;

use tokio::task::AbortHandle;

use crate::client::{Cursor, DaemonClient};
use crate::error::DaemonError;
use crate::wire::{ClientId, Loaded, NewSession, Restore, SessionId};
use reader::Reader;
use shared::Shared;

pub use prompts::{Turn, TurnEnd};
pub use queue::Updates;
pub use settings::{Backoff, Jitter, Settings};
pub use update::{Counters, End, History, HistoryCause, Parting, ResumeState, Update};

/// A handle to one conversation. Clones share it; the reader ends with the last of them.
#[derive(Clone, Debug)]
pub struct Session {
    shared: Arc<Shared>,
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
    /// Creates a session, or attaches to the one that is there, and begins to listen.
    ///
    /// A session that existed before starts with its history.
    pub async fn open(
        client: DaemonClient,
        new: &NewSession,
        settings: Settings,
    ) -> Result<(Session, Updates), DaemonError> {
        let opened = client.create_session(new).await?;
        if opened.attached {
            let loaded = client
                .load_session(
                    &opened.session_id,
                    &Restore::default(),
                    opened.client_id.as_ref(),
                )
                .await?;
            // Creating and loading both count as a registration of the same id.
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
        // Everything that has happened since it was created is still to come.
        let cursor = Cursor {
            last_event_id: 0,
            epoch: opened.event_epoch.clone(),
        };
        let shared = Shared::new(client, &opened, 1, cursor, settings);
        Ok(Self::start(shared))
    }

    /// Goes on with a session that is known by its id, live or from disk, and begins to listen.
    pub async fn load(
        client: DaemonClient,
        id: &SessionId,
        restore: &Restore,
        settings: Settings,
    ) -> Result<(Session, Updates), DaemonError> {
        let loaded = client.load_session(id, restore, None).await?;
        let cause = HistoryCause::Attached;
        Ok(Self::from_loaded(client, loaded, 1, cause, settings))
    }

    /// Goes on exactly where an earlier handle was, if the daemon still can; otherwise the first
    /// update is the history.
    pub async fn resume(
        client: DaemonClient,
        state: &ResumeState,
        settings: Settings,
    ) -> Result<(Session, Updates), DaemonError> {
        // The daemon's own `resume` is no use here: it brings a session back from disk without its
        // history, and after that nobody gets the history any more.
        let restore = Restore::default();
        let loaded = client
            .load_session(&state.session_id, &restore, None)
            .await?;
        if state.epoch.is_none() || state.epoch != loaded.opened.event_epoch {
            // Its numbers mean nothing any more. What was missed is in the history.
            let cause = HistoryCause::Resync;
            return Ok(Self::from_loaded(client, loaded, 1, cause, settings));
        }
        let cursor = Cursor {
            last_event_id: state.last_event_id,
            epoch: state.epoch.clone(),
        };
        let shared = Shared::new(client, &loaded.opened, 1, cursor, settings);
        shared.prompts.recall(&loaded.prompt_terminals);
        Ok(Self::start(shared))
    }

    fn from_loaded(
        client: DaemonClient,
        loaded: Loaded,
        registrations: u32,
        cause: HistoryCause,
        settings: Settings,
    ) -> (Session, Updates) {
        let cursor = update::cursor_of(&loaded);
        let shared = Shared::new(client, &loaded.opened, registrations, cursor, settings);
        shared.start_over(loaded, cause);
        Self::start(shared)
    }

    fn start(shared: Arc<Shared>) -> (Session, Updates) {
        let updates = Updates::new(shared.queue.clone());
        let reader = tokio::spawn(Reader::new(shared.clone()).run()).abort_handle();
        let reader = Arc::new(ReaderTask(reader));
        (Session { shared, reader }, updates)
    }

    /// The session.
    pub fn id(&self) -> &SessionId {
        &self.shared.id
    }

    /// Who we are in it, at the moment.
    pub fn client_id(&self) -> Option<ClientId> {
        self.shared.identity.current()
    }

    /// The stateless client behind it.
    pub fn client(&self) -> &DaemonClient {
        &self.shared.client
    }

    /// What to remember to go on later. Valid for what the consumer has taken out of [`Updates`].
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

    /// How often things happened that should be rare.
    pub fn counters(&self) -> Counters {
        self.shared.tally.read()
    }
}
