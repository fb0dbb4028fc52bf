//! State that the handles of a session, its reader and its consumer share.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use super::event::cursor_of;
use super::identity::Identity;
use super::mode::SessionMode;
use super::prompts::Prompts;
use super::queue::EventQueue;
use super::{Counters, History, HistoryCause, SessionEndReason, SessionSettings};
use crate::client::{DaemonClient, EventCursor};
use crate::wire::{LoadedSession, OpenedSession, SessionId};

#[derive(Debug)]
pub(super) struct SharedSession {
    pub(super) client: DaemonClient,
    pub(super) id: SessionId,
    pub(super) settings: SessionSettings,
    pub(super) identity: Identity,
    pub(super) prompts: Prompts,
    pub(super) queue: Arc<EventQueue>,
    /// The cursor of the reader. Only the reader moves it.
    cursor: Mutex<EventCursor>,
    pub(super) mode: SessionMode,
    pub(super) counters: AtomicCounters,
}

impl SharedSession {
    /// `done` is where the consumer begins, `cursor` where the reader does.
    pub(super) fn new(
        client: DaemonClient,
        opened: &OpenedSession,
        registrations: u32,
        cursor: EventCursor,
        done: EventCursor,
        settings: SessionSettings,
    ) -> Arc<SharedSession> {
        Arc::new(SharedSession {
            client,
            id: opened.session_id.clone(),
            identity: Identity::new(opened.client_id.clone(), registrations),
            prompts: Prompts::default(),
            queue: Arc::new(EventQueue::new(
                settings.buffer_events,
                settings.buffer_bytes,
                done,
            )),
            cursor: Mutex::new(cursor),
            mode: SessionMode::default(),
            counters: AtomicCounters::default(),
            settings,
        })
    }

    pub(super) fn cursor(&self) -> EventCursor {
        crate::locked(&self.cursor).clone()
    }

    pub(super) fn set_cursor(&self, cursor: EventCursor) {
        *crate::locked(&self.cursor) = cursor;
    }

    /// The daemon has registered us again, and perhaps restored the session for it.
    pub(super) fn registered(&self, opened: &OpenedSession) {
        self.identity.registered(opened.client_id.clone());
        self.notice_restore(opened);
    }

    /// Sets cursor, prompts and queue to what was loaded.
    pub(super) fn start_over(&self, loaded: LoadedSession, cause: HistoryCause) {
        let cursor = cursor_of(&loaded);
        self.set_cursor(cursor.clone());
        self.prompts.recall(&loaded.prompt_terminals);
        let modes = loaded.state.modes.as_ref();
        self.mode
            .learn(modes.and_then(|it| it.current_mode_id.clone()));
        let history = History::of(loaded, cause);
        for event in &history.events {
            self.prompts.observe(event);
        }
        count(&self.counters.histories);
        self.queue.start_over(history, cursor);
    }

    /// Ends the session for the consumer, and every prompt that has no end yet. Only the first call
    /// counts.
    pub(super) fn end(&self, end: SessionEndReason) {
        self.prompts.abandon(&end);
        self.queue.end(end);
    }
}

/// [`Counters`] that can be read while the reader counts.
#[derive(Debug, Default)]
pub(super) struct AtomicCounters {
    pub(super) events: AtomicU64,
    pub(super) unknown: AtomicU64,
    pub(super) repeated: AtomicU64,
    pub(super) unreadable: AtomicU64,
    pub(super) invalid_utf8: AtomicU64,
    pub(super) streams: AtomicU64,
    pub(super) histories: AtomicU64,
}

impl AtomicCounters {
    pub(super) fn read(&self) -> Counters {
        let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        Counters {
            events: read(&self.events),
            unknown: read(&self.unknown),
            repeated: read(&self.repeated),
            unreadable: read(&self.unreadable),
            invalid_utf8: read(&self.invalid_utf8),
            streams: read(&self.streams),
            histories: read(&self.histories),
        }
    }
}

pub(super) fn count(counter: &AtomicU64) {
    counter.fetch_add(1, Ordering::Relaxed);
}
