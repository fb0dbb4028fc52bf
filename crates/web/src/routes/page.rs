//! The page itself, and the door through which it gets its key.

use axum::extract::{Path as Named, State as Shared};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::{Extension, Json};
use companion::server::SocketEnds;
use front::off_thread;
use private::Peer;

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

/// Gives the page's key for a ticket that is good. Other users of the machine may have seen the
/// ticket in the argument list of a browser; where the system tells them apart, it is not theirs.
pub(super) async fn enter(
    Shared(server): Here,
    ends: Option<Extension<SocketEnds>>,
    Body(entering): Body<wire::Ticket>,
) -> ApiResult<wire::PageKey> {
    if let Some(Extension(SocketEnds { ours, theirs })) = ends
        && off_thread(move || private::peer(ours, theirs)).await? == Peer::AnotherUser
    {
        return Err(ApiError::ForeignLink);
    }
    if !server.api.links.redeem(&entering.ticket) {
        return Err(ApiError::UsedLink);
    }
    let key = server.api.keys.page.clone();
    Ok(Json(wire::PageKey { key }))
}
