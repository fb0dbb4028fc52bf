//! Lines for the editor's log and for the person.

use serde_json::json;

use crate::rpc::{Outgoing, ResponseError};

const WARNING: u8 = 2;
const INFO: u8 = 3;

/// A line for the editor's log. It names no text of a file and no token.
pub(crate) fn log(message: &str) -> Outgoing {
    let params = json!({ "type": INFO, "message": message });
    Outgoing::notification("window/logMessage", &params)
}

/// A line for the person.
pub(crate) fn tell(message: &str) -> Outgoing {
    show(INFO, message)
}

/// A line for the person about something that they should mend.
pub(crate) fn warn(message: &str) -> Outgoing {
    show(WARNING, message)
}

/// Tells the person when something that they wanted did not work, where no response says so.
pub(crate) fn report<T>(outcome: Result<T, ResponseError>) -> Vec<Outgoing> {
    let failed = outcome.err();
    failed
        .map(|error| warn(error.message()))
        .into_iter()
        .collect()
}

fn show(kind: u8, message: &str) -> Outgoing {
    let params = json!({ "type": kind, "message": message });
    Outgoing::notification("window/showMessage", &params)
}
