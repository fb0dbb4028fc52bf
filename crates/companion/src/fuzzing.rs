//! What is tried with random input and has no other way in from outside: the program itself uses none
//! of this.

use std::convert::Infallible;
use std::sync::Arc;

use axum::Router;
use axum::extract::Request;
use axum::response::Response;
use hyper::service::Service;
use hyper_util::service::TowerToHyperService;

use crate::limits::Limits;
use crate::mcp::skim::Skimmer;
use crate::server::{Flushes, Occupancy};

/// What was seen of a request that is too large to read. Each value is raw JSON text.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Skimmed {
    /// Its id.
    pub id: Option<String>,
    /// Its method.
    pub method: Option<String>,
    /// The tool that it calls.
    pub tool: Option<String>,
    /// The file that the tool is about.
    pub file_path: Option<String>,
}

/// Skims a text that arrives in these pieces.
pub fn skim<'a>(pieces: impl IntoIterator<Item = &'a [u8]>) -> Skimmed {
    let mut skimmer = Skimmer::default();
    for piece in pieces {
        skimmer.read(piece);
    }
    let gist = skimmer.finish();
    Skimmed {
        id: gist.id,
        method: gist.method,
        tool: gist.tool,
        file_path: gist.file_path,
    }
}

/// What the routes answer to a request, as they would behind a connection.
pub async fn respond(app: &Router, mut request: Request) -> Response {
    let (connection, _) = Arc::new(Occupancy::new(&Limits::default())).enter();
    request.extensions_mut().insert(Flushes::default());
    request.extensions_mut().insert(connection.caller());
    let app = TowerToHyperService::new(app.clone());
    let Ok(response): Result<_, Infallible> = app.call(request).await;
    response
}
