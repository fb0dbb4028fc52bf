//! Edits that the agent asks permission for, in the same review as every other proposal.
//!
//! The request carries the text before and after, so the person can read it as a diff wherever they
//! review. The backend takes a yes or a no and no other text; the proposal says so, and the review
//! does not offer to edit it.

use std::collections::HashMap;

use companion::desk::Desk;
use tokio::sync::oneshot;
use workbench::{
    Agent, Original, ProposalId, ProposalRequest, SessionId, Standing, Texts, Verdict,
    VerdictCapabilities,
};

use crate::backend::Edit;
use crate::requests::{AgentRequest, Reply};

/// A yes is a yes to the agent's own text, also if that is empty.
const CAPABILITIES: VerdictCapabilities = VerdictCapabilities {
    takes_empty_text: true,
    takes_edited_text: false,
};

/// The requests that stand in the review.
#[derive(Debug)]
pub(crate) struct ReviewedEdits {
    desk: Desk,
    /// The proposal that each of them is.
    proposals: HashMap<String, ProposalId>,
}

/// A request that was put into the review, and what its verdict has to become.
#[derive(Debug)]
pub(crate) struct PendingVerdict {
    /// The request's id.
    pub(crate) request: String,
    /// The option that a yes chooses.
    allow: String,
    /// Dropped without a verdict if the request is over before there is one.
    verdict: oneshot::Receiver<Verdict>,
}

impl ReviewedEdits {
    pub(crate) fn new(desk: Desk) -> ReviewedEdits {
        ReviewedEdits {
            desk,
            proposals: HashMap::new(),
        }
    }

    /// Puts a request into the review if it is one edit that can be allowed for this time. Returns the
    /// number of the proposal, and what to wait for if the request is new there.
    pub(crate) async fn open(
        &mut self,
        request: &AgentRequest,
        edits: &[Edit],
        agent: Agent,
    ) -> (Option<u64>, Option<PendingVerdict>) {
        let Some((ask, allow)) = ask(request, edits, agent) else {
            return (None, None);
        };
        if let Some(known) = self.proposals.get(&request.id) {
            return (Some(known.get()), None);
        }
        let proposed = self.desk.ask(move |state| state.propose(ask)).await;
        // If it cannot stand there, it can still be answered in the conversation.
        let Ok(Ok((proposal, verdict))) = proposed else {
            return (None, None);
        };
        self.proposals.insert(request.id.clone(), proposal);
        let pending = PendingVerdict {
            request: request.id.clone(),
            allow,
            verdict,
        };
        (Some(proposal.get()), Some(pending))
    }

    /// A request is over, whoever answered it.
    pub(crate) async fn close(&mut self, request: &str) {
        if let Some(proposal) = self.proposals.remove(request) {
            self.desk.tell(move |state| state.withdraw(proposal)).await;
        }
    }
}

impl PendingVerdict {
    /// What the person decides in the review; `None` if the request is over before they do.
    pub(crate) async fn decided(self) -> Option<Reply> {
        Some(match self.verdict.await.ok()? {
            Verdict::Accepted { .. } => Reply::Option(self.allow),
            Verdict::Rejected => Reply::Decline,
        })
    }
}

/// The edit that a request is about and the option that allows it, if it is about exactly one edit and
/// a plain yes is among the options.
fn ask(request: &AgentRequest, edits: &[Edit], agent: Agent) -> Option<(ProposalRequest, String)> {
    if request.questions.is_some() {
        return None;
    }
    let allow = request.options.allow_once()?.id.clone();
    let [edit] = edits else {
        return None;
    };
    let original =
        (edit.before.as_deref()).map_or(Original::Absent, |text| Original::Text(text.into()));
    let ask = ProposalRequest {
        // Each request is its own: two of them may be about the same file.
        session: SessionId::new(request.id.as_str()),
        agent,
        path: edit.path.clone(),
        texts: Texts::new(original, edit.after.clone()),
        standing: Standing::Open,
        capabilities: CAPABILITIES,
    };
    Some((ask, allow))
}
