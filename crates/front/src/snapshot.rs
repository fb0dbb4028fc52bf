//! The complete state at one moment.

use std::path::PathBuf;

use companion::desk::{AgentSession, LogEntry, LogEvent, State};
use workbench::{Context, Fault, HeldBack, Outcome, Proposal, ProposalId, Reason};

use crate::change::Counts;
use crate::service::Editors;

/// How many held-back files are listed by name; the rest is only counted.
const MOST_HELD_BACK: usize = 100;

/// The complete state at one moment.
#[derive(Clone, Debug)]
pub struct Snapshot {
    /// The number of the last change that is contained in it.
    pub number: u64,
    /// Folders, agents, proposals and what is shared.
    pub overview: Overview,
    /// The log, newest entry last.
    pub log: Vec<LogEntry>,
    /// The conversation, if conversations are switched on.
    pub conversation: Option<conversation::Snapshot>,
}

/// What `outrigger status` shows.
#[derive(Clone, Debug)]
pub struct Overview {
    /// The folders that are served.
    pub folders: Vec<PathBuf>,
    /// The agents that are connected, oldest first.
    pub agents: Vec<AgentSession>,
    /// The pending proposals, oldest first.
    pub proposals: Vec<Proposal>,
    /// What agents see, and what they do not.
    pub shared: Shared,
    /// What closes folders to agents: nothing of them is shared until it is mended.
    pub faults: Vec<Fault>,
    /// The editors that are in it.
    pub editors: Editors,
    /// What keeps agents from finding the companion, in words.
    pub problems: Vec<String>,
}

/// What agents see, and what they do not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shared {
    /// Whether nothing is shared for the time being.
    pub paused: bool,
    /// The last context that was sent to them.
    pub context: Context,
    /// The size of that message in bytes.
    pub bytes: usize,
    /// When it was sent, in Unix milliseconds; absent until a file was open.
    pub since: Option<u64>,
    /// How many open files are held back from them, by reason.
    pub held_back: HeldBack,
    /// The newest of these files, at most 100.
    pub held_back_files: Vec<HeldBackFile>,
}

/// An open file that is held back from agents.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeldBackFile {
    /// The path as the person sees it.
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
    /// The counts of a status line.
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
