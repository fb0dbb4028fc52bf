//! A review as a unified diff, for people to read in a terminal.
//!
//! It is the usual format with two additions. Each hunk is separate and carries
//! its number, because `--hunks` takes numbers; hunks that are close share the
//! lines between them instead of being joined. And a change of form (line
//! endings, byte order mark) is described in words at the top, because it is not
//! visible in the lines.

use std::fmt;

use text::show::one_line;

use crate::{Form, LineEnding, Review};

/// How many equal lines are shown before and after a hunk.
const AROUND: usize = 3;

impl Review {
    /// The review as a unified diff of the file at `path`. The original is
    /// `None` when there is no such file yet. The texts have to be the ones
    /// that were compared.
    pub fn unified(&self, path: &str, original: Option<&str>, proposed: &str) -> String {
        let unified = Unified {
            review: self,
            path,
            original,
            proposed,
        };
        unified.to_string()
    }
}

struct Unified<'a> {
    review: &'a Review,
    path: &'a str,
    original: Option<&'a str>,
    proposed: &'a str,
}

impl fmt::Display for Unified<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.original {
            Some(original) => write_change_of_form(f, Form::of(original), Form::of(self.proposed))?,
            None if self.proposed.is_empty() => f.write_str("new file, empty\n")?,
            None => {}
        }
        if self.review.hunks().is_empty() {
            return Ok(());
        }
        match self.original {
            Some(_) => writeln!(f, "--- {}", one_line(self.path))?,
            None => writeln!(f, "--- /dev/null")?,
        }
        writeln!(f, "+++ {}", one_line(self.path))?;
        self.write_hunks(f)
    }
}

impl Unified<'_> {
    fn write_hunks(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let original = self.original.unwrap_or_default();
        let hunks = self.review.hunks();
        let bytes = self.review.bytes();
        let text = |from: usize, to: usize| self.proposed.get(from..to).unwrap_or_default();

        let mut equal_before = text(self.review.skipped(self.proposed), bytes[0].1.start);
        let mut lead = AROUND.min(hunks[0].after.start);
        for (at, (hunk, (before, after))) in hunks.iter().zip(bytes).enumerate() {
            let (equal_after, trail, next_lead) = if let Some(next) = hunks.get(at + 1) {
                let equal = next.after.start - hunk.after.end;
                let trail = AROUND.min(equal.div_ceil(2));
                let equal_after = text(after.end, bytes[at + 1].1.start);
                (equal_after, trail, AROUND.min(equal - trail))
            } else {
                let rest = text(after.end, self.proposed.len());
                (rest, rest.split_inclusive('\n').take(AROUND).count(), 0)
            };

            let span = |lines: &std::ops::Range<usize>| Span {
                start: lines.start - lead,
                count: lead + lines.len() + trail,
            };
            let (old, new) = (span(&hunk.before), span(&hunk.after));
            writeln!(f, "@@ -{old} +{new} @@ hunk {}", hunk.number)?;
            let mut leading: Vec<&str> = equal_before
                .split_inclusive('\n')
                .rev()
                .take(lead)
                .collect();
            leading.reverse();
            write_lines(f, ' ', leading.into_iter())?;
            let removed = original.get(before.clone()).unwrap_or_default();
            let removed = self.review.in_the_proposals_form(removed);
            write_lines(f, '-', removed.split_inclusive('\n'))?;
            write_lines(f, '+', text(after.start, after.end).split_inclusive('\n'))?;
            write_lines(f, ' ', equal_after.split_inclusive('\n').take(trail))?;

            equal_before = equal_after;
            lead = next_lead;
        }
        Ok(())
    }
}

fn write_change_of_form(f: &mut fmt::Formatter<'_>, from: Form, to: Form) -> fmt::Result {
    let known = from.ending != LineEnding::None && to.ending != LineEnding::None;
    if known && from.ending != to.ending {
        let (from, to) = (from.ending.name(), to.ending.name());
        writeln!(f, "line endings: {from} → {to}")?;
    }
    match (from.bom, to.bom) {
        (true, false) => writeln!(f, "byte order mark: removed"),
        (false, true) => writeln!(f, "byte order mark: added"),
        _ => Ok(()),
    }
}

fn write_lines<'a>(
    f: &mut fmt::Formatter<'_>,
    sign: char,
    lines: impl Iterator<Item = &'a str>,
) -> fmt::Result {
    for line in lines {
        write!(f, "{sign}{line}")?;
        if !line.ends_with('\n') {
            f.write_str("\n\\ No newline at end of file\n")?;
        }
    }
    Ok(())
}

/// Lines as a unified diff counts them: from 1, and from the line before when
/// there are none.
struct Span {
    start: usize,
    count: usize,
}

impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let start = self.start + usize::from(self.count > 0);
        write!(f, "{start},{}", self.count)
    }
}

#[cfg(test)]
mod tests;
