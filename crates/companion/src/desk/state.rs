//! What the desk's owner holds, and every operation on it. Proposals of agents are here;
//! what becomes of them until they are decided, the room that they take, proposals without a
//! session, the sessions and the context are in modules of their own.

mod context;
mod direct_proposals;
mod drafts;
mod room;
mod sessions;
mod unsaved;
mod withheld;

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use tokio::sync::{Notify, broadcast, oneshot, watch};
use workbench::{
    AbsenceRule, Agent, Decision, Focus, HeldBack, Holder, Outcome, Place, Proposal, ProposalId,
    ProposalRequest, Proposals, Refusal, SessionId, Standing, Texts, Verdict, Workbench,
};

pub use room::Reservation;
pub use sessions::{AgentClient, AgentSession, Presence};

use super::known_files::KnownFiles;
use super::{
    ContextSink, DraftSource, Event, Log, LogEvent, ProposalRef, Published, SentContext,
    SessionRef, Setup,
};
use crate::agents::dialect;
use crate::journal::{Journal, JournalTrouble, Receipt, Saved, SavedVerdict};
use crate::limits::Limits;
use crate::mailbox::{Letter, Mailbox};
use sessions::SessionState;
use unsaved::UnsavedText;

/// All state of a companion.
pub struct State {
    workbench: Workbench,
    proposals: Proposals,
    sessions: HashMap<SessionId, SessionState>,
    /// Notified when a stream has left a report in the mailbox of its session.
    reports: Arc<Notify>,
    /// Proposals without a session, and where their verdicts go.
    direct_waiters: HashMap<ProposalId, oneshot::Sender<Verdict>>,
    /// The texts of files that are open in an editor with unsaved changes, and that proposals are
    /// about.
    unsaved: Vec<UnsavedText>,
    /// Front ends that show a proposal and know its current text, the last one last.
    draft_sources: HashMap<ProposalId, Vec<DraftSource>>,
    /// Where the files of proposals are, links resolved, as far as they were looked at.
    places: HashMap<ProposalId, Place>,
    /// How many bytes of texts are being read, see [`Reservation`].
    reserved: Arc<AtomicUsize>,
    /// Whether the person has stopped the context.
    paused: bool,
    /// Whether the context may differ from what was published last.
    stale: bool,
    /// Which of the open files exist.
    files: KnownFiles,
    sink: Box<dyn ContextSink>,
    /// Whether it was paused, and how often what is held back had changed, at the last
    /// publication. Front ends are told when either differs.
    told: (bool, u64),
    log: Log,
    published: watch::Sender<Published>,
    events: broadcast::Sender<Event>,
    journal: Journal,
    limits: Limits,
}

/// A snapshot of everything a front end shows.
#[derive(Clone, Debug)]
pub struct Status {
    /// Who is connected, oldest first.
    pub sessions: Vec<AgentSession>,
    /// What is pending, oldest first.
    pub proposals: Vec<Proposal>,
    /// What privacy keeps from the agents.
    pub held_back: HeldBack,
    /// What the agents see.
    pub context: workbench::Context,
}

/// A decision was made and its verdict is on its way to the agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dispatched {
    /// Which agent it goes to.
    pub agent: Agent,
    /// The path as the agent sent it.
    pub path: String,
    /// What it says.
    pub outcome: Outcome,
    /// Whether the agent has a stream open to receive it right now.
    pub streaming: bool,
    /// Whether the agent may first read the file again, because it has changed, and propose its
    /// edit anew.
    pub may_read_again: bool,
    /// Why the decision is not on disk yet, which is known when its [`Receipt`] was waited for. A
    /// crash before the agent has heard it would lose it.
    pub unsaved: Option<JournalTrouble>,
}

/// What an agent took back.
#[derive(Debug)]
pub(crate) enum Withdrawn {
    /// A proposal that was pending.
    Proposal(Box<Proposal>),
    /// A verdict that the agent had not received yet.
    Decided(Arc<Verdict>),
}

impl Withdrawn {
    /// The text as it stood, if there is one to tell.
    pub(crate) fn text(&self) -> Option<&str> {
        match self {
            Withdrawn::Proposal(proposal) => match proposal.standing {
                // The agent may write it, so a text with conflicts is none.
                Standing::Open if proposal.conflicts() == 0 => proposal.current_for_agent(),
                Standing::Open | Standing::TerminalOnly(_) => None,
            },
            Withdrawn::Decided(verdict) => verdict.text(),
        }
    }
}

/// Why an agent cannot have a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum OpenSessionError {
    #[error("too many agents are connected; end one of them or wait a minute")]
    TooMany,
    #[error("the system gives no random numbers")]
    NoRandomness,
}

/// Why an edit cannot be proposed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ProposeError {
    /// As many as one agent may have are pending.
    #[error("too many proposals of this agent are pending; decide some of them first")]
    TooMany,
    /// The texts of all pending proposals take as much memory as they may.
    #[error(
        "the texts of all pending proposals together take too much memory; decide some of them first"
    )]
    NoRoom,
    /// There is no such session any more.
    #[error("this session has ended")]
    SessionEnded,
}

impl State {
    pub(super) fn new(
        setup: Setup,
        events: broadcast::Sender<Event>,
    ) -> (State, watch::Receiver<Published>) {
        let Setup {
            workbench,
            saved,
            journal,
            limits,
            mut sink,
            looking,
        } = setup;
        let context = workbench::Context::default();
        let (published, watching) = watch::channel(Published {
            bytes: sink.publish(&context),
            context,
            at: None,
        });
        let mut state = State {
            workbench,
            proposals: Proposals::new(1),
            sessions: HashMap::new(),
            reports: Arc::default(),
            direct_waiters: HashMap::new(),
            draft_sources: HashMap::new(),
            unsaved: Vec::new(),
            places: HashMap::new(),
            reserved: Arc::default(),
            paused: false,
            stale: true,
            files: KnownFiles::new(looking),
            sink,
            told: (false, 0),
            log: Log::default(),
            published,
            events,
            journal,
            limits,
        };
        state.restore(saved);
        state.judge_proposals();
        (state, watching)
    }

    /// Restores what an earlier run left. What belongs to no session any more is dropped.
    fn restore(&mut self, saved: Saved) {
        self.proposals = Proposals::new(saved.next_proposal.max(1));
        let mut processes = Vec::new();
        let mut sessions = saved.sessions;
        // The newest session of a process is the one that counts.
        sessions.sort_by_key(|session| session.opened_at);
        for session in sessions {
            let id = SessionId::new(session.id.as_str());
            self.sessions.insert(
                id.clone(),
                SessionState {
                    agent: session.agent,
                    client: session.client.into(),
                    process: None,
                    superseded: false,
                    opened_at: session.opened_at,
                    mailbox: Arc::new(Mailbox::new(self.reports.clone())),
                    seen: Instant::now(),
                    here: false,
                },
            );
            processes.push((id, session.process.map(Into::into)));
        }
        for (id, process) in processes {
            self.set_process(&id, process);
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
                Some(session) => {
                    let path = verdict.path.as_str();
                    let saved = Receipt::settled_already();
                    let letter = Letter::new(id, path, verdict.verdict(), saved);
                    session.mailbox.post(letter);
                }
                None => self.journal.remove(id),
            }
        }
        for (focus, at) in saved.documents {
            self.workbench.focus(Holder::COMMANDS, focus, at);
        }
        self.journal.forget_documents();
        self.save_sessions();
    }

    /// A snapshot of everything.
    pub fn status(&self) -> Status {
        Status {
            sessions: self.sessions(),
            proposals: self.proposals.iter().cloned().collect(),
            held_back: self.workbench.held_back(),
            context: self.published.borrow().context.clone(),
        }
    }

    /// How much is pending.
    pub fn pending(&self) -> usize {
        self.proposals.len()
    }

    /// What is pending, oldest first.
    pub fn proposals(&self) -> impl Iterator<Item = &Proposal> {
        self.proposals.iter()
    }

    /// The proposal with this number, if it is still pending.
    pub fn proposal(&self, id: ProposalId) -> Option<&Proposal> {
        self.proposals.get(id)
    }

    /// Why there is no proposal with this number.
    pub fn missing(&self, id: ProposalId) -> Refusal {
        match self.log.outcome(id) {
            Some(Outcome::Orphaned) => Refusal::AgentGone(id),
            _ => Refusal::Unknown(id),
        }
    }

    /// The log of what happened.
    pub fn log(&self) -> &Log {
        &self.log
    }

    /// The person decided, with this revision in front of them; without it, the last one that a
    /// command has shown. The verdict goes to the session that asked, and to no other.
    pub fn decide(
        &mut self,
        id: ProposalId,
        decision: Decision,
        seen: Option<u32>,
    ) -> Result<Dispatched, Refusal> {
        // The next round would find out, but a decision must not go to nobody until then.
        let asker = self
            .proposals
            .get(id)
            .map(|proposal| proposal.session.clone());
        if let Some(asker) = asker
            && self
                .sessions
                .get(&asker)
                .is_some_and(SessionState::has_ended)
        {
            self.part_from(&asker);
        }
        if self.proposals.get(id).is_none() {
            return Err(self.missing(id));
        }
        let decided = self.proposals.decide(id, decision, seen)?;
        let (proposal, verdict) = (decided.proposal, decided.verdict);
        let outcome = verdict.outcome();
        let mut dispatched = Dispatched {
            agent: proposal.agent,
            path: proposal.path.clone(),
            outcome,
            streaming: false,
            may_read_again: outcome == Outcome::Accepted
                && proposal.file_change.is_some()
                && dialect(proposal.agent).reads_changed_files_again,
            unsaved: None,
        };
        if let Some(asker) = self.direct_waiters.remove(&id) {
            dispatched.streaming = asker.send(verdict).is_ok();
        } else if let Some(session) = self.sessions.get(&proposal.session) {
            dispatched.streaming = session.mailbox.is_connected();
            self.journal.save_verdict(SavedVerdict::new(
                id,
                &proposal.session,
                &proposal.path,
                &verdict,
            ));
            let saved = self.journal.receipt();
            session
                .mailbox
                .post(Letter::new(id, &proposal.path, verdict, saved));
        }
        self.close(&proposal, outcome);
        Ok(dispatched)
    }

    /// An agent proposes an edit in its session.
    pub(crate) fn propose_for_session(
        &mut self,
        session_id: &SessionId,
        path: String,
        texts: Texts,
        standing: Standing,
    ) -> Result<ProposalId, ProposeError> {
        let session = self
            .sessions
            .get(session_id)
            .ok_or(ProposeError::SessionEnded)?;
        // One for the same path is replaced.
        let is_new = self.proposals.find(session_id, &path).is_none();
        let pending = self.proposals.count_of(session_id);
        if is_new && pending >= self.limits.proposals_per_session {
            return Err(ProposeError::TooMany);
        }
        let (agent, mailbox) = (session.agent, session.mailbox.clone());
        let ask = ProposalRequest {
            session: session_id.clone(),
            agent,
            path,
            texts,
            standing,
            capabilities: dialect(agent).capabilities,
        };
        self.check_proposal(&ask)?;
        for stale in mailbox.discard(&ask.path) {
            self.journal.remove(stale.proposal);
        }
        let opened = self.proposals.propose(ask, now());
        mailbox.expect(opened.id);
        if let Some(replaced) = opened.replaced {
            mailbox.forget(replaced.id);
            self.journal.remove(replaced.id);
            self.close(&replaced, Outcome::Replaced);
        }
        if let Some(proposal) = self.proposals.get(opened.id) {
            tracing::info!(%agent, id = %opened.id, "an agent proposes an edit");
            let about = self.proposal_ref(proposal);
            self.log.write(now(), LogEvent::Proposed(about));
            self.save_proposal(opened.id);
            self.journal.save_counter(self.proposals.next_id());
        }
        self.emit(Event::Opened(opened.id));
        Ok(opened.id)
    }

    /// The agent takes a proposal back and wants the text as it stands now, if there is one.
    pub(crate) fn withdraw_for_session(
        &mut self,
        session_id: &SessionId,
        path: &str,
    ) -> Option<Withdrawn> {
        let mailbox = self.sessions.get(session_id)?.mailbox.clone();
        if let Some(proposal) = self.proposals.withdraw_path(session_id, path) {
            mailbox.forget(proposal.id);
            self.journal.remove(proposal.id);
            self.close(&proposal, Outcome::Withdrawn);
            return Some(Withdrawn::Proposal(Box::new(proposal)));
        }
        // The person has decided, but the verdict has not arrived: the agent gets its text here.
        let mut decided = None;
        for letter in mailbox.discard(path) {
            self.journal.remove(letter.proposal);
            decided = Some(letter.verdict);
        }
        decided.map(Withdrawn::Decided)
    }

    /// Whether an agent waits for a decision.
    pub fn is_waited_for(&self) -> bool {
        let mut proposals = self.proposals.iter();
        proposals.any(|proposal| self.sessions.contains_key(&proposal.session))
    }

    /// The companion is about to end for good. Agents that could not be answered after that are told
    /// no; the others go on to ask in their terminals.
    pub fn reject_for_end(&mut self) {
        let left: Vec<_> = self
            .proposals
            .iter()
            .filter(|proposal| {
                let session = self.sessions.get(&proposal.session);
                session.is_some_and(|session| dialect(session.agent).hangs_without_companion)
            })
            .map(|proposal| (proposal.id, proposal.agent))
            .collect();
        for (id, agent) in left {
            if self.decide(id, Decision::Reject, None).is_ok() {
                tracing::info!(%agent, %id, "rejected, because the agent cannot be answered later");
            }
        }
    }

    /// Ends sessions that are gone, and looks again at the files that were open.
    pub(super) fn make_round(&mut self) {
        self.collect_reports();
        self.end_the_absent();
        self.files.refresh();
        self.collect_looks();
    }

    /// Resolves when all that has happened so far would survive a crash. Wait for it before a
    /// peer or a person is told that something has happened.
    pub fn receipt(&self) -> Receipt {
        self.journal.receipt()
    }

    /// Why what has happened would not survive a crash; `None` if it would, as far as is known.
    pub fn journal_trouble(&self) -> Option<JournalTrouble> {
        self.journal.trouble()
    }

    /// Writes everything again that a later run needs, because somebody has deleted it.
    pub fn rewrite_journal(&mut self) {
        // A verdict that has left must not be sent again by the next run.
        self.collect_reports();
        self.save_sessions();
        let pending: Vec<_> = self.proposals.iter().map(|it| it.id).collect();
        for id in pending {
            self.save_proposal(id);
        }
        for (session, state) in &self.sessions {
            for letter in state.mailbox.letters() {
                let verdict =
                    SavedVerdict::new(letter.proposal, session, &letter.path, &letter.verdict);
                self.journal.save_verdict(verdict);
            }
        }
    }

    /// Writes nothing any more, because the folder of the journal is another companion's now.
    pub fn leave_journal(&mut self) {
        self.journal.leave();
    }

    /// Saves a proposal of an agent's session; the others are not written down.
    fn save_proposal(&self, id: ProposalId) {
        if let Some(proposal) = self.proposals.get(id)
            && !self.direct_waiters.contains_key(&id)
        {
            self.journal.save_proposal(proposal.clone());
        }
    }

    /// Writes what a later run needs; the receipt says when it is on disk.
    ///
    /// What is open is written down only for a run that follows at once; a later one would
    /// show agents files that the person has long left.
    pub fn persist(&mut self, returning: bool) -> Receipt {
        // A verdict that has left must not be sent again by the next run.
        self.collect_reports();
        if returning {
            self.save_documents();
        }
        self.receipt()
    }

    /// Saves what the commands have said. Editors come back and say themselves what they have open.
    fn save_documents(&mut self) {
        // It belongs to the newest document, which comes first.
        let mut selection = self.workbench.selection().map(str::to_owned);
        let documents = self
            .workbench
            .documents()
            .map(|document| (document, selection.take()));
        let documents = documents.filter(|(document, _)| document.is_held_by(Holder::COMMANDS));
        let documents = documents.map(|(document, selection)| {
            let focus = Focus {
                place: Place {
                    path: document.path().to_owned(),
                    real: document.real().to_owned(),
                },
                cursor: document.cursor(),
                selection,
            };
            (focus, document.focused_at())
        });
        self.journal.save_documents(documents.collect());
    }

    /// A proposal is over.
    fn close(&mut self, proposal: &Proposal, outcome: Outcome) {
        self.write(LogEvent::Ended(self.proposal_ref(proposal), outcome));
        self.emit(Event::Closed(proposal.id, outcome));
    }

    /// A proposal as the log remembers it.
    fn proposal_ref(&self, proposal: &Proposal) -> ProposalRef {
        let session = self.sessions.get(&proposal.session);
        ProposalRef::new(
            proposal,
            session.and_then(|session| session.process.clone()),
        )
    }

    fn write(&mut self, what: LogEvent) {
        self.log.write(now(), what);
    }

    fn emit(&mut self, event: Event) {
        if let Event::Closed(id, _) = event {
            self.draft_sources.remove(&id);
            self.places.remove(&id);
            self.forget_unsaved();
        }
        // An error means that nobody listens, which is the normal case without a front end.
        let _ = self.events.send(event);
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
