//! Lines for the editor's log and for the person. Names and paths of others may be in them, and
//! editors show them as they are, so each is made one line here.

use serde_json::{Value, json};
use text::show::{Lines, one_line};

use crate::rpc::{Outgoing, ResponseError};

const WARNING: u8 = 2;
const INFO: u8 = 3;

/// A line for the editor's log. It names no text of a file and no token.
pub(crate) fn log(message: &str) -> Outgoing {
    let params = json!({ "type": INFO, "message": one_line(message) });
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

/// What a question to the person says, with a button for each title. Buttons are compared by their
/// titles, so whoever asks keeps those that are shown.
pub(crate) fn question(message: &Lines, buttons: &[String]) -> Value {
    let buttons: Vec<_> = (buttons.iter())
        .map(|title| json!({ "title": title }))
        .collect();
    json!({ "type": INFO, "message": message.as_str().trim_end(), "actions": buttons })
}

fn show(kind: u8, message: &str) -> Outgoing {
    let params = json!({ "type": kind, "message": one_line(message) });
    Outgoing::notification("window/showMessage", &params)
}
