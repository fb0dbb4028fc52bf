//! Edits that the daemon asks leave for, in the same review as every other proposal.
//!
//! The request carries the text before and after, so the person can read it as a diff wherever they
//! review. The daemon takes a yes or a no and no other text; the proposal says so, and the review
//! does not offer to edit it.

use std::collections::HashMap;

use daemon::connection::{Answer, Request};
use daemon::wire::{OptionKind, RequestId, ToolContent};
use workbench::{Agent, Ask, Original, ProposalId, SessionId, Standing, Texts, Traits, Verdict};

use crate::host::{Chat, lock};

/// A yes is a yes to the daemon's own text, also if that is empty.
const TRAITS: Traits = Traits {
    takes_empty_text: true,
    takes_edited_text: false,
};

/// The requests that stand in the review, and as what.
pub(crate) type Reviewed = HashMap<RequestId, ProposalId>;

impl Chat {
    /// Puts a request into the review if it is one edit that can be allowed for this time, and tells
    /// as what it stands there.
    pub(crate) async fn review(&self, request: &Request) -> Option<u64> {
        let ask = ask(request)?;
        if let Some(known) = lock(&self.0.reviewed).get(&request.id) {
            return Some(known.get());
        }
        let put = self.0.desk.ask(move |state| state.put_forward(ask)).await;
        // If it cannot stand there, it can still be answered in the conversation.
        let (proposal, verdict) = put.ok().flatten()?;
        let id = request.id.clone();
        lock(&self.0.reviewed).insert(id.clone(), proposal);
        let (connection, board) = (self.0.connection.clone(), self.0.board.clone());
        tokio::spawn(async move {
            // Dropped without a verdict: it was taken back.
            let Ok(verdict) = verdict.await else { return };
            let answer = match verdict {
                Verdict::Accepted { .. } => Answer::Allow,
                Verdict::Rejected => Answer::Decline,
            };
            if let Err(error) = connection.answer(&id, &answer).await {
                tracing::warn!(%error, "a decision of the review did not reach the daemon");
                board.note("A decision did not reach the daemon. Please answer it here.");
            }
        });
        Some(proposal.get())
    }

    /// A request is over, whoever answered it.
    pub(crate) fn end_review(&self, request: &RequestId) {
        if let Some(proposal) = lock(&self.0.reviewed).remove(request) {
            self.0.desk.tell(move |state| state.take_back(proposal));
        }
    }
}

/// The edit that a request is about, if it is about exactly one and a plain yes is among the options.
fn ask(request: &Request) -> Option<Ask> {
    let allows = |kind: &OptionKind| *kind == OptionKind::AllowOnce;
    let can_be_allowed = request
        .options
        .iter()
        .any(|option| option.kind.as_ref().is_some_and(allows));
    if request.questions.is_some() || !can_be_allowed {
        return None;
    }
    let mut diffs = request.content.iter().filter_map(ToolContent::as_diff);
    let (diff, None) = (diffs.next()?, diffs.next()) else {
        return None;
    };
    let original = diff
        .old_text
        .map_or(Original::Absent, |text| Original::Text(text.to_owned()));
    Some(Ask {
        // Each request is its own: two of them may be about the same file.
        session: SessionId::new(request.id.as_str()),
        agent: Agent::Qwen,
        path: diff.path.to_owned(),
        texts: Texts::new(original, diff.new_text.to_owned()),
        standing: Standing::Open,
        traits: TRAITS,
    })
}
