//! Commands about proposals: list, draft, decide.

use companion::desk::{AgentSession, Dispatched, Draft, DraftSource, State};
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
        receipt.settled().await;
        Ok(proposals)
    }

    /// A pending proposal, against the present text of its file if that can be read.
    pub async fn proposal(&self, id: ProposalId) -> Result<Proposal, FrontError> {
        match self.refresh(id).await {
            Ok(()) | Err(FrontError::Refused(Refusal::Unreadable(_) | Refusal::NoRoom)) => {}
            Err(error) => return Err(error),
        }
        self.proposal_as_it_is(id).await
    }

    async fn proposal_as_it_is(&self, id: ProposalId) -> Result<Proposal, FrontError> {
        let found = self.0.desk.ask(move |state| {
            let found = state.proposal(id).cloned();
            (found.ok_or_else(|| state.missing(id)), state.receipt())
        });
        let (found, receipt) = found.await?;
        let proposal = found?;
        receipt.settled().await;
        Ok(proposal)
    }

    /// The agents that are here, oldest first.
    pub async fn agents(&self) -> Result<Vec<AgentSession>, FrontError> {
        Ok(self.0.desk.ask(|state| state.sessions()).await?)
    }

    /// Sets the person's edited text. Other front ends show it, and an agent that withdraws the
    /// proposal receives it.
    pub async fn set_draft(&self, id: ProposalId, draft: Draft) -> Result<(), FrontError> {
        Ok(self.0.desk.set_draft(id, draft).await??)
    }

    /// The same, and says where the text differs from the original, so that all agree on hunks.
    pub async fn compare_draft(
        &self,
        id: ProposalId,
        draft: Draft,
    ) -> Result<Vec<Hunk>, FrontError> {
        self.set_draft(id, draft).await?;
        let proposal = self.proposal_as_it_is(id).await?;
        off_thread(move || hunks(&proposal, proposal.current())).await
    }

    /// A command has shown this revision of a proposal to the person.
    pub async fn mark_shown(&self, id: ProposalId, revision: u32) {
        let shown = move |state: &mut State| state.mark_shown(id, revision);
        self.0.desk.tell(shown).await;
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

    /// Decides a proposal. Returns when the decision would survive a crash, or says why it would not.
    ///
    /// `seen` is the revision that the person had in front of them; without it, the last one that
    /// a command has shown. If the file is not what they have seen, nothing is accepted.
    pub async fn decide(
        &self,
        id: ProposalId,
        decision: Decision,
        seen: Option<u32>,
    ) -> Result<Dispatched, FrontError> {
        if decision != Decision::Reject {
            self.refresh(id).await?;
        }
        let decision = match decision {
            // Merging large texts takes a while, so it must not block the desk.
            Decision::AcceptHunks(hunks) => {
                let proposal = self.proposal_as_it_is(id).await?;
                if seen.is_some_and(|seen| seen != proposal.revision) {
                    return Err(Refusal::Stale.into());
                }
                let texts = proposal.texts;
                let text = off_thread(move || texts.merge(&hunks)).await?;
                Decision::AcceptText(text.map_err(Refusal::from)?)
            }
            other => other,
        };
        let decided = self
            .0
            .desk
            .ask(move |state| (state.decide(id, decision, seen), state.receipt()));
        let (decided, receipt) = decided.await?;
        let mut decided = decided?;
        decided.unsaved = receipt.written().await.err();
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
