//! What the front says, in the words of the protocol.

use companion::desk::AgentSession;
use front::{Counts, FrontError, NoConversation, words};
use workbench::{Fault, Hunk, Outcome, Proposal, ProposalId};

use crate::rpc::{self, ResponseError};
use crate::{uri, wire};

/// A proposal as plugins see it. It may have to compare the texts, which takes a while for large
/// ones.
pub(crate) fn proposal(proposal: &Proposal, who: String, dirty: bool) -> wire::Proposal {
    let draft = proposal.draft.as_deref();
    let review = proposal.texts.review();
    wire::Proposal {
        id: proposal.id.get(),
        path: proposal.path.clone(),
        uri: uri::from_path(proposal.path.as_ref()),
        agent: proposal.agent.to_string(),
        who,
        session: proposal.session.to_string(),
        original: proposal.texts.original.text().map(str::to_owned),
        proposed: proposal.current().to_owned(),
        hunks: hunks(review.hunks()),
        draft_hunks: draft.map(|draft| hunks(&front::hunks(proposal, draft))),
        added: review.added(),
        removed: review.removed(),
        dirty,
        editable: proposal.takes_edited_text(),
        withheld: proposal.withheld().map(words::withheld),
        revision: proposal.revision,
        stale: (proposal.file_change).map(|change| words::stale(change, proposal.conflicts())),
        conflicts: Some(proposal.conflicts()).filter(|conflicts| *conflicts > 0),
    }
}

pub(crate) fn hunks(hunks: &[Hunk]) -> Vec<::wire::Hunk> {
    hunks.iter().map(::wire::Hunk::from).collect()
}

/// That the proposal for the file at `path` is over.
pub(crate) fn close(id: ProposalId, path: &str, outcome: Option<Outcome>) -> wire::Close {
    wire::Close {
        id: id.get(),
        outcome: outcome.map(Outcome::as_str),
        message: words::closed(path, outcome),
    }
}

/// Who is connected and what is pending.
pub(crate) fn status(agents: &[AgentSession], counts: Counts, faults: &[Fault]) -> wire::Status {
    let connected = agents.iter().map(|session| wire::ConnectedAgent {
        name: session.agent.to_string(),
        label: words::label(session),
        version: session.process.as_ref().and_then(|it| it.version.clone()),
        connected: session.streaming,
        presence: session.presence.as_str(),
        note: words::note(session),
    });
    wire::Status {
        agents: connected.collect(),
        pending: counts.pending,
        held_back: counts.held_back.total(),
        paused: counts.paused,
        faults: faults.iter().map(::wire::Fault::from).collect(),
        summary: words::summary(agents, counts, faults),
        short: words::short(agents, counts, faults),
    }
}

/// Why a request failed.
pub(crate) fn error(error: FrontError) -> ResponseError {
    let message = match error {
        FrontError::Conversation(trouble) => match trouble.hint {
            Some(hint) => format!("{}; {hint}", trouble.why),
            None => trouble.why,
        },
        FrontError::NoConversation(NoConversation::Off) => {
            "conversations with a daemon are switched off; switch on the option `daemon` of the \
             editor's plugin, or set `enabled = true` in the table [daemon] of the configuration"
                .into()
        }
        other => other.to_string(),
    };
    ResponseError::new(rpc::REQUEST_FAILED, message)
}
