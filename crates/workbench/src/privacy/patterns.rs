//! Patterns of files to ignore, and where each was written.

use std::path::Path;

use ignore::gitignore::{Gitignore, GitignoreBuilder};

use super::{Fault, Position, Privacy, Scope};
use crate::text::BOM;

/// The patterns of one origin. They may cancel each other, and none of another list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PatternList {
    /// Where they were written: the path of a file, a variable, a flag.
    pub source: String,
    /// Where they apply. Below all folders they are relative to each of them.
    pub scope: Scope,
    /// The patterns, in order: a later one goes before an earlier one.
    pub patterns: Vec<Pattern>,
}

/// One pattern, in the syntax of `.gitignore`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pattern {
    /// The pattern as it was written.
    pub text: String,
    /// Where in its file, if it is in a file.
    pub position: Option<Position>,
}

impl From<&str> for Pattern {
    /// A pattern that is in no file.
    fn from(text: &str) -> Pattern {
        Pattern {
            text: text.to_owned(),
            position: None,
        }
    }
}

impl PatternList {
    /// The lines of the ignore file of a root.
    pub fn from_ignore_file(root: &Path, text: &str) -> PatternList {
        let lines = text.strip_prefix(BOM).unwrap_or(text).split('\n');
        let patterns = lines.enumerate().map(|(at, line)| Pattern {
            text: line.to_owned(),
            position: Some(Position {
                line: at + 1,
                column: 1,
            }),
        });
        PatternList {
            source: root.join(Privacy::IGNORE_FILE).display().to_string(),
            scope: Scope::Below(root.to_owned()),
            patterns: patterns.collect(),
        }
    }

    /// Whether it certainly ignores all that `earlier` ignores: it has the same patterns in the same
    /// order, perhaps among others, and none of the others takes anything back.
    pub fn covers(&self, earlier: &PatternList) -> bool {
        let mut left = earlier.effective().peekable();
        let takes_nothing_back = self.effective().all(|pattern| {
            let is_old = left.next_if_eq(&pattern).is_some();
            is_old || !pattern.starts_with('!')
        });
        self.scope == earlier.scope && takes_nothing_back && left.next().is_none()
    }

    /// The patterns without empty lines and comments.
    fn effective(&self) -> impl Iterator<Item = &str> {
        let texts = self.patterns.iter().map(|pattern| pattern.text.as_str());
        texts.filter(|text| !text.trim().is_empty() && !text.starts_with('#'))
    }

    pub(super) fn compile(&self) -> Result<Gitignore, Fault> {
        let fault = |position: Option<Position>, message: String| Fault {
            source: self.source.clone(),
            position,
            message,
            scope: self.scope.clone(),
        };
        let mut builder = GitignoreBuilder::new("");
        for (at, pattern) in self.patterns.iter().enumerate() {
            if at == Privacy::MOST_PATTERNS {
                let message = format!("there are more than {} lines", Privacy::MOST_PATTERNS);
                return Err(fault(pattern.position, message));
            }
            let bad = |why: &str| {
                let text = &pattern.text;
                fault(
                    pattern.position,
                    format!("the pattern \"{text}\" cannot be used: {why}"),
                )
            };
            if pattern.text.contains('\0') {
                // No path has one, so the pattern would never match: the file is no plain text.
                return Err(bad("it contains a NUL character"));
            }
            if pattern.text.trim_end() == "!" {
                // To Git it matches nothing. Compiled, it would match everything, and take back all
                // patterns before it.
                continue;
            }
            builder
                .add_line(None, &pattern.text)
                .map_err(|error| bad(&reason(&error)))?;
        }
        builder.build().map_err(|error| {
            let why = reason(&error);
            fault(None, format!("the patterns cannot be used: {why}"))
        })
    }
}

fn reason(error: &ignore::Error) -> String {
    match error {
        ignore::Error::Glob { err, .. } => err.clone(),
        other => other.to_string(),
    }
}
