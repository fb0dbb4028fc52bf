//! The page itself, and the door through which it gets its key.

use axum::Json;
use axum::extract::{Path as Named, State as Shared};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};

use super::Here;
use crate::response::{ApiError, ApiResult, Body};
use crate::{assets, wire};

pub(super) async fn index(asked: HeaderMap) -> Response {
    assets::INDEX.respond(&asked)
}

pub(super) async fn asset(Named(name): Named<String>, asked: HeaderMap) -> Response {
    match assets::find(&name) {
        Some(asset) => asset.respond(&asked),
        None => StatusCode::NOT_FOUND.into_response(),
    }
}

/// Gives the page's key for a ticket that is good.
pub(super) async fn enter(
    Shared(server): Here,
    Body(entering): Body<wire::Ticket>,
) -> ApiResult<wire::PageKey> {
    if !server.api.links.redeem(&entering.ticket) {
        return Err(ApiError::UsedLink);
    }
    let key = server.api.keys.page.clone();
    Ok(Json(wire::PageKey { key }))
}
