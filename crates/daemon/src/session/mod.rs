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

mod identity;
mod prompts;
mod queue;
mod reader;
mod settings;
mod update;

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use tokio::task::AbortHandle;

use crate::client::{Cursor, DaemonClient};
use crate::error::DaemonError;
use crate::wire::{
    Admission, ApprovalMode, ApprovalModeSet, Ballot, ClientId, Heartbeat, Loaded, Metadata,
    ModelSwitch, NewSession, Opened, PendingPrompt, PromptId, PromptRequest, RequestId, Restore,
    SessionContext, SessionId, SessionSummary, Transcript, TranscriptRequest, TurnStatus, Vote,
};
use identity::Identity;
use prompts::Prompts;
use queue::Queue;
use reader::Reader;

pub use prompts::{Turn, TurnEnd};
pub use queue::Updates;
pub use settings::{Backoff, Jitter, Settings};
pub use update::{Counters, End, History, HistoryCause, Parting, ResumeState, Update};

#[derive(Debug, Default)]
struct Tally {
    events: AtomicU64,
    unknown: AtomicU64,
    repeated: AtomicU64,
    unreadable: AtomicU64,
    mended: AtomicU64,
    streams: AtomicU64,
    histories: AtomicU64,
}

fn count(counter: &AtomicU64) {
    counter.fetch_add(1, Ordering::Relaxed);
}

/// A handle to one conversation. Clones share it; the reader ends with the last of them.
#[derive(Clone, Debug)]
pub struct Session {
    shared: Arc<Shared>,
    reader: Arc<ReaderTask>,
}

/// What the handle, the reader and the consumer share.
#[derive(Debug)]
struct Shared {
    client: DaemonClient,
    id: SessionId,
    settings: Settings,
    identity: Identity,
    prompts: Prompts,
    queue: Arc<Queue>,
    /// Where the reader is. Only the reader moves it.
    cursor: Mutex<Cursor>,
    tally: Tally,
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
            return Ok(Self::from_loaded(client, loaded, registrations, settings));
        }
        // Everything that has happened since it was created is still to come.
        let cursor = Cursor {
            last_event_id: 0,
            epoch: opened.event_epoch.clone(),
        };
        let shared = Self::share(client, &opened, 1, cursor, settings);
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
        Ok(Self::from_loaded(client, loaded, 1, settings))
    }

    /// Goes on exactly where an earlier handle was, if the daemon still can; otherwise the first
    /// update is the history.
    pub async fn resume(
        client: DaemonClient,
        state: &ResumeState,
        settings: Settings,
    ) -> Result<(Session, Updates), DaemonError> {
        let restore = Restore::default();
        let resumed = client
            .resume_session(&state.session_id, &restore, None)
            .await?;
        // Resuming does not tell about what was missed; the stream does, from the old cursor.
        let cursor = Cursor {
            last_event_id: state.last_event_id,
            epoch: state.epoch.clone(),
        };
        let shared = Self::share(client, &resumed.opened, 1, cursor, settings);
        shared.prompts.recall(&resumed.prompt_terminals);
        Ok(Self::start(shared))
    }

    fn from_loaded(
        client: DaemonClient,
        loaded: Loaded,
        registrations: u32,
        settings: Settings,
    ) -> (Session, Updates) {
        let cursor = update::cursor_of(&loaded);
        let shared = Self::share(client, &loaded.opened, registrations, cursor, settings);
        shared.start_over(loaded, HistoryCause::Attached);
        Self::start(shared)
    }

    fn share(
        client: DaemonClient,
        opened: &Opened,
        registrations: u32,
        cursor: Cursor,
        settings: Settings,
    ) -> Arc<Shared> {
        Arc::new(Shared {
            client,
            id: opened.session_id.clone(),
            identity: Identity::new(opened.client_id.clone(), registrations),
            prompts: Prompts::default(),
            queue: Arc::new(Queue::new(settings.buffer_events, settings.buffer_bytes)),
            cursor: Mutex::new(cursor),
            tally: Tally::default(),
            settings,
        })
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
        let tally = &self.shared.tally;
        let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        Counters {
            events: read(&tally.events),
            unknown: read(&tally.unknown),
            repeated: read(&tally.repeated),
            unreadable: read(&tally.unreadable),
            mended: read(&tally.mended),
            streams: read(&tally.streams),
            histories: read(&tally.histories),
        }
    }

    /// Sends a prompt and hands out its turn. It is never sent twice.
    pub async fn prompt(&self, prompt: &PromptRequest) -> Result<Turn, DaemonError> {
        if self.shared.queue.is_over() {
            return Err(DaemonError::Over);
        }
        let shared = &self.shared;
        let admission = shared
            .as_registered(|client| async move {
                shared
                    .client
                    .prompt(&shared.id, prompt, client.as_ref())
                    .await
            })
            .await?;
        match admission {
            Admission::Accepted(accepted) => Ok(shared.prompts.expect(accepted.prompt_id)),
            Admission::Finished(stop_reason) => Ok(Turn::over(TurnEnd::Complete { stop_reason })),
        }
    }

    /// Asks for the running turn to be cancelled. Its end still comes through [`Turn::end`].
    pub async fn cancel(&self) -> Result<(), DaemonError> {
        let shared = &self.shared;
        shared
            .as_registered(|client| async move {
                shared.client.cancel(&shared.id, client.as_ref()).await
            })
            .await
    }

    /// Answers a permission request.
    pub async fn vote(&self, request: &RequestId, ballot: &Ballot) -> Result<Vote, DaemonError> {
        let shared = &self.shared;
        shared
            .as_registered(|client| async move {
                shared
                    .client
                    .vote(&shared.id, request, ballot, client.as_ref())
                    .await
            })
            .await
    }

    /// Switches the model.
    pub async fn set_model(&self, model: &str) -> Result<ModelSwitch, DaemonError> {
        let shared = &self.shared;
        shared
            .as_registered(|client| async move {
                shared
                    .client
                    .set_model(&shared.id, model, client.as_ref())
                    .await
            })
            .await
    }

    /// Changes what the agent may do without asking, for this session or for good.
    pub async fn set_approval_mode(
        &self,
        mode: &ApprovalMode,
        persist: bool,
    ) -> Result<ApprovalModeSet, DaemonError> {
        let shared = &self.shared;
        shared
            .as_registered(|client| async move {
                let client = client.as_ref();
                shared
                    .client
                    .set_approval_mode(&shared.id, mode, persist, client)
                    .await
            })
            .await
    }

    /// Gives the session a title.
    pub async fn set_display_name(&self, name: &str) -> Result<Metadata, DaemonError> {
        let shared = &self.shared;
        shared
            .as_registered(|client| async move {
                shared
                    .client
                    .set_display_name(&shared.id, name, client.as_ref())
                    .await
            })
            .await
    }

    /// Tells the daemon that we are alive.
    pub async fn heartbeat(&self) -> Result<Heartbeat, DaemonError> {
        let shared = &self.shared;
        shared
            .as_registered(|client| async move {
                shared.client.heartbeat(&shared.id, client.as_ref()).await
            })
            .await
    }

    /// Takes a prompt out of the queue.
    pub async fn remove_pending_prompt(&self, prompt: &PromptId) -> Result<bool, DaemonError> {
        let shared = &self.shared;
        shared
            .as_registered(|client| async move {
                let client = client.as_ref();
                shared
                    .client
                    .remove_pending_prompt(&shared.id, prompt, client)
                    .await
            })
            .await
    }

    /// How the session is, with everything that waits for a person.
    pub async fn status(&self) -> Result<SessionSummary, DaemonError> {
        self.shared.client.session_status(&self.shared.id).await
    }

    /// Models and modes.
    pub async fn context(&self) -> Result<SessionContext, DaemonError> {
        self.shared.client.session_context(&self.shared.id).await
    }

    /// A page of the transcript.
    pub async fn transcript(&self, page: &TranscriptRequest) -> Result<Transcript, DaemonError> {
        self.shared.client.transcript(&self.shared.id, page).await
    }

    /// What the daemon remembers about a turn.
    pub async fn turn(&self, prompt: &PromptId) -> Result<TurnStatus, DaemonError> {
        self.shared.client.turn(&self.shared.id, prompt).await
    }

    /// The prompts that run and wait.
    pub async fn pending_prompts(&self) -> Result<Vec<PendingPrompt>, DaemonError> {
        self.shared.client.pending_prompts(&self.shared.id).await
    }

    /// Closes the session for everybody. The stream tells when it is done.
    pub async fn close(&self) -> Result<bool, DaemonError> {
        let client = self.shared.identity.current();
        self.shared
            .client
            .close_session(&self.shared.id, client.as_ref())
            .await
    }

    /// Parts from the session. [`Update::Ended`] comes at once; the result tells whether the daemon
    /// took our leave.
    pub async fn leave(&self, parting: Parting) -> Result<(), DaemonError> {
        self.reader.0.abort();
        self.shared.end(End::Left);
        if parting == Parting::KeepRunning {
            return Ok(());
        }
        let client = self.shared.identity.current();
        let cancelled = if parting == Parting::Cancel {
            self.shared
                .client
                .cancel(&self.shared.id, client.as_ref())
                .await
        } else {
            Ok(())
        };
        if let Some(client) = client {
            for _ in 0..self.shared.identity.take_registrations() {
                self.shared.client.detach(&self.shared.id, &client).await?;
            }
        }
        cancelled
    }
}

impl Shared {
    fn cursor(&self) -> Cursor {
        self.cursor
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    fn set_cursor(&self, cursor: Cursor) {
        *self.cursor.lock().unwrap_or_else(PoisonError::into_inner) = cursor;
    }

    /// Goes on from what was loaded: cursor, prompts and consumer.
    fn start_over(&self, loaded: Loaded, cause: HistoryCause) {
        let cursor = update::cursor_of(&loaded);
        self.set_cursor(cursor.clone());
        self.prompts.recall(&loaded.prompt_terminals);
        let history = History::of(loaded, cause);
        for event in &history.events {
            self.prompts.hear(event);
        }
        count(&self.tally.histories);
        self.queue.start_over(history, cursor);
    }

    /// The end, for the consumer and for every prompt that has none yet. Only the first one counts.
    fn end(&self, end: End) {
        self.prompts.abandon(&end);
        self.queue.end(end);
    }
}
