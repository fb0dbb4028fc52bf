//! Which lines of two texts differ.
//!
//! The answer has to come in bounded time, memory and stack whatever the texts
//! are, because agents send them, and it has to be the same each time, because
//! people name hunks by their numbers. So no clock decides when to give up, only
//! the texts do:
//!
//! 1. What is equal at the start and at the end is set aside. Most edits are
//!    small and most texts are not, so little is left.
//! 2. If a lot is left, it is cut at the lines that occur once in each text, as
//!    far as those are in the same order ("patience"). A large text that was
//!    edited falls into small pieces.
//! 3. Each piece is compared in the usual way (Myers). That is thorough, and
//!    gives up the search for the best answer after a fair amount of work; but it
//!    calls itself again and again, so a piece that is still large is not
//!    searched and counts as changed.

use std::collections::HashMap;
use std::ops::Range;

use similar::{Algorithm, DiffTag};

/// Lines of the old text, and the lines of the new text in their place.
pub(crate) type Change = (Range<usize>, Range<usize>);

/// Where texts differ in more lines than this, nothing is looked for in them.
/// No person reads so many, and numbering them takes memory in proportion.
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

/// A line as it is compared: what it says, and whether it ends.
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

/// What is between the lines at which two long lists of lines are cut, and that
/// are equal. Short lists are one piece.
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

/// The lines that occur once in each list: the longest choice of them that is
/// in the same order in both.
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

    // The longest increasing choice, by patience sorting: `ends[n]` is the
    // candidate on which a choice of `n + 1` ends that leaves the most room.
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
