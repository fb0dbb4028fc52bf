//! The desk: the one task that owns the workbench, the proposals and the sessions.
//!
//! Everybody else holds a [`Desk`], which is a channel to that task. A question is a
//! function that runs on the owner's side with the [`State`] in its hands; so every
//! operation is plain synchronous code, happens alone, and can be tested without a task.

mod log;
mod state;

use std::time::Duration;

use bytes::Bytes;
use tokio::sync::{broadcast, mpsc, oneshot, watch};
use tokio::time::{Instant, MissedTickBehavior};
use workbench::{ProposalId, Workbench};

pub use log::{Entry, Happening, Log, Peer, Revision, Sent, Subject};
pub(crate) use state::Withdrawn;
pub use state::{Answered, SessionView, State, Status};

use crate::journal::{Journal, Saved};
use crate::limits::Limits;

/// How often sessions without a peer and files deleted behind our back are looked for.
const ROUND: Duration = Duration::from_secs(1);

/// Events that a slow front end may be behind before it has to look at the whole list again.
const EVENTS: usize = 1024;

/// What front ends (an editor, a page) want to hear about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// An agent proposes something new.
    Opened(ProposalId),
    /// The person changed the text of a proposal.
    Drafted(ProposalId),
    /// A proposal is over; whoever shows it closes it.
    Closed(ProposalId, Why),
    /// A verdict has reached its agent.
    Delivered(ProposalId),
    /// An agent came or went.
    SessionsChanged,
    /// Agents were sent a new context.
    ContextChanged,
    /// Agents see the same as before, but what is held back from them is something else.
    HeldBackChanged,
}

/// How a proposal ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Why {
    /// The person accepted it, perhaps edited.
    Accepted,
    /// The person rejected it.
    Rejected,
    /// The agent took it back, usually because the person answered in the terminal.
    Withdrawn,
    /// The agent proposed something else for the same file.
    Replaced,
    /// The agent is gone.
    Orphaned,
}

/// Asks a front end what the text of a proposal that it shows is by now, because the agent takes
/// the proposal back. The front end stops showing it.
#[derive(Debug)]
pub struct Question {
    /// Which proposal.
    pub proposal: ProposalId,
    /// Where to say it; dropped if the front end does not know.
    pub answer: oneshot::Sender<String>,
}

/// The way to a front end that shows a proposal.
pub type Viewer = mpsc::Sender<Question>;

/// The context that agents were sent last, ready to be sent again.
#[derive(Clone, Debug)]
pub struct Published {
    /// What it says.
    pub context: workbench::Context,
    /// Since when it is so, in unix milliseconds; absent until something was open.
    pub at: Option<u64>,
    /// The notification that says it.
    pub(crate) frame: Bytes,
}

impl Published {
    /// How many bytes go to each agent.
    pub fn size(&self) -> usize {
        self.frame.len()
    }
}

/// The desk is no longer there; the program is about to end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the companion is shutting down")]
pub struct Gone;

type Job = Box<dyn FnOnce(&mut State) + Send>;

/// A handle to the owner of all state. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Desk {
    jobs: mpsc::UnboundedSender<Job>,
    context: watch::Receiver<Published>,
    events: broadcast::WeakSender<Event>,
    log: Revision,
}

impl Desk {
    /// Sets up the owner's task with what an earlier run left behind.
    ///
    /// The task ends when all handles are gone.
    pub fn start(workbench: Workbench, saved: Saved, journal: Journal, limits: Limits) -> Desk {
        let (jobs, inbox) = mpsc::unbounded_channel();
        let (events, _) = broadcast::channel(EVENTS);
        let weak = events.downgrade();
        let debounce = limits.debounce;
        let (state, context) = State::new(workbench, saved, journal, limits, events);
        let log = state.log().revision().clone();
        tokio::spawn(own(state, inbox, debounce));
        Desk {
            jobs,
            context,
            events: weak,
            log,
        }
    }

    /// Runs `question` on the owner's side and returns its answer.
    pub async fn ask<R: Send + 'static>(
        &self,
        question: impl FnOnce(&mut State) -> R + Send + 'static,
    ) -> Result<R, Gone> {
        let (answer, answered) = oneshot::channel();
        self.tell(move |state| {
            // Nobody waits for the answer any more if the asking request was cancelled.
            let _ = answer.send(question(state));
        });
        answered.await.map_err(|_| Gone)
    }

    /// Runs `statement` on the owner's side, some time soon.
    pub fn tell(&self, statement: impl FnOnce(&mut State) + Send + 'static) {
        // The channel is closed only while the program ends, and then nothing matters any more.
        let _ = self.jobs.send(Box::new(statement));
    }

    /// The context as agents see it, now and whenever it changes.
    pub fn context(&self) -> watch::Receiver<Published> {
        self.context.clone()
    }

    /// How far the log of what happened is written.
    pub fn log_revision(&self) -> Revision {
        self.log.clone()
    }

    /// What happens from now on. A receiver that lags has to list the proposals again.
    pub fn events(&self) -> Result<broadcast::Receiver<Event>, Gone> {
        self.events
            .upgrade()
            .map(|events| events.subscribe())
            .ok_or(Gone)
    }
}

/// The owner's loop: jobs as they come, and a context at most every `debounce`.
///
/// The first change after a pause goes out at once, further ones when the time is up,
/// also while changes keep coming, and the last one always.
async fn own(mut state: State, mut inbox: mpsc::UnboundedReceiver<Job>, debounce: Duration) {
    let mut publish_at = Instant::now();
    let mut round = tokio::time::interval(ROUND);
    round.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        // Not left to the timer, which rounds up to a millisecond.
        if state.is_stale() && Instant::now() >= publish_at && state.publish() {
            publish_at = Instant::now() + debounce;
        }
        tokio::select! {
            job = inbox.recv() => match job {
                Some(job) => job(&mut state),
                None => return,
            },
            () = tokio::time::sleep_until(publish_at), if state.is_stale() => {}
            _ = round.tick() => state.make_round(),
        }
    }
}
