//! An open document, and what a front end reports about it.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::Visibility;

/// Where the cursor is. Lines and characters are counted from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cursor {
    /// The line, from 1.
    pub line: u32,
    /// The character in the line, from 1.
    pub character: u32,
}

impl Cursor {
    /// A cursor at this position. A 0 comes from a front end that counts from 0
    /// by mistake, and becomes 1.
    pub fn new(line: u32, character: u32) -> Cursor {
        Cursor {
            line: line.max(1),
            character: character.max(1),
        }
    }
}

/// Where a file is, by both of its names.
///
/// People and agents use `path`. Privacy checks both, because a link with a
/// harmless name can lead to a file that must not be shared. Resolving links is
/// I/O, so the caller does it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The path as the person sees it.
    pub path: PathBuf,
    /// The path with all links resolved.
    pub real: PathBuf,
}

impl Place {
    /// A file that is reached through no link.
    pub fn direct(path: impl Into<PathBuf>) -> Place {
        let path = path.into();
        Place {
            real: path.clone(),
            path,
        }
    }
}

/// A front end that reports what the person has open: one editor, or the person's commands.
///
/// A document is open for as long as a front end holds it, so an editor that closes a file, or
/// leaves, takes nothing from another one that has it open too.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Holder(u64);

impl Holder {
    /// The person's commands. They say where the person is, but never that they have left.
    pub const COMMANDS: Holder = Holder(0);

    /// The editor with this number, which is counted from 1.
    pub const fn editor(number: u64) -> Holder {
        Holder(number)
    }

    /// The number.
    pub const fn get(self) -> u64 {
        self.0
    }
}

/// A report that the person is looking at this file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Focus {
    /// The file.
    pub place: Place,
    /// Where the cursor is, if the front end knows.
    pub cursor: Option<Cursor>,
    /// The text that is selected, if any.
    pub selection: Option<String>,
}

/// An open document of the workbench.
#[derive(Clone, Debug)]
pub struct Document {
    /// Shared with the index by path.
    pub(crate) path: Arc<Path>,
    /// Absent when it is the same as `path`, as it nearly always is.
    pub(crate) real: Option<Box<Path>>,
    pub(crate) focused_at: u64,
    /// Whether it ever had the focus, or was only opened.
    pub(crate) visited: bool,
    pub(crate) cursor: Option<Cursor>,
    pub(crate) visibility: Visibility,
    /// The front ends that have it open, each once; never empty.
    pub(crate) holders: Vec<Holder>,
}

impl Document {
    /// The path as the person sees it.
    pub fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn hold(&mut self, holder: Holder) {
        if !self.is_held_by(holder) {
            self.holders.push(holder);
        }
    }

    /// The path with all links resolved.
    pub fn real(&self) -> &Path {
        self.real.as_deref().unwrap_or(&self.path)
    }

    /// When it last got the focus or was opened, in Unix milliseconds. The time
    /// is adjusted where the order of focus requires it.
    pub fn focused_at(&self) -> u64 {
        self.focused_at
    }

    /// The last reported position of the cursor.
    pub fn cursor(&self) -> Option<Cursor> {
        self.cursor
    }

    /// Whether this front end has it open.
    pub fn is_held_by(&self, holder: Holder) -> bool {
        self.holders.contains(&holder)
    }

    /// Whether privacy allows it to be shared with agents.
    pub fn visibility(&self) -> Visibility {
        self.visibility
    }
}
