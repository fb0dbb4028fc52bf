//! What a connection tells, and the way it gets to whoever listens.
//!
//! The way has a limited amount of room. A listener that does not take what is there makes the pump
//! wait, then the session's own queue fills, and in the end the listener gets the conversation anew.
//! Only what ends or begins a connection never waits, so that nobody can block a disconnect by not
//! listening to it.

use std::sync::Arc;

use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc};

use super::{Connected, Request};
use crate::session::{End, HistoryCause, ResumeState, TurnEnd};
use crate::wire::{
    ApprovalMode, Outcome, PendingPrompt, PromptId, QueueState, RequestId, SessionUpdate,
};

/// How many bytes of events may wait for the listener of one connection. A larger one always fits.
pub(super) const ROOM: usize = 8 * 1024 * 1024;

/// Something that a connection tells.
#[derive(Clone, Debug, PartialEq)]
pub enum IdeEvent {
    /// A connection stands. What follows belongs to it.
    Connected(Connected),
    /// What was shown is replaced by this, and what follows continues it. Requests that are still
    /// open are not part of it; they are told on their own.
    StartOver {
        /// Why.
        cause: HistoryCause,
        /// The conversation so far.
        events: Vec<IdeEvent>,
        /// Whether a turn is running.
        busy: bool,
        /// Whether older parts are missing.
        incomplete: bool,
    },
    /// The agent, or a person, says or does something.
    Update {
        /// What.
        update: SessionUpdate,
        /// In which turn.
        prompt: Option<PromptId>,
        /// Whether this connection asked for it.
        mine: bool,
    },
    /// The agent asks for leave, or for answers.
    Asked(Box<Request>),
    /// A request is over for the person, whoever answered it.
    Closed {
        /// Which.
        request: RequestId,
        /// How.
        how: Closing,
    },
    /// A request that no person could have answered was declined, so that the agent can go on.
    Declined {
        /// Which.
        request: RequestId,
        /// What was wrong with it.
        why: String,
    },
    /// Several have to agree, and one more has voted.
    VoteCounted {
        /// On which request.
        request: RequestId,
        /// How many have voted.
        received: Option<u64>,
        /// How many are needed.
        needed: Option<u64>,
    },
    /// A turn is over. Told once for each prompt of this connection, and for those of others.
    TurnEnded {
        /// Which.
        prompt: Option<PromptId>,
        /// How.
        end: TurnEnd,
        /// Whether it was the turn of a background task that nobody prompted.
        background: bool,
    },
    /// A prompt waits, begins or is done.
    Queue {
        /// Which.
        prompt: PromptId,
        /// Its text.
        text: Option<String>,
        /// How far it is.
        state: QueueState,
    },
    /// Another model is in use.
    ModelChanged {
        /// Which.
        model: String,
    },
    /// A model could not be used.
    ModelRefused {
        /// Which.
        model: Option<String>,
    },
    /// Another approval mode is in force.
    ModeChanged {
        /// Which.
        mode: ApprovalMode,
    },
    /// The conversation has a title.
    Titled {
        /// Which.
        title: String,
    },
    /// What the person might want to say next.
    Suggestion {
        /// The text.
        text: String,
    },
    /// The daemon is out of reach for the moment. It is being sought.
    Interrupted {
        /// Why, for people.
        why: String,
    },
    /// The daemon is back. What was missed follows, then [`IdeEvent::CaughtUp`].
    Restored,
    /// Everything that had happened before has been told; what follows happens now.
    CaughtUp,
    /// Something came that could not be read, or did not come at all. It is lost.
    Gap {
        /// What, for people.
        what: String,
    },
    /// An event that has no place here; for those who know what to do with it.
    Other(crate::event::Event),
    /// The connection is over. Nothing follows until the next one.
    Disconnected {
        /// Why.
        reason: Departure,
        /// How to go on.
        resume: ResumeState,
    },
}

/// How a request was closed for the person.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Closing {
    /// By our own answer.
    Mine(Option<Outcome>),
    /// By somebody else's, or by nobody's: a time limit, a cancelled turn.
    Elsewhere(Option<Outcome>),
    /// It was over when the daemon was asked about it.
    Gone,
    /// The connection is over; the request may still be open for others.
    Disconnected,
}

/// Why a connection is over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Departure {
    /// We left, or connected anew.
    Left,
    /// Somebody closed the conversation.
    Closed {
        /// Why.
        reason: Option<String>,
    },
    /// The agent or the daemon ended; connecting again brings the conversation back.
    Died {
        /// Why.
        reason: Option<String>,
    },
    /// The daemon does not know the conversation any more.
    Lost,
    /// The daemon refuses us.
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

impl Departure {
    /// Whether it makes sense to offer the person to connect again.
    pub fn can_reconnect(&self) -> bool {
        !matches!(self, Self::Lost | Self::Refused { .. })
    }
}

impl From<End> for Departure {
    fn from(end: End) -> Self {
        match end {
            End::Left => Self::Left,
            End::Closed { reason, .. } => Self::Closed { reason },
            End::Died { reason } => Self::Died { reason },
            End::Lost => Self::Lost,
            End::Refused { why } => Self::Refused { why },
            End::Unreachable { why } => Self::Unreachable { why },
        }
    }
}

impl From<PendingPrompt> for IdeEvent {
    fn from(pending: PendingPrompt) -> Self {
        Self::Queue {
            prompt: pending.prompt_id,
            text: pending.text,
            state: pending.state.unwrap_or(QueueState::Queued),
        }
    }
}

/// An event with the room that it takes until somebody has it.
#[derive(Debug)]
struct Parcel {
    event: IdeEvent,
    _room: Option<OwnedSemaphorePermit>,
}

/// The end that events are put into.
#[derive(Clone, Debug)]
pub(super) struct Outbox(mpsc::UnboundedSender<Parcel>);

/// Everything that happens, in order, over all connections of one [`super::IdeConnection`].
#[derive(Debug)]
pub struct IdeEvents(mpsc::UnboundedReceiver<Parcel>);

pub(super) fn channel() -> (Outbox, IdeEvents) {
    let (sender, receiver) = mpsc::unbounded_channel();
    (Outbox(sender), IdeEvents(receiver))
}

impl Outbox {
    /// Tells something at once. Only for what happens once per connection or per request.
    pub(super) fn tell(&self, event: IdeEvent) {
        // Nobody has to listen.
        let _ = self.0.send(Parcel { event, _room: None });
    }

    /// Tells something of this size when there is room, or when nobody can wait any longer.
    pub(super) async fn tell_when_there_is_room(
        &self,
        event: IdeEvent,
        size: usize,
        room: &Arc<Semaphore>,
    ) {
        let size = u32::try_from(size.clamp(1, ROOM)).unwrap_or(u32::MAX);
        let room = if self.0.is_closed() {
            None
        } else {
            room.clone().acquire_many_owned(size).await.ok()
        };
        let _ = self.0.send(Parcel { event, _room: room });
    }
}

impl IdeEvents {
    /// The next event; `None` when the connection's last handle is gone. It may be dropped while it
    /// waits.
    pub async fn next(&mut self) -> Option<IdeEvent> {
        Some(self.0.recv().await?.event)
    }

    /// The next event if there is one already.
    pub fn try_next(&mut self) -> Option<IdeEvent> {
        Some(self.0.try_recv().ok()?.event)
    }
}
