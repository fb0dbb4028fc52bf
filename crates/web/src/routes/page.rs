//! The page's files, and the exchange of a ticket for the page's key.

use axum::extract::{Path, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::{Extension, Json};
use companion::server::SocketEnds;
use front::off_thread;
use private::Peer;

use super::ServerState;
use crate::response::{ApiError, ApiResult, JsonBody};
use crate::{assets, wire};

pub(super) async fn index(headers: HeaderMap) -> Response {
    assets::INDEX.respond(&headers)
}

pub(super) async fn asset(Path(name): Path<String>, headers: HeaderMap) -> Response {
    match assets::find(&name) {
        Some(asset) => asset.respond(&headers),
        None => StatusCode::NOT_FOUND.into_response(),
    }
}

/// Exchanges a valid ticket for the page's key. Other users of the machine may have seen the ticket
/// in the argument list of a browser; where the system tells users apart, it is not valid for them.
pub(super) async fn redeem_ticket(
    State(server): ServerState,
    ends: Option<Extension<SocketEnds>>,
    JsonBody(body): JsonBody<wire::Ticket>,
) -> ApiResult<wire::PageKey> {
    if let Some(Extension(SocketEnds { ours, theirs })) = ends
        && off_thread(move || private::peer(ours, theirs)).await? == Peer::AnotherUser
    {
        return Err(ApiError::ForeignLink);
    }
    if !server.api.links.redeem(&body.ticket) {
        return Err(ApiError::UsedLink);
    }
    let key = server.api.keys.page.clone();
    Ok(Json(wire::PageKey { key }))
}
