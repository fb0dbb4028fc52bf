//! The daemon's routes, one method each.
//!
//! A [`DaemonClient`] has no state: it knows an address and a token, and every call stands for itself.
//! It never tries again by itself and never guesses; what to do after an error is for the caller, who
//! knows whether the request may be repeated. [`crate::Session`] is such a caller.

mod sessions;
mod stream;
mod turns;

use std::time::Duration;

use hyper::Method;
use hyper::header::HeaderMap;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::address::Address;
use crate::error::DaemonError;
use crate::http::{Answer, Call, Link, Timeouts, encode};
use crate::token::Token;
use crate::wire::{Capabilities, DaemonStatus, Health};

pub use stream::{ConnectReason, Cursor, EventStream, Signal, Subscription};

/// A way to ask one daemon.
#[derive(Clone, Debug)]
pub struct DaemonClient {
    link: Link,
}

impl DaemonClient {
    /// A client for the daemon at `address`. Nothing is sent yet.
    pub fn new(address: Address, token: Option<Token>) -> Self {
        Self {
            link: Link {
                address,
                token,
                timeouts: Timeouts::default(),
            },
        }
    }

    /// The same client with other limits on how long things may take.
    #[must_use]
    pub fn with_timeouts(mut self, timeouts: Timeouts) -> Self {
        self.link.timeouts = timeouts;
        self
    }

    /// Where it asks.
    pub fn address(&self) -> &Address {
        &self.link.address
    }

    /// Whether the daemon is up. Needs no token on loopback.
    pub async fn health(&self) -> Result<Health, DaemonError> {
        self.json(self.get("/health".into())).await
    }

    /// Whether the daemon is up, with its counters.
    pub async fn deep_health(&self) -> Result<Health, DaemonError> {
        self.json(self.get("/health?deep=1".into())).await
    }

    /// What the daemon is and can do.
    pub async fn capabilities(&self) -> Result<Capabilities, DaemonError> {
        self.json(self.get("/capabilities".into())).await
    }

    /// Which process the daemon is.
    pub async fn daemon_status(&self) -> Result<DaemonStatus, DaemonError> {
        self.json(self.get("/daemon/status".into())).await
    }

    fn call(&self, method: Method, path: String) -> Call {
        Call {
            method,
            path,
            headers: HeaderMap::new(),
            body: None,
            patience: self.link.timeouts.answer,
        }
    }

    fn get(&self, path: String) -> Call {
        self.call(Method::GET, path)
    }

    fn post(&self, path: String, body: &impl Serialize) -> Result<Call, DaemonError> {
        self.with_body(Method::POST, path, body)
    }

    fn with_body(
        &self,
        method: Method,
        path: String,
        body: &impl Serialize,
    ) -> Result<Call, DaemonError> {
        let body =
            serde_json::to_vec(body).map_err(|error| self.link.strange(error.to_string()))?;
        Ok(Call {
            body: Some(body),
            ..self.call(method, path)
        })
    }

    fn restore_patience(&self) -> Duration {
        self.link.timeouts.restore
    }

    /// Asks, and reads the answer as JSON.
    async fn json<T: DeserializeOwned>(&self, call: Call) -> Result<T, DaemonError> {
        let path = call.path.clone();
        let answer = self.link.ask(call).await?;
        self.read(&path, &answer)
    }

    fn read<T: DeserializeOwned>(&self, path: &str, answer: &Answer) -> Result<T, DaemonError> {
        serde_json::from_slice(&answer.body).map_err(|error| {
            let route = route(path);
            self.link
                .strange(format!("the answer of {route} cannot be read: {error}"))
        })
    }
}

/// The path of a route, without what differs from call to call.
fn route(path: &str) -> &str {
    path.split('?').next().unwrap_or(path)
}

/// The path of a session's route.
fn session_path(session: &crate::wire::SessionId, tail: &str) -> String {
    format!("/session/{}{tail}", encode(session.as_str()))
}

/// A query from the parts that are there.
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
