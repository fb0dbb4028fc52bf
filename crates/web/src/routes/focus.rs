//! The person's focus, as a command reports it.

use axum::Json;
use axum::extract::State;
use workbench::Visibility;

use super::ServerState;
use crate::response::{ApiResult, JsonBody};
use crate::{from_wire, wire};

pub(super) async fn focus(
    State(server): ServerState,
    JsonBody(focus): JsonBody<wire::Focus>,
) -> ApiResult<wire::Focused> {
    let cursor = from_wire::cursor(focus.line, focus.column);
    let front = &server.api.front;
    let visibility = front
        .focus_file(focus.path, cursor, focus.selection)
        .await?;
    let reason = match visibility {
        Visibility::Shown => None,
        Visibility::HeldBack(reason) => Some(reason.to_string()),
    };
    Ok(Json(wire::Focused {
        shown: reason.is_none(),
        reason,
    }))
}
