//! Turns events of the desk into changes of the feed.
//!
//! An event of the desk says only that something has changed; the new state is fetched. So a change
//! may be newer than its event, never older, and no state is published twice in a row. While there
//! are no readers, nothing is fetched.

use std::sync::{Arc, Weak};

use companion::desk::{AgentSession, Desk, Event, Gone, LogEntry, Revision};
use tokio::sync::broadcast::{self, error::RecvError};
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
}

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

    async fn publish(&mut self, desk: &Desk, feed: &Feed, event: Event) -> Result<(), Gone> {
        // Read before the demand: the snapshot of a reader that joins now has at least these entries.
        let revision = self.revision.get();
        let (demand, snapshots) = (feed.demand(), feed.snapshots());
        if demand == Demand::None || snapshots != self.snapshots {
            self.snapshots = snapshots;
            self.agents = None;
            self.counts = None;
            self.shared = None;
        }
        if demand == Demand::None {
            feed.start_over();
            self.logged = revision;
            return Ok(());
        }
        let parts = match event {
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
                return Ok(());
            }
            Event::Touched(_) => return Ok(()),
            Event::Drafted(id) => {
                feed.push(Change::Drafted(id));
                return Ok(());
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
                return Ok(());
            }
            Event::ContextChanged | Event::HeldBackChanged => Parts {
                shared: demand == Demand::Full,
                ..Parts::COUNTS
            },
        };
        let logged = match demand {
            Demand::Full => self.logged,
            _ => revision,
        };
        let fetched = fetch(desk, parts, logged).await?;
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

/// Summarises a proposal that was opened; `None` if it is closed already.
async fn summarise(desk: &Desk, id: ProposalId) -> Result<Option<ProposalSummary>, Gone> {
    let found = desk.ask(move |state| {
        let proposal = state.proposal(id).cloned();
        (proposal, state.sessions(), state.receipt())
    });
    let (Some(proposal), agents, receipt) = found.await? else {
        return Ok(None);
    };
    // What the person has seen must survive a crash.
    receipt.settled().await;
    let summary = off_thread(move || ProposalSummary::of(&proposal, &agents)).await;
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
                pending: state.proposals().count(),
                held_back: state.workbench().held_back(),
                paused: state.is_paused(),
            }),
            shared: parts.shared.then(|| Shared::of(state)),
        }
    })
    .await
}
