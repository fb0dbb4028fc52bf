//! What waits for the consumer: bounded, and never in the reader's way.
//!
//! When the limit is reached, the events that wait are dropped and no more are taken: they are all in
//! the history, which the consumer gets once it is back. The reader goes on meanwhile, so prompts end
//! and the stream stays alive.

use std::collections::VecDeque;
use std::mem;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;

use super::{End, History, Update};
use crate::client::Cursor;

#[derive(Debug)]
pub(super) struct Queue {
    state: Mutex<State>,
    /// The consumer waits for this.
    filled: Notify,
    /// The reader waits for this: the consumer is back and needs the history.
    behind: Notify,
    max_events: usize,
    max_bytes: usize,
}

#[derive(Debug, Default)]
struct State {
    waiting: VecDeque<(Update, Option<Cursor>)>,
    bytes: usize,
    /// Events have been dropped; only a history can bring the consumer up to date.
    behind: bool,
    /// Where the consumer is: the cursor of the last update it took that had one.
    taken: Option<Cursor>,
    over: bool,
}

impl Queue {
    pub(super) fn new(max_events: usize, max_bytes: usize) -> Self {
        Self {
            state: Mutex::default(),
            filled: Notify::new(),
            behind: Notify::new(),
            max_events: max_events.max(1),
            max_bytes,
        }
    }

    /// Hands an update to the consumer. `at` is where a consumer that has taken it is.
    pub(super) fn push(&self, update: Update, at: Option<Cursor>) {
        let mut state = self.lock();
        if state.over {
            return;
        }
        let is_event = matches!(update, Update::Event(_));
        if state.behind && is_event {
            return;
        }
        let size = size(&update);
        let full = state.waiting.len() >= self.max_events
            || (state.bytes + size > self.max_bytes && !state.waiting.is_empty());
        if full {
            // What is said about the connection is short and is not in any history; the newest of
            // it is enough.
            state.behind = true;
            state.bytes = 0;
            let mut kept = mem::take(&mut state.waiting);
            kept.retain(|(update, _)| !matches!(update, Update::Event(_) | Update::History(_)));
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

    /// Replaces everything that waits by a history.
    pub(super) fn start_over(&self, history: History, at: Cursor) {
        let mut state = self.lock();
        if state.over {
            return;
        }
        state.behind = false;
        state
            .waiting
            .retain(|(update, _)| !matches!(update, Update::Event(_) | Update::History(_)));
        let update = Update::History(Box::new(history));
        // A large history is one update; the limit is for what comes after it.
        state.bytes = 0;
        state.waiting.push_back((update, Some(at)));
        drop(state);
        self.filled.notify_one();
    }

    pub(super) fn end(&self, end: End) {
        let mut state = self.lock();
        if !mem::replace(&mut state.over, true) {
            state.waiting.push_back((Update::Ended(end), None));
        }
        drop(state);
        self.filled.notify_one();
    }

    pub(super) fn is_over(&self) -> bool {
        self.lock().over
    }

    /// Where the consumer is, if it has taken anything that tells.
    pub(super) fn taken(&self) -> Option<Cursor> {
        self.lock().taken.clone()
    }

    /// Waits until a consumer that fell behind wants to go on.
    pub(super) async fn consumer_is_back(&self) {
        loop {
            self.behind.notified().await;
            // A history may have come for another reason since the consumer asked.
            if self.lock().behind {
                return;
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What comes back from a session, in order.
#[derive(Debug)]
pub struct Updates {
    queue: Arc<Queue>,
}

impl Updates {
    pub(super) fn new(queue: Arc<Queue>) -> Self {
        Self { queue }
    }

    /// The next update; `None` after [`Update::Ended`]. It may be dropped while it waits.
    pub async fn next(&mut self) -> Option<Update> {
        loop {
            if let Some(update) = self.try_next() {
                return Some(update);
            }
            if self.queue.is_over() {
                // It may have been put there between the two looks.
                return self.try_next();
            }
            self.queue.filled.notified().await;
        }
    }

    /// The next update if there is one already.
    pub fn try_next(&mut self) -> Option<Update> {
        let mut state = self.queue.lock();
        if let Some((update, at)) = state.waiting.pop_front() {
            state.bytes = state.bytes.saturating_sub(size(&update));
            if at.is_some() {
                state.taken = at;
            }
            return Some(update);
        }
        if state.behind {
            // Everything short has been taken; now it is the history's turn.
            self.queue.behind.notify_one();
        }
        None
    }
}

/// What an update costs while it waits.
fn size(update: &Update) -> usize {
    match update {
        Update::Event(event) => event.text().len(),
        _ => 64,
    }
}
