//! The ids of sessions and proposals.
//!
//! Both are passed around a lot, so both are cheap to clone. Neither is generated
//! here: the transport names a session, and [`Proposals`](crate::Proposals)
//! numbers the proposals.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

/// The id of an agent's session, which the transport has chosen.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SessionId(Arc<str>);

impl SessionId {
    /// The session with this id.
    pub fn new(id: impl Into<Arc<str>>) -> SessionId {
        SessionId(id.into())
    }

    /// The id as a string.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for SessionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The number of a proposal, for people and scripts.
///
/// A companion never reuses a number, not even after a restart, so a script that
/// is late cannot decide another proposal by mistake.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ProposalId(u64);

impl ProposalId {
    /// The proposal with this number.
    pub const fn new(number: u64) -> ProposalId {
        ProposalId(number)
    }

    /// The number.
    pub const fn get(self) -> u64 {
        self.0
    }
}

impl fmt::Display for ProposalId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl FromStr for ProposalId {
    type Err = BadProposalId;

    fn from_str(text: &str) -> Result<ProposalId, BadProposalId> {
        // `u64` would also read "+1", which nothing ever prints.
        if !text.bytes().all(|byte| byte.is_ascii_digit()) {
            return Err(BadProposalId(text.to_owned()));
        }
        text.parse()
            .map(ProposalId)
            .map_err(|_| BadProposalId(text.to_owned()))
    }
}

/// A text that is not the number of a proposal.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is not the number of a proposal; give a whole number such as 3")]
pub struct BadProposalId(String);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_proposal_id_is_read_as_it_is_printed() {
        for number in [0, 1, 42, u64::MAX] {
            let id = ProposalId::new(number);
            assert_eq!(id.to_string().parse(), Ok(id));
        }
    }

    #[test]
    fn anything_else_is_no_proposal_id() {
        for text in [
            "",
            "+1",
            "-1",
            "1.0",
            " 1",
            "1 ",
            "x",
            "٣",
            "18446744073709551616",
        ] {
            assert!(text.parse::<ProposalId>().is_err(), "{text:?}");
        }
    }

    #[test]
    fn a_session_id_prints_as_it_was_given() {
        let id = SessionId::new("a-b");
        assert_eq!((id.as_str(), id.to_string().as_str()), ("a-b", "a-b"));
    }
}
