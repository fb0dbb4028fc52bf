//! The situation: in short for commands, with everything for a page.

use axum::Json;
use axum::extract::State as Shared;
use front::off_thread;

use super::Here;
use crate::response::ApiResult;
use crate::{to_wire, wire};

pub(super) async fn status(Shared(server): Here) -> ApiResult<wire::Status> {
    let overview = server.api.front.overview().await?;
    Ok(Json(to_wire::status(&server.api, &overview)))
}

pub(super) async fn live(Shared(server): Here) -> ApiResult<wire::Live> {
    let snapshot = server.api.front.snapshot().await?;
    let live = off_thread(move || to_wire::live(&server.api, &snapshot));
    Ok(Json(live.await?))
}
