//! Proposals for files that are kept from agents.
//!
//! An agent may propose an edit of any file. If it is one that agents must not see, only the agent's
//! own text can be accepted, because any other tells the agent what is in the file. The rule is the
//! core's (`Proposal::takes_edited_text`); here each proposal gets to know whether it holds.

use workbench::{Place, Proposal, ProposalId};

use super::{Event, State};

impl State {
    /// The file of a proposal is there, with links resolved. Returns whether agents may know it in
    /// another way than it was thought.
    pub(crate) fn set_place(&mut self, id: ProposalId, place: Place) -> bool {
        if self.proposals.get(id).is_none() {
            return false;
        }
        let visibility = self.workbench.judge(&place);
        self.places.insert(id, place);
        self.proposals.set_visibility(id, visibility)
    }

    /// The same, for a proposal that front ends know already.
    pub fn update_place(&mut self, id: ProposalId, place: Place) {
        if self.set_place(id, place) {
            self.emit(Event::Revised(id));
        }
    }

    /// Other rules decide what is shared: every proposal is judged again.
    pub(super) fn judge_proposals(&mut self) {
        let judged = self.proposals.iter().map(|proposal| {
            let place = self.place_of(proposal);
            (proposal.id, self.workbench.judge(&place))
        });
        for (id, visibility) in judged.collect::<Vec<_>>() {
            if self.proposals.set_visibility(id, visibility) {
                self.emit(Event::Revised(id));
            }
        }
    }

    fn place_of(&self, proposal: &Proposal) -> Place {
        let known = self.places.get(&proposal.id).cloned();
        known.unwrap_or_else(|| Place::direct(self.path_of(proposal)))
    }
}
