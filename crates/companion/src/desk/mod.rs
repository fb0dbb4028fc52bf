//! The desk: the one task that owns the workbench, the proposals and the sessions.
//!
//! Everybody else holds a [`Desk`], which is a channel to that task. A request is a
//! function that runs on the owner's task with the [`State`]; so every operation is plain
//! synchronous code, runs alone, and can be tested without a task.
//!
//! The channel is bounded: whoever asks faster than the owner works waits for room. The
//! streams to agents never ask anything. What they have to say when they are dropped, and
//! cannot wait, they leave in their session's mailbox, where it takes a fixed amount of
//! room, and the owner collects it before its next job.

mod known_files;
mod log;
mod state;

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{broadcast, mpsc, oneshot, watch};
use tokio::time::{Instant, MissedTickBehavior};
use workbench::{Context, Outcome, ProposalId, Refusal, Workbench};

pub use log::{Log, LogEntry, LogEvent, ProposalRef, Revision, SentContext, SessionRef};
pub(crate) use state::Withdrawn;
pub use state::{
    AgentClient, AgentSession, Dispatched, Presence, ProposeError, Reservation, State, Status,
};

use crate::journal::{Journal, Saved};
use crate::limits::Limits;
use known_files::Looking;

/// How often sessions without a peer and files deleted behind our back are looked for.
const ROUND: Duration = Duration::from_secs(1);

/// Events that a slow front end may be behind before it has to look at the whole list again.
const EVENTS: usize = 1024;

/// Jobs that may wait for the owner; whoever brings one more waits.
const JOBS: usize = 256;

/// How often a proposal may be revised while a draft is brought into it.
const DRAFT_TRIES: usize = 10;

/// What front ends (an editor, a page) want to hear about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// An agent proposes something new.
    Opened(ProposalId),
    /// The person changed the text of a proposal.
    Drafted(ProposalId),
    /// The file of a proposal has changed, and the proposal is reviewed against its present text.
    Revised(ProposalId),
    /// The person has changed the file of a proposal in an editor, and perhaps not saved it.
    Touched(ProposalId),
    /// A proposal is over; whoever shows it closes it.
    Closed(ProposalId, Outcome),
    /// A verdict has reached its agent.
    Delivered(ProposalId),
    /// An agent came or went.
    SessionsChanged,
    /// Agents were sent a new context.
    ContextChanged,
    /// Agents see the same as before, but what is held back from them is something else.
    HeldBackChanged,
    /// Something else than before closes folders to agents.
    FaultsChanged,
}

/// Asks a front end what the text of a proposal that it shows is by now, because the agent takes
/// the proposal back. The front end stops showing it.
#[derive(Debug)]
pub struct DraftQuery {
    /// Which proposal.
    pub proposal: ProposalId,
    /// Where to send the text; dropped if the front end does not know it.
    pub reply: oneshot::Sender<Draft>,
}

/// What the person has made of the text of a proposal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Draft {
    /// The revision of the proposal that it was made of.
    pub revision: u32,
    /// The whole text.
    pub text: String,
}

/// The channel to a front end that shows a proposal and knows its text.
pub type DraftSource = mpsc::Sender<DraftQuery>;

/// The context that agents were sent last.
#[derive(Clone, Debug)]
pub struct Published {
    /// What it says.
    pub context: Context,
    /// Since when it is so, in unix milliseconds; absent until something was open.
    pub at: Option<u64>,
    /// How many bytes went to each agent.
    pub bytes: usize,
}

/// Where contexts go: the transport that speaks to the agents.
///
/// The desk says what agents may know; how that is written, and how it reaches every stream,
/// is the transport's business.
pub trait ContextSink: Send {
    /// Makes `context` the one that every stream sends, and returns how many bytes each gets.
    /// It runs on the owner's task, so it must not wait.
    fn publish(&mut self, context: &Context) -> usize;
}

/// The desk is no longer there; the program is about to end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the companion is shutting down")]
pub struct Gone;

type Job = Box<dyn FnOnce(&mut State) + Send>;

/// What a desk starts with.
struct Setup {
    workbench: Workbench,
    saved: Saved,
    journal: Journal,
    limits: Limits,
    sink: Box<dyn ContextSink>,
    looking: Looking,
}

/// A handle to the owner of all state. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Desk {
    jobs: mpsc::Sender<Job>,
    context: watch::Receiver<Published>,
    events: broadcast::WeakSender<Event>,
    log: Revision,
}

impl Desk {
    /// Sets up the owner's task with what an earlier run left behind.
    ///
    /// Contexts go to `sink`. The task ends when all handles are gone.
    pub fn start(
        workbench: Workbench,
        saved: Saved,
        journal: Journal,
        limits: Limits,
        sink: impl ContextSink + 'static,
    ) -> Desk {
        let setup = Setup {
            workbench,
            saved,
            journal,
            limits,
            sink: Box::new(sink),
            looking: Looking::default(),
        };
        Desk::start_with(setup)
    }

    fn start_with(setup: Setup) -> Desk {
        let (jobs, inbox) = mpsc::channel(JOBS);
        let (events, _) = broadcast::channel(EVENTS);
        let weak = events.downgrade();
        let debounce = setup.limits.debounce;
        let (state, context) = State::new(setup, events);
        let log = state.log().revision().clone();
        tokio::spawn(own(state, inbox, debounce));
        Desk {
            jobs,
            context,
            events: weak,
            log,
        }
    }

    /// Runs `request` on the owner's task and returns its result. Waits for room in the
    /// channel; dropped before there is room, the request never runs.
    pub async fn ask<R: Send + 'static>(
        &self,
        request: impl FnOnce(&mut State) -> R + Send + 'static,
    ) -> Result<R, Gone> {
        let (reply, replied) = oneshot::channel();
        self.tell(move |state| {
            // Nobody waits for the result any more if the caller was cancelled.
            let _ = reply.send(request(state));
        })
        .await;
        replied.await.map_err(|_| Gone)
    }

    /// Runs `job` on the owner's task, soon. Returns when there was room for it in the
    /// channel, which keeps the jobs of one caller in order.
    pub async fn tell(&self, job: impl FnOnce(&mut State) + Send + 'static) {
        // The channel is closed only while the program ends, and then nothing matters any more.
        let _ = self.jobs.send(Box::new(job)).await;
    }

    /// What the person has made of a proposal's text. If the proposal was revised since, their
    /// change is brought into the present revision.
    pub async fn set_draft(
        &self,
        id: ProposalId,
        draft: Draft,
    ) -> Result<Result<(), Refusal>, Gone> {
        let mut refused = Refusal::Stale;
        let (made_of, text): (_, Arc<str>) = (draft.revision, draft.text.into());
        // It may be revised again while the text is brought into it.
        for _ in 0..DRAFT_TRIES {
            let found = self.ask(move |state| {
                let found = state.proposal(id).cloned();
                found.ok_or_else(|| state.missing(id))
            });
            let proposal = match found.await? {
                Ok(proposal) => proposal,
                Err(missing) => return Ok(Err(missing)),
            };
            let revision = proposal.revision;
            let brought: Option<Arc<str>> = if made_of == revision {
                Some(text.clone())
            } else {
                let text = text.clone();
                let forward = move || proposal.bring_forward(made_of, &text);
                let forward = tokio::task::spawn_blocking(forward).await;
                forward.map_err(|_| Gone)?.map(Into::into)
            };
            let Some(brought) = brought else {
                break;
            };
            let set = self.ask(move |state| state.set_draft(id, revision, brought));
            match set.await? {
                Err(Refusal::Stale) => {}
                Ok(()) => return Ok(Ok(())),
                Err(other) => {
                    refused = other;
                    break;
                }
            }
        }
        Ok(Err(refused))
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
///
/// The order of the branches matters: what streams report is known before the next job runs,
/// and no number of jobs keeps a round from being made.
async fn own(mut state: State, mut inbox: mpsc::Receiver<Job>, debounce: Duration) {
    let (reports, looks) = (state.reports(), state.looks());
    let mut publish_at = Instant::now();
    let mut round = tokio::time::interval(ROUND);
    round.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        // Not left to the timer, which rounds up to a millisecond.
        if state.is_stale() && Instant::now() >= publish_at && state.publish() {
            publish_at = Instant::now() + debounce;
        }
        tokio::select! {
            biased;
            () = reports.notified() => state.collect_reports(),
            () = looks.notified() => state.collect_looks(),
            _ = round.tick() => state.make_round(),
            () = tokio::time::sleep_until(publish_at), if state.is_stale() => {}
            () = wait_until(state.waits_until()) => state.look_is_overdue(),
            job = inbox.recv() => match job {
                Some(job) => job(&mut state),
                None => return,
            },
        }
    }
}

/// Resolves at that time, or never.
async fn wait_until(at: Option<Instant>) {
    match at {
        Some(at) => tokio::time::sleep_until(at).await,
        None => std::future::pending().await,
    }
}

#[cfg(test)]
mod tests;
