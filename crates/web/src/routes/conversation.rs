//! The conversation. Whom it is held with, and how that is reached, is the conversation's own
//! business; nothing here can get at an address or a token.

use axum::Json;
use axum::extract::{Path as Named, Query, State as Shared};
use companion::desk::Gone;
use conversation::{Conversation, ConversationState, Trouble};
use front::FrontError;
use serde::{Deserialize, Serialize};
use wire::conversation::{EarlierSession, Prompt, Reply, Snapshot, Target, earlier as to_wire};

use super::{Here, Server};
use crate::response::{ApiError, ApiResult, Body};

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Connect {
    #[serde(default)]
    which: Target,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SetModel {
    model: String,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SetMode {
    mode: String,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct AnswerRequest {
    reply: Reply,
}

#[derive(Debug, Serialize)]
pub(super) struct AnswerResult {
    /// Whether the answer counts; somebody else may have been faster.
    counted: bool,
}

#[derive(Debug, Deserialize)]
pub(super) struct FindFiles {
    #[serde(default)]
    typed: String,
}

impl Server {
    fn conversation(&self) -> Result<&Conversation, ApiError> {
        Ok(self.api.front.conversation()?)
    }
}

pub(super) async fn snapshot(Shared(server): Here) -> ApiResult<Snapshot> {
    let conversation = server.conversation()?;
    let snapshot = conversation.ask(ConversationState::snapshot).await;
    let snapshot = snapshot.map_err(|Gone| FrontError::Gone)?;
    Ok(Json(Snapshot(snapshot)))
}

/// Begins to connect. How it goes is told on the stream, because it can take a while.
pub(super) async fn connect(Shared(server): Here, Body(how): Body<Connect>) -> ApiResult<()> {
    let conversation = server.conversation()?.clone();
    tokio::spawn(async move { conversation.connect(how.which.into()).await });
    Ok(Json(()))
}

pub(super) async fn disconnect(Shared(server): Here) -> ApiResult<()> {
    server.conversation()?.disconnect().await;
    Ok(Json(()))
}

/// Begins to start a daemon, and to connect to it.
pub(super) async fn start(Shared(server): Here) -> ApiResult<()> {
    let conversation = server.conversation()?.clone();
    tokio::spawn(async move { conversation.launch().await });
    Ok(Json(()))
}

pub(super) async fn prompt(Shared(server): Here, Body(prompt): Body<Prompt>) -> ApiResult<()> {
    done(server.conversation()?.prompt(prompt.into()).await)
}

pub(super) async fn cancel(Shared(server): Here) -> ApiResult<()> {
    done(server.conversation()?.cancel().await)
}

pub(super) async fn model(Shared(server): Here, Body(to): Body<SetModel>) -> ApiResult<()> {
    done(server.conversation()?.set_model(to.model).await)
}

pub(super) async fn mode(Shared(server): Here, Body(to): Body<SetMode>) -> ApiResult<()> {
    done(server.conversation()?.set_mode(to.mode).await)
}

pub(super) async fn answer(
    Shared(server): Here,
    Named(request): Named<String>,
    Body(answer): Body<AnswerRequest>,
) -> ApiResult<AnswerResult> {
    let reply = answer.reply.into();
    let counted = server.conversation()?.answer(request, reply).await;
    done(counted.map(|counted| AnswerResult { counted }))
}

pub(super) async fn earlier(Shared(server): Here) -> ApiResult<Vec<EarlierSession>> {
    let earlier = server.conversation()?.earlier().await;
    done(earlier.map(|earlier| to_wire(&earlier)))
}

pub(super) async fn files(
    Shared(server): Here,
    Query(find): Query<FindFiles>,
) -> ApiResult<Vec<String>> {
    done(server.conversation()?.files(find.typed).await)
}

fn done<T>(outcome: Result<T, Trouble>) -> ApiResult<T> {
    let outcome = outcome.map_err(FrontError::Conversation);
    Ok(Json(outcome?))
}
