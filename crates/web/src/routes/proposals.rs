//! What agents want to change: listed, shown, edited, decided.

use axum::Json;
use axum::extract::{Path as Named, State as Shared};
use workbench::{Decision, Proposal, ProposalId, Refusal};

use super::{Here, Server};
use crate::answer::{Answer, Body, Failure, off_thread};
use crate::{view, wire};

pub(super) async fn list(Shared(server): Here) -> Answer<Vec<wire::Proposal>> {
    let desk = &server.api.desk;
    let (proposals, receipt) = desk
        .ask(|state| (state.status().proposals, state.receipt()))
        .await?;
    // What the person has seen is still there after a crash.
    receipt.written().await;
    let list = off_thread(move || proposals.iter().map(view::summary).collect());
    Ok(Json(list.await?))
}

pub(super) async fn detail(Shared(server): Here, Named(id): Named<String>) -> Answer<wire::Detail> {
    let proposal = server.proposal(&id).await?;
    let detail = off_thread(move || view::detail(&proposal));
    Ok(Json(detail.await?))
}

/// Takes the text as it stands in a page, so that an agent that takes its proposal back gets it
/// and other pages show it. It is compared with the original here, so that all agree on hunks.
pub(super) async fn draft(
    Shared(server): Here,
    Named(id): Named<String>,
    Body(draft): Body<wire::Draft>,
) -> Answer<wire::Drafted> {
    let proposal = server.proposal(&id).await?;
    let (id, text) = (proposal.id, draft.content.clone());
    server
        .api
        .desk
        .ask(move |state| state.set_draft(id, text))
        .await??;
    let hunks_at = off_thread(move || {
        if draft.content == proposal.texts.proposed {
            view::hunks(proposal.texts.review())
        } else {
            view::hunks(&view::review(&proposal, &draft.content))
        }
    });
    Ok(Json(wire::Drafted {
        hunks_at: hunks_at.await?,
    }))
}

pub(super) async fn accept(
    Shared(server): Here,
    Named(id): Named<String>,
    Body(how): Body<wire::Accept>,
) -> Answer<wire::Decided> {
    let proposal = server.proposal(&id).await?;
    let decision = match how {
        wire::Accept {
            hunks: Some(_),
            content: Some(_),
        } => {
            return Err(Failure::Invalid(
                "give either hunks or content, not both".into(),
            ));
        }
        wire::Accept {
            content: Some(text),
            ..
        } => Decision::AcceptText(text),
        wire::Accept {
            hunks: Some(hunks), ..
        } => {
            let texts = proposal.texts.clone();
            let merged = off_thread(move || texts.merge(&hunks.into_iter().collect())).await?;
            Decision::AcceptText(merged.map_err(|unknown| Failure::Invalid(unknown.to_string()))?)
        }
        wire::Accept { .. } => Decision::Accept,
    };
    server.decide(proposal.id, decision).await
}

pub(super) async fn reject(
    Shared(server): Here,
    Named(id): Named<String>,
) -> Answer<wire::Decided> {
    let id = parse(&id)?;
    server.decide(id, Decision::Reject).await
}

impl Server {
    async fn proposal(&self, id: &str) -> Result<Proposal, Failure> {
        let id = parse(id)?;
        let desk = &self.api.desk;
        let found = desk.ask(move |state| state.proposal(id).cloned()).await?;
        found.ok_or_else(|| Refusal::Unknown(id).into())
    }

    async fn decide(&self, id: ProposalId, decision: Decision) -> Answer<wire::Decided> {
        let (answered, receipt) = self
            .api
            .desk
            .ask(move |state| (state.decide(id, decision), state.receipt()))
            .await?;
        let answered = answered?;
        receipt.written().await;
        Ok(Json(wire::Decided {
            agent: answered.agent.slug().into(),
            streaming: answered.streaming,
        }))
    }
}

fn parse(id: &str) -> Result<ProposalId, Failure> {
    id.parse()
        .map_err(|_| Failure::Invalid(format!("{id:?} is not the number of a proposal")))
}
