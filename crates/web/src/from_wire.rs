//! Converts requests of the API to domain types.

use workbench::{Cursor, Decision, ProposalId};

use crate::response::ApiError;
use crate::wire;

/// Parses the number of a proposal in a URL.
pub(crate) fn proposal_id(text: &str) -> Result<ProposalId, ApiError> {
    let id = text.parse();
    id.map_err(|_| ApiError::Invalid(format!("{text:?} is not the number of a proposal")))
}

/// The decision that the body of `accept` stands for. What of it the person has seen is apart.
pub(crate) fn decision(accept: wire::Accept) -> Result<Decision, ApiError> {
    match (accept.hunks, accept.content) {
        (Some(_), Some(_)) => Err(ApiError::Invalid(
            "give either hunks or content, not both".into(),
        )),
        (None, Some(text)) => Ok(Decision::AcceptText(text)),
        (Some(hunks), None) => Ok(Decision::AcceptHunks(hunks.into_iter().collect())),
        (None, None) => Ok(Decision::Accept),
    }
}

/// The cursor, if a line was given. The column defaults to 1.
pub(crate) fn cursor(line: Option<u32>, column: Option<u32>) -> Option<Cursor> {
    line.map(|line| Cursor::new(line, column.unwrap_or(1)))
}
