//! The folders, the open documents, and which of them is in front.
//!
//! Documents are kept in the order in which they had the focus, so a context is
//! built from the first few of them: holding an arrow key down costs the same
//! with ten open buffers and with ten thousand.
//!
//! Whether a document may be shared with agents is judged when it is opened, when
//! it is renamed and when the rules change, and is cached. Whether its file still
//! exists is checked each time, because a deletion is not reported.
//!
//! Several editors can report into one workbench. A document is open while one of
//! them holds it; focus and selection are those of the one that reported last.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::focus_order::{FocusOrder, Rank};
use crate::privacy::is_under_any;
use crate::{
    Active, Context, Cursor, Document, Fault, Focus, HeldBack, Holder, OpenFile, Place, Privacy,
    Reason, Visibility, cut_utf16,
};

/// The agents ignore further files of a context.
const FILES_IN_CONTEXT: usize = 10;

/// No file system opens a longer path, so such a document is not a file.
const LONGEST_PATH: usize = 4_096;

/// What the person has in front of them.
#[derive(Debug)]
pub struct Workbench {
    roots: Vec<PathBuf>,
    privacy: Privacy,
    /// What each editor that has such a notion says about trust.
    trust: BTreeMap<Holder, bool>,
    order: FocusOrder,
    /// The selection in the newest document. Only that one is shared, and one
    /// per document would take unbounded memory.
    selection: Option<Box<str>>,
    /// Who reported the focus last; the selection is theirs.
    reporter: Option<Holder>,
    /// Counts the changes in what is held back.
    held_back_changes: u64,
}

impl Workbench {
    /// A workbench over these folders, with nothing open.
    pub fn new(roots: Vec<PathBuf>, privacy: Privacy) -> Workbench {
        Workbench {
            roots,
            privacy,
            trust: BTreeMap::new(),
            order: FocusOrder::default(),
            selection: None,
            reporter: None,
            held_back_changes: 0,
        }
    }

    /// The folders that are open.
    pub fn roots(&self) -> &[PathBuf] {
        &self.roots
    }

    /// Changes the folders.
    ///
    /// Documents of a removed folder are held back at once. Documents of a new
    /// folder are shown only after [`Workbench::set_privacy`] set rules that
    /// include it, so that nothing is shared before its ignore file is read.
    pub fn set_roots(&mut self, roots: Vec<PathBuf>) {
        self.roots = roots;
        self.judge_all();
    }

    /// Changes the rules and judges every document again.
    pub fn set_privacy(&mut self, privacy: Privacy) {
        self.privacy = privacy;
        self.judge_all();
    }

    /// Sets whether the person trusts the workspace, as one editor says; `None` if
    /// it has no such notion. It counts as trusted if all that say something agree.
    pub fn set_trust(&mut self, holder: Holder, trusted: Option<bool>) {
        match trusted {
            Some(trusted) => self.trust.insert(holder, trusted),
            None => self.trust.remove(&holder),
        };
    }

    /// A document is open, but does not have the focus: it is inserted right
    /// below the newest one. A document that is already open keeps its position.
    pub fn open(&mut self, holder: Holder, place: Place, now: u64) {
        if is_too_long(&place) {
            return;
        }
        if let Some(rank) = self.order.find(&place.path) {
            self.hold(rank, holder);
            self.set_real_path(rank, place.real);
            return;
        }
        let rank = match self.order.newest() {
            Some((top, document)) if document.visited => self.order.rank_below(top),
            _ => self.order.rank_on_top(now),
        };
        self.insert(rank, place, None, false, vec![holder]);
    }

    /// The person is looking at a document.
    ///
    /// A document that gets the focus gets a later time than all others, even if
    /// the clock jumps back. Moving the cursor in it does not change its time, so
    /// reporting the same focus twice changes nothing.
    pub fn focus(&mut self, holder: Holder, focus: Focus, now: u64) {
        let Focus {
            place,
            cursor,
            selection,
        } = focus;
        if is_too_long(&place) {
            return;
        }
        match self.order.newest() {
            Some((top, document)) if document.visited && *document.path == *place.path => {
                if let Some(document) = self.order.get_mut(top) {
                    document.cursor = cursor;
                    document.hold(holder);
                }
                self.set_real_path(top, place.real);
            }
            _ => {
                let rank = self.order.rank_on_top(now);
                self.insert(rank, place, cursor, true, vec![holder]);
            }
        }
        self.selection = selection.and_then(stored);
        self.reporter = Some(holder);
    }

    /// The person is in a document, at this position if it is known; the selection
    /// is unknown. If the position is unchanged, the selection is kept. Returns
    /// whether anything changed.
    pub fn touch(
        &mut self,
        holder: Holder,
        place: Place,
        cursor: Option<Cursor>,
        now: u64,
    ) -> bool {
        let is_there = self.documents().next().is_some_and(|newest| {
            newest.visited
                && self.reporter == Some(holder)
                && *newest.path == *place.path
                && (cursor.is_none() || newest.cursor == cursor)
        });
        if !is_there {
            let selection = None;
            let focus = Focus {
                place,
                cursor,
                selection,
            };
            self.focus(holder, focus, now);
        }
        !is_there
    }

    /// A front end closed a document. Unless another editor has it open, the one
    /// that had the focus before is active again, as in every editor. What the
    /// commands said of the document ends with it: they cannot say so themselves.
    pub fn close(&mut self, holder: Holder, path: &Path) {
        let closed = self.order.find(path).into_iter().collect();
        self.release(closed, &[holder, Holder::COMMANDS]);
        self.forget_selection_of(holder, path);
    }

    /// An editor has left: what only it had open is closed, and what it said about
    /// trust is forgotten.
    pub fn leave(&mut self, holder: Holder) {
        self.trust.remove(&holder);
        let held = self.order.newest_first();
        let held = held.filter(|(_, document)| document.is_held_by(holder));
        let held = held.map(|(rank, _)| rank).collect();
        self.release(held, &[holder]);
        if self.reporter == Some(holder) {
            self.selection = None;
            self.reporter = None;
        }
    }

    /// Closes everything, whoever has it open.
    pub fn close_all(&mut self) {
        let all = self.order.newest_first().map(|(rank, _)| rank).collect();
        self.remove_all(all);
    }

    /// A file, or a folder with all open documents below it, was renamed.
    pub fn rename(&mut self, from: &Path, to: Place) {
        let newest = self.newest();
        let (path, real) = (to.path, to.real);
        // All are removed before the first is inserted, because a new path can
        // equal an old one.
        let moved: Vec<_> = self
            .order
            .find_all(from)
            .into_iter()
            .filter_map(|rank| Some((rank, self.remove(rank)?)))
            .collect();
        for (rank, document) in moved {
            if let Some(place) = moved_place(&document, from, &path, &real) {
                let Document {
                    cursor,
                    visited,
                    holders,
                    ..
                } = document;
                self.insert(rank, place, cursor, visited, holders);
            }
        }
        self.forget_selection_unless(newest);
    }

    /// A file, or a folder with all open documents below it, was deleted.
    pub fn delete(&mut self, path: &Path) {
        self.remove_all(self.order.find_all(path));
    }

    /// What agents receive: at most ten files, newest focus first, of those that
    /// privacy allows and `exists` confirms.
    ///
    /// `exists` is called only as often as needed. If the newest document is not
    /// shared, no file is active: the person is looking at something that is not
    /// for agents, and an older file would be the wrong answer.
    pub fn context(&self, mut exists: impl FnMut(&Path) -> bool) -> Context {
        let newest = self.newest();
        let files = self
            .order
            .newest_first()
            .filter(|(_, document)| {
                document.visibility == Visibility::Shown && exists(&document.path)
            })
            .take(FILES_IN_CONTEXT)
            .map(|(rank, document)| OpenFile {
                path: document.path.to_path_buf(),
                focused_at: document.focused_at,
                active: (Some(rank) == newest && document.visited).then(|| Active {
                    cursor: document.cursor,
                    selection: self.selection.as_deref().map(str::to_owned),
                }),
            })
            .collect();
        Context {
            files,
            trusted: self.trusted(),
        }
    }

    /// Whether the workspace is trusted; `None` if no editor has such a notion.
    fn trusted(&self) -> Option<bool> {
        let mut said = self.trust.values().copied();
        (!self.trust.is_empty()).then(|| said.all(|trusted| trusted))
    }

    /// The selection in the newest document, if there is one.
    pub fn selection(&self) -> Option<&str> {
        self.selection.as_deref()
    }

    /// How many open documents privacy holds back from agents.
    pub fn held_back(&self) -> HeldBack {
        let mut held_back = HeldBack::default();
        for document in self.documents() {
            if let Visibility::HeldBack(reason) = document.visibility {
                held_back.count(reason);
            }
        }
        held_back
    }

    /// The open documents that privacy holds back, newest first, with the reason.
    pub fn held_back_files(&self) -> impl Iterator<Item = (&Path, Reason)> {
        self.documents()
            .filter_map(|document| match document.visibility {
                Visibility::HeldBack(reason) => Some((document.path(), reason)),
                Visibility::Shown => None,
            })
    }

    /// What is wrong with the rules, and closes folders.
    pub fn faults(&self) -> &[Fault] {
        self.privacy.faults()
    }

    /// A counter that changes with every change in what is held back, so that
    /// callers need not compare all documents to notice one.
    pub fn held_back_changes(&self) -> u64 {
        self.held_back_changes
    }

    /// Whether a file may be shared with agents, open or not.
    pub fn judge(&self, place: &Place) -> Visibility {
        self.privacy.judge(place)
    }

    /// All open documents, newest first.
    pub fn documents(&self) -> impl Iterator<Item = &Document> {
        self.order.newest_first().map(|(_, document)| document)
    }

    fn newest(&self) -> Option<Rank> {
        self.order.newest().map(|(rank, _)| rank)
    }

    fn insert(
        &mut self,
        rank: Rank,
        place: Place,
        cursor: Option<Cursor>,
        visited: bool,
        holders: Vec<Holder>,
    ) {
        let visibility = judge(&self.roots, &self.privacy, &place.path, &place.real);
        let path: Arc<Path> = place.path.into();
        let document = Document {
            real: unless_same(place.real, &path),
            path,
            focused_at: rank.time,
            visited,
            cursor,
            visibility,
            holders,
        };
        self.count_if_held_back(visibility);
        if let Some(replaced) = self.order.insert(rank, document) {
            self.count_if_held_back(replaced.visibility);
            for holder in replaced.holders {
                self.hold(rank, holder);
            }
        }
    }

    fn hold(&mut self, rank: Rank, holder: Holder) {
        if let Some(document) = self.order.get_mut(rank) {
            document.hold(holder);
        }
    }

    /// These front ends have these documents open no more; what nobody has open is closed.
    fn release(&mut self, ranks: Vec<Rank>, by: &[Holder]) {
        let mut closed = Vec::new();
        for rank in ranks {
            if let Some(document) = self.order.get_mut(rank) {
                document.holders.retain(|holder| !by.contains(holder));
                if document.holders.is_empty() {
                    closed.push(rank);
                }
            }
        }
        self.remove_all(closed);
    }

    /// Whoever closes the newest document has nothing selected in it any more, even if another
    /// editor keeps it open.
    fn forget_selection_of(&mut self, holder: Holder, path: &Path) {
        let is_newest = (self.documents().next()).is_some_and(|newest| newest.path() == path);
        if is_newest && self.reporter == Some(holder) {
            self.selection = None;
        }
    }

    fn remove(&mut self, rank: Rank) -> Option<Document> {
        let document = self.order.remove(rank)?;
        self.count_if_held_back(document.visibility);
        Some(document)
    }

    fn remove_all(&mut self, ranks: Vec<Rank>) {
        let newest = self.newest();
        for rank in ranks {
            self.remove(rank);
        }
        self.forget_selection_unless(newest);
    }

    /// Counts a document with this visibility that was inserted or removed.
    fn count_if_held_back(&mut self, visibility: Visibility) {
        if visibility != Visibility::Shown {
            self.held_back_changes += 1;
        }
    }

    /// The selection belongs to the newest document and is dropped with it.
    fn forget_selection_unless(&mut self, still_newest: Option<Rank>) {
        if self.newest() != still_newest {
            self.selection = None;
        }
    }

    /// Updates the resolved path of an open document, because a link in its path
    /// may lead elsewhere now.
    fn set_real_path(&mut self, rank: Rank, real: PathBuf) {
        if let Some(document) = self.order.get_mut(rank)
            && document.real() != real
        {
            let visibility = judge(&self.roots, &self.privacy, &document.path, &real);
            self.held_back_changes += u64::from(document.visibility != visibility);
            document.visibility = visibility;
            document.real = unless_same(real, &document.path);
        }
    }

    fn judge_all(&mut self) {
        for document in self.order.iter_mut() {
            let visibility = judge(&self.roots, &self.privacy, document.path(), document.real());
            self.held_back_changes += u64::from(document.visibility != visibility);
            document.visibility = visibility;
        }
    }
}

fn judge(roots: &[PathBuf], privacy: &Privacy, path: &Path, real: &Path) -> Visibility {
    match privacy.judge_paths(path, real) {
        // The rules may still include a folder that was removed since.
        Visibility::Shown if !is_under_any(roots, path) && !is_under_any(roots, real) => {
            Visibility::HeldBack(Reason::Outside)
        }
        visibility => visibility,
    }
}

fn is_too_long(place: &Place) -> bool {
    let too_long = |path: &Path| path.as_os_str().len() > LONGEST_PATH;
    too_long(&place.path) || too_long(&place.real)
}

fn unless_same(real: PathBuf, path: &Path) -> Option<Box<Path>> {
    (real != path).then(|| real.into_boxed_path())
}

/// A selection as it is stored: truncated to what agents read, `None` if empty.
fn stored(selection: String) -> Option<Box<str>> {
    let cut = cut_utf16(&selection, Active::SELECTION_UNITS);
    if cut.is_empty() {
        None
    } else if cut.len() == selection.len() {
        Some(selection.into_boxed_str())
    } else {
        Some(cut.into())
    }
}

/// The new place of `document` after `from`, which is its path or a folder above
/// it, was renamed to `to`, which is `to_real` with links resolved. `None` if the
/// path is too long for a file.
fn moved_place(document: &Document, from: &Path, to: &Path, to_real: &Path) -> Option<Place> {
    let below = document.path.strip_prefix(from).ok()?;
    let real = document.real();
    let real = if real.ends_with(below) {
        join(to_real, below)
    } else if let Ok(below) = real.strip_prefix(from) {
        // A link to another file of the same folder.
        join(to_real, below)
    } else {
        // The target of a link that leads out of the folder does not change.
        real.to_path_buf()
    };
    let place = Place {
        path: join(to, below),
        real,
    };
    (!is_too_long(&place)).then_some(place)
}

/// Like [`Path::join`], which adds a slash when there is nothing to add.
fn join(folder: &Path, below: &Path) -> PathBuf {
    if below.as_os_str().is_empty() {
        folder.to_path_buf()
    } else {
        folder.join(below)
    }
}

#[cfg(test)]
mod tests;
