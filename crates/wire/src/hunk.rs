//! A place where two texts differ.

use serde::{Deserialize, Serialize};

/// A place where two texts differ. Lines are what `\n` ends, counted from 0; the ends are exclusive.
/// An empty range says where lines go in, or where they were.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Hunk {
    /// The number by which it is chosen, from 1.
    pub number: usize,
    /// The first line of the original.
    pub original_start: usize,
    /// The line of the original after the last one.
    pub original_end: usize,
    /// The first line that stands there instead.
    pub proposed_start: usize,
    /// The line after the last one of these.
    pub proposed_end: usize,
}

impl From<&workbench::Hunk> for Hunk {
    fn from(hunk: &workbench::Hunk) -> Hunk {
        Hunk {
            number: hunk.number,
            original_start: hunk.before.start,
            original_end: hunk.before.end,
            proposed_start: hunk.after.start,
            proposed_end: hunk.after.end,
        }
    }
}
