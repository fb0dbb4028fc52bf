//! The conversation. The agent's address and token stay in the crate `conversation`; nothing here
//! can read them.

use axum::Json;
use axum::extract::{Path, Query, State};
use companion::desk::Gone;
use conversation::{Conversation, ConversationState, Trouble};
use front::FrontError;
use serde::{Deserialize, Serialize};
use wire::conversation::{EarlierSession, Prompt, Reply, Snapshot, Target, earlier as to_wire};

use super::{Server, ServerState};
use crate::response::{ApiError, ApiResult, JsonBody};

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
    /// Whether this answer was the first; another client may have been faster.
    counted: bool,
}

#[derive(Debug, Serialize)]
pub(super) struct Withdrawn {
    /// Whether the prompt still was in the queue.
    withdrawn: bool,
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

pub(super) async fn snapshot(State(server): ServerState) -> ApiResult<Snapshot> {
    let conversation = server.conversation()?;
    let snapshot = conversation.ask(ConversationState::snapshot).await;
    let snapshot = snapshot.map_err(|Gone| FrontError::Gone)?;
    Ok(Json(Snapshot(snapshot)))
}

/// Starts to connect. The result is an event on the stream, because connecting can take a while.
pub(super) async fn connect(
    State(server): ServerState,
    JsonBody(how): JsonBody<Connect>,
) -> ApiResult<()> {
    let conversation = server.conversation()?.clone();
    tokio::spawn(async move { conversation.connect(how.which.into()).await });
    Ok(Json(()))
}

pub(super) async fn disconnect(State(server): ServerState) -> ApiResult<()> {
    server.conversation()?.disconnect().await;
    Ok(Json(()))
}

/// Starts a daemon and connects to it, in the background like [`connect`].
pub(super) async fn start(State(server): ServerState) -> ApiResult<()> {
    let conversation = server.conversation()?.clone();
    tokio::spawn(async move { conversation.launch().await });
    Ok(Json(()))
}

pub(super) async fn prompt(
    State(server): ServerState,
    JsonBody(prompt): JsonBody<Prompt>,
) -> ApiResult<()> {
    done(server.conversation()?.prompt(prompt.into()).await)
}

pub(super) async fn cancel(State(server): ServerState) -> ApiResult<()> {
    done(server.conversation()?.cancel().await)
}

pub(super) async fn withdraw(
    State(server): ServerState,
    Path(prompt): Path<String>,
) -> ApiResult<Withdrawn> {
    let withdrawn = server.conversation()?.withdraw(prompt).await;
    done(withdrawn.map(|withdrawn| Withdrawn { withdrawn }))
}

pub(super) async fn model(
    State(server): ServerState,
    JsonBody(to): JsonBody<SetModel>,
) -> ApiResult<()> {
    done(server.conversation()?.set_model(to.model).await)
}

pub(super) async fn mode(
    State(server): ServerState,
    JsonBody(to): JsonBody<SetMode>,
) -> ApiResult<()> {
    done(server.conversation()?.set_mode(to.mode).await)
}

pub(super) async fn answer(
    State(server): ServerState,
    Path(request): Path<String>,
    JsonBody(answer): JsonBody<AnswerRequest>,
) -> ApiResult<AnswerResult> {
    let reply = answer.reply.into();
    let counted = server.conversation()?.answer(request, reply).await;
    done(counted.map(|counted| AnswerResult { counted }))
}

pub(super) async fn earlier(State(server): ServerState) -> ApiResult<Vec<EarlierSession>> {
    let earlier = server.conversation()?.earlier().await;
    done(earlier.map(|earlier| to_wire(&earlier)))
}

pub(super) async fn files(
    State(server): ServerState,
    Query(find): Query<FindFiles>,
) -> ApiResult<Vec<String>> {
    done(server.conversation()?.files(find.typed).await)
}

fn done<T>(outcome: Result<T, Trouble>) -> ApiResult<T> {
    let outcome = outcome.map_err(FrontError::Conversation);
    Ok(Json(outcome?))
}
