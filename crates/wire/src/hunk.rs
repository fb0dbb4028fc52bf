//! A place where two texts differ.

use serde::{Deserialize, Serialize};

/// A place where two texts differ. Lines end with `\n` and are counted from 0; the ends are
/// exclusive. An empty range is the position of an insertion or a removal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Hunk {
    /// The number by which it is chosen, from 1.
    pub number: usize,
    /// The first line of the original.
    pub original_start: usize,
    /// The line of the original after the last one.
    pub original_end: usize,
    /// The first line of the text that replaces it.
    pub proposed_start: usize,
    /// The line of that text after the last one.
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
