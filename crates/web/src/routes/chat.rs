//! The conversation with a daemon. The daemon's address and token are the host's; nothing here can
//! get at them.

use axum::Json;
use axum::extract::{Path as Named, Query, State as Shared};
use chat::view::Earlier;
use chat::{Chat, Prompt, Reply, Snapshot, Which};
use serde::{Deserialize, Serialize};

use super::{Here, Server};
use crate::answer::{Answer, Body, Failure};

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Connect {
    #[serde(default)]
    which: Which,
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
pub(super) struct Answering {
    reply: Reply,
}

#[derive(Debug, Serialize)]
pub(super) struct Answered {
    /// Whether the answer counts; somebody else may have been faster.
    counted: bool,
}

#[derive(Debug, Deserialize)]
pub(super) struct Find {
    #[serde(default)]
    typed: String,
}

impl Server {
    fn chat(&self) -> Result<&Chat, Failure> {
        self.api.chat.as_ref().ok_or(Failure::NoChat)
    }
}

pub(super) async fn snapshot(Shared(server): Here) -> Answer<Snapshot> {
    Ok(Json(server.chat()?.snapshot()))
}

/// Begins to connect. How it goes is told on the stream, because it can take a while.
pub(super) async fn connect(Shared(server): Here, Body(how): Body<Connect>) -> Answer<()> {
    let chat = server.chat()?.clone();
    tokio::spawn(async move { chat.connect(how.which).await });
    Ok(Json(()))
}

pub(super) async fn disconnect(Shared(server): Here) -> Answer<()> {
    server.chat()?.disconnect().await;
    Ok(Json(()))
}

/// Begins to start a daemon, and to connect to it.
pub(super) async fn start(Shared(server): Here) -> Answer<()> {
    let chat = server.chat()?.clone();
    tokio::spawn(async move { chat.start_daemon().await });
    Ok(Json(()))
}

pub(super) async fn prompt(Shared(server): Here, Body(prompt): Body<Prompt>) -> Answer<()> {
    Ok(Json(server.chat()?.prompt(prompt).await?))
}

pub(super) async fn cancel(Shared(server): Here) -> Answer<()> {
    Ok(Json(server.chat()?.cancel().await?))
}

pub(super) async fn model(Shared(server): Here, Body(to): Body<SetModel>) -> Answer<()> {
    Ok(Json(server.chat()?.set_model(&to.model).await?))
}

pub(super) async fn mode(Shared(server): Here, Body(to): Body<SetMode>) -> Answer<()> {
    Ok(Json(server.chat()?.set_mode(&to.mode).await?))
}

pub(super) async fn answer(
    Shared(server): Here,
    Named(request): Named<String>,
    Body(answering): Body<Answering>,
) -> Answer<Answered> {
    let counted = server.chat()?.answer(&request, answering.reply).await?;
    Ok(Json(Answered { counted }))
}

pub(super) async fn earlier(Shared(server): Here) -> Answer<Vec<Earlier>> {
    Ok(Json(server.chat()?.earlier().await?))
}

pub(super) async fn files(Shared(server): Here, Query(find): Query<Find>) -> Answer<Vec<String>> {
    Ok(Json(server.chat()?.files(find.typed).await?))
}
