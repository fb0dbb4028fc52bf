//! The status for commands, and the snapshot for pages.

use axum::Json;
use axum::extract::State;
use front::off_thread;

use super::ServerState;
use crate::response::ApiResult;
use crate::{to_wire, wire};

pub(super) async fn status(State(server): ServerState) -> ApiResult<wire::Status> {
    let overview = server.api.front.overview().await?;
    Ok(Json(to_wire::status(&server.api, &overview)))
}

pub(super) async fn live(State(server): ServerState) -> ApiResult<wire::Live> {
    let snapshot = server.api.front.snapshot().await?;
    let live = off_thread(move || to_wire::live(&server.api, &snapshot));
    Ok(Json(live.await?))
}
