//! One step from a snapshot to the next.

use companion::desk::{AgentSession, LogEntry};
use workbench::{Agent, HeldBack, Original, Outcome, Proposal, ProposalId, SessionId, Standing};

use crate::snapshot::Shared;

/// What a change is about, for readers that want only some of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Topic {
    /// Proposals and agents.
    Review = 1,
    /// The conversation.
    Conversation = 2,
    /// What agents see, and what happened.
    Shared = 4,
    /// The figures of a status line.
    Counts = 8,
}

/// One change. It says how things are now, so that to hear it twice does no harm; only changes of a
/// conversation build on each other.
#[derive(Clone, Debug, PartialEq)]
pub enum Change {
    /// An agent proposes something.
    Opened(ProposalSummary),
    /// The person changed the text of a proposal.
    Drafted(ProposalId),
    /// A proposal is over.
    Closed(ProposalId, Outcome),
    /// Agents came or went; these are here now.
    Agents(Vec<AgentSession>),
    /// The figures are others now.
    Counts(Counts),
    /// Agents see something else, or are kept from something else.
    Shared(Shared),
    /// Something happened, or an entry of the log was brought up to date.
    Logged(LogEntry),
    /// The conversation went on.
    Conversation(conversation::Change),
}

/// What lists of proposals show. It holds no text of a file, because the feed keeps it for a while.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProposalSummary {
    /// The number by which it is named.
    pub id: ProposalId,
    /// The path as the agent sent it.
    pub path: String,
    /// The agent.
    pub agent: Agent,
    /// The session that asked and gets the verdict.
    pub session: SessionId,
    /// When the agent asked, in Unix milliseconds.
    pub opened_at: u64,
    /// Whether the file does not exist yet.
    pub new_file: bool,
    /// How many hunks it has.
    pub hunks: usize,
    /// Whether another text, or some of the hunks, can be accepted.
    pub editable: bool,
    /// Why it can only be decided in the agent's terminal, if so.
    pub terminal_only: Option<String>,
}

impl ProposalSummary {
    /// Sums a proposal up. It may have to compare the texts, which takes a while for large ones.
    pub fn of(proposal: &Proposal) -> ProposalSummary {
        ProposalSummary {
            id: proposal.id,
            path: proposal.path.clone(),
            agent: proposal.agent,
            session: proposal.session.clone(),
            opened_at: proposal.opened_at,
            new_file: proposal.texts.original == Original::Absent,
            hunks: proposal.texts.review().hunks().len(),
            editable: proposal.traits.takes_edited_text,
            terminal_only: match &proposal.standing {
                Standing::Open => None,
                Standing::TerminalOnly(why) => Some(why.clone()),
            },
        }
    }
}

/// The figures of a status line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Proposals that wait for a decision.
    pub pending: usize,
    /// Open files that agents are not told about, by reason.
    pub held_back: HeldBack,
    /// Whether agents are told nothing for the time being.
    pub paused: bool,
}

impl Change {
    /// What it is about.
    pub fn topic(&self) -> Topic {
        match self {
            Change::Opened(_) | Change::Drafted(_) | Change::Closed(..) | Change::Agents(_) => {
                Topic::Review
            }
            Change::Counts(_) => Topic::Counts,
            Change::Shared(_) | Change::Logged(_) => Topic::Shared,
            Change::Conversation(_) => Topic::Conversation,
        }
    }

    /// About how many bytes it takes, always the same for the same change.
    pub(crate) fn size(&self) -> usize {
        /// A change without any text.
        const OVERHEAD: usize = 256;
        OVERHEAD
            + match self {
                Change::Opened(summary) => summary.path.len(),
                Change::Agents(agents) => agents.len() * OVERHEAD,
                Change::Shared(shared) => shared.size(),
                Change::Conversation(change) => change.size(),
                Change::Drafted(_) | Change::Closed(..) | Change::Counts(_) | Change::Logged(_) => {
                    0
                }
            }
    }
}
