//! What the handle of a session, its reader and its consumer share.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use super::identity::Identity;
use super::prompts::Prompts;
use super::queue::Queue;
use super::update::cursor_of;
use super::{Counters, End, History, HistoryCause, Settings};
use crate::client::{Cursor, DaemonClient};
use crate::wire::{Loaded, Opened, SessionId};

#[derive(Debug)]
pub(super) struct Shared {
    pub(super) client: DaemonClient,
    pub(super) id: SessionId,
    pub(super) settings: Settings,
    pub(super) identity: Identity,
    pub(super) prompts: Prompts,
    pub(super) queue: Arc<Queue>,
    /// Where the reader is. Only the reader moves it.
    cursor: Mutex<Cursor>,
    pub(super) tally: Tally,
}

impl Shared {
    pub(super) fn new(
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

    pub(super) fn cursor(&self) -> Cursor {
        self.cursor
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    pub(super) fn set_cursor(&self, cursor: Cursor) {
        *self.cursor.lock().unwrap_or_else(PoisonError::into_inner) = cursor;
    }

    /// Goes on from what was loaded: cursor, prompts and consumer.
    pub(super) fn start_over(&self, loaded: Loaded, cause: HistoryCause) {
        let cursor = cursor_of(&loaded);
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
    pub(super) fn end(&self, end: End) {
        self.prompts.abandon(&end);
        self.queue.end(end);
    }
}

/// Counters that anybody may look at while the reader counts.
#[derive(Debug, Default)]
pub(super) struct Tally {
    pub(super) events: AtomicU64,
    pub(super) unknown: AtomicU64,
    pub(super) repeated: AtomicU64,
    pub(super) unreadable: AtomicU64,
    pub(super) mended: AtomicU64,
    pub(super) streams: AtomicU64,
    pub(super) histories: AtomicU64,
}

impl Tally {
    pub(super) fn read(&self) -> Counters {
        let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        Counters {
            events: read(&self.events),
            unknown: read(&self.unknown),
            repeated: read(&self.repeated),
            unreadable: read(&self.unreadable),
            mended: read(&self.mended),
            streams: read(&self.streams),
            histories: read(&self.histories),
        }
    }
}

pub(super) fn count(counter: &AtomicU64) {
    counter.fetch_add(1, Ordering::Relaxed);
}
