//! What is tried with random input and has no other way in from outside: the program itself uses none
//! of this.

use crate::DaemonEvent;
use crate::connection::{CloseReason, IdeEvent, InteractionRequest};
use crate::event::EventBody;

/// What a connection makes of an event, if it tells anything of it. `me` is this client's id.
pub fn ide_event(event: DaemonEvent, me: &str) -> Option<IdeEvent> {
    match event.body() {
        EventBody::PermissionRequest(request) => {
            let request = InteractionRequest::asked(request)?;
            Some(IdeEvent::RequestOpened(Box::new(request)))
        }
        EventBody::PermissionResolved(it) | EventBody::PermissionAlreadyResolved(it) => {
            Some(IdeEvent::RequestClosed {
                reason: CloseReason::Elsewhere(it.known_outcome()),
                request: it.request_id,
            })
        }
        body => crate::connection::translate(event, body, |client| client.as_str() == me),
    }
}
