//! What happened: the answer to "what did you send about me?".
//!
//! The owner of all state writes it while things happen, so that nothing is too quick to be
//! seen. It is kept in memory and bounded; whoever reads it asks for what is new since last time.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use workbench::{Agent, Outcome, ProposalId, SessionId, cut_utf16};

use crate::agents::AgentProcess;

/// The oldest entries go beyond this.
const ENTRIES: usize = 500;

/// Longer paths are cut here: an agent can send any, and the log is kept.
const LONGEST_PATH: usize = 4_096;

/// Something that happened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogEntry {
    /// Its number, from 1.
    pub number: u64,
    /// When, in unix milliseconds; for a context that went out several times, the last time.
    pub at: u64,
    /// The event itself.
    pub what: LogEvent,
    /// The number of the last change to the log when this was written.
    revision: u64,
}

/// What an entry of the log says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LogEvent {
    /// An agent connected, or came back.
    Connected(SessionRef),
    /// An agent left, or has not been heard of for too long.
    Disconnected(SessionRef),
    /// Agents were sent what is open.
    Context(SentContext),
    /// An agent proposed an edit.
    Proposed(ProposalRef),
    /// A proposal is over.
    Ended(ProposalRef, Outcome),
    /// Agents are told nothing from here on.
    Paused,
    /// Agents are told again.
    Resumed,
}

/// An agent in a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionRef {
    /// The agent.
    pub agent: Agent,
    /// Its session.
    pub session: SessionId,
    /// Its process, where the system tells.
    pub process: Option<Arc<AgentProcess>>,
}

/// A proposal, as far as the log remembers it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProposalRef {
    /// Who proposed it.
    pub peer: SessionRef,
    /// Its number.
    pub proposal: ProposalId,
    /// The path as the agent sent it, cut if it is very long.
    pub path: Box<str>,
}

/// A context that was sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SentContext {
    /// Who got it; nobody in particular if everybody did.
    pub to: Option<SessionRef>,
    /// How many files it names.
    pub files: usize,
    /// How many bytes were sent to each.
    pub bytes: usize,
    /// How often: moving about in one file is one entry.
    pub times: usize,
}

impl ProposalRef {
    /// A proposal of an agent whose process is `process`, if that is known.
    pub(super) fn new(
        proposal: &workbench::Proposal,
        process: Option<Arc<AgentProcess>>,
    ) -> ProposalRef {
        ProposalRef {
            peer: SessionRef {
                agent: proposal.agent,
                session: proposal.session.clone(),
                process,
            },
            proposal: proposal.id,
            path: cut_utf16(&proposal.path, LONGEST_PATH).into(),
        }
    }
}

/// The number of the last change to a log, for those who look at it more often than they ask.
#[derive(Clone, Debug, Default)]
pub struct Revision(Arc<AtomicU64>);

impl Revision {
    /// The number at this moment.
    pub fn get(&self) -> u64 {
        self.0.load(Ordering::Acquire)
    }

    /// One more change; its number.
    fn next(&self) -> u64 {
        self.0.fetch_add(1, Ordering::AcqRel) + 1
    }
}

/// The newest entries.
#[derive(Debug, Default)]
pub struct Log {
    entries: VecDeque<LogEntry>,
    number: u64,
    revision: Revision,
}

impl Log {
    /// All entries, newest last.
    pub fn entries(&self) -> impl Iterator<Item = &LogEntry> {
        self.entries.iter()
    }

    /// The number of the last change, to ask with later.
    pub fn revision(&self) -> &Revision {
        &self.revision
    }

    /// What was written or written again after that change, newest last.
    pub fn since(&self, revision: u64) -> impl Iterator<Item = &LogEntry> {
        // Only the newest entry is ever written again, so these are at the end.
        let old = self
            .entries
            .partition_point(|entry| entry.revision <= revision);
        self.entries.range(old..)
    }

    /// How a proposal ended, if that was not too long ago.
    pub(super) fn outcome(&self, id: ProposalId) -> Option<Outcome> {
        self.entries
            .iter()
            .rev()
            .find_map(|entry| match &entry.what {
                LogEvent::Ended(proposal, outcome) if proposal.proposal == id => Some(*outcome),
                _ => None,
            })
    }

    pub(super) fn write(&mut self, at: u64, what: LogEvent) {
        let revision = self.revision.next();
        self.number += 1;
        if self.entries.len() == ENTRIES {
            self.entries.pop_front();
        }
        self.entries.push_back(LogEntry {
            number: self.number,
            at,
            what,
            revision,
        });
    }

    /// A context went out. With `again` it says nearly the same as the one before and is one
    /// entry with it, if nothing happened in between.
    pub(super) fn write_context(&mut self, at: u64, sent: SentContext, again: bool) {
        if again
            && let Some(newest) = self.entries.back_mut()
            && let LogEvent::Context(before) = &mut newest.what
            && before.to == sent.to
        {
            newest.at = at;
            newest.revision = self.revision.next();
            *before = SentContext {
                times: before.times.saturating_add(1),
                ..sent
            };
            return;
        }
        self.write(at, LogEvent::Context(sent));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sent(bytes: usize) -> SentContext {
        SentContext {
            to: None,
            files: 1,
            bytes,
            times: 1,
        }
    }

    /// The log as `number@time times`, of contexts, or `number@time -`.
    fn told<'a>(entries: impl Iterator<Item = &'a LogEntry>) -> Vec<String> {
        let told = entries.map(|entry| match &entry.what {
            LogEvent::Context(sent) => format!("{}@{} {}", entry.number, entry.at, sent.times),
            _ => format!("{}@{} -", entry.number, entry.at),
        });
        told.collect()
    }

    #[test]
    fn contexts_that_say_nearly_the_same_are_one_entry() {
        let mut log = Log::default();
        log.write_context(1, sent(10), true);
        log.write_context(2, sent(11), true);
        log.write_context(3, sent(12), false);
        log.write(4, LogEvent::Paused);
        log.write_context(5, sent(13), true);
        assert_eq!(told(log.entries()), ["1@2 2", "2@3 1", "3@4 -", "4@5 1"]);
    }

    #[test]
    fn a_reader_gets_what_is_new_and_what_was_written_again() {
        let mut log = Log::default();
        log.write(1, LogEvent::Paused);
        log.write_context(2, sent(1), false);
        let seen = log.revision().get();
        assert_eq!(told(log.since(seen)), [""; 0]);
        log.write_context(3, sent(1), true);
        assert_eq!(told(log.since(seen)), ["2@3 2"]);
        log.write(4, LogEvent::Resumed);
        assert_eq!(told(log.since(seen)), ["2@3 2", "3@4 -"]);
        assert_eq!(told(log.since(0)).len(), 3);
    }

    #[test]
    fn the_oldest_entries_go() {
        let mut log = Log::default();
        for at in 0..600 {
            log.write(at, LogEvent::Paused);
        }
        assert_eq!(log.entries().count(), ENTRIES);
        assert_eq!(log.entries().next().unwrap().number, 101);
        assert_eq!(log.since(599).count(), 1);
    }
}
