//! The bounded queue between the reader and the consumer.
//!
//! When the limit is reached, the queued events are dropped and no more are accepted: all of them
//! are in the history, which is loaded once the consumer reads again. The reader goes on meanwhile,
//! so prompts end and the stream stays alive.

use std::collections::VecDeque;
use std::mem;
use std::sync::{Arc, Mutex, MutexGuard};

use tokio::sync::Notify;

use super::{History, SessionEndReason, SessionEvent};
use crate::client::EventCursor;

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
    /// The cursor of the last event that the consumer took and that had one.
    taken: Option<EventCursor>,
    over: bool,
}

impl EventQueue {
    pub(super) fn new(max_events: usize, max_bytes: usize) -> Self {
        Self {
            state: Mutex::default(),
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

    /// The cursor of the consumer, once it has taken an event that has one.
    pub(super) fn taken(&self) -> Option<EventCursor> {
        self.lock().taken.clone()
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
    queue: Arc<EventQueue>,
}

impl SessionEvents {
    pub(super) fn new(queue: Arc<EventQueue>) -> Self {
        Self { queue }
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
        if let Some((update, at)) = state.waiting.pop_front() {
            state.bytes = state.bytes.saturating_sub(size(&update));
            if at.is_some() {
                state.taken = at;
            }
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
