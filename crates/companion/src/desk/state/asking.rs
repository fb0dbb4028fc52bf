//! Proposals of those who are no agent's session: they wait for the verdict themselves.

use tokio::sync::oneshot;
use workbench::{Ask, ProposalId, Verdict};

use super::{Event, Happening, State, Why, now};

impl State {
    /// Puts an edit before the person, for somebody who waits for the verdict here. It is not
    /// written down: after a restart, whoever still wants it asks again.
    ///
    /// `None` if too many are waiting already.
    pub fn put_forward(&mut self, ask: Ask) -> Option<(ProposalId, oneshot::Receiver<Verdict>)> {
        if self.askers.len() >= self.limits.proposals_per_session {
            return None;
        }
        let opened = self.proposals.open(ask, now());
        if let Some(replaced) = opened.replaced {
            self.askers.remove(&replaced.id);
            self.close(&replaced, Why::Replaced);
        }
        let (asker, verdict) = oneshot::channel();
        self.askers.insert(opened.id, asker);
        // A number is never used twice, also after a restart.
        self.save_sessions();
        if let Some(proposal) = self.proposals.get(opened.id) {
            self.log.write(now(), Happening::Proposed(proposal.into()));
        }
        self.say(Event::Opened(opened.id));
        Some((opened.id, verdict))
    }

    /// Whoever put this edit forward does not want a verdict any more.
    pub fn take_back(&mut self, id: ProposalId) {
        if self.askers.remove(&id).is_some()
            && let Some(proposal) = self.proposals.revoke(id)
        {
            self.close(&proposal, Why::Withdrawn);
        }
    }
}
