//! What only commands may do: read tokens, make links, restart and stop.

use axum::Json;
use axum::extract::State;

use super::ServerState;
use crate::response::{ApiError, ApiResult, JsonBody};
use crate::wire;

pub(super) async fn environment(State(server): ServerState) -> ApiResult<wire::Environment> {
    Ok(Json(server.api.front.environment().await?))
}

pub(super) async fn add_host_process(
    State(server): ServerState,
    JsonBody(process): JsonBody<wire::HostProcess>,
) -> ApiResult<()> {
    Ok(Json(server.api.front.add_host_process(process.pid).await?))
}

pub(super) async fn link(State(server): ServerState) -> ApiResult<wire::PageLink> {
    let url = server.api.links.fresh()?;
    Ok(Json(wire::PageLink { url }))
}

pub(super) async fn restart(State(server): ServerState) -> ApiResult<()> {
    match server.api.owner.no_restart() {
        None => Ok(Json(server.api.front.restart().await?)),
        Some(why) => Err(ApiError::Refused(why.into())),
    }
}

pub(super) async fn stop(State(server): ServerState) -> ApiResult<()> {
    Ok(Json(server.api.front.stop().await?))
}

pub(super) async fn stop_unused(State(server): ServerState) -> ApiResult<bool> {
    Ok(Json(server.api.front.stop_unused().await?))
}
