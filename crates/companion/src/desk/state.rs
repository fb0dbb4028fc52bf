//! What the desk's owner holds, and every operation on it.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use tokio::sync::{broadcast, watch};
use workbench::{
    Agent, Cursor, Decision, Focus, HeldBack, Place, Proposal, ProposalId, Proposals, Refusal,
    SessionId, Standing, Texts, Verdict, Workbench,
};

use super::{Event, Published, Viewer, Why};
use crate::agents::dialect;
use crate::journal::{Journal, Receipt, Saved, SavedSession, SavedVerdict};
use crate::limits::Limits;
use crate::mailbox::{Letter, Mailbox};
use crate::mcp::ide::{self, ClientInfo};
use crate::token::random_hex;

/// All state of a companion.
pub struct State {
    workbench: Workbench,
    proposals: Proposals,
    sessions: HashMap<SessionId, Session>,
    /// Front ends that show a proposal and know what its text is by now.
    viewers: HashMap<ProposalId, Viewer>,
    /// Whether agents are told nothing for the time being.
    paused: bool,
    /// Whether the context may differ from what was published last.
    stale: bool,
    published: watch::Sender<Published>,
    events: broadcast::Sender<Event>,
    journal: Journal,
    limits: Limits,
}

struct Session {
    agent: Agent,
    client: ClientInfo,
    opened_at: u64,
    mailbox: Arc<Mailbox>,
    /// When the session last gave a sign of life, apart from its open streams.
    seen: Instant,
}

/// A session as people and front ends see it.
#[derive(Clone, Debug)]
pub struct SessionView {
    /// Its id.
    pub id: SessionId,
    /// Which agent it is.
    pub agent: Agent,
    /// What its client says of itself.
    pub client: ClientInfo,
    /// Since when, in unix milliseconds.
    pub opened_at: u64,
    /// Whether it has a stream open.
    pub streaming: bool,
    /// Verdicts that have not reached it yet.
    pub undelivered: usize,
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
        });
        let mut state = State {
            workbench,
            proposals: Proposals::new(1),
            sessions: HashMap::new(),
            viewers: HashMap::new(),
            paused: false,
            stale: true,
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

    /// The workbench, to look at.
    pub fn workbench(&self) -> &Workbench {
        &self.workbench
    }

    /// The workbench, to change; agents hear of it soon.
    pub fn workbench_mut(&mut self) -> &mut Workbench {
        self.stale = true;
        &mut self.workbench
    }

    /// The person has this document open, but is not in it.
    pub fn open(&mut self, place: Place) {
        self.workbench_mut().open(place, now());
    }

    /// The person is in this document now.
    pub fn focus(&mut self, focus: Focus) {
        self.workbench_mut().focus(focus, now());
    }

    /// The person is in this document now, at this place if it is known. What they had selected
    /// stays selected if that is where they were before.
    pub fn touch(&mut self, place: Place, cursor: Option<Cursor>) {
        let newest = self.workbench.documents().next();
        let is_there = newest.is_some_and(|newest| {
            newest.path() == place.path
                && newest.was_visited()
                && (cursor.is_none() || newest.cursor() == cursor)
        });
        if !is_there {
            self.focus(Focus {
                place,
                cursor,
                selection: None,
            });
        }
    }

    /// Stops telling agents what is open, or resumes it. While it is paused they see nothing open.
    pub fn set_paused(&mut self, paused: bool) {
        self.paused = paused;
        self.stale = true;
    }

    /// Whether agents are told nothing for the time being.
    pub fn is_paused(&self) -> bool {
        self.paused
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
        let mut sessions: Vec<_> = self
            .sessions
            .iter()
            .filter(|(_, session)| {
                session.mailbox.is_connected() || session.seen.elapsed() <= self.limits.grace
            })
            .map(|(id, session)| SessionView {
                id: id.clone(),
                agent: session.agent,
                client: session.client.clone(),
                opened_at: session.opened_at,
                streaming: session.mailbox.is_listening(),
                undelivered: session.mailbox.undelivered(),
            })
            .collect();
        sessions.sort_by(|a, b| (a.opened_at, &a.id).cmp(&(b.opened_at, &b.id)));
        Status {
            sessions,
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
    pub fn set_draft(&mut self, id: ProposalId, text: String) {
        self.proposals.set_draft(id, text);
    }

    /// The person decided. The verdict goes to the session that asked, and to no other.
    pub fn decide(&mut self, id: ProposalId, decision: Decision) -> Result<Answered, Refusal> {
        let agent = self.proposals.get(id).map(|proposal| proposal.agent);
        let traits = dialect(agent.ok_or(Refusal::Unknown(id))?).traits;
        let decided = self.proposals.decide(id, decision, traits)?;
        let (proposal, verdict) = (decided.proposal, decided.verdict);
        let why = match verdict {
            Verdict::Accepted { .. } => Why::Accepted,
            Verdict::Rejected => Why::Rejected,
        };
        let mut answered = Answered {
            agent: proposal.agent,
            streaming: false,
        };
        if let Some(session) = self.sessions.get(&proposal.session) {
            answered.streaming = session.mailbox.is_connected();
            self.journal
                .save_verdict(SavedVerdict::new(&proposal, &verdict));
            session.mailbox.post(letter(id, &proposal.path, verdict));
        }
        self.say(Event::Closed(id, why));
        Ok(answered)
    }

    pub(crate) fn open_session(
        &mut self,
        agent: Agent,
        client: ClientInfo,
    ) -> Result<SessionId, TooMany> {
        if self.sessions.len() >= self.limits.sessions {
            self.make_room()?;
        }
        let id = SessionId::new(random_hex::<16>().map_err(|_| TooMany::NoRandomness)?);
        tracing::info!(%agent, version = client.version, "an agent connected");
        self.sessions.insert(
            id.clone(),
            Session {
                agent,
                client,
                opened_at: now(),
                mailbox: Arc::default(),
                seen: Instant::now(),
            },
        );
        self.sessions_changed();
        Ok(id)
    }

    /// Ends the session that has been silent for longest, if there is one nobody would miss.
    fn make_room(&mut self) -> Result<(), TooMany> {
        let idle = self
            .sessions
            .iter()
            .filter(|(id, session)| {
                !session.mailbox.is_connected()
                    && session.mailbox.undelivered() == 0
                    && !self
                        .proposals
                        .iter()
                        .any(|proposal| proposal.session == **id)
            })
            .min_by_key(|(_, session)| session.seen)
            .map(|(id, _)| id.clone())
            .ok_or(TooMany::Sessions)?;
        self.close_session(&idle);
        Ok(())
    }

    /// The mailbox of a session of `agent`; the call counts as a sign of life.
    pub(crate) fn mailbox(&mut self, id: &SessionId, agent: Agent) -> Option<Arc<Mailbox>> {
        let session = self
            .sessions
            .get_mut(id)
            .filter(|session| session.agent == agent)?;
        session.seen = Instant::now();
        Some(session.mailbox.clone())
    }

    pub(crate) fn close_session(&mut self, id: &SessionId) -> bool {
        let Some(session) = self.sessions.remove(id) else {
            return false;
        };
        tracing::info!(agent = %session.agent, "an agent left");
        for letter in session.mailbox.drain() {
            self.journal.remove(letter.proposal);
        }
        self.abandon_proposals(id);
        self.sessions_changed();
        true
    }

    /// Nobody waits for these any more; whoever shows one is told to close it.
    fn abandon_proposals(&mut self, id: &SessionId) {
        for proposal in self.proposals.orphan(id) {
            if let Some(session) = self.sessions.get(id) {
                session.mailbox.forget(proposal.id);
            }
            self.journal.remove(proposal.id);
            self.say(Event::Closed(proposal.id, Why::Orphaned));
        }
    }

    pub(crate) fn stream_ended(&mut self, id: &SessionId) {
        if let Some(session) = self.sessions.get_mut(id) {
            session.seen = Instant::now();
            self.say(Event::SessionsChanged);
        }
    }

    pub(crate) fn stream_began(&mut self) {
        self.say(Event::SessionsChanged);
    }

    pub(crate) fn delivered(&mut self, proposal: ProposalId) {
        self.journal.remove(proposal);
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
        let opened = self
            .proposals
            .open(session_id.clone(), agent, path, texts, standing, now());
        mailbox.expect(opened.id);
        if let Some(replaced) = opened.replaced {
            mailbox.forget(replaced.id);
            self.journal.remove(replaced.id);
            self.say(Event::Closed(replaced.id, Why::Replaced));
        }
        if let Some(proposal) = self.proposals.get(opened.id) {
            tracing::info!(%agent, id = %opened.id, "an agent proposes an edit");
            self.journal.save_proposal(proposal.clone());
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
            self.say(Event::Closed(proposal.id, Why::Withdrawn));
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

    pub(super) fn is_stale(&self) -> bool {
        self.stale
    }

    /// Sends the context to all agents if it is another one than before, and says whether it was.
    pub(super) fn publish(&mut self) -> bool {
        self.stale = false;
        let context = if self.paused {
            workbench::Context::default()
        } else {
            self.workbench.context(Path::is_file)
        };
        if context == self.published.borrow().context {
            return false;
        }
        self.published.send_replace(Published {
            frame: ide::context_frame(&context),
            context,
        });
        self.say(Event::ContextChanged);
        true
    }

    /// Ends sessions that are gone, and looks again at the files that were open.
    pub(super) fn make_round(&mut self) {
        let mut away = Vec::new();
        for (id, session) in &self.sessions {
            let silence = session.seen.elapsed();
            if !session.mailbox.is_connected() && silence > self.limits.grace {
                away.push((id.clone(), silence > self.limits.memory));
            }
        }
        for (id, forgotten) in away {
            if forgotten {
                self.close_session(&id);
            } else {
                self.abandon_proposals(&id);
            }
        }
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

    fn sessions_changed(&mut self) {
        self.save_sessions();
        self.say(Event::SessionsChanged);
    }

    fn save_sessions(&self) {
        self.journal.save_sessions(
            self.sessions
                .iter()
                .map(|(id, session)| SavedSession {
                    id: id.to_string(),
                    agent: session.agent,
                    client: session.client.clone(),
                    opened_at: session.opened_at,
                })
                .collect(),
            self.proposals.next_id(),
        );
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
