//! A proposal whose file has changed since the agent read it.
//!
//! The agent would write a text that it has made from an older one, and what was
//! changed in the meantime would be gone. So the proposal is reviewed against the
//! present text: the agent's edit is brought into it, and where that is not
//! possible the person is asked. Each time the file changes the proposal gets a
//! new *revision*. A decision names the revision that the person has seen.

use std::sync::Arc;

use crate::text::same_but_for_form;
use crate::three_way::{self, Markers};
use crate::{Original, Proposal, Texts};

/// How many earlier revisions are kept for front ends that still show one.
const MOST_EARLIER: usize = 2;

/// What has become of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileChange {
    /// Its text is another one.
    Changed,
    /// It was not there before.
    Created,
    /// It is not there any more.
    Deleted,
}

/// A proposal against another text of its file, made by [`Proposal::against`].
#[derive(Debug)]
pub struct Revised {
    /// The revision that it was made from.
    from: u32,
    texts: Arc<Texts>,
    file_change: Option<FileChange>,
    markers: Option<Markers>,
    draft: Option<Arc<str>>,
}

/// The texts of earlier revisions, newest last.
#[derive(Clone, Debug, Default)]
pub(crate) struct EarlierTexts(Vec<(u32, Arc<Texts>)>);

impl EarlierTexts {
    fn add(&mut self, revision: u32, texts: Arc<Texts>) {
        if self.0.len() >= MOST_EARLIER {
            self.0.remove(0);
        }
        self.0.push((revision, texts));
    }

    fn get(&self, revision: u32) -> Option<&Texts> {
        let mut all = self.0.iter();
        let (_, texts) = all.find(|(number, _)| *number == revision)?;
        Some(texts)
    }
}

impl Proposal {
    /// Whether it is reviewed against this text already. A difference of form alone (see `Form`) is
    /// none: agents normalise what they read, and convert back when they write.
    pub fn is_against(&self, present: &Original) -> bool {
        same(&self.texts.original, present)
    }

    /// The same proposal against the present text, with the person's draft if there is one. It
    /// compares large texts, so call it where blocking does no harm.
    pub fn against(&self, present: Original) -> Revised {
        let requested = &self.requested;
        let Some(change) = change(&requested.original, &present) else {
            let draft = self.draft_against(&requested.original, self.markers);
            let is_marked =
                |it: &Markers| draft.as_deref().is_some_and(|draft| it.count(draft) > 0);
            return Revised {
                from: self.revision,
                texts: requested.clone(),
                file_change: None,
                // What the person has left unresolved does not become right by itself.
                markers: self.markers.filter(is_marked),
                draft,
            };
        };
        let base = requested.original.text().unwrap_or_default();
        let merged =
            (present.text()).map(|present| three_way::merge(base, present, &requested.proposed));
        let (proposed, markers) = match merged {
            Some(merged) => (merged.text, Some(merged.markers)),
            // There is nothing to bring the edit into: it would make the file anew.
            None => (requested.proposed.clone(), None),
        };
        Revised {
            from: self.revision,
            draft: self.draft_against(&present, markers),
            file_change: Some(change),
            markers,
            texts: Arc::new(Texts::new(present, proposed)),
        }
    }

    /// Brings a text that the person has made of an earlier revision into the present one; `None`
    /// if that revision is too old. It compares large texts.
    pub fn bring_forward(&self, revision: u32, text: &str) -> Option<String> {
        if revision == self.revision {
            return Some(text.to_owned());
        }
        let earlier = self.earlier.get(revision)?;
        if *text == earlier.proposed {
            return Some(self.texts.proposed.clone());
        }
        let (from, to) = (&earlier.original, &self.texts.original);
        Some(bring(text, from, to, self.markers))
    }

    /// How many places of the current text are in conflict with what was changed in the meantime.
    pub fn conflicts(&self) -> usize {
        self.conflicts_in(self.current())
    }

    pub(crate) fn conflicts_in(&self, text: &str) -> usize {
        self.markers.map_or(0, |markers| markers.count(text))
    }

    /// Takes over a revision that was made from the present one.
    pub(crate) fn apply(&mut self, revised: Revised) -> bool {
        if revised.from != self.revision {
            return false;
        }
        let before = std::mem::replace(&mut self.texts, revised.texts);
        self.earlier.add(self.revision, before);
        self.revision += 1;
        self.file_change = revised.file_change;
        self.markers = revised.markers;
        let proposed = &self.texts.proposed;
        self.draft = revised.draft.filter(|draft| **draft != **proposed);
        true
    }

    /// The draft, brought into another text of the file.
    fn draft_against(&self, to: &Original, markers: Option<Markers>) -> Option<Arc<str>> {
        let draft = self.draft.as_deref()?;
        Some(bring(draft, &self.texts.original, to, markers).into())
    }
}

/// Brings what was made of one text of a file into another one.
fn bring(made: &str, from: &Original, to: &Original, markers: Option<Markers>) -> String {
    let (from, to) = (
        from.text().unwrap_or_default(),
        to.text().unwrap_or_default(),
    );
    let markers = markers.unwrap_or_else(|| Markers::foreign_to(&[from, to, made]));
    three_way::merge_with(markers, from, to, made).text
}

/// What has become of a file, if anything.
fn change(before: &Original, now: &Original) -> Option<FileChange> {
    if same(before, now) {
        return None;
    }
    Some(match (before, now) {
        (Original::Absent, _) => FileChange::Created,
        (_, Original::Absent) => FileChange::Deleted,
        (Original::Text(_), Original::Text(_)) => FileChange::Changed,
    })
}

fn same(a: &Original, b: &Original) -> bool {
    match (a, b) {
        (Original::Absent, Original::Absent) => true,
        (Original::Text(a), Original::Text(b)) => same_but_for_form(a, b),
        // The daemon says that a file that does not exist has an empty text. Nothing can be lost
        // of either.
        (Original::Absent, Original::Text(text)) | (Original::Text(text), Original::Absent) => {
            text.is_empty()
        }
    }
}

#[cfg(test)]
mod tests;
