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
//! - a session that the daemon lost and that is restored has the approval mode that it had. The
//!   daemon itself would go back to the mode of its settings, in which it may ask nobody;
//! - whatever the daemon does, nothing waits for ever: [`SessionEvent::Ended`] comes at the latest
//!   when [`SessionSettings::give_up_after`] has passed without a connection.

mod activity;
mod calls;
mod event;
mod identity;
mod mode;
mod prompts;
mod queue;
mod reader;
mod registration;
mod retries;
mod settings;
mod shared;

use std::sync::Arc;

use tokio::task::AbortHandle;

use crate::client::{DaemonClient, EventCursor};
use crate::error::DaemonError;
use crate::wire::{
    ApprovalMode, ClientId, LoadedSession, NewSession, RestoreSession, SessionId, SessionScope,
};
use reader::StreamReader;
use registration::Registration;
pub(crate) use retries::with_retries;
use shared::SharedSession;

pub use activity::SessionCopy;
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
    /// The first event of a session that existed before is [`SessionEvent::History`]. Such a session
    /// keeps its model and its approval mode, because others are in it; those of `new` are for a
    /// session that is created.
    pub async fn open(
        client: DaemonClient,
        new: &NewSession,
        settings: SessionSettings,
    ) -> Result<(Session, SessionEvents), DaemonError> {
        // The daemon would apply both to a session that exists, too. So they are only sent with the
        // request if it is sure to create one.
        let may_attach = new.session_scope != Some(SessionScope::Thread);
        let asked = NewSession {
            approval_mode: new.approval_mode.clone().filter(|_| !may_attach),
            model_service_id: new.model_service_id.clone().filter(|_| !may_attach),
            ..new.clone()
        };
        let opened = client.create_session(&asked).await?;
        let mut registration = Registration::of(&client, &opened);
        if opened.attached {
            let us = opened.client_id.as_ref();
            let restore = RestoreSession {
                cwd: new.cwd.clone(),
                // It may have ended since the daemon answered.
                approval_mode: new.approval_mode.clone(),
                ..RestoreSession::default()
            };
            let (loaded, mode) = load(&client, &opened.session_id, &restore, us).await?;
            // Creating and loading both count as a registration of the same client id.
            let kept = loaded.opened.client_id == opened.client_id;
            let registrations = if kept { 2 } else { 1 };
            let cause = HistoryCause::Attached;
            let loaded = Loaded {
                answer: loaded,
                registrations,
                cause,
            };
            registration.keep();
            return Ok(Self::from_loaded(client, loaded, mode, settings));
        }
        if may_attach {
            registration = registration.in_mode(new.approval_mode.as_ref()).await?;
            if let Some(model) = &new.model_service_id {
                let us = opened.client_id.as_ref();
                if let Err(error) = client.set_model(&opened.session_id, model, us).await {
                    // An event says so, too, if the daemon has heard of it.
                    tracing::warn!(%error, "the model of a new session could not be set");
                }
            }
        }
        registration.keep();
        // From the beginning: all events since the session was created.
        let cursor = EventCursor {
            last_event_id: 0,
            epoch: opened.event_epoch.clone(),
        };
        let shared = SharedSession::new(client, &opened, 1, cursor.clone(), cursor, settings);
        shared.mode.learn(new.approval_mode.clone());
        Ok(Self::start(shared))
    }

    /// Loads an existing session, live or on disk, and opens its event stream.
    ///
    /// The mode of `restore` is for a session that is not live: it would come back with the mode of
    /// the daemon's settings. A live one keeps its own.
    pub async fn load(
        client: DaemonClient,
        id: &SessionId,
        restore: &RestoreSession,
        settings: SessionSettings,
    ) -> Result<(Session, SessionEvents), DaemonError> {
        let (loaded, mode) = load(&client, id, restore, None).await?;
        let loaded = Loaded {
            answer: loaded,
            registrations: 1,
            cause: HistoryCause::Attached,
        };
        Ok(Self::from_loaded(client, loaded, mode, settings))
    }

    /// Continues where an earlier handle ended, if the daemon still keeps the events since then;
    /// otherwise the first event is [`SessionEvent::History`]. The mode of `restore` is as for
    /// [`Session::load`].
    pub async fn resume(
        client: DaemonClient,
        state: &ResumeState,
        restore: &RestoreSession,
        settings: SessionSettings,
    ) -> Result<(Session, SessionEvents), DaemonError> {
        // The daemon's `resume` route restores a session from disk without its history, and after
        // that no client gets the history any more. So this loads.
        let (loaded, mode) = load(&client, &state.session_id, restore, None).await?;
        if state.epoch.is_none() || state.epoch != loaded.opened.event_epoch {
            // The saved event id belongs to another epoch. The history holds what was missed.
            let loaded = Loaded {
                answer: loaded,
                registrations: 1,
                cause: HistoryCause::Resync,
            };
            return Ok(Self::from_loaded(client, loaded, mode, settings));
        }
        let cursor = EventCursor {
            last_event_id: state.last_event_id,
            epoch: state.epoch.clone(),
        };
        let shared =
            SharedSession::new(client, &loaded.opened, 1, cursor.clone(), cursor, settings);
        shared.mode.learn(mode);
        shared.prompts.recall(&loaded.prompt_terminals);
        Ok(Self::start(shared))
    }

    fn from_loaded(
        client: DaemonClient,
        loaded: Loaded,
        mode: Option<ApprovalMode>,
        settings: SessionSettings,
    ) -> (Session, SessionEvents) {
        let Loaded {
            answer: loaded,
            registrations,
            cause,
        } = loaded;
        let cursor = event::cursor_of(&loaded);
        // Whoever goes on before the history was taken needs it once more: no epoch says so.
        let nothing = EventCursor::default();
        let shared = SharedSession::new(
            client,
            &loaded.opened,
            registrations,
            cursor,
            nothing,
            settings,
        );
        shared.mode.learn(mode);
        shared.start_over(loaded, cause);
        Self::start(shared)
    }

    fn start(shared: Arc<SharedSession>) -> (Session, SessionEvents) {
        let updates = SessionEvents::new(shared.id.clone(), shared.queue.clone());
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

    /// The approval mode in force, if it is known.
    pub fn approval_mode(&self) -> Option<ApprovalMode> {
        self.shared.mode.in_force()
    }

    /// The stateless client behind it.
    pub fn client(&self) -> &DaemonClient {
        &self.shared.client
    }

    /// Where to continue later, so that nothing is lost: after the last event that the consumer is
    /// done with. An event counts as done when the consumer asks for the one after it. So whoever
    /// saves this and crashes misses none; the last one may come twice.
    pub fn resume_state(&self) -> ResumeState {
        ResumeState::new(self.shared.id.clone(), self.shared.queue.done())
    }

    /// Counters for diagnosis.
    pub fn counters(&self) -> Counters {
        self.shared.counters.read()
    }
}

/// The answer to a load, and what is known about it.
struct Loaded {
    answer: LoadedSession,
    registrations: u32,
    cause: HistoryCause,
}

/// Loads a session, as a client that is registered there or as a new one, and gives it the mode of
/// `restore` if it was not live. Returns that mode if so.
async fn load(
    client: &DaemonClient,
    id: &SessionId,
    restore: &RestoreSession,
    us: Option<&ClientId>,
) -> Result<(LoadedSession, Option<ApprovalMode>), DaemonError> {
    let RestoreSession { approval_mode, .. } = restore.clone();
    let restore = RestoreSession {
        // The daemon would set it for a live session, too.
        approval_mode: None,
        ..restore.clone()
    };
    let mut loaded = client.load_session(id, &restore, us).await?;
    if loaded.opened.attached || approval_mode.is_none() {
        return Ok((loaded, None));
    }
    let registration = Registration::of(client, &loaded.opened);
    let registration = registration.in_mode(approval_mode.as_ref()).await?;
    registration.keep();
    loaded.state.set_mode(approval_mode.clone());
    Ok((loaded, approval_mode))
}
