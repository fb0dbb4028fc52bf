//! What belongs to the program and its commands: tokens, links, the companion's own life.

use axum::Json;
use axum::extract::State as Shared;

use super::{Here, Order};
use crate::answer::{Answer, Body, Failure};
use crate::wire;

pub(super) async fn environment(Shared(server): Here) -> Answer<wire::Environment> {
    server.order(Order::Environment).await.map(Json)
}

pub(super) async fn host(Shared(server): Here, Body(guest): Body<wire::Guest>) -> Answer<()> {
    server
        .order(|done| Order::Host(guest.pid, done))
        .await
        .map(Json)
}

pub(super) async fn link(Shared(server): Here) -> Answer<wire::Link> {
    let url = server.api.links.fresh()?;
    Ok(Json(wire::Link { url }))
}

pub(super) async fn restart(Shared(server): Here) -> Answer<()> {
    if !server.api.restartable {
        let message = "this companion belongs to an editor; restart it from there";
        return Err(Failure::Refused(message.into()));
    }
    server.send(Order::Restart).await.map(Json)
}

pub(super) async fn stop(Shared(server): Here) -> Answer<()> {
    server.send(Order::Stop).await.map(Json)
}
