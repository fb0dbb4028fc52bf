//! What a session tells its consumer.

use serde::{Deserialize, Serialize};

use crate::client::Cursor;
use crate::event::Event;
use crate::wire::{ClientId, ConfigState, Epoch, Loaded, PromptTerminal, SessionId};

/// What has to be remembered to go on with a session later, or from another process.
///
/// The three parts belong together: a number means nothing in another session or generation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ResumeState {
    /// The session.
    pub session_id: SessionId,
    /// The generation of the number.
    pub epoch: Option<Epoch>,
    /// The newest event that the consumer was given.
    pub last_event_id: u64,
}

/// News for the consumer of a session.
#[derive(Clone, Debug, PartialEq)]
pub enum Update {
    /// An event, in order, once.
    Event(Event),
    /// Start over: what was shown is replaced by this, and what follows continues it.
    History(Box<History>),
    /// A stream is open. What was missed follows, and `replay_complete` after it.
    Connected,
    /// There is no stream. The session tries again by itself.
    Disconnected {
        /// Why, for people.
        why: String,
    },
    /// Something came that could not be read; it is lost.
    Unreadable {
        /// Its number, if that could be read.
        id: Option<u64>,
        /// What was wrong with it.
        why: String,
    },
    /// Events with these numbers never came.
    Missing {
        /// The first.
        from: u64,
        /// The last.
        to: u64,
    },
    /// The session is over for this handle. Nothing follows.
    Ended(End),
}

/// The whole conversation, as far as the daemon keeps it.
#[derive(Clone, Debug, PartialEq)]
pub struct History {
    /// Why it is sent.
    pub cause: HistoryCause,
    /// Finished turns and the running one, oldest first.
    pub events: Vec<Event>,
    /// Models and modes; empty if the session was alive at the daemon.
    pub state: ConfigState,
    /// Whether a turn is running.
    pub has_active_prompt: bool,
    /// How earlier prompts ended, if the session was not alive at the daemon.
    pub prompt_terminals: Vec<PromptTerminal>,
    /// Whether older parts are missing.
    pub incomplete: bool,
}

/// Why a history is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HistoryCause {
    /// The session existed before this handle.
    Attached,
    /// The daemon could not continue the stream: events were dropped, or it numbers anew.
    Resync,
    /// The session was gone and has been brought back from disk.
    Revived,
    /// The consumer was too slow.
    FellBehind,
}

/// Why a session is over for its handle.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum End {
    /// We left.
    Left,
    /// Somebody closed it. It can be loaded again.
    Closed {
        /// Why.
        reason: Option<String>,
        /// Who.
        by: Option<ClientId>,
    },
    /// Its agent or the daemon ended. It can be loaded again.
    Died {
        /// Why.
        reason: Option<String>,
    },
    /// The daemon does not know it, and it is not on disk either.
    Lost,
    /// The daemon refuses us; trying again does not help.
    Refused {
        /// Why, for people.
        why: String,
    },
    /// The daemon could not be reached for too long.
    Unreachable {
        /// Why, for people.
        why: String,
    },
}

/// How to part from a session. Its transcript stays in any case.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Parting {
    /// Just stop listening: a running turn goes on, the session stays open.
    #[default]
    KeepRunning,
    /// Sign off: a running turn goes on, and the daemon closes the session once nobody is left.
    Detach,
    /// Cancel the running turn and sign off.
    Cancel,
}

/// How often things happened that should be rare.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Events delivered.
    pub events: u64,
    /// Events of a type that this version does not know; they were delivered raw.
    pub unknown: u64,
    /// Events that had been delivered before and were left out.
    pub repeated: u64,
    /// Frames that could not be read.
    pub unreadable: u64,
    /// Events in which bytes that are not text were replaced.
    pub mended: u64,
    /// Streams opened.
    pub streams: u64,
    /// Times the history was sent anew.
    pub histories: u64,
}

impl History {
    /// What an answer tells about the conversation.
    pub(super) fn of(loaded: Loaded, cause: HistoryCause) -> History {
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

/// Where a stream has to go on after this answer. The number is taken as it is, up or down.
pub(super) fn cursor_of(loaded: &Loaded) -> Cursor {
    let known = loaded.compacted_replay.iter().chain(&loaded.live_journal);
    let newest = known.filter_map(Event::id).max().unwrap_or(0);
    Cursor {
        last_event_id: loaded.last_event_id.unwrap_or(newest),
        epoch: loaded.opened.event_epoch.clone(),
    }
}
