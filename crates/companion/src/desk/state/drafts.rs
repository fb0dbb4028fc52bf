//! What becomes of a proposal until it is decided: the person edits it, and its file changes.

use std::sync::Arc;

use workbench::{ProposalId, Refusal, Revised, SessionId};

use super::{DraftSource, Event, State};

impl State {
    /// From now on `source` knows the text of this proposal.
    pub fn set_draft_source(&mut self, id: ProposalId, source: DraftSource) {
        if self.proposals.get(id).is_some() {
            let sources = self.draft_sources.entry(id).or_default();
            sources.retain(|known| !known.is_closed() && !known.same_channel(&source));
            sources.push(source);
        }
    }

    /// The front end that knows the text of what the session proposed for `path`: of several, the
    /// last one that is still there.
    pub(crate) fn draft_source(
        &self,
        session: &SessionId,
        path: &str,
    ) -> Option<(ProposalId, DraftSource)> {
        let found = self.proposals.find(session, path)?;
        let mut sources = self.draft_sources.get(&found)?.iter().rev();
        let source = sources.find(|source| !source.is_closed())?;
        Some((found, source.clone()))
    }

    /// What the person typed into a revision of a proposal so far, so that an agent that takes it
    /// back gets that text.
    pub fn set_draft(
        &mut self,
        id: ProposalId,
        revision: u32,
        text: impl Into<Arc<str>>,
    ) -> Result<(), Refusal> {
        let text = text.into();
        self.check_review(text.len())?;
        self.proposals.set_draft(id, revision, text)?;
        self.emit(Event::Drafted(id));
        Ok(())
    }

    /// The file of a proposal has changed: it is reviewed against the present text from now on.
    /// Returns whether it is; it is not if somebody else was first, or if it is over.
    pub fn revise(&mut self, id: ProposalId, revised: Revised) -> Result<bool, Refusal> {
        self.check_review(revised.bytes())?;
        let is_revised = self.proposals.revise(id, revised);
        if is_revised {
            // The next run must not use the number of this revision for other texts.
            self.save_proposal(id);
            self.emit(Event::Revised(id));
        }
        Ok(is_revised)
    }

    /// A command has shown this revision to the person.
    pub fn mark_shown(&mut self, id: ProposalId, revision: u32) {
        self.proposals.mark_shown(id, revision);
    }
}
