//! Turns what happens at the desk into changes of the feed.
//!
//! Events of the desk say only that something is different; what it is now is asked for. So a change
//! may be newer than its event, never older, and nothing is said twice in a row. While nobody reads,
//! nothing is asked for either.

use std::sync::{Arc, Weak};

use companion::desk::{AgentSession, Desk, Event, Gone, LogEntry, Revision};
use tokio::sync::broadcast::{self, error::RecvError};
use workbench::ProposalId;

use crate::change::{Change, Counts, ProposalSummary};
use crate::feed::{Audience, Feed};
use crate::front::{Front, Inner};
use crate::review::off_thread;
use crate::snapshot::Shared;

pub(crate) struct Pump {
    /// Not a handle of its own: the task ends when nobody holds one.
    front: Weak<Inner>,
    events: broadcast::Receiver<Event>,
    /// What was said last, so that nothing is said twice in a row; nothing if somebody has taken a
    /// snapshot since, because that may know something newer.
    agents: Option<Vec<AgentSession>>,
    counts: Option<Counts>,
    shared: Option<Shared>,
    /// How many snapshots had been taken then.
    snapshots: u64,
    /// Up to where the log was said, and up to where it is written.
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

/// Those parts as they are after the event, and what is new in the log.
struct Look {
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
            let told = match event {
                Ok(event) => self.tell(&front.desk, &front.feed, event).await,
                Err(RecvError::Lagged(_)) => {
                    front.feed.start_over();
                    Ok(())
                }
                Err(RecvError::Closed) => return,
            };
            if told.is_err() {
                return;
            }
        }
    }

    async fn tell(&mut self, desk: &Desk, feed: &Feed, event: Event) -> Result<(), Gone> {
        // Looked at first: a reader that comes right now sees at least this much of the log.
        let revision = self.revision.get();
        let (audience, snapshots) = (feed.audience(), feed.snapshots());
        if audience == Audience::Nobody || snapshots != self.snapshots {
            self.snapshots = snapshots;
            self.agents = None;
            self.counts = None;
            self.shared = None;
        }
        if audience == Audience::Nobody {
            feed.start_over();
            self.logged = revision;
            return Ok(());
        }
        let parts = match event {
            Event::Opened(id) => {
                if let Some(summary) = sum_up(desk, id).await? {
                    feed.push(Change::Opened(summary));
                }
                Parts::COUNTS
            }
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
            Event::ContextChanged | Event::HeldBackChanged => Parts {
                shared: audience == Audience::Full,
                ..Parts::COUNTS
            },
        };
        let logged = match audience {
            Audience::Full => self.logged,
            _ => revision,
        };
        let look = look(desk, parts, logged).await?;
        if let Some(agents) = look.agents
            && self.agents.as_ref() != Some(&agents)
        {
            feed.push(Change::Agents(agents.clone()));
            self.agents = Some(agents);
        }
        if look.counts.is_some() && look.counts != self.counts {
            self.counts = look.counts;
            feed.push(Change::Counts(look.counts.unwrap_or_default()));
        }
        if audience == Audience::Partial {
            // What agents see, or at least the log, is another one now.
            feed.omit();
            self.shared = None;
            self.logged = revision;
            return Ok(());
        }
        if let Some(shared) = look.shared
            && self.shared.as_ref() != Some(&shared)
        {
            feed.push(Change::Shared(shared.clone()));
            self.shared = Some(shared);
        }
        self.logged = look.revision;
        for entry in look.log {
            feed.push(Change::Logged(entry));
        }
        Ok(())
    }
}

/// Sums up a proposal that was opened; none if it is over already.
async fn sum_up(desk: &Desk, id: ProposalId) -> Result<Option<ProposalSummary>, Gone> {
    let asked = desk.ask(move |state| (state.proposal(id).cloned(), state.receipt()));
    let (Some(proposal), receipt) = asked.await? else {
        return Ok(None);
    };
    // What the person has seen is still there after a crash.
    receipt.written().await;
    let summary = off_thread(move || ProposalSummary::of(&proposal)).await;
    summary.map(Some).map_err(|_| Gone)
}

async fn look(desk: &Desk, parts: Parts, logged: u64) -> Result<Look, Gone> {
    desk.ask(move |state| {
        let log = state.log();
        Look {
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
