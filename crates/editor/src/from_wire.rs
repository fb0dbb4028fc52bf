//! What the editor asks, in the words of the front.

use workbench::Decision;

use crate::wire;

/// What the person decided.
pub(crate) fn decision(verdict: wire::Verdict) -> Decision {
    match verdict {
        wire::Verdict {
            accepted: false, ..
        } => Decision::Reject,
        wire::Verdict {
            text: Some(text), ..
        } => Decision::AcceptText(text),
        wire::Verdict {
            hunks: Some(hunks), ..
        } => Decision::AcceptHunks(hunks.into_iter().collect()),
        wire::Verdict { .. } => Decision::Accept,
    }
}
