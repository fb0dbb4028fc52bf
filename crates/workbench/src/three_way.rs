//! Brings an agent's edit into a text that has changed since the agent read it.
//!
//! Three texts: the *base*, which the agent has read; the *present* text, which
//! somebody has changed since; the *proposed* text, which the agent has made
//! from the base. The result has the changes of both. Where both have changed
//! the same lines, or lines next to each other, nobody but the person can say
//! what is right: both versions are put there, between markers.
//!
//! The result is in the proposed text's form (see [`Form`]), as a merge of
//! hunks is, because that is the form that the agent expects back. The
//! comparison is bounded as that of a review is (see `compare`), which rules out
//! the crates for this that search without a bound.

use std::collections::BTreeMap;
use std::ops::Range;

use crate::compare::{Change, changes};
use crate::text::{Form, LineEnding, in_line_ending, without_mark};

/// Stands behind the marker above the present lines.
const PRESENT_LABEL: &str = "in the file now";
/// Stands behind the marker below the proposed lines.
const PROPOSED_LABEL: &str = "proposed";

/// The lines around a place in conflict. They are as long as it takes to tell
/// them from the lines of the texts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Markers {
    length: usize,
}

impl Markers {
    /// The usual length, which editors know.
    const SHORTEST: usize = 7;

    /// Markers that none of these texts has.
    fn foreign_to(texts: &[&str]) -> Markers {
        let lines = texts.iter().flat_map(|text| text.lines());
        let longest = lines.map(|line| run(line, '<').max(run(line, '>'))).max();
        let length = longest.map_or(0, |longest| longest + 1);
        Markers {
            length: length.max(Markers::SHORTEST),
        }
    }

    fn line(self, character: char, label: &str) -> String {
        let mut line = character.to_string().repeat(self.length);
        if !label.is_empty() {
            line.push(' ');
            line.push_str(label);
        }
        line
    }
}

/// How many places of `text` are marked. Whoever resolves a conflict removes its markers; one that is
/// left over counts.
///
/// Lines like these that one of the texts in `own` has itself are no conflicts. They are told apart by
/// their length, because a merge makes its markers longer than all lines of its texts: it may well have
/// removed a line that looks like one, and made a marker of its own.
pub(crate) fn count_marked(text: &str, own: &[&str]) -> usize {
    let count = |character, label| {
        let own: Vec<_> = (own.iter().map(|text| marker_lines(text, character, label))).collect();
        let excess = |(length, count): (usize, usize)| {
            let of_texts = own.iter().filter_map(|lines| lines.get(&length));
            count.saturating_sub(of_texts.max().copied().unwrap_or(0))
        };
        let lines = marker_lines(text, character, label);
        lines.into_iter().map(excess).sum()
    };
    usize::max(count('<', PRESENT_LABEL), count('>', PROPOSED_LABEL))
}

/// How many marker lines of each length `text` has.
fn marker_lines(text: &str, character: char, label: &str) -> BTreeMap<usize, usize> {
    let mut lines = BTreeMap::new();
    for line in without_mark(text).lines() {
        let length = run(line, character);
        if length >= Markers::SHORTEST && line[length..].strip_prefix(' ') == Some(label) {
            *lines.entry(length).or_default() += 1;
        }
    }
    lines
}

/// How many times `line` begins with `character`.
fn run(line: &str, character: char) -> usize {
    line.chars().take_while(|it| *it == character).count()
}

/// Brings the change from `base` to `proposed` into `present`.
pub(crate) fn merge(base: &str, present: &str, proposed: &str) -> String {
    let form = Form::of(proposed);
    let [base, present, plain_proposed] = [base, present, proposed].map(without_mark);
    let markers = Markers::foreign_to(&[base, present, plain_proposed]);
    let ours = changes_of_form(base, present);
    let theirs = changes_of_form(base, plain_proposed);
    let end = line_end(form.ending, present);
    let mut text = String::with_capacity(present.len().max(proposed.len()));
    text.push_str(&proposed[..proposed.len() - plain_proposed.len()]);
    let mut output = Output {
        text,
        markers,
        ending: form.ending,
        end,
    };

    let present: Vec<&str> = present.split_inclusive('\n').collect();
    let proposed: Vec<&str> = plain_proposed.split_inclusive('\n').collect();
    let (mut ours, mut theirs) = (Side::new(&ours), Side::new(&theirs));
    // The next line of the proposed text that was not looked at.
    let mut next = 0;
    while let Some(mut place) = first(&ours, &theirs) {
        let (mut from_ours, mut from_theirs) = (ours.begin(), theirs.begin());
        while from_ours.grow(&mut ours, &mut place) || from_theirs.grow(&mut theirs, &mut place) {}
        let mine = from_ours.lines(&place, &ours);
        let yours = from_theirs.lines(&place, &theirs);
        // What nobody changed is the same in both, but for the form.
        output.push_all(&proposed[next..yours.start]);
        next = yours.end;
        match (from_ours.any, from_theirs.any) {
            (true, false) => output.push_all(&present[mine]),
            (false, _) => output.push_all(&proposed[yours]),
            (true, true) => output.push_both(&present[mine], &proposed[yours]),
        }
    }
    output.push_all(&proposed[next..]);
    output.text
}

/// Where two texts differ in more than the line ending that each has throughout.
fn changes_of_form(old: &str, new: &str) -> Vec<Change> {
    match (LineEnding::of(old), LineEnding::of(new)) {
        (LineEnding::CrLf, LineEnding::Lf) => changes(old, "\r\n", new),
        (LineEnding::Lf, LineEnding::CrLf) => {
            let swapped = changes(new, "\r\n", old).into_iter();
            swapped.map(|(new, old)| (old, new)).collect()
        }
        _ => changes(old, "\n", new),
    }
}

/// What ends a line of the result where neither text does.
fn line_end(ending: LineEnding, present: &str) -> &'static str {
    match ending {
        LineEnding::CrLf => "\r\n",
        LineEnding::None if LineEnding::of(present) == LineEnding::CrLf => "\r\n",
        LineEnding::Lf | LineEnding::Mixed | LineEnding::None => "\n",
    }
}

/// The changes of one text, as they are walked through.
struct Side<'a> {
    left: &'a [Change],
    /// How many lines more than the base it has so far.
    ahead: isize,
}

impl<'a> Side<'a> {
    fn new(changes: &'a [Change]) -> Side<'a> {
        Side {
            left: changes,
            ahead: 0,
        }
    }

    fn begin(&self) -> Part {
        Part {
            ahead: self.ahead,
            any: false,
        }
    }
}

/// What one side contributes to a place.
struct Part {
    /// How many lines more than the base the side had before the place.
    ahead: isize,
    /// Whether it has changed anything there.
    any: bool,
}

impl Part {
    /// Takes the side's next change if it overlaps or touches the place, which it then becomes a
    /// part of.
    fn grow(&mut self, side: &mut Side<'_>, place: &mut Range<usize>) -> bool {
        let Some(((before, after), rest)) = side.left.split_first() else {
            return false;
        };
        if before.start > place.end {
            return false;
        }
        place.end = place.end.max(before.end);
        side.ahead += after.len().cast_signed() - before.len().cast_signed();
        side.left = rest;
        self.any = true;
        true
    }

    /// The lines of the side at that place of the base.
    fn lines(&self, place: &Range<usize>, side: &Side<'_>) -> Range<usize> {
        let at = |line: usize, ahead: isize| line.saturating_add_signed(ahead);
        at(place.start, self.ahead)..at(place.end, side.ahead)
    }
}

/// The beginning of the next place where anything was changed.
fn first(ours: &Side<'_>, theirs: &Side<'_>) -> Option<Range<usize>> {
    let starts = [ours, theirs].map(|side| side.left.first().map(|(before, _)| before.start));
    let start = starts.into_iter().flatten().min()?;
    Some(start..start)
}

/// The result as it is put together.
struct Output {
    text: String,
    markers: Markers,
    /// The line ending of the proposed text.
    ending: LineEnding,
    /// What ends a line that has no end of its own.
    end: &'static str,
}

impl Output {
    fn push_all(&mut self, lines: &[&str]) {
        for line in lines {
            self.text.push_str(&in_line_ending(line, self.ending));
        }
    }

    /// Both have changed the same place. What is the same at its beginning and end is no conflict.
    fn push_both(&mut self, present: &[&str], proposed: &[&str]) {
        let same = |(a, b): &(&&str, &&str)| {
            in_line_ending(a, LineEnding::Lf) == in_line_ending(b, LineEnding::Lf)
        };
        let head = present.iter().zip(proposed).take_while(same).count();
        let (head, proposed) = proposed.split_at(head);
        let present = &present[head.len()..];
        let tails = present.iter().rev().zip(proposed.iter().rev());
        let tail = tails.take_while(same).count();
        let (proposed, tail) = proposed.split_at(proposed.len() - tail);
        let present = &present[..present.len() - tail.len()];
        self.push_all(head);
        if !present.is_empty() || !proposed.is_empty() {
            self.push_marker('<', PRESENT_LABEL);
            self.push_all(present);
            self.push_marker('=', "");
            self.push_all(proposed);
            self.push_marker('>', PROPOSED_LABEL);
        }
        self.push_all(tail);
    }

    fn push_marker(&mut self, character: char, label: &str) {
        if !self.text.is_empty() && !self.text.ends_with('\n') {
            self.text.push_str(self.end);
        }
        self.text.push_str(&self.markers.line(character, label));
        self.text.push_str(self.end);
    }
}

#[cfg(test)]
mod tests;
