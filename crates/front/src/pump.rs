//! Turns events of the desk into changes of the feed.
//!
//! An event of the desk says only that something has changed; the new state is fetched. So a change
//! may be newer than its event, never older, and no state is published twice in a row. While there
//! are no readers, nothing is fetched.

use std::sync::{Arc, Weak};

use companion::desk::{AgentSession, Desk, Event, Gone, LogEntry, Revision};
use tokio::sync::broadcast::{
    self,
    error::{RecvError, TryRecvError},
};
use workbench::ProposalId;

use crate::change::{Change, Counts, ProposalSummary};
use crate::feed::{Demand, Feed};
use crate::front::{Front, Inner};
use crate::review::off_thread;
use crate::snapshot::Shared;

pub(crate) struct Pump {
    /// Weak, so that the task ends with the last handle.
    front: Weak<Inner>,
    events: broadcast::Receiver<Event>,
    /// What was published last, so that no state is published twice in a row. `None` if a snapshot
    /// was taken since: it may contain a newer state, so the next one is always published.
    agents: Option<Vec<AgentSession>>,
    counts: Option<Counts>,
    shared: Option<Shared>,
    /// How many snapshots had been taken at that time.
    snapshots: u64,
    /// Up to which revision the log was published, and its current revision.
    logged: u64,
    revision: Revision,
}

/// What an event may have changed, apart from the log.
#[derive(Clone, Copy, Debug, Default)]
struct Parts {
    agents: bool,
    counts: bool,
    shared: bool,
}

impl Parts {
    const COUNTS: Parts = Parts {
        agents: false,
        counts: true,
        shared: false,
    };

    fn and(self, other: Parts) -> Parts {
        Parts {
            agents: self.agents || other.agents,
            counts: self.counts || other.counts,
            shared: self.shared || other.shared,
        }
    }
}

/// How many events are taken together, if they wait. What they may have changed is fetched once.
const TOGETHER: usize = 64;

/// The new state of those parts, and the new entries of the log.
struct Fetched {
    agents: Option<Vec<AgentSession>>,
    counts: Option<Counts>,
    shared: Option<Shared>,
    log: Vec<LogEntry>,
    revision: u64,
}

impl Pump {
    pub(crate) fn new(front: &Front, events: broadcast::Receiver<Event>) -> Pump {
        Pump {
            front: Arc::downgrade(&front.0),
            events,
            agents: None,
            counts: None,
            shared: None,
            snapshots: 0,
            logged: 0,
            revision: front.0.desk.log_revision(),
        }
    }

    pub(crate) async fn run(mut self) {
        loop {
            let event = self.events.recv().await;
            let Some(front) = self.front.upgrade() else {
                return;
            };
            let published = match event {
                Ok(event) => self.publish(&front.desk, &front.feed, event).await,
                Err(RecvError::Lagged(_)) => {
                    front.feed.start_over();
                    Ok(())
                }
                Err(RecvError::Closed) => return,
            };
            if published.is_err() {
                return;
            }
        }
    }

    /// A snapshot may have told more than was published.
    fn heed_snapshots(&mut self, feed: &Feed) {
        let snapshots = feed.snapshots();
        if snapshots != self.snapshots {
            self.snapshots = snapshots;
            self.forget_published();
        }
    }

    fn forget_published(&mut self) {
        self.agents = None;
        self.counts = None;
        self.shared = None;
    }

    /// Publishes an event, and those that wait behind it.
    async fn publish(&mut self, desk: &Desk, feed: &Feed, event: Event) -> Result<(), Gone> {
        // Read before the demand: the snapshot of a reader that joins now has at least these entries.
        let revision = self.revision.get();
        let demand = feed.demand();
        self.heed_snapshots(feed);
        if demand == Demand::None {
            self.forget_published();
            feed.start_over();
            self.logged = revision;
            return Ok(());
        }
        let mut parts = publish_event(desk, feed, event, demand).await?;
        for _ in 1..TOGETHER {
            let more = match self.events.try_recv() {
                Ok(event) => publish_event(desk, feed, event, demand).await?,
                Err(TryRecvError::Lagged(_)) => {
                    feed.start_over();
                    None
                }
                Err(TryRecvError::Empty | TryRecvError::Closed) => break,
            };
            parts = match (parts, more) {
                (Some(one), Some(other)) => Some(one.and(other)),
                (one, other) => one.or(other),
            };
        }
        let Some(parts) = parts else {
            return Ok(());
        };
        let logged = match demand {
            Demand::Full => self.logged,
            _ => revision,
        };
        let fetched = fetch(desk, parts, logged).await?;
        self.heed_snapshots(feed);
        if let Some(agents) = fetched.agents
            && self.agents.as_ref() != Some(&agents)
        {
            feed.push(Change::Agents(agents.clone()));
            self.agents = Some(agents);
        }
        if let Some(counts) = fetched.counts
            && self.counts != Some(counts)
        {
            feed.push(Change::Counts(counts));
            self.counts = Some(counts);
        }
        if demand == Demand::Partial {
            // What agents see, or at least the log, has changed.
            feed.omit();
            self.shared = None;
            self.logged = revision;
            return Ok(());
        }
        if let Some(shared) = fetched.shared
            && self.shared.as_ref() != Some(&shared)
        {
            feed.push(Change::Shared(shared.clone()));
            self.shared = Some(shared);
        }
        self.logged = fetched.revision;
        for entry in fetched.log {
            feed.push(Change::Logged(entry));
        }
        Ok(())
    }
}

/// Publishes what an event itself says, and returns what else it may have changed; `None` if not even
/// the log has.
async fn publish_event(
    desk: &Desk,
    feed: &Feed,
    event: Event,
    demand: Demand,
) -> Result<Option<Parts>, Gone> {
    Ok(Some(match event {
        Event::Opened(id) => {
            if let Some(summary) = summarise(desk, id).await? {
                feed.push(Change::Opened(summary));
            }
            Parts::COUNTS
        }
        Event::Revised(id) => {
            if let Some(summary) = summarise(desk, id).await? {
                feed.push(Change::Revised(summary));
            }
            return Ok(None);
        }
        Event::Touched(_) => return Ok(None),
        Event::Drafted(id) => {
            feed.push(Change::Drafted(id));
            return Ok(None);
        }
        Event::Closed(id, outcome) => {
            feed.push(Change::Closed(id, outcome));
            Parts {
                agents: true,
                ..Parts::COUNTS
            }
        }
        Event::Delivered(_) | Event::SessionsChanged => Parts {
            agents: true,
            ..Parts::default()
        },
        Event::FaultsChanged => {
            let faults = desk.ask(|state| state.workbench().faults().to_vec());
            feed.push(Change::Faults(faults.await?));
            return Ok(None);
        }
        Event::ContextChanged | Event::HeldBackChanged => Parts {
            shared: demand == Demand::Full,
            ..Parts::COUNTS
        },
    }))
}

/// Summarises a proposal that was opened; `None` if it is closed already.
async fn summarise(desk: &Desk, id: ProposalId) -> Result<Option<ProposalSummary>, Gone> {
    let found = desk.ask(move |state| {
        let proposal = state.proposal(id)?.clone();
        let agent = state.session(&proposal.session);
        Some((proposal, agent, state.receipt()))
    });
    let Some((proposal, agent, receipt)) = found.await? else {
        return Ok(None);
    };
    // What the person has seen must survive a crash.
    receipt.settled().await;
    let summary = off_thread(move || ProposalSummary::of(&proposal, agent.as_ref())).await;
    summary.map(Some).map_err(|_| Gone)
}

async fn fetch(desk: &Desk, parts: Parts, logged: u64) -> Result<Fetched, Gone> {
    desk.ask(move |state| {
        let log = state.log();
        Fetched {
            log: log.since(logged).cloned().collect(),
            revision: log.revision().get(),
            agents: parts.agents.then(|| state.sessions()),
            counts: parts.counts.then(|| Counts {
                pending: state.pending(),
                held_back: state.workbench().held_back(),
                paused: state.is_paused(),
            }),
            shared: parts.shared.then(|| Shared::of(state)),
        }
    })
    .await
}
