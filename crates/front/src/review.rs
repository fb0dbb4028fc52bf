//! Commands about proposals: list, draft, decide.

use companion::desk::{AgentSession, Dispatched, DraftSource};
use workbench::{Decision, Hunk, Proposal, ProposalId, Refusal, Review};

use crate::error::FrontError;
use crate::front::Front;

impl Front {
    /// The pending proposals, oldest first.
    pub async fn proposals(&self) -> Result<Vec<Proposal>, FrontError> {
        let listed = self.0.desk.ask(|state| {
            let proposals: Vec<_> = state.proposals().cloned().collect();
            (proposals, state.receipt())
        });
        let (proposals, receipt) = listed.await?;
        // What the person has seen must survive a crash.
        receipt.written().await;
        Ok(proposals)
    }

    /// A pending proposal.
    pub async fn proposal(&self, id: ProposalId) -> Result<Proposal, FrontError> {
        let found = self.0.desk.ask(move |state| {
            let found = state.proposal(id).cloned();
            (found.ok_or_else(|| state.missing(id)), state.receipt())
        });
        let (found, receipt) = found.await?;
        let proposal = found?;
        receipt.written().await;
        Ok(proposal)
    }

    /// The agents that are here, oldest first.
    pub async fn agents(&self) -> Result<Vec<AgentSession>, FrontError> {
        Ok(self.0.desk.ask(|state| state.sessions()).await?)
    }

    /// Sets the person's edited text. Other front ends show it, and an agent that withdraws the
    /// proposal receives it.
    pub async fn set_draft(&self, id: ProposalId, text: String) -> Result<(), FrontError> {
        let drafted = self.0.desk.ask(move |state| state.set_draft(id, text));
        Ok(drafted.await??)
    }

    /// The same, and says where the text differs from the original, so that all agree on hunks.
    pub async fn compare_draft(
        &self,
        id: ProposalId,
        text: String,
    ) -> Result<Vec<Hunk>, FrontError> {
        let proposal = self.proposal(id).await?;
        self.set_draft(id, text.clone()).await?;
        off_thread(move || hunks(&proposal, &text)).await
    }

    /// From now on `source` has a newer text of the proposal than the last draft.
    pub async fn set_draft_source(
        &self,
        id: ProposalId,
        source: DraftSource,
    ) -> Result<(), FrontError> {
        let set = self
            .0
            .desk
            .ask(move |state| state.set_draft_source(id, source));
        Ok(set.await?)
    }

    /// Decides a proposal. Returns when the decision would survive a crash.
    pub async fn decide(
        &self,
        id: ProposalId,
        decision: Decision,
    ) -> Result<Dispatched, FrontError> {
        let decision = match decision {
            // Merging large texts takes a while, so it must not block the desk.
            Decision::AcceptHunks(hunks) => {
                let texts = self.proposal(id).await?.texts;
                let text = off_thread(move || texts.merge(&hunks)).await?;
                Decision::AcceptText(text.map_err(Refusal::from)?)
            }
            other => other,
        };
        let decided = self
            .0
            .desk
            .ask(move |state| (state.decide(id, decision), state.receipt()));
        let (decided, receipt) = decided.await?;
        let decided = decided?;
        receipt.written().await;
        Ok(decided)
    }
}

/// Where a text that replaces the proposed one differs from the original. It takes a while for
/// large texts.
pub fn hunks(proposal: &Proposal, text: &str) -> Vec<Hunk> {
    let texts = &proposal.texts;
    if text == texts.proposed {
        return texts.review().hunks().to_vec();
    }
    let original = texts.original.text().unwrap_or_default();
    Review::of(original, text).hunks().to_vec()
}

/// Runs work that takes long for large texts on a blocking thread, so that it delays no peer.
pub async fn off_thread<R: Send + 'static>(
    work: impl FnOnce() -> R + Send + 'static,
) -> Result<R, FrontError> {
    let done = tokio::task::spawn_blocking(work).await;
    done.map_err(|_| FrontError::Gone)
}
