//! What belongs to the program and its commands: tokens, links, the companion's own life.

use axum::Json;
use axum::extract::State as Shared;

use super::Here;
use crate::response::{ApiError, ApiResult, Body};
use crate::wire;

pub(super) async fn environment(Shared(server): Here) -> ApiResult<wire::Environment> {
    Ok(Json(server.api.front.environment().await?))
}

pub(super) async fn add_host_process(
    Shared(server): Here,
    Body(process): Body<wire::HostProcess>,
) -> ApiResult<()> {
    Ok(Json(server.api.front.add_host_process(process.pid).await?))
}

pub(super) async fn link(Shared(server): Here) -> ApiResult<wire::PageLink> {
    let url = server.api.links.fresh()?;
    Ok(Json(wire::PageLink { url }))
}

pub(super) async fn restart(Shared(server): Here) -> ApiResult<()> {
    if !server.api.restartable {
        let message = "this companion belongs to an editor; restart it from there";
        return Err(ApiError::Refused(message.into()));
    }
    Ok(Json(server.api.front.restart().await?))
}

pub(super) async fn stop(Shared(server): Here) -> ApiResult<()> {
    Ok(Json(server.api.front.stop().await?))
}
