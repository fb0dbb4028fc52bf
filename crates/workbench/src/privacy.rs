//! Which files may be shared with agents.
//!
//! There are four rules. A file has to pass all of them with both of its paths,
//! the one that people see and the one with links resolved:
//!
//! * it does not look like a secret (see [`crate::secrets`]);
//! * nobody asked to ignore it, in the `.outriggerignore` of a root or in the
//!   configuration;
//! * it is below one of the roots;
//! * what says which files to share could be read: a [`Fault`] closes all that
//!   the unreadable part would have been about.
//!
//! A workspace can be hostile, so what is written in it can only narrow what is
//! shared. A negated line (`!notes.txt`) cancels what another line *of the same
//! origin* ignores: the same ignore file, or the same source of the configuration.
//! It cannot affect secrets, another origin's rules, or files outside.
//!
//! All rules apply to paths. Nothing here reads a disk.

mod fault;
mod patterns;

use std::borrow::Cow;
use std::ffi::OsStr;
use std::fmt;
use std::path::{Component, Path, PathBuf};
use std::sync::LazyLock;

use ignore::gitignore::Gitignore;

pub use fault::{Fault, Position, Scope};
pub use patterns::{Pattern, PatternList};

use crate::{Place, secrets};

/// Why a file is held back from agents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// It looks like a secret.
    Secret,
    /// The person asked to ignore it.
    Ignored,
    /// It is outside the folders of the workbench.
    Outside,
    /// A fault closes its folder: it would be shared otherwise.
    Closed,
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Reason::Secret => "it looks like a file that holds secrets",
            Reason::Ignored => "your ignore patterns match it",
            Reason::Outside => "it is outside the workspace",
            Reason::Closed => {
                "nothing of its folder is shared until a fault in the settings is mended"
            }
        })
    }
}

/// Whether a file may be shared with agents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Visibility {
    /// It may be shared.
    Shown,
    /// Neither its path nor its content may be shared.
    HeldBack(Reason),
}

/// The built-in patterns of secrets. They are compiled once: that takes far longer than to judge a
/// file, and rules are made anew whenever a settings file changes.
static SECRETS: LazyLock<Result<Gitignore, Fault>> = LazyLock::new(|| {
    let patterns = secrets::PATTERNS.iter().copied().map(Pattern::from);
    let built_in = PatternList {
        source: "the built-in list".into(),
        scope: Scope::Everywhere,
        patterns: patterns.collect(),
    };
    built_in.compile()
});

/// The rules that decide what may be shared with agents.
#[derive(Clone, Debug)]
pub struct Privacy {
    roots: Vec<PathBuf>,
    /// The patterns of each origin, and where they apply.
    lists: Vec<(Scope, Gitignore)>,
    /// What could not be read.
    faults: Vec<Fault>,
}

impl Privacy {
    /// The name of the file in a root that says what to ignore below that root.
    pub const IGNORE_FILE: &str = ".outriggerignore";

    /// More patterns than this from one source are refused: nobody writes them
    /// by hand, and compiling them takes time and memory.
    pub const MOST_PATTERNS: usize = 4_096;

    /// Rules for these roots: a list of patterns for each origin, because the
    /// configuration of a workspace must not cancel patterns of the person's own
    /// configuration, and the faults of what could not even be read as patterns.
    ///
    /// A pattern that cannot be used is a fault too. So there are always rules,
    /// and they never share more than was meant.
    ///
    /// A root that is reached through a link has to be given with both paths,
    /// and so have the lists below it, because both paths of a file are judged.
    pub fn new(roots: &[PathBuf], lists: &[PatternList], faults: &[Fault]) -> Privacy {
        let mut privacy = Privacy {
            roots: roots
                .iter()
                .map(|root| lexical(root).into_owned())
                .collect(),
            lists: Vec::new(),
            faults: faults.iter().map(Fault::with_plain_scope).collect(),
        };
        privacy.faults.extend(SECRETS.as_ref().err().cloned());
        for list in lists {
            match list.compile() {
                Ok(rules) => privacy.lists.push((list.scope.plain(), rules)),
                Err(fault) => privacy.faults.push(fault.with_plain_scope()),
            }
        }
        privacy
    }

    /// What is wrong with the rules. Nothing that a fault is about is shared.
    pub fn faults(&self) -> &[Fault] {
        &self.faults
    }

    /// Judges one file.
    ///
    /// When several reasons apply, the most serious one is returned: secret, then
    /// ignored, then outside. Closed comes last, because it alone goes away by itself.
    pub fn judge(&self, place: &Place) -> Visibility {
        self.judge_paths(&place.path, &place.real)
    }

    pub(crate) fn judge_paths(&self, path: &Path, real: &Path) -> Visibility {
        let path = lexical(path);
        let real = lexical(real);
        let any = |rule: fn(&Privacy, &Path) -> bool| {
            rule(self, &path) || (real != path && rule(self, &real))
        };
        if any(|_, path| is_secret(path)) {
            Visibility::HeldBack(Reason::Secret)
        } else if any(Privacy::is_ignored) {
            Visibility::HeldBack(Reason::Ignored)
        } else if any(Privacy::is_outside) {
            Visibility::HeldBack(Reason::Outside)
        } else if any(Privacy::is_closed) {
            Visibility::HeldBack(Reason::Closed)
        } else {
            Visibility::Shown
        }
    }

    fn is_ignored(&self, path: &Path) -> bool {
        let below = |root: &Path, rules: &Gitignore| {
            path.strip_prefix(root)
                .is_ok_and(|below| matches(rules, below))
        };
        self.lists.iter().any(|(scope, rules)| match scope {
            Scope::Everywhere => self.roots.iter().any(|root| below(root, rules)),
            Scope::Below(root) => below(root, rules),
        })
    }

    fn is_closed(&self, path: &Path) -> bool {
        self.faults.iter().any(|fault| fault.scope.contains(path))
    }

    fn is_outside(&self, path: &Path) -> bool {
        !path.is_absolute() || !self.roots.iter().any(|root| path.starts_with(root))
    }
}

/// Whether a file looks like a secret.
fn is_secret(path: &Path) -> bool {
    // The whole path counts, not only what is below a root: opening
    // `~/.ssh` as a workspace does not make it public.
    let Ok(secrets) = &*SECRETS else {
        // The fault closes everything.
        return false;
    };
    let path = PathBuf::from(path.as_os_str().to_ascii_lowercase());
    if matches(secrets, &path) {
        return true;
    }
    let name = path.file_name().and_then(OsStr::to_str);
    name.is_some_and(|name| {
        let mut originals = secrets::originals(name);
        originals.any(|name| matches(secrets, &path.with_file_name(name)))
    })
}

/// Whether `path` is absolute and one of `roots` or below one.
pub(crate) fn is_under_any(roots: &[PathBuf], path: &Path) -> bool {
    let path = lexical(path);
    path.is_absolute() && roots.iter().any(|root| path.starts_with(lexical(root)))
}

/// Whether `rules` ignore `path` or a folder above it.
///
/// As in Git, a negated pattern has no effect below an ignored folder. The
/// `ignore` crate's own walk over the parents starts at the file and would let it
/// have one.
fn matches(rules: &Gitignore, path: &Path) -> bool {
    if rules.is_empty() {
        return false;
    }
    let mut names = path
        .components()
        .filter(|component| matches!(component, Component::Normal(_)))
        .peekable();
    let mut so_far = PathBuf::new();
    while let Some(name) = names.next() {
        so_far.push(name);
        let is_folder = names.peek().is_some();
        if rules.matched(&so_far, is_folder).is_ignore() {
            return true;
        }
    }
    false
}

/// `path` with `..` resolved lexically, without looking at links.
fn lexical(path: &Path) -> Cow<'_, Path> {
    if !path.components().any(|part| part == Component::ParentDir) {
        return Cow::Borrowed(path);
    }
    let mut plain = PathBuf::new();
    for part in path.components() {
        if part == Component::ParentDir {
            plain.pop();
        } else {
            plain.push(part);
        }
    }
    Cow::Owned(plain)
}

#[cfg(test)]
mod tests;
