//! What is wrong with the settings that say which files may be shared.

use std::fmt;
use std::path::{Path, PathBuf};

use super::lexical;

/// A mistake in what says which files may be shared. Until it is mended, nothing
/// in its scope is shared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// Where it was found: the path of a file, a variable, an editor's settings.
    pub source: String,
    /// The place in that file, if it is known.
    pub position: Option<Position>,
    /// What is wrong, in words.
    pub message: String,
    /// What it closes.
    pub scope: Scope,
}

impl Fault {
    /// The same fault with the scope as paths are compared with it.
    pub(super) fn with_plain_scope(&self) -> Fault {
        Fault {
            scope: self.scope.plain(),
            ..self.clone()
        }
    }
}

impl fmt::Display for Fault {
    /// As compilers name a place, so that terminals and editors can jump there.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.source)?;
        if let Some(position) = self.position {
            write!(f, ":{position}")?;
        }
        write!(f, ": {}", self.message)
    }
}

/// A place in a text, both counted from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Position {
    /// The line.
    pub line: usize,
    /// The column, in characters.
    pub column: usize,
}

impl Position {
    /// The place of a byte in a text. An offset behind the end means the end.
    pub fn of(text: &str, offset: usize) -> Position {
        let before = &text[..text.floor_char_boundary(offset)];
        let line = before.rfind('\n').map_or(before, |at| &before[at + 1..]);
        Position {
            line: before.matches('\n').count() + 1,
            column: line.chars().count() + 1,
        }
    }
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.line, self.column)
    }
}

/// What a list of patterns, or a fault, is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Scope {
    /// All folders.
    Everywhere,
    /// What is below this folder.
    Below(PathBuf),
}

impl Scope {
    pub(super) fn contains(&self, path: &Path) -> bool {
        match self {
            Scope::Everywhere => true,
            Scope::Below(root) => path.starts_with(root),
        }
    }

    /// With a path that can be compared with others.
    pub(super) fn plain(&self) -> Scope {
        match self {
            Scope::Everywhere => Scope::Everywhere,
            Scope::Below(root) => Scope::Below(lexical(root).into_owned()),
        }
    }
}
