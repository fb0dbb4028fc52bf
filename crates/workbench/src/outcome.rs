//! How a proposal ended, in words for programs and for people.

use std::fmt;

/// How a proposal ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The person accepted it, perhaps edited.
    Accepted,
    /// The person rejected it.
    Rejected,
    /// The agent took it back, usually because the person answered in the terminal.
    Withdrawn,
    /// The agent proposed something else for the same file.
    Replaced,
    /// The agent is gone.
    Orphaned,
}

impl Outcome {
    /// The word used in JSON and in the log.
    pub const fn as_str(self) -> &'static str {
        match self {
            Outcome::Accepted => "accepted",
            Outcome::Rejected => "rejected",
            Outcome::Withdrawn => "withdrawn",
            Outcome::Replaced => "replaced",
            Outcome::Orphaned => "orphaned",
        }
    }
}

/// The words for people, to follow "the proposal was".
impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Outcome::Accepted => "accepted",
            Outcome::Rejected => "rejected",
            Outcome::Withdrawn => "taken back by its agent",
            Outcome::Replaced => "replaced by its agent",
            Outcome::Orphaned => "left by its agent",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_words_for_programs_and_for_people() {
        for (outcome, word, phrase) in [
            (Outcome::Accepted, "accepted", "accepted"),
            (Outcome::Rejected, "rejected", "rejected"),
            (Outcome::Withdrawn, "withdrawn", "taken back by its agent"),
            (Outcome::Replaced, "replaced", "replaced by its agent"),
            (Outcome::Orphaned, "orphaned", "left by its agent"),
        ] {
            assert_eq!((outcome.as_str(), &*outcome.to_string()), (word, phrase));
        }
    }
}
