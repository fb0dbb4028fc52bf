//! The agents' sessions: who is here, who has left, who is still remembered.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Instant;

use beacon::process::ProcessId;
use tokio::sync::Notify;
use workbench::{Agent, Attendance, Existence, Outcome, SessionId};

use super::context::sent;
use super::{AbsenceRule, Event, LogEvent, OpenSessionError, SessionRef, State, now};
use crate::agents::AgentProcess;
use crate::journal::SavedSession;
use crate::mailbox::Mailbox;
use crate::token::random_hex;

/// An agent's session.
pub(super) struct SessionState {
    pub(super) agent: Agent,
    pub(super) client: AgentClient,
    /// The agent's process, where the system tells.
    pub(super) process: Option<Arc<AgentProcess>>,
    /// Whether the same process has opened another session since. A client has one session at a
    /// time, so it is not expected back in this one.
    pub(super) superseded: bool,
    pub(super) opened_at: u64,
    pub(super) mailbox: Arc<Mailbox>,
    /// When the session last gave a sign of life, apart from its open streams.
    pub(super) seen: Instant,
    /// Whether the log says that it is here.
    pub(super) here: bool,
}

/// Whose sessions are counted together: those of one process, or of one agent where no process is
/// known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Kin {
    Process(ProcessId),
    Agent(Agent),
}

impl Kin {
    fn of(agent: Agent, process: Option<&AgentProcess>) -> Kin {
        let process = process.and_then(|process| process.line.first());
        process.map_or(Kin::Agent(agent), |process| Kin::Process(*process))
    }
}

/// What the client program of an agent says of itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AgentClient {
    /// The published clients all say the name of their transport here, not of the product.
    pub name: String,
    /// The version that it claims.
    pub version: String,
}

/// A session as people and front ends see it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AgentSession {
    /// Its id.
    pub id: SessionId,
    /// Which agent it is.
    pub agent: Agent,
    /// What its client says of itself.
    pub client: AgentClient,
    /// Its process, where the system tells.
    pub process: Option<Arc<AgentProcess>>,
    /// Whether its process works in a folder that is not one of those that are served.
    pub elsewhere: bool,
    /// Since when, in unix milliseconds.
    pub opened_at: u64,
    /// Whether it has a stream open.
    pub streaming: bool,
    /// Whether it is there.
    pub presence: Presence,
    /// Verdicts that have not reached it yet.
    pub undelivered: usize,
}

/// Whether an agent is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Presence {
    /// It has its stream open.
    Connected,
    /// It has none, but may come back, and gets what was decided then.
    Away,
    /// It is not expected back.
    Gone,
}

impl Presence {
    /// The word for programs.
    pub const fn as_str(self) -> &'static str {
        match self {
            Presence::Connected => "connected",
            Presence::Away => "away",
            Presence::Gone => "gone",
        }
    }
}

impl State {
    /// Who is here, oldest first, and who is gone with a decision that has not reached it.
    pub fn sessions(&self) -> Vec<AgentSession> {
        let mut processes = RunningProcesses::default();
        let all = self.sessions.iter();
        let mut sessions: Vec<_> = all
            .filter_map(|(id, session)| {
                let existence = session.existence(|process| processes.is_running(process));
                self.describe(id, session, existence)
            })
            .collect();
        sessions.sort_by(|a, b| (a.opened_at, &a.id).cmp(&(b.opened_at, &b.id)));
        sessions
    }

    /// One of them.
    pub fn session(&self, id: &SessionId) -> Option<AgentSession> {
        let session = self.sessions.get(id)?;
        self.describe(id, session, session.existence(AgentProcess::is_running))
    }

    /// Whether any agent has a session.
    pub fn has_sessions(&self) -> bool {
        !self.sessions.is_empty()
    }

    fn describe(
        &self,
        id: &SessionId,
        session: &SessionState,
        existence: Existence,
    ) -> Option<AgentSession> {
        let presence = match self.judge(session, existence) {
            Attendance::Present if session.mailbox.is_listening() => Presence::Connected,
            Attendance::Present => Presence::Away,
            _ if session.mailbox.undelivered() > 0 => Presence::Gone,
            _ => return None,
        };
        let process = session.process.clone();
        let folder = process.as_ref().and_then(|process| process.folder.as_ref());
        Some(AgentSession {
            id: id.clone(),
            agent: session.agent,
            client: session.client.clone(),
            elsewhere: folder.is_some_and(|folder| !self.workbench.roots().contains(folder)),
            process,
            opened_at: session.opened_at,
            streaming: presence == Presence::Connected,
            presence,
            undelivered: session.mailbox.undelivered(),
        })
    }

    /// Opens a session for an agent whose process is `process`, if that is known.
    pub(crate) fn open_session(
        &mut self,
        agent: Agent,
        client: AgentClient,
        process: Option<AgentProcess>,
    ) -> Result<SessionId, OpenSessionError> {
        if self.sessions.len() >= self.limits.sessions {
            let kin = Kin::of(agent, process.as_ref());
            self.make_room(kin)?;
        }
        let id = random_hex::<16>().map_err(|_| OpenSessionError::NoRandomness)?;
        let id = SessionId::new(id);
        self.sessions.insert(
            id.clone(),
            SessionState {
                agent,
                client,
                process: None,
                superseded: false,
                opened_at: now(),
                mailbox: Arc::new(Mailbox::new(self.reports.clone())),
                seen: Instant::now(),
                here: false,
            },
        );
        self.set_process(&id, process);
        self.log_arrival(&id);
        self.sessions_changed();
        Ok(id)
    }

    /// The process of a session that is open already has become known.
    pub(crate) fn identify_session(&mut self, id: &SessionId, process: Option<AgentProcess>) {
        self.set_process(id, process);
        self.sessions_changed();
    }

    pub(super) fn set_process(&mut self, id: &SessionId, process: Option<AgentProcess>) {
        let Some(process) = process else { return };
        let Some(opened_at) = self.sessions.get(id).map(|session| session.opened_at) else {
            return;
        };
        let mut superseded = false;
        for (other, session) in &mut self.sessions {
            let known = session.process.as_ref();
            if other != id && known.is_some_and(|known| known.line == process.line) {
                // A process that becomes known late may have opened a newer session meanwhile.
                superseded |= session.opened_at > opened_at;
                session.superseded |= session.opened_at <= opened_at;
            }
        }
        if let Some(session) = self.sessions.get_mut(id) {
            session.superseded |= superseded;
            session.process = Some(Arc::new(process));
        }
    }

    /// Ends a session so that `newcomer` can have one: of those without a stream, a proposal and an
    /// undelivered verdict the one that has been silent for longest, of whoever has most sessions.
    /// Those of others are not ended for somebody who has more; and while they are expected back,
    /// only if their owner has more than its share.
    fn make_room(&mut self, newcomer: Kin) -> Result<(), OpenSessionError> {
        let mut counts: HashMap<Kin, usize> = HashMap::new();
        for session in self.sessions.values() {
            *counts.entry(session.kin()).or_default() += 1;
        }
        let own = counts.get(&newcomer).copied().unwrap_or_default();
        let share = self.limits.sessions / (counts.len() + 1);
        let idle = self.sessions.iter().filter(|(id, session)| {
            !session.mailbox.is_connected()
                && (session.mailbox.undelivered() == 0 || session.has_ended())
                && self.proposals.count_of(id) == 0
        });
        let candidates = idle.filter_map(|(id, session)| {
            let kin = session.kin();
            let (count, is_own) = (counts.get(&kin).copied()?, kin == newcomer);
            let is_left = session.superseded || self.attendance(session) != Attendance::Present;
            let may_go = is_own || (count >= own && (is_left || count > share));
            may_go.then_some((count, is_own, Reverse(session.seen), id))
        });
        let (.., idle) = candidates.max().ok_or(OpenSessionError::TooMany)?;
        let idle = idle.clone();
        self.close_session(&idle);
        Ok(())
    }

    /// The process of a session that a person sees, where it is known.
    pub(crate) fn process_of(&self, id: &SessionId) -> Option<ProcessId> {
        let process = self.sessions.get(id)?.process.as_ref()?;
        process.line.first().copied()
    }

    /// The mailbox of a session of `agent`; the call counts as a sign of life.
    pub(crate) fn mailbox(&mut self, id: &SessionId, agent: Agent) -> Option<Arc<Mailbox>> {
        let session = self
            .sessions
            .get_mut(id)
            .filter(|session| session.agent == agent)?;
        session.seen = Instant::now();
        let mailbox = session.mailbox.clone();
        if self.log_arrival(id) {
            self.emit(Event::SessionsChanged);
        }
        Some(mailbox)
    }

    /// Logs that an agent is here, unless the log says so already; returns whether it did not.
    fn log_arrival(&mut self, id: &SessionId) -> bool {
        let Some(session) = self.sessions.get_mut(id).filter(|session| !session.here) else {
            return false;
        };
        session.here = true;
        let name = session.name(id);
        let process = session.process.as_ref().map(|process| process.pid());
        tracing::info!(agent = %name.agent, process, "an agent connected");
        self.write(LogEvent::Connected(name));
        true
    }

    /// Logs that an agent is away, unless the log says so already; returns whether it did not.
    fn log_departure(&mut self, id: &SessionId) -> bool {
        let Some(session) = self.sessions.get_mut(id).filter(|session| session.here) else {
            return false;
        };
        session.here = false;
        let name = session.name(id);
        self.write(LogEvent::Disconnected(name));
        true
    }

    pub(crate) fn close_session(&mut self, id: &SessionId) -> bool {
        // What its streams have reported would be lost with its mailbox.
        self.collect_reports();
        self.log_departure(id);
        let Some(session) = self.sessions.remove(id) else {
            return false;
        };
        tracing::info!(agent = %session.agent, "an agent left");
        for letter in session.mailbox.discard_all() {
            self.journal.remove(letter.proposal);
        }
        self.orphan_proposals(id);
        self.sessions_changed();
        true
    }

    /// Ends the sessions of agents that may no longer connect: their open streams would go on
    /// receiving contexts.
    pub fn end_sessions_except(&mut self, admitted: &[Agent]) {
        let refused = |agent: Agent| agent != Agent::Unnamed && !admitted.contains(&agent);
        let sessions = self.sessions.iter();
        let ended: Vec<_> = sessions
            .filter(|(_, session)| refused(session.agent))
            .map(|(id, _)| id.clone())
            .collect();
        for id in ended {
            self.close_session(&id);
        }
    }

    /// Nobody waits for these any more; whoever shows one is told to close it.
    fn orphan_proposals(&mut self, id: &SessionId) {
        for proposal in self.proposals.withdraw_all(id) {
            if let Some(session) = self.sessions.get(id) {
                session.mailbox.forget(proposal.id);
            }
            self.journal.remove(proposal.id);
            self.close(&proposal, Outcome::Orphaned);
        }
    }

    /// Takes in what the streams have left in the mailboxes: verdicts that have reached their
    /// agents, and that streams have ended.
    pub(in crate::desk) fn collect_reports(&mut self) {
        let mut delivered = Vec::new();
        let mut ended = false;
        for session in self.sessions.values_mut() {
            let report = session.mailbox.take_report();
            delivered.extend(report.delivered);
            if let Some(at) = report.stream_ended {
                session.seen = session.seen.max(at);
                ended = true;
            }
        }
        for proposal in delivered {
            self.journal.remove(proposal);
            self.emit(Event::Delivered(proposal));
        }
        if ended {
            self.emit(Event::SessionsChanged);
        }
    }

    /// Notified when there is something to collect.
    pub(in crate::desk) fn reports(&self) -> Arc<Notify> {
        self.reports.clone()
    }

    /// A session has opened its own stream, which starts with the context.
    pub(crate) fn stream_began(&mut self, id: &SessionId) {
        if let Some(session) = self.sessions.get(id) {
            let to = Some(session.name(id));
            let sent = sent(&self.published.borrow(), to);
            if sent.files > 0 {
                self.log.write_context(now(), sent, true);
            }
        }
        self.emit(Event::SessionsChanged);
    }

    /// Orphans the proposals of agents that stay away, and ends the sessions of those that do
    /// not come back.
    pub(super) fn end_the_absent(&mut self) {
        let mut processes = RunningProcesses::default();
        let judged = self.sessions.iter();
        let judged: Vec<_> = judged
            .map(|(id, session)| {
                let existence = session.existence(|process| processes.is_running(process));
                (id.clone(), self.judge(session, existence))
            })
            .collect();
        for (id, attendance) in judged {
            match attendance {
                Attendance::Present => {}
                Attendance::Absent => self.part_from(&id),
                Attendance::Forgotten => {
                    self.close_session(&id);
                }
            }
        }
    }

    /// An agent is not expected back soon, or not at all: nobody waits for its proposals.
    pub(super) fn part_from(&mut self, id: &SessionId) {
        let ended = self.sessions.get(id).filter(|session| session.has_ended());
        match ended.map(|session| session.mailbox.clone()) {
            // Nothing of it is worth remembering.
            Some(mailbox) if mailbox.undelivered() == 0 => {
                self.close_session(id);
            }
            ended => {
                // What its process has left behind must not go on to be told what is open.
                if let Some(mailbox) = ended {
                    mailbox.end_streams();
                }
                self.orphan_proposals(id);
                if self.log_departure(id) {
                    self.emit(Event::SessionsChanged);
                }
            }
        }
    }

    fn attendance(&self, session: &SessionState) -> Attendance {
        self.judge(session, session.existence(AgentProcess::is_running))
    }

    fn judge(&self, session: &SessionState, existence: Existence) -> Attendance {
        let rule = AbsenceRule {
            grace: self.limits.grace,
            memory: self.limits.memory,
        };
        let silence = (!session.mailbox.is_connected()).then(|| session.seen.elapsed());
        rule.judge(silence, existence)
    }

    fn sessions_changed(&mut self) {
        self.save_sessions();
        self.emit(Event::SessionsChanged);
    }

    pub(super) fn save_sessions(&self) {
        self.journal.save_sessions(
            self.sessions
                .iter()
                .map(|(id, session)| SavedSession {
                    id: id.to_string(),
                    agent: session.agent,
                    client: (&session.client).into(),
                    process: session.process.as_deref().map(Into::into),
                    opened_at: session.opened_at,
                })
                .collect(),
            self.proposals.next_id(),
        );
    }
}

impl SessionState {
    pub(super) fn name(&self, id: &SessionId) -> SessionRef {
        SessionRef {
            agent: self.agent,
            session: id.clone(),
            process: self.process.clone(),
        }
    }

    fn kin(&self) -> Kin {
        Kin::of(self.agent, self.process.as_deref())
    }

    /// Whether its process is known to have ended.
    pub(super) fn has_ended(&self) -> bool {
        self.existence(AgentProcess::is_running) == Existence::Ended
    }

    /// Whether its process runs is asked with `is_running`. The system answers that from memory: no
    /// disk and no other machine can delay it.
    fn existence<'a>(&'a self, is_running: impl FnOnce(&'a AgentProcess) -> bool) -> Existence {
        match &self.process {
            Some(process) if !is_running(process) => Existence::Ended,
            Some(_) if !self.superseded => Existence::Running,
            _ => Existence::Unknown,
        }
    }
}

/// Asks the system once for each process, however many sessions it has.
#[derive(Default)]
struct RunningProcesses<'a>(Vec<(&'a AgentProcess, bool)>);

impl<'a> RunningProcesses<'a> {
    fn is_running(&mut self, process: &'a AgentProcess) -> bool {
        let known = self.0.iter().find(|(known, _)| known.line == process.line);
        if let Some((_, is_running)) = known {
            return *is_running;
        }
        let is_running = process.is_running();
        self.0.push((process, is_running));
        is_running
    }
}
