//! A proposal whose file has changed since the agent read it.
//!
//! The agent would write a text that it has made from an older one, and what was
//! changed in the meantime would be gone. So the proposal is reviewed against the
//! present text: the agent's edit is brought into it, and where that is not
//! possible the person is asked. Each time the file changes the proposal gets a
//! new *revision*. A decision names the revision that the person has seen.

use std::sync::Arc;

use crate::text::same_but_for_form;
use crate::three_way;
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
    /// The person's draft as it was, and in the new texts.
    draft_before: Option<Arc<str>>,
    draft: Option<Arc<str>>,
}

impl Revised {
    /// How many bytes it adds to its proposal at most.
    pub fn bytes(&self) -> usize {
        self.texts.bytes() + self.draft.as_deref().map_or(0, str::len)
    }
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

    /// How many bytes they take, apart from the texts of the request.
    pub(crate) fn bytes(&self, requested: &Arc<Texts>) -> usize {
        let own = self.0.iter().map(|(_, texts)| texts);
        let own = own.filter(|texts| !Arc::ptr_eq(texts, requested));
        own.map(|texts| texts.bytes()).sum()
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
        let file_change = change(&requested.original, &present);
        let draft = (self.draft.as_deref())
            .map(|draft| self.bring(draft, &self.texts.original, &present).into());
        let base = requested.original.text().unwrap_or_default();
        let texts = match (file_change, present.text()) {
            (None, _) => requested.clone(),
            (Some(_), Some(now)) => {
                let merged = three_way::merge(base, now, &requested.proposed);
                Arc::new(Texts::new(present, merged))
            }
            // There is nothing to bring the edit into: it would make the file anew.
            (Some(_), None) => Arc::new(Texts::new(present, requested.proposed.clone())),
        };
        Revised {
            from: self.revision,
            texts,
            file_change,
            draft_before: self.draft.clone(),
            draft,
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
            // Whoever has changed nothing does not undo what somebody else has.
            return Some(self.current().to_owned());
        }
        Some(self.bring(text, &earlier.original, &self.texts.original))
    }

    /// How many places of the current text are in conflict with what was changed in the meantime.
    pub fn conflicts(&self) -> usize {
        self.conflicts_in(self.current())
    }

    pub(crate) fn conflicts_in(&self, text: &str) -> usize {
        if self.earlier.0.is_empty() {
            return 0;
        }
        // Lines like these that the texts have themselves are no conflicts.
        let requested = &self.requested;
        let originals = [&self.texts.original, &requested.original];
        let [now, before] = originals.map(|it| it.text().unwrap_or_default());
        three_way::count_marked(text, &[now, before, &requested.proposed])
    }

    /// Takes over a revision that was made from the present one and its draft.
    pub(crate) fn apply(&mut self, revised: Revised) -> bool {
        let is_same_draft = match (&self.draft, &revised.draft_before) {
            (Some(now), Some(before)) => Arc::ptr_eq(now, before),
            (None, None) => true,
            _ => false,
        };
        if revised.from != self.revision || !is_same_draft {
            return false;
        }
        let before = std::mem::replace(&mut self.texts, revised.texts);
        self.earlier.add(self.revision, before);
        self.revision += 1;
        self.file_change = revised.file_change;
        let proposed = &self.texts.proposed;
        self.draft = revised.draft.filter(|draft| **draft != **proposed);
        true
    }

    /// Brings what was made of one text of the file into another one.
    fn bring(&self, made: &str, from: &Original, to: &Original) -> String {
        // What stands for a file that was deleted was made of what it had before.
        let from = from.text().or(self.requested.original.text());
        match to.text() {
            Some(to) => three_way::merge(from.unwrap_or_default(), to, made),
            None => made.to_owned(),
        }
    }
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
