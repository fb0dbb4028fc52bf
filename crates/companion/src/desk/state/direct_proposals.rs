//! Proposals that no agent's session makes: whoever proposes waits for the verdict here.

use tokio::sync::oneshot;
use workbench::{Outcome, ProposalId, ProposalRequest, Verdict};

use super::{Event, LogEvent, ProposeError, State, now};

impl State {
    /// Proposes an edit to the person, for somebody who waits for the verdict here. It is not
    /// written down: after a restart, whoever still wants it proposes it again.
    pub fn propose(
        &mut self,
        ask: ProposalRequest,
    ) -> Result<(ProposalId, oneshot::Receiver<Verdict>), ProposeError> {
        if self.direct_waiters.len() >= self.limits.proposals_per_session {
            return Err(ProposeError::TooMany);
        }
        self.check_proposal(&ask)?;
        let opened = self.proposals.propose(ask, now());
        if let Some(replaced) = opened.replaced {
            self.direct_waiters.remove(&replaced.id);
            self.close(&replaced, Outcome::Replaced);
        }
        let (waiter, verdict) = oneshot::channel();
        self.direct_waiters.insert(opened.id, waiter);
        self.journal.save_counter(self.proposals.next_id());
        if let Some(proposal) = self.proposals.get(opened.id) {
            let about = self.proposal_ref(proposal);
            self.log.write(now(), LogEvent::Proposed(about));
        }
        self.emit(Event::Opened(opened.id));
        Ok((opened.id, verdict))
    }

    /// Whoever proposed this edit does not want a verdict any more.
    pub fn withdraw(&mut self, id: ProposalId) {
        if self.direct_waiters.remove(&id).is_some()
            && let Some(proposal) = self.proposals.withdraw(id)
        {
            self.close(&proposal, Outcome::Withdrawn);
        }
    }
}
