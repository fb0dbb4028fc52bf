//! What agents receive about the workbench, and how much is held back from them.

use std::path::PathBuf;

use crate::{Cursor, Reason};

/// What agents receive: the files that had the focus last, newest first.
///
/// A context that equals the one before need not be sent again.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Context {
    /// The files, newest focus first.
    pub files: Vec<OpenFile>,
    /// Whether the person trusts the workspace; `None` if the editor has no
    /// such notion.
    pub trusted: Option<bool>,
}

/// One file of a [`Context`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenFile {
    /// The path as the person sees it.
    pub path: PathBuf,
    /// When it got the focus, in Unix milliseconds. The active file has the
    /// latest time of all.
    pub focused_at: u64,
    /// Present when this is the file in front of the person.
    pub active: Option<Active>,
}

/// What is known about the file in front of the person.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Active {
    /// Where the cursor is.
    pub cursor: Option<Cursor>,
    /// The selected text: never empty, at most [`Active::SELECTION_UNITS`] long.
    pub selection: Option<String>,
}

impl Active {
    /// How long a selection may be, in UTF-16 code units. The agents truncate
    /// there themselves, so a longer text would be sent in vain.
    pub const SELECTION_UNITS: usize = 16_384;
}

/// How many open documents privacy holds back from agents, by reason.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HeldBack {
    /// Documents that look like secrets.
    pub secret: usize,
    /// Documents that the person asked to ignore.
    pub ignored: usize,
    /// Documents outside the folders of the workbench.
    pub outside: usize,
    /// Documents of folders that a fault closes.
    pub closed: usize,
}

impl HeldBack {
    /// The sum over all reasons.
    pub fn total(self) -> usize {
        self.secret + self.ignored + self.outside + self.closed
    }

    pub(crate) fn count(&mut self, reason: Reason) {
        match reason {
            Reason::Secret => self.secret += 1,
            Reason::Ignored => self.ignored += 1,
            Reason::Outside => self.outside += 1,
            Reason::Closed => self.closed += 1,
        }
    }
}
