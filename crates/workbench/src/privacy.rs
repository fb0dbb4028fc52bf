//! Which files may be shared with agents.
//!
//! There are three rules. A file has to pass all of them with both of its paths,
//! the one that people see and the one with links resolved:
//!
//! * it does not look like a secret (see [`crate::secrets`]);
//! * nobody asked to ignore it, in the `.outriggerignore` of a root or in the
//!   configuration;
//! * it is below one of the roots.
//!
//! A workspace can be hostile, so what is written in it can only narrow what is
//! shared. A negated line (`!notes.txt`) cancels what another line *of the same
//! origin* ignores: the same ignore file, or the same source of the configuration.
//! It cannot affect secrets, another origin's rules, or files outside.
//!
//! All rules apply to paths. Nothing here reads a disk.

use std::borrow::Cow;
use std::fmt;
use std::path::{Component, Path, PathBuf};

use ignore::gitignore::{Gitignore, GitignoreBuilder};

use crate::text::BOM;
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
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Reason::Secret => "it looks like a file that holds secrets",
            Reason::Ignored => "your ignore patterns match it",
            Reason::Outside => "it is outside the workspace",
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

/// The rules that decide what may be shared with agents.
#[derive(Clone, Debug)]
pub struct Privacy {
    roots: Vec<PathBuf>,
    secrets: Gitignore,
    /// The ignore file of each root that has one.
    ignore_files: Vec<(PathBuf, Gitignore)>,
    /// The patterns of the configuration, relative to every root, by origin.
    patterns: Vec<Gitignore>,
}

impl Privacy {
    /// The name of the file in a root that says what to ignore below that root.
    pub const IGNORE_FILE: &str = ".outriggerignore";

    /// More patterns than this from one source are refused: nobody writes them
    /// by hand, and compiling them takes time and memory.
    pub const MOST_PATTERNS: usize = 4_096;

    /// Rules for these roots, with the text of the ignore file of each root
    /// that has one, and with further patterns that apply below every root: a
    /// list for each origin, because the configuration of a workspace must not
    /// cancel patterns of the person's own configuration.
    ///
    /// A root that is reached through a link has to be given with both paths,
    /// and so has its ignore file, because both paths of a file are judged.
    pub fn new(
        roots: &[PathBuf],
        ignore_files: &[(PathBuf, String)],
        patterns: &[Vec<String>],
    ) -> Result<Privacy, BadPattern> {
        let ignore_files = ignore_files
            .iter()
            .map(|(root, text)| {
                let lines = text.strip_prefix(BOM).unwrap_or(text).split('\n');
                let source = PatternSource::IgnoreFile(root.clone());
                Ok((lexical(root).into_owned(), compile(lines, &source)?))
            })
            .collect::<Result<_, BadPattern>>()?;
        let patterns = patterns.iter().map(|origin| {
            let lines = origin.iter().map(String::as_str);
            compile(lines, &PatternSource::Configuration)
        });
        Ok(Privacy {
            roots: roots
                .iter()
                .map(|root| lexical(root).into_owned())
                .collect(),
            secrets: compile(secrets::PATTERNS.iter().copied(), &PatternSource::BuiltIn)?,
            ignore_files,
            patterns: patterns.collect::<Result<_, BadPattern>>()?,
        })
    }

    /// Judges one file.
    ///
    /// When several reasons apply, the most serious one is returned: secret, then
    /// ignored, then outside.
    pub fn judge(&self, place: &Place) -> Visibility {
        self.judge_paths(&place.path, &place.real)
    }

    pub(crate) fn judge_paths(&self, path: &Path, real: &Path) -> Visibility {
        let path = lexical(path);
        let real = lexical(real);
        let any = |rule: fn(&Privacy, &Path) -> bool| {
            rule(self, &path) || (real != path && rule(self, &real))
        };
        if any(Privacy::is_secret) {
            Visibility::HeldBack(Reason::Secret)
        } else if any(Privacy::is_ignored) {
            Visibility::HeldBack(Reason::Ignored)
        } else if any(Privacy::is_outside) {
            Visibility::HeldBack(Reason::Outside)
        } else {
            Visibility::Shown
        }
    }

    fn is_secret(&self, path: &Path) -> bool {
        // The whole path counts, not only what is below a root: opening
        // `~/.ssh` as a workspace does not make it public.
        let path = PathBuf::from(path.as_os_str().to_ascii_lowercase());
        matches(&self.secrets, &path)
    }

    fn is_ignored(&self, path: &Path) -> bool {
        let by_file = |(root, rules): &(PathBuf, Gitignore)| {
            path.strip_prefix(root)
                .is_ok_and(|below| matches(rules, below))
        };
        let by_configuration = |root: &PathBuf| {
            path.strip_prefix(root)
                .is_ok_and(|below| self.patterns.iter().any(|rules| matches(rules, below)))
        };
        self.ignore_files.iter().any(by_file) || self.roots.iter().any(by_configuration)
    }

    fn is_outside(&self, path: &Path) -> bool {
        !path.is_absolute() || !self.roots.iter().any(|root| path.starts_with(root))
    }
}

/// Whether `path` is absolute and one of `roots` or below one.
pub(crate) fn is_under_any(roots: &[PathBuf], path: &Path) -> bool {
    let path = lexical(path);
    path.is_absolute() && roots.iter().any(|root| path.starts_with(lexical(root)))
}

/// A pattern that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "cannot use the pattern {pattern:?} (line {line} of {from}): {why}; correct it or remove it"
)]
pub struct BadPattern {
    /// Where it was written.
    pub from: PatternSource,
    /// The line there, from 1.
    pub line: usize,
    /// The pattern.
    pub pattern: String,
    /// What is wrong with it.
    pub why: String,
}

/// Where a pattern was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PatternSource {
    /// In the list that comes with the program.
    BuiltIn,
    /// In the configuration.
    Configuration,
    /// In the ignore file of this root.
    IgnoreFile(PathBuf),
}

impl fmt::Display for PatternSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PatternSource::BuiltIn => f.write_str("the built-in list"),
            PatternSource::Configuration => f.write_str("the configured patterns"),
            PatternSource::IgnoreFile(root) => {
                write!(f, "{}", root.join(Privacy::IGNORE_FILE).display())
            }
        }
    }
}

fn compile<'a>(
    lines: impl Iterator<Item = &'a str>,
    from: &PatternSource,
) -> Result<Gitignore, BadPattern> {
    let bad = |line: usize, pattern: &str, why: String| BadPattern {
        from: from.clone(),
        line,
        pattern: pattern.to_owned(),
        why,
    };
    let mut builder = GitignoreBuilder::new("");
    let mut last = 0;
    for (at, pattern) in lines.enumerate() {
        last = at + 1;
        if at == Privacy::MOST_PATTERNS {
            let why = format!("there are more than {} lines", Privacy::MOST_PATTERNS);
            return Err(bad(last, pattern, why));
        }
        builder
            .add_line(None, pattern)
            .map_err(|error| bad(last, pattern, reason(&error)))?;
    }
    builder
        .build()
        .map_err(|error| bad(last, "", reason(&error)))
}

fn reason(error: &ignore::Error) -> String {
    match error {
        ignore::Error::Glob { err, .. } => err.clone(),
        other => other.to_string(),
    }
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
