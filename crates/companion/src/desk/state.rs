//! What the desk's owner holds, and every operation on it: proposals and their ends here, the
//! rest in rooms of its own.

mod asking;
mod sessions;
mod telling;

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use tokio::sync::{broadcast, oneshot, watch};
use workbench::{
    Agent, Ask, Decision, Focus, HeldBack, Place, Proposal, ProposalId, Proposals, Refusal,
    SessionId, Standing, Texts, Verdict, Workbench,
};

pub use sessions::SessionView;

use super::{Event, Happening, Log, Peer, Published, Sent, Subject, Viewer, Why};
use crate::agents::dialect;
use crate::journal::{Journal, Receipt, Saved, SavedVerdict};
use crate::limits::Limits;
use crate::mailbox::Letter;
use crate::mcp::ide;
use sessions::Session;

/// All state of a companion.
pub struct State {
    workbench: Workbench,
    proposals: Proposals,
    sessions: HashMap<SessionId, Session>,
    /// Who waits for a verdict without being an agent's session.
    askers: HashMap<ProposalId, oneshot::Sender<Verdict>>,
    /// Front ends that show a proposal and know what its text is by now.
    viewers: HashMap<ProposalId, Viewer>,
    /// Whether agents are told nothing for the time being.
    paused: bool,
    /// Whether the context may differ from what was published last.
    stale: bool,
    /// The pause, and the count of changes in what is held back, that were told last.
    told: (bool, u64),
    log: Log,
    published: watch::Sender<Published>,
    events: broadcast::Sender<Event>,
    journal: Journal,
    limits: Limits,
}

/// The whole situation at one moment.
#[derive(Clone, Debug)]
pub struct Status {
    /// Who is connected, oldest first.
    pub sessions: Vec<SessionView>,
    /// What is pending, oldest first.
    pub proposals: Vec<Proposal>,
    /// What privacy keeps from the agents.
    pub held_back: HeldBack,
    /// What the agents see.
    pub context: workbench::Context,
}

/// A decision was made and is on its way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Answered {
    /// Which agent it goes to.
    pub agent: Agent,
    /// Whether the agent has a stream open to receive it right now.
    pub streaming: bool,
}

/// What an agent took back.
#[derive(Debug)]
pub(crate) enum Withdrawn {
    /// A proposal that was pending.
    Proposal(Box<Proposal>),
    /// A text that the person had accepted, before the agent heard of it.
    Accepted(Arc<str>),
}

impl Withdrawn {
    /// The text as it stood, if there is one to tell.
    pub(crate) fn text(&self) -> Option<&str> {
        match self {
            Withdrawn::Proposal(proposal) => match proposal.standing {
                Standing::Open => Some(proposal.current()),
                Standing::TerminalOnly(_) => None,
            },
            Withdrawn::Accepted(text) => Some(text),
        }
    }
}

/// There are too many of something.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum TooMany {
    #[error("too many agents are connected; end one of them or wait a minute")]
    Sessions,
    #[error("too many proposals of this agent are pending; decide some of them first")]
    Proposals,
    #[error("this session has ended")]
    SessionGone,
    #[error("the system gives no random numbers")]
    NoRandomness,
}

impl State {
    pub(super) fn new(
        workbench: Workbench,
        saved: Saved,
        journal: Journal,
        limits: Limits,
        events: broadcast::Sender<Event>,
    ) -> (State, watch::Receiver<Published>) {
        let empty = workbench::Context::default();
        let (published, watching) = watch::channel(Published {
            frame: ide::context_frame(&empty),
            context: empty,
            at: None,
        });
        let mut state = State {
            workbench,
            proposals: Proposals::new(1),
            sessions: HashMap::new(),
            askers: HashMap::new(),
            viewers: HashMap::new(),
            paused: false,
            stale: true,
            told: (false, 0),
            log: Log::default(),
            published,
            events,
            journal,
            limits,
        };
        state.restore(saved);
        (state, watching)
    }

    /// Takes up where an earlier run stopped. What belongs to no session any more is dropped.
    fn restore(&mut self, saved: Saved) {
        self.proposals = Proposals::new(saved.next_proposal.max(1));
        for session in saved.sessions {
            let id = SessionId::new(session.id.as_str());
            self.sessions.insert(
                id,
                Session {
                    agent: session.agent,
                    client: session.client,
                    opened_at: session.opened_at,
                    mailbox: Arc::default(),
                    seen: Instant::now(),
                    here: false,
                },
            );
        }
        for proposal in saved.proposals {
            match self.sessions.get(&proposal.session) {
                Some(session) => {
                    session.mailbox.expect(proposal.id);
                    self.proposals.restore(proposal);
                }
                None => self.journal.remove(proposal.id),
            }
        }
        for verdict in saved.verdicts {
            let id = ProposalId::new(verdict.proposal);
            match self.sessions.get(&SessionId::new(verdict.session.as_str())) {
                Some(session) => session
                    .mailbox
                    .post(letter(id, &verdict.path, verdict.verdict())),
                None => self.journal.remove(id),
            }
        }
        for (focus, at) in saved.documents {
            self.workbench.focus(focus, at);
        }
        self.journal.forget_documents();
    }

    /// From now on `viewer` knows the text of this proposal.
    pub fn set_viewer(&mut self, id: ProposalId, viewer: Viewer) {
        if self.proposals.get(id).is_some() {
            self.viewers.insert(id, viewer);
        }
    }

    /// Who knows the text of what the session proposed for `path`.
    pub(crate) fn viewer(&self, session: &SessionId, path: &str) -> Option<(ProposalId, Viewer)> {
        let mut proposals = self.proposals.iter();
        let found = proposals.find(|it| it.session == *session && it.path == path)?;
        Some((found.id, self.viewers.get(&found.id)?.clone()))
    }

    /// Everything at once.
    pub fn status(&self) -> Status {
        Status {
            sessions: self.sessions(),
            proposals: self.proposals.iter().cloned().collect(),
            held_back: self.workbench.held_back(),
            context: self.published.borrow().context.clone(),
        }
    }

    /// The proposal with this number, if it is still pending.
    pub fn proposal(&self, id: ProposalId) -> Option<&Proposal> {
        self.proposals.get(id)
    }

    /// What the person typed into a proposal so far, so that an agent that takes it back gets that text.
    pub fn set_draft(&mut self, id: ProposalId, text: String) -> Result<(), Refusal> {
        self.proposals.set_draft(id, text)?;
        self.say(Event::Drafted(id));
        Ok(())
    }

    /// What happened.
    pub fn log(&self) -> &Log {
        &self.log
    }

    /// The person decided. The verdict goes to the session that asked, and to no other.
    pub fn decide(&mut self, id: ProposalId, decision: Decision) -> Result<Answered, Refusal> {
        let decided = self.proposals.decide(id, decision)?;
        let (proposal, verdict) = (decided.proposal, decided.verdict);
        let why = match verdict {
            Verdict::Accepted { .. } => Why::Accepted,
            Verdict::Rejected => Why::Rejected,
        };
        let mut answered = Answered {
            agent: proposal.agent,
            streaming: false,
        };
        if let Some(asker) = self.askers.remove(&id) {
            answered.streaming = asker.send(verdict).is_ok();
        } else if let Some(session) = self.sessions.get(&proposal.session) {
            answered.streaming = session.mailbox.is_connected();
            self.journal
                .save_verdict(SavedVerdict::new(&proposal, &verdict));
            session.mailbox.post(letter(id, &proposal.path, verdict));
        }
        self.close(&proposal, why);
        Ok(answered)
    }

    pub(crate) fn delivered(&mut self, proposal: ProposalId) {
        self.journal.remove(proposal);
        self.say(Event::Delivered(proposal));
    }

    pub(crate) fn open_proposal(
        &mut self,
        session_id: &SessionId,
        path: String,
        texts: Texts,
        standing: Standing,
    ) -> Result<ProposalId, TooMany> {
        let session = self.sessions.get(session_id).ok_or(TooMany::SessionGone)?;
        let pending = self
            .proposals
            .iter()
            .filter(|other| other.session == *session_id && other.path != path);
        if pending.count() >= self.limits.proposals_per_session {
            return Err(TooMany::Proposals);
        }
        let (agent, mailbox) = (session.agent, session.mailbox.clone());
        for stale in mailbox.revoke(&path) {
            self.journal.remove(stale.proposal);
        }
        let ask = Ask {
            session: session_id.clone(),
            agent,
            path,
            texts,
            standing,
            traits: dialect(agent).traits,
        };
        let opened = self.proposals.open(ask, now());
        mailbox.expect(opened.id);
        if let Some(replaced) = opened.replaced {
            mailbox.forget(replaced.id);
            self.journal.remove(replaced.id);
            self.close(&replaced, Why::Replaced);
        }
        if let Some(proposal) = self.proposals.get(opened.id) {
            tracing::info!(%agent, id = %opened.id, "an agent proposes an edit");
            self.journal.save_proposal(proposal.clone());
            self.log.write(now(), Happening::Proposed(proposal.into()));
            // With the sessions goes the counter: a number is never used twice.
            self.save_sessions();
        }
        self.say(Event::Opened(opened.id));
        Ok(opened.id)
    }

    /// The agent takes a proposal back and wants the text as it stands now, if there is one.
    pub(crate) fn withdraw(&mut self, session_id: &SessionId, path: &str) -> Option<Withdrawn> {
        let mailbox = self.sessions.get(session_id)?.mailbox.clone();
        if let Some(proposal) = self.proposals.withdraw(session_id, path) {
            mailbox.forget(proposal.id);
            self.journal.remove(proposal.id);
            self.close(&proposal, Why::Withdrawn);
            return Some(Withdrawn::Proposal(Box::new(proposal)));
        }
        // The person had decided, but the agent asks before it heard of it: it gets what was accepted.
        let mut accepted = None;
        for letter in mailbox.revoke(path) {
            self.journal.remove(letter.proposal);
            accepted = letter.accepted;
        }
        accepted.map(Withdrawn::Accepted)
    }

    /// Ends sessions that are gone, and looks again at the files that were open.
    pub(super) fn make_round(&mut self) {
        self.end_the_absent();
        self.stale |= self.workbench.documents().next().is_some();
    }

    /// Says when all that has happened so far would survive a crash. What a peer or a person is
    /// told has happened should have such a receipt behind it.
    pub fn receipt(&self) -> Receipt {
        self.journal.receipt()
    }

    /// Returns when everything that a later run needs is on disk.
    ///
    /// What is open is written down only for a run that follows at once; a later one would
    /// show agents files that the person has long left.
    pub fn settle(&mut self, returning: bool) {
        if returning {
            self.save_documents();
        }
        self.journal.flush();
    }

    fn save_documents(&mut self) {
        // It belongs to the newest document, which comes first.
        let mut selection = self.workbench.selection().map(str::to_owned);
        let documents = self.workbench.documents().map(|document| {
            let focus = Focus {
                place: Place {
                    path: document.path().to_owned(),
                    real: document.real().to_owned(),
                },
                cursor: document.cursor(),
                selection: selection.take(),
            };
            (focus, document.focused_at())
        });
        self.journal.save_documents(documents.collect());
    }

    /// A proposal is over.
    fn close(&mut self, proposal: &Proposal, why: Why) {
        self.write(Happening::Ended(Subject::from(proposal), why));
        self.say(Event::Closed(proposal.id, why));
    }

    fn write(&mut self, what: Happening) {
        self.log.write(now(), what);
    }

    fn say(&mut self, event: Event) {
        if let Event::Closed(id, _) = event {
            self.viewers.remove(&id);
        }
        // An error means that nobody listens, which is the normal case without a front end.
        let _ = self.events.send(event);
    }
}

fn letter(proposal: ProposalId, path: &str, verdict: Verdict) -> Letter {
    let frame = ide::verdict_frame(path, &verdict);
    let accepted = match verdict {
        Verdict::Accepted { text, .. } => Some(text.into()),
        Verdict::Rejected => None,
    };
    Letter {
        proposal,
        path: path.into(),
        accepted,
        frame,
    }
}

/// Unix milliseconds.
pub(crate) fn now() -> u64 {
    let since = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests;
