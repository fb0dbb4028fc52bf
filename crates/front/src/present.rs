//! Proposals and the present text of their files.
//!
//! An agent writes a whole file. If the file has changed since the agent read it, that change would
//! be gone. So a proposal is compared with what is there now (in the file, or in an editor that has
//! unsaved changes) whenever it is shown and before it is accepted, and is reviewed against that.
//! The rules are `workbench`'s; here the text is read.

use companion::original;
use workbench::{Original, Proposal, ProposalId, Refusal, Standing};

use crate::error::FrontError;
use crate::front::Front;
use crate::review::off_thread;

/// How often the file or the person's draft may change while the proposal is made new for it.
const TRIES: usize = 10;

impl Front {
    /// Makes sure that a proposal is reviewed against the present text of its file. An error if
    /// that text cannot be read; the proposal then stays as it is.
    pub(crate) async fn refresh(&self, id: ProposalId) -> Result<(), FrontError> {
        for _ in 0..TRIES {
            let found = self.0.desk.ask(move |state| {
                let found = state.proposal(id).cloned();
                found.ok_or_else(|| state.missing(id))
            });
            let proposal = found.await??;
            if proposal.standing != Standing::Open {
                return Ok(());
            }
            let present = self.present(&proposal).await?;
            let revised = off_thread(move || {
                (!proposal.is_against(&present)).then(|| proposal.against(present))
            });
            let Some(revised) = revised.await? else {
                return Ok(());
            };
            // If somebody else was first, what they have made of it is looked at once more.
            let is_revised = self.0.desk.ask(move |state| state.revise(id, revised));
            if is_revised.await? {
                return Ok(());
            }
        }
        Err(Refusal::Stale.into())
    }

    /// What the person has now for the file of a proposal.
    async fn present(&self, proposal: &Proposal) -> Result<Original, FrontError> {
        let asked = proposal.clone();
        let known = self.0.desk.ask(move |state| {
            let roots = state.workbench().roots().to_vec();
            (state.unsaved(&asked), roots, state.largest_original())
        });
        let (unsaved, roots, limit) = known.await?;
        if let Some(text) = unsaved {
            return Ok(Original::Text(text.as_ref().to_owned()));
        }
        let path = proposal.path.clone();
        let read = off_thread(move || original::read(&path, &roots, limit)).await?;
        Ok(read.map_err(|why| Refusal::Unreadable(why.to_string()))?)
    }
}
