//! The agents' sessions: who is here, who has left, who is still remembered.

use std::sync::Arc;
use std::time::Instant;

use workbench::{Agent, SessionId};

use super::telling::sent;
use super::{Event, Happening, Peer, State, TooMany, Why, now};
use crate::journal::SavedSession;
use crate::mailbox::Mailbox;
use crate::mcp::ide::ClientInfo;
use crate::token::random_hex;

/// An agent's session.
pub(super) struct Session {
    pub(super) agent: Agent,
    pub(super) client: ClientInfo,
    pub(super) opened_at: u64,
    pub(super) mailbox: Arc<Mailbox>,
    /// When the session last gave a sign of life, apart from its open streams.
    pub(super) seen: Instant,
    /// Whether the log says that it is here.
    pub(super) here: bool,
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

impl State {
    /// Who is connected, oldest first.
    pub fn sessions(&self) -> Vec<SessionView> {
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
        sessions
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
                here: false,
            },
        );
        self.greet(&id);
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
        let mailbox = session.mailbox.clone();
        if self.greet(id) {
            self.say(Event::SessionsChanged);
        }
        Some(mailbox)
    }

    /// Writes down that an agent is here, and says whether it was not before.
    fn greet(&mut self, id: &SessionId) -> bool {
        let Some(session) = self.sessions.get_mut(id).filter(|session| !session.here) else {
            return false;
        };
        session.here = true;
        let peer = session.peer(id);
        self.write(Happening::Connected(peer));
        true
    }

    /// Writes down that an agent is not here any more, and says whether it was before.
    fn part(&mut self, id: &SessionId) -> bool {
        let Some(session) = self.sessions.get_mut(id).filter(|session| session.here) else {
            return false;
        };
        session.here = false;
        let peer = session.peer(id);
        self.write(Happening::Disconnected(peer));
        true
    }

    pub(crate) fn close_session(&mut self, id: &SessionId) -> bool {
        self.part(id);
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
            self.close(&proposal, Why::Orphaned);
        }
    }

    pub(crate) fn stream_ended(&mut self, id: &SessionId) {
        if let Some(session) = self.sessions.get_mut(id) {
            session.seen = Instant::now();
            self.say(Event::SessionsChanged);
        }
    }

    /// A session listens from now on; what stands at the start of its stream is the context.
    pub(crate) fn stream_began(&mut self, id: &SessionId) {
        if let Some(session) = self.sessions.get(id) {
            let to = Some(session.peer(id));
            let sent = sent(&self.published.borrow(), to);
            if sent.files > 0 {
                self.log.write_context(now(), sent, true);
            }
        }
        self.say(Event::SessionsChanged);
    }

    /// Ends sessions that are gone.
    pub(super) fn end_the_absent(&mut self) {
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
                if self.part(&id) {
                    self.say(Event::SessionsChanged);
                }
            }
        }
    }

    fn sessions_changed(&mut self) {
        self.save_sessions();
        self.say(Event::SessionsChanged);
    }

    pub(super) fn save_sessions(&self) {
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
}

impl Session {
    pub(super) fn peer(&self, id: &SessionId) -> Peer {
        Peer {
            agent: self.agent,
            session: id.clone(),
        }
    }
}
