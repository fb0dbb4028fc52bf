//! The events of a session.

use serde::{Deserialize, Serialize};

use crate::client::EventCursor;
use crate::event::DaemonEvent;
use crate::wire::{ClientId, ConfigState, Epoch, LoadedSession, PromptTerminal, SessionId};

/// What has to be saved to continue a session later, or in another process.
///
/// The three parts belong together: an event id means nothing in another session or epoch.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ResumeState {
    /// The session.
    pub session_id: SessionId,
    /// The epoch of the event id.
    pub epoch: Option<Epoch>,
    /// The newest event that the consumer is done with.
    pub last_event_id: u64,
}

impl ResumeState {
    pub(crate) fn new(session_id: SessionId, cursor: EventCursor) -> ResumeState {
        ResumeState {
            session_id,
            epoch: cursor.epoch,
            last_event_id: cursor.last_event_id,
        }
    }
}

/// An event for the consumer of a session.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum SessionEvent {
    /// An event of the daemon. Each is delivered once, in order.
    Event(DaemonEvent),
    /// The whole conversation. It replaces everything that was shown; the events that follow
    /// continue it.
    History(Box<History>),
    /// The stream is open. The events that were missed follow, then `replay_complete`.
    Connected,
    /// The stream broke. The session reconnects by itself.
    Disconnected {
        /// The cause, for people.
        why: String,
    },
    /// A frame could not be read. Its content is lost.
    Unreadable {
        /// The event id, if it could be read.
        id: Option<u64>,
        /// The error, for people.
        why: String,
    },
    /// The events with these ids never arrived.
    Missing {
        /// The first missing id.
        from: u64,
        /// The last missing id.
        to: u64,
    },
    /// The session ended for this handle. Nothing follows.
    Ended(SessionEndReason),
}

/// The whole conversation, as far as the daemon keeps it.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct History {
    /// Why it was loaded.
    pub cause: HistoryCause,
    /// Finished turns and the running one, oldest first.
    pub events: Vec<DaemonEvent>,
    /// Models and approval modes. Empty if the session was live at the daemon.
    pub state: ConfigState,
    /// Whether a turn is running.
    pub has_active_prompt: bool,
    /// How earlier prompts ended. Empty if the session was live at the daemon.
    pub prompt_terminals: Vec<PromptTerminal>,
    /// Whether older parts are missing.
    pub incomplete: bool,
}

/// Why a history was loaded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum HistoryCause {
    /// The session existed before this handle.
    Attached,
    /// The daemon could not continue the stream: events were dropped, or the epoch changed.
    Resync,
    /// The session was not live and was restored from disk.
    Revived,
    /// The consumer was too slow, and events were dropped here.
    FellBehind,
}

/// Why a session ended for its handle.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SessionEndReason {
    /// This handle left.
    Left,
    /// A client closed it. It can be loaded again.
    Closed {
        /// The daemon's reason.
        reason: Option<String>,
        /// The client that closed it.
        by: Option<ClientId>,
    },
    /// Its agent or the daemon ended. It can be loaded again.
    Died {
        /// The daemon's reason.
        reason: Option<String>,
    },
    /// The daemon does not know it, and it is not on disk either.
    Lost,
    /// The daemon rejects this client; retrying does not help.
    Refused {
        /// The error, for people.
        why: String,
    },
    /// The daemon could not be reached for too long.
    Unreachable {
        /// The last error, for people.
        why: String,
    },
}

/// How to leave a session. The transcript stays in any case.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DisconnectMode {
    /// Only close the stream: a running turn goes on, and the session stays open.
    #[default]
    KeepRunning,
    /// Detach this client: a running turn goes on, and the daemon closes the session when no client
    /// is left.
    Detach,
    /// Cancel the running turn, then detach.
    Cancel,
}

/// Counters for diagnosis.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Counters {
    /// Events delivered.
    pub events: u64,
    /// Events of a type that this version does not know; they were delivered raw.
    pub unknown: u64,
    /// Events that had been delivered before and were dropped.
    pub repeated: u64,
    /// Frames that could not be read.
    pub unreadable: u64,
    /// Events in which invalid UTF-8 was replaced.
    pub invalid_utf8: u64,
    /// Streams opened.
    pub streams: u64,
    /// Histories loaded.
    pub histories: u64,
}

impl History {
    /// The history in the response to a load.
    pub(super) fn of(loaded: LoadedSession, cause: HistoryCause) -> History {
        let flags = [
            loaded.history_has_more,
            loaded.partial,
            loaded.replay_degraded,
        ];
        let mut events = loaded.compacted_replay;
        events.extend(loaded.live_journal);
        let truncated = events
            .iter()
            .any(|event| event.kind() == "history_truncated");
        History {
            cause,
            events,
            state: loaded.state,
            has_active_prompt: loaded.opened.has_active_prompt.unwrap_or(false),
            prompt_terminals: loaded.prompt_terminals,
            incomplete: truncated || flags.contains(&Some(true)),
        }
    }
}

/// Where the stream continues after a load. The id is taken as it is, even if it is lower than
/// before.
pub(super) fn cursor_of(loaded: &LoadedSession) -> EventCursor {
    let known = loaded.compacted_replay.iter().chain(&loaded.live_journal);
    let newest = known.filter_map(DaemonEvent::id).max().unwrap_or(0);
    EventCursor {
        last_event_id: loaded.last_event_id.unwrap_or(newest),
        epoch: loaded.opened.event_epoch.clone(),
    }
}
