//! The daemon's routes, one method each.
//!
//! A [`DaemonClient`] has no state: it holds an address and a token, and each call is independent.
//! It never retries. What to do after an error is for the caller, who knows whether the request may
//! be repeated; [`crate::Session`] is such a caller.

mod activity;
mod attachments;
mod files;
mod history;
mod mid_turn;
mod sessions;
mod stream;
mod turns;
mod whole_file;
mod workspace;

use std::time::Duration;

use hyper::Method;
use hyper::header::HeaderMap;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::address::Address;
use crate::error::DaemonError;
use crate::http::{HttpClient, HttpRequest, HttpResponse, Timeouts, encode};
use crate::token::Token;
use crate::wire::{DaemonCapabilities, DaemonStatus, Health};

pub use stream::{EventCursor, EventStream, StreamItem, StreamReason, Subscription};
pub use whole_file::{WholeFile, WholeFileError};
pub use workspace::WorkspaceClient;

/// A typed client for the routes of one daemon. It holds no state besides address, token and
/// timeouts.
#[derive(Clone, Debug)]
pub struct DaemonClient {
    http: HttpClient,
}

impl DaemonClient {
    /// A client for the daemon at `address`. Sends nothing.
    pub fn new(address: Address, token: Option<Token>) -> Self {
        Self {
            http: HttpClient {
                address,
                token,
                timeouts: Timeouts::default(),
            },
        }
    }

    /// The same client with other timeouts.
    #[must_use]
    pub fn with_timeouts(mut self, timeouts: Timeouts) -> Self {
        self.http.timeouts = timeouts;
        self
    }

    /// The daemon's address.
    pub fn address(&self) -> &Address {
        &self.http.address
    }

    /// `GET /health`: whether the daemon is up. Needs no token on loopback.
    pub async fn health(&self) -> Result<Health, DaemonError> {
        self.json(self.get("/health".into())).await
    }

    /// `GET /health?deep=1`: whether the daemon is up, with its counters.
    pub async fn deep_health(&self) -> Result<Health, DaemonError> {
        self.json(self.get("/health?deep=1".into())).await
    }

    /// `GET /capabilities`: version, features and workspaces of the daemon.
    pub async fn capabilities(&self) -> Result<DaemonCapabilities, DaemonError> {
        self.json(self.get("/capabilities".into())).await
    }

    /// `GET /daemon/status`: the process id and the run id of the daemon.
    pub async fn daemon_status(&self) -> Result<DaemonStatus, DaemonError> {
        self.json(self.get("/daemon/status".into())).await
    }

    fn request(&self, method: Method, path: String) -> HttpRequest {
        HttpRequest {
            method,
            path,
            headers: HeaderMap::new(),
            body: None,
            timeout: self.http.timeouts.response,
        }
    }

    fn get(&self, path: String) -> HttpRequest {
        self.request(Method::GET, path)
    }

    fn post(&self, path: String, body: &impl Serialize) -> Result<HttpRequest, DaemonError> {
        self.with_body(Method::POST, path, body)
    }

    fn with_body(
        &self,
        method: Method,
        path: String,
        body: &impl Serialize,
    ) -> Result<HttpRequest, DaemonError> {
        let body = serde_json::to_vec(body)
            .map_err(|error| self.http.invalid_response(error.to_string()))?;
        Ok(HttpRequest {
            body: Some(body),
            ..self.request(method, path)
        })
    }

    fn restore_timeout(&self) -> Duration {
        self.http.timeouts.restore
    }

    /// Sends a request and deserialises the response body.
    async fn json<T: DeserializeOwned>(&self, request: HttpRequest) -> Result<T, DaemonError> {
        let path = request.path.clone();
        let answer = self.http.fetch(request).await?;
        self.read(&path, &answer)
    }

    fn read<T: DeserializeOwned>(
        &self,
        path: &str,
        answer: &HttpResponse,
    ) -> Result<T, DaemonError> {
        serde_json::from_slice(&answer.body).map_err(|error| {
            let route = route(path);
            self.http
                .invalid_response(format!("the answer of {route} cannot be read: {error}"))
        })
    }
}

/// The path without the query, for error messages.
fn route(path: &str) -> &str {
    path.split('?').next().unwrap_or(path)
}

/// The path of a route below `/session/{id}`.
fn session_path(session: &crate::wire::SessionId, tail: &str) -> String {
    format!("/session/{}{tail}", encode(session.as_str()))
}

/// The query string of the parameters that have a value; empty if none has.
fn query(parts: &[(&str, Option<String>)]) -> String {
    let parts: Vec<String> = parts
        .iter()
        .filter_map(|(name, value)| Some(format!("{name}={}", encode(value.as_deref()?))))
        .collect();
    if parts.is_empty() {
        return String::new();
    }
    format!("?{}", parts.join("&"))
}
