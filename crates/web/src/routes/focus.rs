//! Where the person is, said by a command.

use axum::Json;
use axum::extract::State as Shared;
use workbench::Visibility;

use super::Here;
use crate::response::{ApiResult, Body};
use crate::{from_wire, wire};

pub(super) async fn focus(
    Shared(server): Here,
    Body(focus): Body<wire::Focus>,
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
