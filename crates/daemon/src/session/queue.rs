//! The bounded queue between the reader and the consumer.
//!
//! When the limit is reached, the queued events are dropped and no more are accepted: all of them
//! are in the history, which is loaded once the consumer reads again. The reader goes on meanwhile,
//! so prompts end and the stream stays alive.

use std::collections::VecDeque;
use std::mem;
use std::sync::{Arc, Mutex, MutexGuard};

use tokio::sync::Notify;

use super::{History, ResumeState, SessionEndReason, SessionEvent};
use crate::client::EventCursor;
use crate::wire::SessionId;

#[derive(Debug)]
pub(super) struct EventQueue {
    state: Mutex<EventBuffer>,
    /// Notified when an event is queued. The consumer waits for it.
    filled: Notify,
    /// Notified when a consumer that fell behind reads again and needs the history. The reader
    /// waits for it.
    behind: Notify,
    max_events: usize,
    max_bytes: usize,
}

#[derive(Debug, Default)]
struct EventBuffer {
    waiting: VecDeque<(SessionEvent, Option<EventCursor>)>,
    bytes: usize,
    /// Events were dropped; only a history can bring the consumer up to date.
    behind: bool,
    /// The cursor of the event that the consumer took last, until it asks for the next one.
    handed_out: Option<EventCursor>,
    /// The cursor up to which the consumer is done: it asked for the event after it.
    done: EventCursor,
    over: bool,
}

impl EventQueue {
    /// An empty queue. `done` is where its consumer begins.
    pub(super) fn new(max_events: usize, max_bytes: usize, done: EventCursor) -> Self {
        let state = EventBuffer {
            done,
            ..EventBuffer::default()
        };
        Self {
            state: Mutex::new(state),
            filled: Notify::new(),
            behind: Notify::new(),
            max_events: max_events.max(1),
            max_bytes,
        }
    }

    /// Queues an event. `at` is the cursor of a consumer that has taken it.
    pub(super) fn push(&self, update: SessionEvent, at: Option<EventCursor>) {
        let mut state = self.lock();
        if state.over {
            return;
        }
        let is_event = matches!(update, SessionEvent::Event(_));
        if state.behind && is_event {
            return;
        }
        let size = size(&update);
        let full = state.waiting.len() >= self.max_events
            || (state.bytes + size > self.max_bytes && !state.waiting.is_empty());
        if full {
            // Events about the connection are small and in no history; the newest ones are kept.
            state.behind = true;
            state.bytes = 0;
            let mut kept = mem::take(&mut state.waiting);
            kept.retain(|(update, _)| {
                !matches!(update, SessionEvent::Event(_) | SessionEvent::History(_))
            });
            let surplus = kept.len().saturating_sub(self.max_events / 2);
            kept.drain(..surplus);
            state.waiting = kept;
        }
        if !(state.behind && is_event) {
            state.bytes += size;
            state.waiting.push_back((update, at));
        }
        drop(state);
        self.filled.notify_one();
    }

    /// Replaces all queued events by a history.
    pub(super) fn start_over(&self, history: History, at: EventCursor) {
        let mut state = self.lock();
        if state.over {
            return;
        }
        state.behind = false;
        state.waiting.retain(|(update, _)| {
            !matches!(update, SessionEvent::Event(_) | SessionEvent::History(_))
        });
        let update = SessionEvent::History(Box::new(history));
        // A history is one event, however large; the limit applies to what follows it.
        state.bytes = 0;
        state.waiting.push_back((update, Some(at)));
        drop(state);
        self.filled.notify_one();
    }

    pub(super) fn end(&self, end: SessionEndReason) {
        let mut state = self.lock();
        if !mem::replace(&mut state.over, true) {
            state.waiting.push_back((SessionEvent::Ended(end), None));
        }
        drop(state);
        self.filled.notify_one();
    }

    pub(super) fn is_over(&self) -> bool {
        self.lock().over
    }

    /// The cursor up to which the consumer is done. An event that it has taken counts once it asks
    /// for the next one: until then it may be working on it.
    pub(super) fn done(&self) -> EventCursor {
        self.lock().done.clone()
    }

    /// Waits until a consumer that fell behind reads again.
    pub(super) async fn consumer_is_back(&self) {
        loop {
            self.behind.notified().await;
            // A history may have been queued for another reason meanwhile.
            if self.lock().behind {
                return;
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, EventBuffer> {
        crate::locked(&self.state)
    }
}

/// The events of a session, in order.
#[derive(Debug)]
pub struct SessionEvents {
    session: SessionId,
    queue: Arc<EventQueue>,
}

impl SessionEvents {
    pub(super) fn new(session: SessionId, queue: Arc<EventQueue>) -> Self {
        Self { session, queue }
    }

    /// Where to continue later, after the last event that was taken.
    ///
    /// For a consumer that saves its place between two events: the last one counts as done. Whoever
    /// saves at the same time as the consumer works uses
    /// [`Session::resume_state`](super::Session::resume_state), which does not count it yet.
    pub fn resume_state(&self) -> ResumeState {
        ResumeState::new(self.session.clone(), self.position())
    }

    /// The cursor of the last event that was taken.
    pub(crate) fn position(&self) -> EventCursor {
        let state = self.queue.lock();
        state.handed_out.as_ref().unwrap_or(&state.done).clone()
    }

    /// Whether everything that has happened was taken: nothing is queued, and no history is to come in
    /// place of what was dropped.
    pub(crate) fn is_up_to_date(&self) -> bool {
        let state = self.queue.lock();
        state.waiting.is_empty() && !state.behind
    }

    /// The next event; `None` after [`SessionEvent::Ended`]. Cancel safe.
    pub async fn next(&mut self) -> Option<SessionEvent> {
        loop {
            if let Some(update) = self.try_next() {
                return Some(update);
            }
            if self.queue.is_over() {
                // The end may have been queued between the two checks.
                return self.try_next();
            }
            self.queue.filled.notified().await;
        }
    }

    /// The next event, if one is queued.
    pub fn try_next(&mut self) -> Option<SessionEvent> {
        let mut state = self.queue.lock();
        if let Some(done) = state.handed_out.take() {
            state.done = done;
        }
        if let Some((update, at)) = state.waiting.pop_front() {
            state.bytes = state.bytes.saturating_sub(size(&update));
            state.handed_out = at;
            return Some(update);
        }
        if state.behind {
            // All events about the connection have been taken; now the history is loaded.
            self.queue.behind.notify_one();
        }
        None
    }
}

/// How many bytes an event counts for while it is queued.
fn size(update: &SessionEvent) -> usize {
    match update {
        SessionEvent::Event(event) => event.text().len(),
        _ => 64,
    }
}
