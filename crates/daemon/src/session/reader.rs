//! The task that reads the event stream, with all rules of reconnecting.
//!
//! A stream is always opened with a cursor and its epoch. What happens then depends on the daemon:
//!
//! | The daemon | The reader |
//! |---|---|
//! | sends the missed events, then `replay_complete` | delivers them; the outage is over |
//! | sends `state_resync_required`, for any reason | closes the stream, loads the history, **sets** the cursor to its end, reconnects |
//! | answers with another epoch than the cursor's | the same |
//! | does not know the session | loads it from disk and sets the approval mode that it had; if that fails too, the session is lost |
//! | ends or breaks the stream, sends nothing, evicts us | reconnects from the cursor after a delay |
//! | is at a limit | reconnects after the delay that the daemon gives |
//! | rejects us for good | ends the session |
//! | reports that the session died or was closed | ends the session |
//!
//! Events that arrive a second time are dropped; missing ids are reported.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tokio::time::Instant;

use super::prompts::{from_record, without_record};
use super::shared::{SharedSession, count};
use super::{HistoryCause, SessionEndReason, SessionEvent};
use crate::client::{EventStream, StreamItem, StreamReason, Subscription};
use crate::error::{DaemonError, ErrorReason};
use crate::event::{DaemonEvent, EventBody};
use crate::wire::RestoreSession;

pub(super) struct StreamReader {
    shared: Arc<SharedSession>,
    /// Failed attempts since the stream last worked.
    failures: u32,
    /// When the first of them failed.
    since: Option<Instant>,
    /// Whether [`SessionEvent::Disconnected`] was sent for this outage.
    announced: bool,
    /// Set if the history has to be loaded before the stream is opened again.
    history_needed: Option<HistoryCause>,
    reason: StreamReason,
    previous_stream: Option<String>,
    /// Whether a background task is reading the daemon's turn records.
    reading_records: Arc<AtomicBool>,
}

/// Why a stream, or the attempt to open one, ended, and so what to do next.
enum StreamExit {
    /// Reconnect, after at least this delay if the daemon gave one.
    Retry(String, Option<Duration>),
    /// Load the history, then reconnect.
    Resync(HistoryCause),
    /// End the session.
    Over(SessionEndReason),
}

impl StreamReader {
    pub(super) fn new(shared: Arc<SharedSession>) -> Self {
        Self {
            shared,
            failures: 0,
            since: None,
            announced: false,
            history_needed: None,
            reason: StreamReason::Initial,
            previous_stream: None,
            reading_records: Arc::default(),
        }
    }

    /// Reconnects until the session ends.
    pub(super) async fn run(mut self) {
        loop {
            let exit = match self.attempt().await {
                Ok(exit) => exit,
                Err(error) => self.classify(&error).await,
            };
            let pause = match exit {
                StreamExit::Over(end) => return self.shared.end(end),
                StreamExit::Resync(cause) => {
                    self.history_needed = Some(cause);
                    self.reason = StreamReason::StateResync;
                    self.failed("the stream could not be continued", None)
                }
                StreamExit::Retry(why, at_least) => self.failed(&why, at_least),
            };
            match pause {
                Ok(pause) => tokio::time::sleep(pause).await,
                Err(end) => return self.shared.end(end),
            }
        }
    }

    /// Opens one stream and reads it to its end. Loads the history first if it is needed.
    async fn attempt(&mut self) -> Result<StreamExit, DaemonError> {
        if let Some(cause) = self.history_needed {
            if let Some(exit) = self.load_history(cause).await? {
                return Ok(exit);
            }
            self.history_needed = None;
        }
        // Before the stream is opened: the replay will hold every end that the records hold now.
        if self.shared.counters.streams.load(Ordering::Relaxed) > 0 {
            read_turn_records(&self.shared).await;
        }
        let cursor = self.shared.cursor();
        let subscription = Subscription {
            cursor: Some(cursor.clone()),
            snapshot: true,
            max_queued: self.shared.settings.max_queued,
            max_frame: Some(self.shared.settings.max_frame),
            reason: self.reason,
            previous_stream: self.previous_stream.clone(),
        };
        let client = self.shared.identity.current();
        let shared = &self.shared;
        let stream = shared
            .client
            .events(&shared.id, &subscription, client.as_ref())
            .await?;
        count(&shared.counters.streams);
        self.previous_stream.clone_from(&stream.stream_id);
        if cursor.epoch.is_some() && stream.epoch.is_some() && cursor.epoch != stream.epoch {
            return Ok(StreamExit::Resync(HistoryCause::Resync));
        }
        shared.set_cursor(crate::client::EventCursor {
            epoch: stream.epoch.clone().or(cursor.epoch),
            ..cursor
        });
        self.listen(stream).await
    }

    async fn listen(&mut self, mut stream: EventStream) -> Result<StreamExit, DaemonError> {
        self.announced = false;
        self.shared.queue.push(SessionEvent::Connected, None);
        let watchdog = self.shared.settings.watchdog;
        let mut invalid_utf8 = 0;
        loop {
            let item = tokio::select! {
                item = stream.next(watchdog) => item,
                () = self.shared.queue.consumer_is_back() => {
                    return Ok(StreamExit::Resync(HistoryCause::FellBehind));
                }
            };
            let counters = &self.shared.counters;
            counters
                .invalid_utf8
                .fetch_add(stream.invalid_utf8 - invalid_utf8, Ordering::Relaxed);
            invalid_utf8 = stream.invalid_utf8;
            match item {
                Ok(Some(StreamItem::Event(event))) => {
                    if let Some(exit) = self.take(event) {
                        return Ok(exit);
                    }
                }
                Ok(Some(StreamItem::Heartbeat)) => {
                    self.recovered();
                    self.shared.prompts.trust_records();
                    self.read_turn_records_in_background();
                }
                Ok(Some(StreamItem::Unreadable { id, why, .. })) => {
                    count(&counters.unreadable);
                    let fresh = id.is_none_or(|id| self.advance(id));
                    if fresh {
                        self.shared
                            .queue
                            .push(SessionEvent::Unreadable { id, why }, None);
                    }
                }
                Ok(None) => {
                    self.reason = StreamReason::StreamEnd;
                    return Ok(StreamExit::Retry(
                        "the daemon ended the stream".into(),
                        None,
                    ));
                }
                Err(error) => {
                    self.reason = StreamReason::TransportError;
                    return Err(error);
                }
            }
        }
    }

    /// Delivers an event, and returns the exit that it demands.
    fn take(&mut self, event: DaemonEvent) -> Option<StreamExit> {
        if let Some(id) = event.id()
            && !self.advance(id)
        {
            return None;
        }
        let shared = &self.shared;
        count(&shared.counters.events);
        if !event.is_known() {
            count(&shared.counters.unknown);
            tracing::debug!(kind = event.kind(), "an event of an unknown type");
        }
        shared.prompts.observe(&event);
        let exit = match event.kind() {
            "replay_complete" => {
                self.recovered();
                self.shared.prompts.trust_records();
                None
            }
            "state_resync_required" => Some(StreamExit::Resync(HistoryCause::Resync)),
            "client_evicted" => Some(StreamExit::Retry(
                "the daemon gave up on a slow stream".into(),
                None,
            )),
            "stream_error" => Some(StreamExit::Retry(
                "the stream broke at the daemon".into(),
                None,
            )),
            "session_died" | "session_closed" => self.session_end(&event).map(StreamExit::Over),
            "approval_mode_changed" | "session_snapshot" => {
                self.learn_mode(&event);
                None
            }
            _ => None,
        };
        let at = event.id().map(|_| self.shared.cursor());
        self.shared.queue.push(SessionEvent::Event(event), at);
        exit
    }

    /// Records the approval mode that an event tells.
    fn learn_mode(&self, event: &DaemonEvent) {
        self.shared.mode.learn(match event.body() {
            EventBody::ApprovalModeChanged(it) => Some(it.next),
            EventBody::SessionSnapshot(it) => it.current_approval_mode,
            _ => None,
        });
    }

    /// The end of the session that an event reports, if it is about this session.
    fn session_end(&self, event: &DaemonEvent) -> Option<SessionEndReason> {
        let ours = Some(&self.shared.id);
        match event.body() {
            EventBody::SessionDied(died) if died.session_id.as_ref() == ours => {
                let reason = died.reason;
                Some(SessionEndReason::Died { reason })
            }
            EventBody::SessionClosed(closed) if closed.session_id.as_ref() == ours => {
                let (reason, by) = (closed.reason, closed.closed_by);
                Some(SessionEndReason::Closed { reason, by })
            }
            _ => None,
        }
    }

    /// Moves the cursor. `false` if this event was delivered before.
    fn advance(&mut self, id: u64) -> bool {
        let mut cursor = self.shared.cursor();
        if id <= cursor.last_event_id {
            count(&self.shared.counters.repeated);
            return false;
        }
        let next = cursor.last_event_id + 1;
        if id > next {
            let missing = SessionEvent::Missing {
                from: next,
                to: id - 1,
            };
            self.shared.queue.push(missing, None);
        }
        cursor.last_event_id = id;
        self.shared.set_cursor(cursor);
        true
    }

    /// Loads the history. That also restores a session that is only on disk, which then gets the
    /// approval mode that it had. If that fails, the exit says how to go on.
    async fn load_history(
        &mut self,
        cause: HistoryCause,
    ) -> Result<Option<StreamExit>, DaemonError> {
        let shared = &self.shared;
        let client = shared.identity.current();
        let restore = RestoreSession::default();
        let mut loaded = shared
            .client
            .load_session(&shared.id, &restore, client.as_ref())
            .await?;
        shared.registered(&loaded.opened);
        match shared.restore_mode().await {
            Ok(Some(mode)) => loaded.state.set_mode(Some(mode)),
            Ok(None) => {}
            // The daemon has ended once more since it answered.
            Err(error)
                if matches!(
                    error.reason(),
                    Some(ErrorReason::SessionNotFound | ErrorReason::InvalidClientId)
                ) =>
            {
                return Ok(Some(StreamExit::Retry(error.to_string(), None)));
            }
            Err(error) => return Err(error),
        }
        shared.start_over(loaded, cause);
        Ok(None)
    }

    /// What an error means for the session.
    async fn classify(&mut self, error: &DaemonError) -> StreamExit {
        let why = error.to_string();
        let Some(response) = error.response() else {
            return StreamExit::Retry(why, None);
        };
        match response.reason() {
            // Loading failed as well, so the session is not on disk either.
            ErrorReason::SessionNotFound if self.history_needed.is_some() => {
                StreamExit::Over(SessionEndReason::Lost)
            }
            ErrorReason::SessionNotFound => StreamExit::Resync(HistoryCause::Revived),
            ErrorReason::InvalidClientId if self.history_needed.is_none() => {
                let stale = self.shared.identity.current();
                match self.shared.renew(stale.as_ref()).await {
                    Ok(()) => StreamExit::Retry(why, None),
                    Err(error) => StreamExit::Retry(error.to_string(), None),
                }
            }
            reason if reason.is_temporary() => StreamExit::Retry(why, response.retry_after),
            _ => StreamExit::Over(SessionEndReason::Refused { why }),
        }
    }

    /// Records a failure: the delay before the next attempt, or the end of the session.
    fn failed(
        &mut self,
        why: &str,
        at_least: Option<Duration>,
    ) -> Result<Duration, SessionEndReason> {
        tracing::debug!(why, "the event stream is interrupted");
        if !self.announced {
            self.announced = true;
            let why = why.to_owned();
            self.shared
                .queue
                .push(SessionEvent::Disconnected { why }, None);
        }
        self.failures += 1;
        let since = *self.since.get_or_insert_with(Instant::now);
        let settings = &self.shared.settings;
        let mut wait = settings.backoff.after(self.failures);
        if self.failures == 1 && self.history_needed.is_some() {
            // The daemon works; the history can be loaded at once.
            wait = Duration::ZERO;
        }
        let wait = wait.max(at_least.unwrap_or_default());
        if since.elapsed().saturating_add(wait) > settings.give_up_after {
            let why = why.to_owned();
            return Err(SessionEndReason::Unreachable { why });
        }
        Ok(wait)
    }

    /// The stream works: the next failure begins a new outage.
    fn recovered(&mut self) {
        self.failures = 0;
        self.since = None;
    }

    /// Reads the turn records without holding up the stream.
    fn read_turn_records_in_background(&self) {
        if self.shared.prompts.waiting().is_empty()
            || self.reading_records.swap(true, Ordering::AcqRel)
        {
            return;
        }
        let (shared, reading_records) = (self.shared.clone(), self.reading_records.clone());
        tokio::spawn(async move {
            read_turn_records(&shared).await;
            reading_records.store(false, Ordering::Release);
        });
    }
}

/// Reads the daemon's records of all turns whose end is not known.
async fn read_turn_records(shared: &SharedSession) {
    for prompt in shared.prompts.waiting() {
        let end = match shared.client.turn(&shared.id, &prompt).await {
            Ok(turn) => from_record(turn),
            Err(error) if error.reason() == Some(ErrorReason::PromptNotFound) => {
                Some(without_record())
            }
            // The stream will meet the same error and handle it.
            Err(_) => return,
        };
        if let Some(end) = end {
            shared.prompts.record(prompt, end);
        }
    }
}
