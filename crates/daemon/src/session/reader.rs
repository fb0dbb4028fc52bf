//! The one task that listens, and all rules of losing and finding the stream again.
//!
//! A stream is always opened with a cursor and its generation. What happens then, by what the daemon
//! says:
//!
//! | The daemon | The reader |
//! |---|---|
//! | sends what was missed, then `replay_complete` | delivers it; the outage is over |
//! | says `state_resync_required`, for whatever reason | drops the stream, loads the history, **sets** the cursor to where the history ends, listens again |
//! | answers with another generation than the cursor's | the same |
//! | does not know the session | brings it back from disk; if that fails too, the session is lost |
//! | ends or breaks the stream, is silent, evicts us | waits a little and goes on from the cursor |
//! | has no room for us | waits as long as it asks for |
//! | refuses us | ends |
//! | says that the session died or was closed | ends |
//!
//! What arrives a second time is left out; what is skipped is reported.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tokio::time::Instant;

use super::prompts::{from_record, without_record};
use super::shared::{Shared, count};
use super::{End, HistoryCause, Update};
use crate::client::{ConnectReason, EventStream, Signal, Subscription};
use crate::error::{DaemonError, Reason};
use crate::event::{Body, Event};
use crate::wire::Restore;

pub(super) struct Reader {
    shared: Arc<Shared>,
    /// Failures in a row without anything good in between.
    failures: u32,
    /// When the first of them happened.
    since: Option<Instant>,
    /// Whether the consumer has been told that there is no stream.
    announced: bool,
    /// A history that has to be fetched before listening makes sense.
    owed: Option<HistoryCause>,
    reason: ConnectReason,
    previous_stream: Option<String>,
    /// Whether the daemon is being asked about prompts at the moment.
    asking: Arc<AtomicBool>,
}

/// Why a stream, or the attempt to get one, is over.
enum Cut {
    /// Try again, after at least this long if the daemon said so.
    Retry(String, Option<Duration>),
    /// Fetch the history first.
    Resync(HistoryCause),
    /// There is nothing to try again.
    Over(End),
}

impl Reader {
    pub(super) fn new(shared: Arc<Shared>) -> Self {
        Self {
            shared,
            failures: 0,
            since: None,
            announced: false,
            owed: None,
            reason: ConnectReason::Initial,
            previous_stream: None,
            asking: Arc::default(),
        }
    }

    /// Listens until there is nothing more to hear.
    pub(super) async fn run(mut self) {
        loop {
            let cut = match self.attempt().await {
                Ok(cut) => cut,
                Err(error) => self.judge(&error).await,
            };
            let pause = match cut {
                Cut::Over(end) => return self.shared.end(end),
                Cut::Resync(cause) => {
                    self.owed = Some(cause);
                    self.reason = ConnectReason::StateResync;
                    self.failed("the stream could not be continued", None)
                }
                Cut::Retry(why, at_least) => self.failed(&why, at_least),
            };
            match pause {
                Ok(pause) => tokio::time::sleep(pause).await,
                Err(end) => return self.shared.end(end),
            }
        }
    }

    /// One stream from its beginning to its end, with everything that has to come before it.
    async fn attempt(&mut self) -> Result<Cut, DaemonError> {
        if let Some(cause) = self.owed {
            self.rebuild(cause).await?;
            self.owed = None;
        }
        // Before the stream is opened: what the records say by now, the replay will have said.
        if self.shared.tally.streams.load(Ordering::Relaxed) > 0 {
            ask_about_prompts(&self.shared).await;
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
        count(&shared.tally.streams);
        self.previous_stream.clone_from(&stream.stream_id);
        if cursor.epoch.is_some() && stream.epoch.is_some() && cursor.epoch != stream.epoch {
            return Ok(Cut::Resync(HistoryCause::Resync));
        }
        shared.set_cursor(crate::client::Cursor {
            epoch: stream.epoch.clone().or(cursor.epoch),
            ..cursor
        });
        self.listen(stream).await
    }

    async fn listen(&mut self, mut stream: EventStream) -> Result<Cut, DaemonError> {
        self.announced = false;
        self.shared.queue.push(Update::Connected, None);
        let watchdog = self.shared.settings.watchdog;
        let mut mended = 0;
        loop {
            let signal = tokio::select! {
                signal = stream.next(watchdog) => signal,
                () = self.shared.queue.consumer_is_back() => {
                    return Ok(Cut::Resync(HistoryCause::FellBehind));
                }
            };
            let tally = &self.shared.tally;
            tally
                .mended
                .fetch_add(stream.mended - mended, Ordering::Relaxed);
            mended = stream.mended;
            match signal {
                Ok(Some(Signal::Event(event))) => {
                    if let Some(cut) = self.take(event) {
                        return Ok(cut);
                    }
                }
                Ok(Some(Signal::Heartbeat)) => {
                    self.recovered();
                    self.shared.prompts.trust_records();
                    self.ask_in_background();
                }
                Ok(Some(Signal::Unreadable { id, why, .. })) => {
                    count(&tally.unreadable);
                    let fresh = id.is_none_or(|id| self.advance(id));
                    if fresh {
                        self.shared.queue.push(Update::Unreadable { id, why }, None);
                    }
                }
                Ok(None) => {
                    self.reason = ConnectReason::StreamEnd;
                    return Ok(Cut::Retry("the daemon ended the stream".into(), None));
                }
                Err(error) => {
                    self.reason = ConnectReason::TransportError;
                    return Err(error);
                }
            }
        }
    }

    /// Delivers an event and does what it demands of the stream.
    fn take(&mut self, event: Event) -> Option<Cut> {
        if let Some(id) = event.id()
            && !self.advance(id)
        {
            return None;
        }
        let shared = &self.shared;
        count(&shared.tally.events);
        if !event.is_known() {
            count(&shared.tally.unknown);
            tracing::debug!(kind = event.kind(), "an event of an unknown type");
        }
        shared.prompts.hear(&event);
        let verdict = match event.kind() {
            "replay_complete" => {
                self.recovered();
                self.shared.prompts.trust_records();
                None
            }
            "state_resync_required" => Some(Cut::Resync(HistoryCause::Resync)),
            "client_evicted" => Some(Cut::Retry(
                "the daemon gave up on a slow stream".into(),
                None,
            )),
            "stream_error" => Some(Cut::Retry("the stream broke at the daemon".into(), None)),
            "session_died" | "session_closed" => self.farewell(&event).map(Cut::Over),
            _ => None,
        };
        let at = event.id().map(|_| self.shared.cursor());
        self.shared.queue.push(Update::Event(event), at);
        verdict
    }

    /// The end that an event announces, if it is about this session.
    fn farewell(&self, event: &Event) -> Option<End> {
        let ours = Some(&self.shared.id);
        match event.body() {
            Body::SessionDied(died) if died.session_id.as_ref() == ours => {
                let reason = died.reason;
                Some(End::Died { reason })
            }
            Body::SessionClosed(closed) if closed.session_id.as_ref() == ours => {
                let (reason, by) = (closed.reason, closed.closed_by);
                Some(End::Closed { reason, by })
            }
            _ => None,
        }
    }

    /// Moves the cursor. `false` if what has this number was delivered before.
    fn advance(&mut self, id: u64) -> bool {
        let mut cursor = self.shared.cursor();
        if id <= cursor.last_event_id {
            count(&self.shared.tally.repeated);
            return false;
        }
        let next = cursor.last_event_id + 1;
        if id > next {
            let missing = Update::Missing {
                from: next,
                to: id - 1,
            };
            self.shared.queue.push(missing, None);
        }
        cursor.last_event_id = id;
        self.shared.set_cursor(cursor);
        true
    }

    /// Fetches the history, which also brings a session back that only exists on disk.
    async fn rebuild(&self, cause: HistoryCause) -> Result<(), DaemonError> {
        let shared = &self.shared;
        let client = shared.identity.current();
        let restore = Restore::default();
        let loaded = shared
            .client
            .load_session(&shared.id, &restore, client.as_ref())
            .await?;
        shared.identity.registered(loaded.opened.client_id.clone());
        shared.start_over(loaded, cause);
        Ok(())
    }

    /// What an error means for the session.
    async fn judge(&mut self, error: &DaemonError) -> Cut {
        let why = error.to_string();
        let Some(refusal) = error.refusal() else {
            return Cut::Retry(why, None);
        };
        match refusal.reason() {
            // Loading has failed as well: it is not on disk either.
            Reason::SessionNotFound if self.owed.is_some() => Cut::Over(End::Lost),
            Reason::SessionNotFound => Cut::Resync(HistoryCause::Revived),
            Reason::InvalidClientId if self.owed.is_none() => {
                let stale = self.shared.identity.current();
                match self.shared.renew(stale.as_ref()).await {
                    Ok(()) => Cut::Retry(why, None),
                    Err(error) => Cut::Retry(error.to_string(), None),
                }
            }
            reason if reason.is_temporary() => Cut::Retry(why, refusal.retry_after),
            _ => Cut::Over(End::Refused { why }),
        }
    }

    /// Takes note of a failure: how long to wait now, or the end.
    fn failed(&mut self, why: &str, at_least: Option<Duration>) -> Result<Duration, End> {
        tracing::debug!(why, "the event stream is interrupted");
        if !self.announced {
            self.announced = true;
            let why = why.to_owned();
            self.shared.queue.push(Update::Disconnected { why }, None);
        }
        self.failures += 1;
        let since = *self.since.get_or_insert_with(Instant::now);
        let settings = &self.shared.settings;
        let mut wait = settings.backoff.after(self.failures);
        if self.failures == 1 && self.owed.is_some() {
            // Nothing is wrong with the daemon; the history is wanted now.
            wait = Duration::ZERO;
        }
        let wait = wait.max(at_least.unwrap_or_default());
        if since.elapsed() + wait > settings.give_up_after {
            let why = why.to_owned();
            return Err(End::Unreachable { why });
        }
        Ok(wait)
    }

    /// The stream works.
    fn recovered(&mut self) {
        self.failures = 0;
        self.since = None;
    }

    /// Asks about prompts without keeping the stream waiting.
    fn ask_in_background(&self) {
        if self.shared.prompts.waiting().is_empty() || self.asking.swap(true, Ordering::AcqRel) {
            return;
        }
        let (shared, asking) = (self.shared.clone(), self.asking.clone());
        tokio::spawn(async move {
            ask_about_prompts(&shared).await;
            asking.store(false, Ordering::Release);
        });
    }
}

/// Reads the daemon's records of all turns whose end has not been heard of.
async fn ask_about_prompts(shared: &Shared) {
    for prompt in shared.prompts.waiting() {
        let end = match shared.client.turn(&shared.id, &prompt).await {
            Ok(turn) => from_record(turn),
            Err(error) if error.reason() == Some(Reason::PromptNotFound) => Some(without_record()),
            // The stream will find out what is wrong.
            Err(_) => return,
        };
        if let Some(end) = end {
            shared.prompts.record(prompt, end);
        }
    }
}
