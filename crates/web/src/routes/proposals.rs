//! Proposals: list, show, draft, decide.

use axum::Json;
use axum::extract::{Path, State};
use front::off_thread;
use workbench::Decision;

use super::{Server, ServerState};
use crate::response::{ApiResult, JsonBody};
use crate::{from_wire, to_wire, wire};

pub(super) async fn list(State(server): ServerState) -> ApiResult<Vec<wire::Proposal>> {
    let proposals = server.api.front.proposals().await?;
    let agents = server.api.front.agents().await?;
    let list = off_thread(move || to_wire::proposals(&proposals, &agents));
    Ok(Json(list.await?))
}

pub(super) async fn detail(
    State(server): ServerState,
    Path(id): Path<String>,
) -> ApiResult<wire::Detail> {
    let id = from_wire::proposal_id(&id)?;
    let proposal = server.api.front.proposal(id).await?;
    let agents = server.api.front.agents().await?;
    let detail = off_thread(move || to_wire::detail(&proposal, &agents));
    Ok(Json(detail.await?))
}

/// Takes the text that the person has edited in a page.
pub(super) async fn draft(
    State(server): ServerState,
    Path(id): Path<String>,
    JsonBody(draft): JsonBody<wire::Draft>,
) -> ApiResult<wire::Drafted> {
    let id = from_wire::proposal_id(&id)?;
    let hunks = server.api.front.compare_draft(id, draft.content);
    Ok(Json(wire::Drafted {
        hunks_at: to_wire::hunks(&hunks.await?),
    }))
}

pub(super) async fn accept(
    State(server): ServerState,
    Path(id): Path<String>,
    JsonBody(how): JsonBody<wire::Accept>,
) -> ApiResult<wire::Decided> {
    server.decide(&id, from_wire::decision(how)?).await
}

pub(super) async fn reject(
    State(server): ServerState,
    Path(id): Path<String>,
) -> ApiResult<wire::Decided> {
    server.decide(&id, Decision::Reject).await
}

impl Server {
    async fn decide(&self, id: &str, decision: Decision) -> ApiResult<wire::Decided> {
        let id = from_wire::proposal_id(id)?;
        let decided = self.api.front.decide(id, decision).await?;
        Ok(Json(wire::Decided {
            agent: decided.agent.slug().into(),
            streaming: decided.streaming,
        }))
    }
}
