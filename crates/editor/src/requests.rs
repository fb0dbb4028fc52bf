//! Requests of ours that the editor has not answered yet.

use std::collections::BTreeMap;

use companion::desk::Draft;
use serde::Serialize;
use tokio::sync::oneshot;
use workbench::ProposalId;

use crate::rpc::Outgoing;

/// Requests that may be open at once. An editor that never answers must not make us remember for
/// ever, so beyond this the oldest are given up.
const MOST: usize = 1024;

/// What a request of ours was for.
#[derive(Debug)]
pub(crate) enum Purpose {
    /// Show a proposal natively.
    OpenProposal(ProposalId),
    /// Say what the person has made of this revision of a proposal, which has new texts.
    ReviseProposal(ProposalId, u32),
    /// Stop showing a proposal.
    CloseProposal,
    /// The same, and say what the person has made of this revision, for whoever wants to know.
    TakeDraft(u32, oneshot::Sender<Draft>),
    /// Ask the person with buttons about a proposal.
    DecideProposal(ProposalId),
    /// Ask the person with buttons about a request of the conversation.
    AnswerRequest {
        /// The request.
        request: String,
        /// The title of each button, and the option that it stands for.
        options: Vec<(String, String)>,
    },
    /// The answer does not matter.
    Nothing,
}

/// Requests of ours that the editor has not answered yet, by number.
#[derive(Debug, Default)]
pub(crate) struct PendingRequests {
    pending: BTreeMap<u64, Purpose>,
    newest: u64,
}

impl PendingRequests {
    /// Asks the editor; returns the message and its number.
    pub(crate) fn add(
        &mut self,
        method: &'static str,
        params: &impl Serialize,
        purpose: Purpose,
    ) -> (Outgoing, u64) {
        if self.pending.len() >= MOST {
            self.pending.pop_first();
        }
        self.newest += 1;
        self.pending.insert(self.newest, purpose);
        let message = Outgoing::request(self.newest, method, params);
        (message, self.newest)
    }

    /// The editor answered: what it was asked for.
    pub(crate) fn answered(&mut self, number: u64) -> Option<Purpose> {
        self.pending.remove(&number)
    }

    /// Takes a request back that needs no answer any more.
    pub(crate) fn cancel(&mut self, number: u64) -> Option<Outgoing> {
        self.pending.remove(&number)?;
        let params = serde_json::json!({ "id": number });
        Some(Outgoing::notification("$/cancelRequest", &params))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_editor_that_never_answers_is_not_remembered_for_ever() {
        let mut requests = PendingRequests::default();
        for _ in 0..=MOST {
            requests.add("m", &(), Purpose::Nothing);
        }
        assert!(requests.answered(1).is_none(), "the oldest is given up");
        assert!(requests.answered(2).is_some());
        assert!(requests.answered(2).is_none(), "an answer counts once");
        assert!(requests.cancel(3).is_some());
        assert!(requests.cancel(3).is_none());
        assert_eq!(requests.pending.len(), MOST - 2);
    }
}
