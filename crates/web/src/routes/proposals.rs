//! Proposals: list, show, draft, decide.

use axum::extract::{Path, State};
use axum::{Extension, Json};
use companion::desk::Draft;
use front::{off_thread, words};
use workbench::Decision;

use super::{Server, ServerState};
use crate::keys::Role;
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
    Extension(role): Extension<Role>,
    Path(id): Path<String>,
) -> ApiResult<wire::Detail> {
    let id = from_wire::proposal_id(&id)?;
    let front = &server.api.front;
    let proposal = front.proposal(id).await?;
    // A page names the revision that is on the screen; a command only says yes.
    if role == Role::Commands {
        front.mark_shown(id, proposal.revision).await;
    }
    let agents = front.agents().await?;
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
    let front = &server.api.front;
    let revision = match draft.revision {
        Some(revision) => revision,
        None => front.proposal(id).await?.revision,
    };
    let text = draft.content;
    let hunks = front.compare_draft(id, Draft { revision, text });
    Ok(Json(wire::Drafted {
        hunks_at: to_wire::hunks(&hunks.await?),
    }))
}

pub(super) async fn accept(
    State(server): ServerState,
    Path(id): Path<String>,
    JsonBody(how): JsonBody<wire::Accept>,
) -> ApiResult<wire::Decided> {
    let seen = how.revision;
    server.decide(&id, from_wire::decision(how)?, seen).await
}

pub(super) async fn reject(
    State(server): ServerState,
    Path(id): Path<String>,
) -> ApiResult<wire::Decided> {
    server.decide(&id, Decision::Reject, None).await
}

impl Server {
    async fn decide(
        &self,
        id: &str,
        decision: Decision,
        seen: Option<u32>,
    ) -> ApiResult<wire::Decided> {
        let id = from_wire::proposal_id(id)?;
        let decided = self.api.front.decide(id, decision, seen).await?;
        Ok(Json(wire::Decided {
            agent: decided.agent.slug().into(),
            streaming: decided.streaming,
            may_read_again: decided.may_read_again,
            unsaved: decided.unsaved.as_ref().map(words::unsaved_decision),
        }))
    }
}
