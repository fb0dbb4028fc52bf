//! How things are at one moment.

use std::path::PathBuf;

use companion::desk::{AgentSession, LogEntry, LogEvent, State};
use workbench::{Context, HeldBack, Outcome, Proposal, ProposalId, Reason};

use crate::change::Counts;

/// Files that are held back and named one by one; the rest is only counted.
const MOST_HELD_BACK: usize = 100;

/// Everything at one moment.
#[derive(Clone, Debug)]
pub struct Snapshot {
    /// The number of the last change that is contained in it.
    pub number: u64,
    /// The situation.
    pub overview: Overview,
    /// What happened, newest last.
    pub log: Vec<LogEntry>,
    /// The conversation, if conversations are switched on.
    pub conversation: Option<conversation::Snapshot>,
}

/// The situation at one moment: what `outrigger status` shows.
#[derive(Clone, Debug)]
pub struct Overview {
    /// The folders that are served.
    pub folders: Vec<PathBuf>,
    /// The agents that are connected, oldest first.
    pub agents: Vec<AgentSession>,
    /// What waits for a decision, oldest first.
    pub proposals: Vec<Proposal>,
    /// What agents see, and what they do not.
    pub shared: Shared,
    /// What keeps agents from finding us, in words.
    pub problems: Vec<String>,
}

/// What agents see, and what they do not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shared {
    /// Whether they are told nothing for the time being.
    pub paused: bool,
    /// What they were sent last.
    pub context: Context,
    /// How many bytes that was for each agent.
    pub bytes: usize,
    /// Since when it is so, in Unix milliseconds; absent until something was open.
    pub since: Option<u64>,
    /// How many open files they are not told about, by reason.
    pub held_back: HeldBack,
    /// The newest of these files.
    pub held_back_files: Vec<HeldBackFile>,
}

/// An open file that agents are not told about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeldBackFile {
    /// Where it is.
    pub path: PathBuf,
    /// The rule that holds it back.
    pub reason: Reason,
}

impl Snapshot {
    /// How a proposal ended, as far as the log still knows.
    pub fn outcome(&self, id: ProposalId) -> Option<Outcome> {
        self.log.iter().rev().find_map(|entry| match &entry.what {
            LogEvent::Ended(proposal, outcome) if proposal.proposal == id => Some(*outcome),
            _ => None,
        })
    }
}

impl Overview {
    /// The figures in it.
    pub fn counts(&self) -> Counts {
        Counts {
            pending: self.proposals.len(),
            held_back: self.shared.held_back,
            paused: self.shared.paused,
        }
    }
}

impl Shared {
    pub(crate) fn of(state: &State) -> Shared {
        let published = state.published();
        let files = state.workbench().held_back_files().take(MOST_HELD_BACK);
        Shared {
            paused: state.is_paused(),
            context: published.context,
            bytes: published.bytes,
            since: published.at,
            held_back: state.workbench().held_back(),
            held_back_files: files
                .map(|(path, reason)| HeldBackFile {
                    path: path.to_owned(),
                    reason,
                })
                .collect(),
        }
    }

    pub(crate) fn size(&self) -> usize {
        let files = self.held_back_files.iter();
        self.bytes + files.map(|file| file.path.as_os_str().len()).sum::<usize>()
    }
}
