//! What editors have changed and not saved in files that proposals are about.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use workbench::{Holder, Place, Proposal, Visibility};

use super::{Event, State};
use crate::original;

/// The text of a file in an editor.
pub(super) struct UnsavedText {
    holder: Holder,
    place: Place,
    text: Arc<str>,
}

impl State {
    /// An editor has unsaved changes in a file, or none any more.
    pub fn set_unsaved(&mut self, holder: Holder, place: Place, text: Option<String>) {
        let known = self.unsaved.len();
        self.unsaved
            .retain(|it| it.holder != holder || it.place.path != place.path);
        if text.is_none() && self.unsaved.len() == known {
            return;
        }
        let is_touched = self.touch_proposals(&place);
        // Nobody asks for the text of any other file.
        if let Some(text) = text.filter(|_| is_touched) {
            let text = text.into();
            self.unsaved.push(UnsavedText {
                holder,
                place,
                text,
            });
        }
    }

    /// Forgets the texts of files that no proposal is about any more. Editors report only the others,
    /// so these would be old when the next proposal comes.
    pub(super) fn forget_unsaved(&mut self) {
        if self.unsaved.is_empty() {
            return;
        }
        let paths: Vec<_> = (self.proposals.iter())
            .map(|proposal| self.path_of(proposal))
            .collect();
        self.unsaved
            .retain(|it| paths.iter().any(|path| is_at(&it.place, path)));
    }

    /// The text of a proposal's file in an editor, if it has unsaved changes there: in the one that
    /// was changed last, if there are several. There is none for a file that agents must not see:
    /// they would get to know it with the proposal.
    pub fn unsaved(&self, proposal: &Proposal) -> Option<Arc<str>> {
        let path = self.path_of(proposal);
        let mut unsaved = self.unsaved.iter();
        let found = unsaved.rfind(|it| is_at(&it.place, &path))?;
        if self.workbench.judge(&found.place) != Visibility::Shown {
            return None;
        }
        Some(found.text.clone())
    }

    /// A front end has left: what only it had open is closed, and what it has not saved is lost.
    pub fn leave(&mut self, holder: Holder) {
        self.workbench_mut().leave(holder);
        let lost: Vec<_> = self
            .unsaved
            .extract_if(.., |it| it.holder == holder)
            .collect();
        for lost in lost {
            self.touch_proposals(&lost.place);
        }
    }

    /// Says that the file at this place has changed, if a proposal is about it.
    fn touch_proposals(&mut self, place: &Place) -> bool {
        let touched: Vec<_> = (self.proposals.iter())
            .filter(|proposal| is_at(place, &self.path_of(proposal)))
            .map(|proposal| proposal.id)
            .collect();
        for id in &touched {
            self.emit(Event::Touched(*id));
        }
        !touched.is_empty()
    }

    /// The path of a proposal's file; a relative one is taken from the first folder.
    pub(super) fn path_of(&self, proposal: &Proposal) -> PathBuf {
        original::path(&proposal.path, self.workbench.roots())
    }
}

fn is_at(place: &Place, path: &Path) -> bool {
    place.path == path || place.real == path
}
