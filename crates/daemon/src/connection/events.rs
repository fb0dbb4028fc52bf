//! The events of a connection, and the channel to their reader.
//!
//! The channel has limited room. If the reader is slow, the forwarder waits for room, then the
//! session's own queue fills, and in the end the reader gets the history anew. Events that begin or
//! end a connection never wait for room, so that a reader cannot block a disconnect by not reading.

use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, ready};

use futures_core::Stream;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc};

use super::{Connected, InteractionRequest};
use crate::client::EventCursor;
use crate::locked;
use crate::session::{HistoryCause, ResumeState, SessionEndReason, TurnEnd};
use crate::wire::{
    ApprovalMode, PermissionOutcome, PromptId, QueueState, RequestId, SessionUpdate,
};

/// How many bytes of events may wait for the reader. A single larger event always fits.
pub(super) const ROOM: usize = 8 * 1024 * 1024;

/// An event of a connection.
#[derive(Clone, Debug, PartialEq)]
pub enum IdeEvent {
    /// A connection is established. The events that follow belong to it.
    Connected(Connected),
    /// The conversation so far. It replaces everything that was shown; the events that follow
    /// continue it. Open requests are not part of it; each comes as [`IdeEvent::RequestOpened`].
    HistoryLoaded {
        /// Why the history was loaded.
        cause: HistoryCause,
        /// The conversation, oldest event first.
        events: Vec<IdeEvent>,
        /// Whether a turn is running.
        busy: bool,
        /// Whether older parts are missing.
        incomplete: bool,
    },
    /// A message chunk, a tool call or another update of the session.
    Update {
        /// The update itself.
        update: SessionUpdate,
        /// The prompt of the turn it belongs to.
        prompt: Option<PromptId>,
        /// Whether it was caused by this connection.
        mine: bool,
    },
    /// The agent asks for a permission, or for answers.
    RequestOpened(Box<InteractionRequest>),
    /// A request no longer needs an answer.
    RequestClosed {
        /// The id of the request.
        request: RequestId,
        /// Why it is closed.
        reason: CloseReason,
    },
    /// A request that no user could answer was rejected, so that the agent can go on.
    RequestDeclined {
        /// The id of the request.
        request: RequestId,
        /// What is wrong with it, for people.
        why: String,
    },
    /// A vote was counted under a policy that needs several.
    VoteCounted {
        /// The id of the request.
        request: RequestId,
        /// How many votes were counted so far.
        received: Option<u64>,
        /// How many more votes are needed.
        needed: Option<u64>,
    },
    /// A turn ended. Sent once for each prompt, also for prompts of other clients.
    TurnEnded {
        /// The prompt of the turn.
        prompt: Option<PromptId>,
        /// How it ended.
        end: TurnEnd,
        /// Whether it was the turn of a background task, which has no prompt.
        background: bool,
    },
    /// A prompt was queued, started, or left the queue.
    QueueChanged {
        /// The prompt.
        prompt: PromptId,
        /// The prompt's text.
        text: Option<String>,
        /// Its state in the queue.
        state: QueueState,
    },
    /// The model changed, or became known.
    ModelChanged {
        /// The current model.
        model: String,
    },
    /// The model could not be changed.
    ModelRefused {
        /// The model that was requested.
        model: Option<String>,
    },
    /// The approval mode changed, or became known.
    ModeChanged {
        /// The current mode.
        mode: ApprovalMode,
    },
    /// The session got a title.
    TitleChanged {
        /// The current title.
        title: String,
    },
    /// A prompt that the user might want to send next.
    Suggestion {
        /// The suggested prompt.
        text: String,
    },
    /// The event stream broke. The session reconnects by itself.
    ConnectionLost {
        /// The cause, for people.
        why: String,
    },
    /// The session has reconnected. The events that were missed follow, then
    /// [`IdeEvent::CaughtUp`].
    ConnectionRestored,
    /// All earlier events have been sent; what follows is live.
    CaughtUp,
    /// An event was lost or could not be read.
    Gap {
        /// What is missing, for people.
        what: String,
    },
    /// A daemon event without a counterpart here.
    Other(crate::event::DaemonEvent),
    /// The connection ended. Nothing follows until the next connect.
    Disconnected {
        /// Why it ended.
        reason: DisconnectReason,
        /// Where a later connection can continue.
        resume: ResumeState,
    },
}

/// Why a request was closed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CloseReason {
    /// This connection answered it.
    Mine(Option<PermissionOutcome>),
    /// Another client answered it, it timed out, or its turn was cancelled.
    Elsewhere(Option<PermissionOutcome>),
    /// The daemon no longer listed it when it was asked.
    Gone,
    /// The connection ended. The request may still be open for other clients.
    Disconnected,
}

/// Why a connection ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DisconnectReason {
    /// This side disconnected, or connected anew.
    Left,
    /// A client closed the session.
    Closed {
        /// The daemon's reason.
        reason: Option<String>,
    },
    /// The agent or the daemon ended. Connecting again restores the session.
    Died {
        /// The daemon's reason.
        reason: Option<String>,
    },
    /// The daemon does not know the session, and it is not on disk.
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

impl DisconnectReason {
    /// Whether an editor should offer to connect again.
    pub fn can_reconnect(&self) -> bool {
        !matches!(self, Self::Lost | Self::Refused { .. })
    }
}

impl From<SessionEndReason> for DisconnectReason {
    fn from(end: SessionEndReason) -> Self {
        match end {
            SessionEndReason::Left => Self::Left,
            SessionEndReason::Closed { reason, .. } => Self::Closed { reason },
            SessionEndReason::Died { reason } => Self::Died { reason },
            SessionEndReason::Lost => Self::Lost,
            SessionEndReason::Refused { why } => Self::Refused { why },
            SessionEndReason::Unreachable { why } => Self::Unreachable { why },
        }
    }
}

/// An event with the permit for the room it takes. The permit is released when the event is read.
#[derive(Debug)]
struct QueuedEvent {
    event: IdeEvent,
    at: Option<Place>,
    _room: Option<OwnedSemaphorePermit>,
}

/// Where a reader stands who is done with an event.
#[derive(Clone, Debug)]
pub(super) struct Place {
    /// The number of the connection.
    pub(super) connection: u64,
    pub(super) cursor: EventCursor,
}

/// Up to where the reader of the events is done.
#[derive(Debug, Default)]
pub(super) struct Bookmark(Mutex<Option<(u64, ResumeState)>>);

impl Bookmark {
    /// A connection begins at `start`. If the reader has not come that far in the same session, it
    /// stands where it stood. In another epoch, or in none, it may have: numbers of two epochs do not
    /// tell. Then it stands there too, and gets the history again rather than too little.
    pub(super) fn begin(&self, connection: u64, start: ResumeState) {
        let mut marked = locked(&self.0);
        let behind = marked.take().map(|(_, state)| state).filter(|state| {
            let is_other_epoch = state.epoch != start.epoch;
            state.session_id == start.session_id
                && (is_other_epoch || state.last_event_id < start.last_event_id)
        });
        *marked = Some((connection, behind.unwrap_or(start)));
    }

    /// Moves to a place, unless it is one of an earlier connection.
    fn move_to(&self, place: Place) {
        if let Some((connection, state)) = &mut *locked(&self.0)
            && *connection == place.connection
        {
            let session = state.session_id.clone();
            *state = ResumeState::new(session, place.cursor);
        }
    }

    pub(super) fn place(&self) -> Option<ResumeState> {
        let marked = locked(&self.0);
        marked.as_ref().map(|(_, state)| state.clone())
    }
}

/// The sending half of [`IdeEvents`].
#[derive(Clone, Debug)]
pub(super) struct EventSender(mpsc::UnboundedSender<QueuedEvent>);

/// The events of all connections of one [`super::IdeConnection`], in order. It is a
/// [`Stream`](futures_core::Stream), too.
#[derive(Debug)]
pub struct IdeEvents {
    receiver: mpsc::UnboundedReceiver<QueuedEvent>,
    bookmark: Arc<Bookmark>,
    /// Where the reader stands once it asks for the next event.
    handed_out: Option<Place>,
}

pub(super) fn channel(bookmark: Arc<Bookmark>) -> (EventSender, IdeEvents) {
    let (sender, receiver) = mpsc::unbounded_channel();
    let events = IdeEvents {
        receiver,
        bookmark,
        handed_out: None,
    };
    (EventSender(sender), events)
}

impl EventSender {
    /// Sends without waiting for room. Only for events that happen once per connection or request.
    pub(super) fn send(&self, event: IdeEvent) {
        // The reader may be gone.
        let _ = self.0.send(QueuedEvent {
            event,
            at: None,
            _room: None,
        });
    }

    /// Sends when there is room for `size` bytes, or when `room` is closed.
    pub(super) async fn send_when_there_is_room(
        &self,
        event: IdeEvent,
        at: Place,
        size: usize,
        room: &Arc<Semaphore>,
    ) {
        let size = u32::try_from(size.clamp(1, ROOM)).unwrap_or(u32::MAX);
        let room = if self.0.is_closed() {
            None
        } else {
            room.clone().acquire_many_owned(size).await.ok()
        };
        let _ = self.0.send(QueuedEvent {
            event,
            at: Some(at),
            _room: room,
        });
    }
}

impl IdeEvents {
    /// The next event; `None` when the last handle of the connection is gone. Cancel safe.
    pub async fn next(&mut self) -> Option<IdeEvent> {
        std::future::poll_fn(|context| self.poll(context)).await
    }

    /// The next event, if one is queued.
    pub fn try_next(&mut self) -> Option<IdeEvent> {
        self.turn_page();
        let queued = self.receiver.try_recv().ok()?;
        Some(self.hand_out(queued))
    }

    fn poll(&mut self, context: &mut Context<'_>) -> Poll<Option<IdeEvent>> {
        self.turn_page();
        let queued = ready!(self.receiver.poll_recv(context));
        Poll::Ready(queued.map(|queued| self.hand_out(queued)))
    }

    /// The reader asks for the next event, so it is done with the last one.
    fn turn_page(&mut self) {
        if let Some(place) = self.handed_out.take() {
            self.bookmark.move_to(place);
        }
    }

    fn hand_out(&mut self, queued: QueuedEvent) -> IdeEvent {
        self.handed_out = queued.at;
        queued.event
    }
}

impl Stream for IdeEvents {
    type Item = IdeEvent;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<IdeEvent>> {
        self.poll(context)
    }
}
