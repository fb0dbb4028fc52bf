//! What a person should know before a turn: where the agent works, and what it asks about.

use ::daemon::connection::IdeConnection;
use ::daemon::wire::{ApprovalMode, DaemonCapabilities};
use conversation::unreviewed;

use super::place;
use crate::output::note;

/// Says where the agent works, and whose files and credentials it uses there.
pub(super) fn say_place(capabilities: &DaemonCapabilities, folder: &str) {
    for line in place(capabilities, folder).locality() {
        note(line);
    }
}

/// Says in which mode the conversation is, and what is not reviewed in it. `wanted` is the mode of a
/// conversation that begins here; one that goes on may be in another.
pub(super) async fn say_mode(connection: &IdeConnection, wanted: Option<&ApprovalMode>) {
    let context = connection.context().await.ok();
    let current = context.and_then(|context| context.state.modes?.current_mode_id);
    let Some(mode) = current.as_ref().or(wanted) else {
        return note("the daemon does not tell the mode of this conversation");
    };
    if let Some(wanted) = wanted.filter(|wanted| *wanted != mode) {
        note(format_args!(
            "this conversation goes on in mode {mode}, and not in mode {wanted}, because it was \
             already open"
        ));
    }
    match unreviewed(mode.as_str()) {
        Some(unreviewed) => note(unreviewed),
        None => note(format_args!("mode {mode}")),
    }
}
