//! The hunks of a proposal, and the text that results from some of them.
//!
//! A text is cut into lines after each `\n` and nowhere else, and each line
//! keeps its end. So a `\r` belongs to its line, a missing newline at the end
//! is a difference like any other, and putting lines together again gives the
//! text back byte for byte.
//!
//! Agents often send a proposal in a normal form (see `Form`) and
//! convert back when they write. Compared byte for byte, every line of a file
//! with `\r\n` would then be a change. So two differences of form are ignored: a
//! byte order mark that only one of the texts has, and `\r\n` in the original
//! where the proposal has `\n`. The hunks are then the real edits. A merged text
//! is in the proposal's form, which is the one that the agent expects back.
//!
//! A merge starts from the proposal and puts the original lines back wherever a
//! hunk is not kept. Everything between the hunks is copied from the proposal, so
//! keeping all hunks gives the proposal byte for byte.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::ops::Range;

use crate::compare::{Change, changes};
use crate::text::{BOM, in_line_ending};
use crate::{Form, LineEnding};

/// One change of a proposal.
///
/// Lines are counted from 0 and ranges are half open. An empty range is the
/// position of an insertion or a removal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hunk {
    /// Its number, from 1, in the order of the text.
    pub number: usize,
    /// The lines of the original that it replaces.
    pub before: Range<usize>,
    /// The lines of the proposed text that replace them.
    pub after: Range<usize>,
}

/// A text may have this many hunks however short it is.
const FEW_HUNKS: usize = 1_000;

/// One more hunk is allowed for each of so many bytes of both texts. Without that, the hunks of
/// texts with very short lines would take many times the memory of the texts.
const BYTES_PER_HUNK: usize = 64;

/// The hunks in which a proposed text differs from the original.
///
/// It does not hold the texts: the caller of a merge passes them in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Review {
    hunks: Vec<Hunk>,
    /// The same hunks in bytes.
    bytes: Vec<(Range<usize>, Range<usize>)>,
    fold: Fold,
}

impl Review {
    /// Compares a proposed text with the original.
    ///
    /// The same texts always give the same hunks. There is at least one equal
    /// line between any two of them. If there would be very many, because a large
    /// text differs in every other short line, some neighbours are one hunk.
    pub fn of(original: &str, proposed: &str) -> Review {
        let fold = Fold::between(original, proposed);
        let old_start = fold.skipped(original);
        let new_start = fold.skipped(proposed);
        let old_end = if fold.ending { "\r\n" } else { "\n" };
        let changes = changes(&original[old_start..], old_end, &proposed[new_start..]);
        let most = FEW_HUNKS.max((original.len() + proposed.len()) / BYTES_PER_HUNK);
        let changes = joined(changes, most);
        let before = byte_ranges(original, old_start, changes.iter().map(|(old, _)| old));
        let after = byte_ranges(proposed, new_start, changes.iter().map(|(_, new)| new));
        let hunks = (1..)
            .zip(changes)
            .map(|(number, (before, after))| Hunk {
                number,
                before,
                after,
            })
            .collect();
        Review {
            hunks,
            bytes: before.into_iter().zip(after).collect(),
            fold,
        }
    }

    /// The hunks, in the order of the text.
    pub fn hunks(&self) -> &[Hunk] {
        &self.hunks
    }

    /// How many lines of the proposed text are new or changed.
    pub fn added(&self) -> usize {
        self.hunks.iter().map(|hunk| hunk.after.len()).sum()
    }

    /// How many lines of the original are gone or changed.
    pub fn removed(&self) -> usize {
        self.hunks.iter().map(|hunk| hunk.before.len()).sum()
    }

    /// The text that results when only the hunks in `keep` are applied, in the
    /// proposal's form. The texts have to be the ones that were compared.
    pub fn merge(
        &self,
        original: &str,
        proposed: &str,
        keep: &BTreeSet<usize>,
    ) -> Result<String, UnknownHunk> {
        let count = self.hunks.len();
        if let Some(&number) = keep.iter().find(|number| !(1..=count).contains(number)) {
            return Err(UnknownHunk { number, count });
        }
        let mut merged = String::with_capacity(original.len().max(proposed.len()));
        let mut done = 0;
        for (hunk, (before, after)) in self.hunks.iter().zip(&self.bytes) {
            if keep.contains(&hunk.number) {
                continue;
            }
            merged.push_str(proposed.get(done..after.start).unwrap_or_default());
            let put_back = original.get(before.clone()).unwrap_or_default();
            merged.push_str(&self.fold.in_the_proposals_form(put_back));
            done = after.end;
        }
        merged.push_str(proposed.get(done..).unwrap_or_default());
        Ok(merged)
    }

    /// The hunks in bytes, of the original and of the proposed text.
    pub(crate) fn bytes(&self) -> &[(Range<usize>, Range<usize>)] {
        &self.bytes
    }

    /// How many bytes at the start of `text` are no part of its first line.
    pub(crate) fn skipped(&self, text: &str) -> usize {
        self.fold.skipped(text)
    }

    /// Lines of the original as the proposal would write them.
    pub(crate) fn in_the_proposals_form<'a>(&self, lines: &'a str) -> Cow<'a, str> {
        self.fold.in_the_proposals_form(lines)
    }
}

/// A hunk number that the proposal does not have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no hunk {number}; {}", hunks_there_are(*count))]
pub struct UnknownHunk {
    /// The number that was asked for.
    pub number: usize,
    /// How many hunks there are.
    pub count: usize,
}

fn hunks_there_are(count: usize) -> String {
    match count {
        0 => "the proposal changes no line".to_owned(),
        1 => "the only one is 1".to_owned(),
        _ => format!("choose from 1 to {count}"),
    }
}

/// The differences of form that a comparison ignores.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Fold {
    /// A byte order mark is no part of the first line.
    bom: bool,
    /// `\r\n` in the original is the same as `\n` in the proposal.
    ending: bool,
}

impl Fold {
    fn between(original: &str, proposed: &str) -> Fold {
        Fold {
            // An empty text has no form that the other could be brought into.
            bom: !original.is_empty() && !proposed.is_empty(),
            ending: Form::of(original).ending == LineEnding::CrLf
                && Form::of(proposed).ending == LineEnding::Lf,
        }
    }

    /// The length of the byte order mark of `text`, if it is ignored.
    fn skipped(self, text: &str) -> usize {
        if self.bom && text.starts_with(BOM) {
            BOM.len_utf8()
        } else {
            0
        }
    }

    fn in_the_proposals_form(self, lines: &str) -> Cow<'_, str> {
        if self.ending {
            in_line_ending(lines, LineEnding::Lf)
        } else {
            Cow::Borrowed(lines)
        }
    }
}

/// At most `most` changes, by taking neighbours for one.
fn joined(changes: Vec<Change>, most: usize) -> Vec<Change> {
    if changes.len() <= most {
        return changes;
    }
    let groups = changes.chunks(changes.len().div_ceil(most));
    let joined = groups.filter_map(|group| {
        let (first, last) = (group.first()?, group.last()?);
        Some((first.0.start..last.0.end, first.1.start..last.1.end))
    });
    joined.collect()
}

/// Where ranges of lines are in the bytes of `text`, not counting what is
/// `skipped` at its start. The ranges have to be in order.
fn byte_ranges<'a>(
    text: &str,
    skipped: usize,
    ranges: impl Iterator<Item = &'a Range<usize>>,
) -> Vec<Range<usize>> {
    let mut lines = text[skipped..].split_inclusive('\n');
    let mut line = 0;
    let mut byte = skipped;
    let mut byte_of = |wanted: usize| {
        let passed = lines.by_ref().take(wanted - line);
        byte += passed.map(str::len).sum::<usize>();
        line = wanted;
        byte
    };
    ranges
        .map(|range| byte_of(range.start)..byte_of(range.end))
        .collect()
}

#[cfg(test)]
mod tests;
