//! Proposals and the present text of their files.
//!
//! An agent writes a whole file. If the file has changed since the agent read it, that change would
//! be gone. So a proposal is compared with what is there now (in the file, or in an editor that has
//! unsaved changes) whenever it is shown and before it is accepted, and is reviewed against that.
//! The rules are `workbench`'s; here the text is read.

use companion::desk::Reservation;
use companion::original::{OriginalFile, Unshowable};
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
            let (present, reserved) = self.present(&proposal).await?;
            let revised = off_thread(move || {
                (!proposal.is_against(&present)).then(|| proposal.against(present))
            });
            let Some(revised) = revised.await? else {
                return Ok(());
            };
            // If somebody else was first, what they have made of it is looked at once more.
            let is_revised = self.0.desk.ask(move |state| {
                // From here on the proposal itself counts.
                drop(reserved);
                state.revise(id, revised)
            });
            if is_revised.await?? {
                return Ok(());
            }
        }
        Err(Refusal::Stale.into())
    }

    /// What the person has now for the file of a proposal, and the room that was made for it.
    async fn present(
        &self,
        proposal: &Proposal,
    ) -> Result<(Original, Option<Reservation>), FrontError> {
        let asked = proposal.clone();
        let known = self.0.desk.ask(move |state| {
            let roots = state.workbench().roots().to_vec();
            (state.unsaved(&asked), roots, state.largest_original())
        });
        let (unsaved, roots, limit) = known.await?;
        if let Some(text) = unsaved {
            return Ok((Original::Text(text), None));
        }
        let unreadable = |why: Unshowable| Refusal::Unreadable(why.to_string());
        let path = proposal.path.clone();
        let opened = off_thread(move || OriginalFile::open(&path, &roots, limit)).await?;
        let file = opened.map_err(unreadable)?;
        let (id, place, length) = (proposal.id, file.place().clone(), file.length());
        // The text itself, and the edit that is brought into it.
        let needed = usize::try_from(file.room()).unwrap_or(usize::MAX);
        let needed = needed.saturating_add(proposal.requested.proposed.len());
        let made = self.0.desk.ask(move |state| {
            state.update_place(id, place);
            let reserved = state.reserve_for_review(needed)?;
            Ok::<_, Refusal>((reserved, state.known_originals(length)))
        });
        let (reserved, known) = made.await??;
        let read = off_thread(move || file.read(&known)).await?;
        Ok((read.map_err(unreadable)?, Some(reserved)))
    }
}
