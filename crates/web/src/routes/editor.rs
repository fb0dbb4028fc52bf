//! The way in for editors: a request that becomes a plain pipe.
//!
//! What goes over the pipe is the editor's business. This crate hands it to the program.

use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use front::FrontError;
use hyper::upgrade::Upgraded;
use hyper_util::rt::TokioIo;
use tokio::sync::{mpsc, oneshot};

use super::ServerState;
use crate::response::ApiError;

/// The protocol of the pipe, as `Upgrade` names it.
pub(crate) const PROTOCOL: &str = "outrigger-lsp";

/// The bytes between `outrigger lsp` and the companion that its editor has joined.
pub type EditorPipe = TokioIo<Upgraded>;

/// A place that the program keeps for an editor: it takes the pipe, or is dropped if there is none.
pub type EditorSeat = oneshot::Sender<EditorPipe>;

/// Where the program is asked for a seat. A companion that is about to end does not answer.
pub type EditorDoor = mpsc::Sender<EditorKnock>;

/// An editor that asks for a seat: where the answer goes.
pub type EditorKnock = oneshot::Sender<Result<EditorSeat, NoSeat>>;

/// As many editors as may be in one companion are in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{most} editors are in this companion already, and it takes no more; close one of them, then start the language server in this one again"
)]
pub struct NoSeat {
    /// How many may be in it.
    pub most: usize,
}

/// The seat is taken before the answer: a companion that has answered does not end because no
/// editor is in it.
pub(super) async fn join(
    State(server): ServerState,
    mut request: Request,
) -> Result<Response, ApiError> {
    if !asks_for_pipe(request.headers()) {
        let message = format!("this route is for `outrigger lsp`; it needs `Upgrade: {PROTOCOL}`");
        return Err(ApiError::Invalid(message));
    }
    let gone = |_| ApiError::Front(FrontError::Gone);
    let (answer, answered) = oneshot::channel();
    server
        .api
        .editors
        .send(answer)
        .await
        .map_err(|_| FrontError::Gone)?;
    let seat = answered.await.map_err(gone)?.map_err(ApiError::NoSeat)?;
    let upgrade = hyper::upgrade::on(&mut request);
    tokio::spawn(async move {
        if let Ok(upgraded) = upgrade.await {
            // A companion that has ended since does not need it.
            let _ = seat.send(TokioIo::new(upgraded));
        }
    });
    let headers = [
        (header::CONNECTION, HeaderValue::from_static("upgrade")),
        (header::UPGRADE, HeaderValue::from_static(PROTOCOL)),
    ];
    Ok((StatusCode::SWITCHING_PROTOCOLS, headers).into_response())
}

fn asks_for_pipe(headers: &HeaderMap) -> bool {
    let upgrade = headers.get(header::UPGRADE);
    upgrade.is_some_and(|value| value.as_bytes().eq_ignore_ascii_case(PROTOCOL.as_bytes()))
}
