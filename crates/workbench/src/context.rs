//! What agents are told about the workbench, and what they are not.

use std::path::PathBuf;

use crate::{Cursor, Reason};

/// What agents are told: the files that were looked at last, newest first.
///
/// Two equal contexts need not be sent twice.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Context {
    /// The files, newest focus first.
    pub files: Vec<OpenFile>,
    /// Whether the person trusts the workspace, if whoever drives the workbench
    /// has such a notion.
    pub trusted: Option<bool>,
}

/// One file of a [`Context`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenFile {
    /// The path as the person sees it.
    pub path: PathBuf,
    /// When it was looked at, in Unix milliseconds. The active file has the
    /// largest of all.
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
    /// How long a selection may be, in UTF-16 code units. The agents cut there
    /// themselves, so anything beyond would be sent for nothing.
    pub const SELECTION_UNITS: usize = 16_384;
}

/// How many open documents privacy keeps from the agents, by reason.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HeldBack {
    /// Documents that look like secrets.
    pub secret: usize,
    /// Documents that the person asked to ignore.
    pub ignored: usize,
    /// Documents outside the folders of the workbench.
    pub outside: usize,
}

impl HeldBack {
    /// All of them.
    pub fn total(self) -> usize {
        self.secret + self.ignored + self.outside
    }

    pub(crate) fn count(&mut self, reason: Reason) {
        match reason {
            Reason::Secret => self.secret += 1,
            Reason::Ignored => self.ignored += 1,
            Reason::Outside => self.outside += 1,
        }
    }
}
