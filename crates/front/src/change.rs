//! The changes of the feed.

use std::collections::BTreeMap;

use companion::desk::{AgentSession, LogEntry};
use workbench::{
    Agent, Fault, FileChange, HeldBack, Original, Outcome, Proposal, ProposalId, Reason, SessionId,
    Standing,
};

use crate::service::Editors;
use crate::snapshot::Shared;
use crate::words;

/// What a change is about, for readers that want only some of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Topic {
    /// Proposals, agents, what closes folders to them, and editors.
    Review = 1,
    /// The conversation.
    Conversation = 2,
    /// What agents see, and the log.
    Shared = 4,
    /// The counts of a status line.
    Counts = 8,
}

/// One change. It has the new state, or names what to read again, so receiving it twice does no
/// harm. Only changes of a conversation are increments.
#[derive(Clone, Debug, PartialEq)]
pub enum Change {
    /// An agent proposes something.
    Opened(ProposalSummary),
    /// The file of a proposal has changed; the proposal has new texts.
    Revised(ProposalSummary),
    /// The person changed the text of a proposal.
    Drafted(ProposalId),
    /// A proposal was closed.
    Closed(ProposalId, Outcome),
    /// Agents connected or disconnected; these are connected now.
    Agents(Vec<AgentSession>),
    /// What closes folders to agents has changed; these are the faults now.
    Faults(Vec<Fault>),
    /// Editors joined or left; these are in it now.
    Editors(Editors),
    /// The counts have changed.
    Counts(Counts),
    /// What agents see or what is held back from them has changed.
    Shared(Shared),
    /// The log has a new entry, or an entry was updated.
    Logged(LogEntry),
    /// The conversation has changed.
    Conversation(conversation::Change),
}

/// What lists of proposals show. It holds no file content, because the feed keeps it for a while.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProposalSummary {
    /// Its number.
    pub id: ProposalId,
    /// The path as the agent sent it.
    pub path: String,
    /// The agent.
    pub agent: Agent,
    /// Who it is, for people.
    pub who: String,
    /// The session that sent the request and receives the verdict.
    pub session: SessionId,
    /// When the request arrived, in Unix milliseconds.
    pub opened_at: u64,
    /// Whether the file does not exist yet.
    pub new_file: bool,
    /// How many hunks it has.
    pub hunks: usize,
    /// Counts up whenever the file has changed and the proposal has new texts.
    pub revision: u32,
    /// What has become of the file since the agent read it, if anything.
    pub file_change: Option<FileChange>,
    /// How many places of the text are in conflict with that.
    pub conflicts: usize,
    /// How many lines they add; a changed line is added and removed.
    pub added: usize,
    /// How many lines they remove.
    pub removed: usize,
    /// Whether another text, or some of the hunks, can be accepted.
    pub editable: bool,
    /// Why its file is kept from agents, if it is: then it is accepted whole or not at all.
    pub withheld: Option<Reason>,
    /// Why it can only be decided in the agent's terminal, if so.
    pub terminal_only: Option<String>,
}

impl ProposalSummary {
    /// Summarises proposals; `agents` has the agents that made them, except for the chat. It may
    /// have to compare the texts, which takes a while for large ones.
    pub fn all(proposals: &[Proposal], agents: &[AgentSession]) -> Vec<ProposalSummary> {
        let agents: BTreeMap<_, _> = agents.iter().map(|agent| (&agent.id, agent)).collect();
        let agent_of = |proposal: &Proposal| agents.get(&proposal.session).copied();
        let proposals = proposals.iter();
        proposals
            .map(|proposal| Self::of(proposal, agent_of(proposal)))
            .collect()
    }

    /// Summarises one; `agent` is the agent that made it, unless it is of the chat.
    pub fn of(proposal: &Proposal, agent: Option<&AgentSession>) -> ProposalSummary {
        let review = proposal.texts.review();
        ProposalSummary {
            id: proposal.id,
            path: proposal.path.clone(),
            agent: proposal.agent,
            who: words::who(proposal.agent, agent),
            session: proposal.session.clone(),
            opened_at: proposal.opened_at,
            new_file: proposal.texts.original == Original::Absent,
            hunks: review.hunks().len(),
            added: review.added(),
            removed: review.removed(),
            revision: proposal.revision,
            file_change: proposal.file_change,
            conflicts: proposal.conflicts(),
            editable: proposal.takes_edited_text(),
            withheld: proposal.withheld(),
            terminal_only: match &proposal.standing {
                Standing::Open => None,
                Standing::TerminalOnly(why) => Some(why.clone()),
            },
        }
    }
}

/// Who makes a proposal, for people; `agents` has the agent, unless it is of the chat.
pub fn who(proposal: &Proposal, agents: &[AgentSession]) -> String {
    let session = agents.iter().find(|it| it.id == proposal.session);
    words::who(proposal.agent, session)
}

/// The counts of a status line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Pending proposals.
    pub pending: usize,
    /// Open files that are held back from agents, by reason.
    pub held_back: HeldBack,
    /// Whether nothing is shared with agents for the time being.
    pub paused: bool,
}

impl Change {
    /// The topic by which readers filter.
    pub fn topic(&self) -> Topic {
        match self {
            Change::Opened(_)
            | Change::Revised(_)
            | Change::Drafted(_)
            | Change::Closed(..)
            | Change::Agents(_)
            | Change::Faults(_)
            | Change::Editors(_) => Topic::Review,
            Change::Counts(_) => Topic::Counts,
            Change::Shared(_) | Change::Logged(_) => Topic::Shared,
            Change::Conversation(_) => Topic::Conversation,
        }
    }

    /// An estimate of its size in bytes, always the same for the same change.
    pub(crate) fn size(&self) -> usize {
        /// A change without any text.
        const OVERHEAD: usize = 256;
        OVERHEAD
            + match self {
                Change::Opened(summary) | Change::Revised(summary) => {
                    summary.path.len() + summary.who.len()
                }
                Change::Agents(agents) => agents.len() * OVERHEAD,
                Change::Faults(faults) => {
                    let text = |fault: &Fault| fault.source.len() + fault.message.len();
                    faults.iter().map(text).sum()
                }
                Change::Editors(editors) => (editors.joined.iter())
                    .map(|editor| OVERHEAD + editor.name.len())
                    .sum(),
                Change::Shared(shared) => shared.size(),
                Change::Conversation(change) => change.size(),
                Change::Drafted(_) | Change::Closed(..) | Change::Counts(_) | Change::Logged(_) => {
                    0
                }
            }
    }
}
