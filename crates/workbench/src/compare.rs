//! Which lines of two texts differ.
//!
//! Time, memory and stack have to be bounded for all texts, because agents send
//! them. The result has to be deterministic, because people refer to hunks by
//! number. So no deadline decides when to give up, only the sizes do:
//!
//! 1. Equal lines at the start and at the end are skipped. Most edits are small,
//!    so little remains.
//! 2. A large rest is cut at the lines that occur once in each text, as far as
//!    those are in the same order ("patience"). An edited large text falls into
//!    small pieces.
//! 3. Each piece is compared with Myers' algorithm, which bounds its own search
//!    but is recursive. So a piece that is still large is not searched and counts
//!    as changed.

use std::collections::HashMap;
use std::ops::Range;

use similar::{Algorithm, DiffTag};

/// Lines of the old text, and the lines of the new text in their place.
pub(crate) type Change = (Range<usize>, Range<usize>);

/// Beyond this many differing lines, all of them count as one change. No person
/// reads that many hunks, and numbering the lines takes memory in proportion.
pub(crate) const MOST_LINES: usize = 1_000_000;

/// Pieces up to this many lines are compared thoroughly. In the worst case that
/// takes less than a megabyte of stack, even in a build without optimisation.
const THOROUGH_LINES: usize = 50_000;

/// The changes between two texts, in order, with equal lines between them.
///
/// Lines are what `\n` ends. A line of the old text may also end with `old_end`
/// and is then the same as if it ended with `\n`.
pub(crate) fn changes(old: &str, old_end: &'static str, new: &str) -> Vec<Change> {
    let mut old = lines(old, old_end);
    let mut new = lines(new, "\n");

    let start = (old.clone().zip(new.clone()))
        .take_while(|(old, new)| old == new)
        .count();
    old.by_ref().take(start).for_each(drop);
    new.by_ref().take(start).for_each(drop);
    let equal_at_the_end = (old.clone().rev().zip(new.clone().rev()))
        .take_while(|(old, new)| old == new)
        .count();
    let old_count = old.clone().count() - equal_at_the_end;
    let new_count = new.clone().count() - equal_at_the_end;

    if old_count == 0 && new_count == 0 {
        return Vec::new();
    }
    if old_count == 0 || new_count == 0 || old_count + new_count > MOST_LINES {
        return vec![(start..start + old_count, start..start + new_count)];
    }

    // Comparing numbers is much faster than comparing lines.
    let mut numbers = HashMap::new();
    let mut number = |line| {
        let next = numbers.len();
        *numbers.entry(line).or_insert(next)
    };
    let old: Vec<usize> = old.take(old_count).map(&mut number).collect();
    let new: Vec<usize> = new.take(new_count).map(&mut number).collect();
    let distinct = numbers.len();

    let mut changes = Vec::new();
    for (old_piece, new_piece) in pieces(&old, &new, distinct) {
        let (old, new) = (&old[old_piece.clone()], &new[new_piece.clone()]);
        let (old_start, new_start) = (start + old_piece.start, start + new_piece.start);
        compare(old, old_start, new, new_start, &mut changes);
    }
    changes
}

/// The lines as they are compared: the text, and whether the line is terminated.
fn lines<'a>(
    text: &'a str,
    end: &'static str,
) -> impl DoubleEndedIterator<Item = (&'a str, bool)> + Clone {
    text.split_inclusive('\n')
        .map(move |line| match line.strip_suffix(end) {
            Some(body) => (body, true),
            None => (line, false),
        })
}

/// The pieces between the equal lines at which two long lists of lines are cut.
/// Short lists are one piece.
fn pieces(old: &[usize], new: &[usize], distinct: usize) -> Vec<Change> {
    let cuts = if old.len() + new.len() > THOROUGH_LINES {
        anchors(old, new, distinct)
    } else {
        Vec::new()
    };
    let mut pieces = Vec::with_capacity(cuts.len() + 1);
    let (mut old_start, mut new_start) = (0, 0);
    for (old_at, new_at) in cuts {
        pieces.push((old_start..old_at, new_start..new_at));
        (old_start, new_start) = (old_at + 1, new_at + 1);
    }
    pieces.push((old_start..old.len(), new_start..new.len()));
    pieces
}

/// The lines that occur once in each list: the longest subsequence of them that
/// is in the same order in both.
fn anchors(old: &[usize], new: &[usize], distinct: usize) -> Vec<(usize, usize)> {
    let in_old = occurrences(old, distinct);
    let in_new = occurrences(new, distinct);
    let candidates: Vec<(usize, usize)> = (old.iter().enumerate())
        .filter(|&(_, &line)| in_old[line] != Occurrence::Repeated)
        .filter_map(|(at, &line)| match in_new[line] {
            Occurrence::Once(new_at) => Some((at, new_at)),
            _ => None,
        })
        .collect();

    // The longest increasing subsequence, by patience sorting: `ends[n]` is the
    // smallest last candidate of all increasing subsequences of length `n + 1`.
    let mut ends: Vec<usize> = Vec::new();
    let mut previous: Vec<Option<usize>> = Vec::with_capacity(candidates.len());
    for (at, &(_, new_at)) in candidates.iter().enumerate() {
        let length = ends.partition_point(|&end| candidates[end].1 < new_at);
        previous.push(length.checked_sub(1).map(|shorter| ends[shorter]));
        if length == ends.len() {
            ends.push(at);
        } else {
            ends[length] = at;
        }
    }
    let mut chosen = Vec::with_capacity(ends.len());
    let mut next = ends.last().copied();
    while let Some(at) = next {
        chosen.push(candidates[at]);
        next = previous[at];
    }
    chosen.reverse();
    chosen
}

/// How often a line occurs in a list, and where if only once.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Occurrence {
    Never,
    Once(usize),
    Repeated,
}

fn occurrences(list: &[usize], distinct: usize) -> Vec<Occurrence> {
    let mut places = vec![Occurrence::Never; distinct];
    for (at, &line) in list.iter().enumerate() {
        places[line] = match places[line] {
            Occurrence::Never => Occurrence::Once(at),
            Occurrence::Once(_) | Occurrence::Repeated => Occurrence::Repeated,
        };
    }
    places
}

/// Adds the changes of one piece, which starts at those lines of its texts.
fn compare(
    old: &[usize],
    mut old_start: usize,
    new: &[usize],
    mut new_start: usize,
    changes: &mut Vec<Change>,
) {
    let equal = |pair: &(&usize, &usize)| pair.0 == pair.1;
    let head = old.iter().zip(new).take_while(equal).count();
    let (old, new) = (&old[head..], &new[head..]);
    let tail = (old.iter().rev().zip(new.iter().rev()))
        .take_while(equal)
        .count();
    let (old, new) = (&old[..old.len() - tail], &new[..new.len() - tail]);
    old_start += head;
    new_start += head;

    if old.is_empty() && new.is_empty() {
        return;
    }
    if old.len() + new.len() > THOROUGH_LINES {
        let whole = (
            old_start..old_start + old.len(),
            new_start..new_start + new.len(),
        );
        changes.push(whole);
        return;
    }
    for operation in similar::capture_diff_slices(Algorithm::Myers, old, new) {
        let (tag, old, new) = operation.as_tag_tuple();
        if tag == DiffTag::Equal {
            continue;
        }
        let old = old_start + old.start..old_start + old.end;
        let new = new_start + new.start..new_start + new.end;
        // A removal and an insertion in the same place are one change.
        match changes.last_mut() {
            Some((before, after)) if before.end == old.start && after.end == new.start => {
                before.end = old.end;
                after.end = new.end;
            }
            _ => changes.push((old, new)),
        }
    }
}

#[cfg(test)]
mod tests;
