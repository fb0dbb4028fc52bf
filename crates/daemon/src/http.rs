//! HTTP requests to a loopback address, each on a connection of its own.
//!
//! This uses `hyper` directly and not a general client such as `reqwest`, because of what such a
//! client adds: it would resolve names, take a proxy from the environment, follow redirects and
//! keep connections. Each of these can send the token to another host, or fail in ways that look
//! like the daemon's fault. The daemon closes idle connections after five seconds, so a kept
//! connection would often break under the next request; a new one on loopback costs a fraction of a
//! millisecond.

use std::error::Error;
use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::{BodyExt, Full, LengthLimitError, Limited};
use hyper::body::Incoming;
use hyper::client::conn::http1;
use hyper::header::{self, HeaderMap, HeaderName, HeaderValue};
use hyper::{Method, Request, Response};
use hyper_util::rt::TokioIo;
use private::Peer;
use tokio::net::TcpStream;
use tokio::task::AbortHandle;
use tokio::time::timeout;

use crate::address::Address;
use crate::error::{DaemonError, ErrorResponse};
use crate::token::Token;
use crate::wire::ClientId;

/// The largest response body that is read. The largest one in practice is the history of a session.
const MAX_RESPONSE: usize = 64 * 1024 * 1024;

/// The header that carries the client id. The daemon compares it with the ids it has registered.
const CLIENT_ID: HeaderName = HeaderName::from_static("x-qwen-client-id");

/// Limits on how long each part of a request may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timeouts {
    /// Until the TCP connection stands. On loopback a listening daemon needs microseconds.
    pub connect: Duration,
    /// Until a response is complete, or until the head of an event stream has arrived.
    pub response: Duration,
    /// Until a session is created or restored, which may have to start the agent first.
    pub restore: Duration,
}

impl Default for Timeouts {
    fn default() -> Self {
        Self {
            connect: Duration::from_secs(5),
            response: Duration::from_secs(30),
            restore: Duration::from_secs(70),
        }
    }
}

/// Sends requests to one daemon. Each request has a connection of its own.
#[derive(Clone, Debug)]
pub(crate) struct HttpClient {
    pub(crate) address: Address,
    pub(crate) token: Option<Token>,
    pub(crate) timeouts: Timeouts,
}

/// A request before the headers that all requests share are added.
pub(crate) struct HttpRequest {
    pub(crate) method: Method,
    /// Path and query, percent-encoded.
    pub(crate) path: String,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Option<Vec<u8>>,
    pub(crate) timeout: Duration,
}

impl HttpRequest {
    pub(crate) fn client(mut self, id: Option<&ClientId>) -> Self {
        if let Some(id) = id {
            self = self.header(CLIENT_ID, id.as_str());
        }
        self
    }

    /// Adds a header; ids were checked when they were read, so the value is always a valid one.
    pub(crate) fn header(mut self, name: HeaderName, value: &str) -> Self {
        if let Ok(value) = HeaderValue::from_str(value) {
            self.headers.insert(name, value);
        }
        self
    }
}

/// A response with a success status, read to its end.
pub(crate) struct HttpResponse {
    pub(crate) status: u16,
    /// The type of the body, without its parameters.
    pub(crate) content_type: Option<String>,
    pub(crate) body: Bytes,
}

/// Owns the task that drives a connection. Dropping it closes the connection.
#[derive(Debug)]
pub(crate) struct ConnectionGuard(AbortHandle);

impl Drop for ConnectionGuard {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl HttpClient {
    /// Sends a request and reads the whole response. A status other than 2xx is an error.
    pub(crate) async fn fetch(&self, request: HttpRequest) -> Result<HttpResponse, DaemonError> {
        let limit = request.timeout;
        let exchange = async {
            let (response, connection) = self.send(request).await?;
            let response = self.read(response).await;
            drop(connection);
            response
        };
        let late = |_| self.timed_out(limit);
        timeout(limit, exchange).await.map_err(late)?
    }

    /// Sends a request and returns the response body unread. A status other than 200 is an error.
    pub(crate) async fn open_stream(
        &self,
        request: HttpRequest,
    ) -> Result<(HeaderMap, Incoming, ConnectionGuard), DaemonError> {
        let limit = request.timeout;
        let exchange = async {
            let (response, connection) = self.send(request).await?;
            if response.status().as_u16() != 200 {
                let response = self.read(response).await?;
                let why = format!("a stream was answered with status {}", response.status);
                return Err(self.invalid_response(why));
            }
            let (head, body) = response.into_parts();
            Ok((head.headers, body, connection))
        };
        let late = |_| self.timed_out(limit);
        timeout(limit, exchange).await.map_err(late)?
    }

    async fn send(
        &self,
        request: HttpRequest,
    ) -> Result<(Response<Incoming>, ConnectionGuard), DaemonError> {
        let stream = self.connect().await?;
        let handshake = http1::handshake(TokioIo::new(stream)).await;
        let (mut sender, connection) = handshake.map_err(|error| self.connection_lost(&error))?;
        // The driver's own error is not needed: a connection that fails makes the request fail.
        let connection = ConnectionGuard(tokio::spawn(connection).abort_handle());
        let request = self.build(request)?;
        let response = sender.send_request(request).await;
        Ok((
            response.map_err(|error| self.connection_lost(&error))?,
            connection,
        ))
    }

    fn build(&self, request: HttpRequest) -> Result<Request<Full<Bytes>>, DaemonError> {
        let mut builder = Request::builder()
            .method(request.method)
            .uri(request.path)
            .header(header::HOST, self.address.authority())
            .header(header::CONNECTION, "close");
        if let Some(headers) = builder.headers_mut() {
            headers.extend(request.headers);
            if let Some(token) = &self.token {
                headers.insert(header::AUTHORIZATION, token.header());
            }
            if request.body.is_some() && !headers.contains_key(header::CONTENT_TYPE) {
                // Without this header the daemon ignores the body, and does not say so.
                let json = HeaderValue::from_static("application/json");
                headers.insert(header::CONTENT_TYPE, json);
            }
        }
        let body = Full::new(Bytes::from(request.body.unwrap_or_default()));
        let bad = |error: hyper::http::Error| self.invalid_response(error.to_string());
        builder.body(body).map_err(bad)
    }

    /// Connects to the first address that accepts. All of them are loopback addresses, where every
    /// user of the machine may listen, so whose server it is is checked for each connection.
    async fn connect(&self) -> Result<TcpStream, DaemonError> {
        let mut why = io::Error::from(io::ErrorKind::AddrNotAvailable);
        let mut is_foreign = false;
        for target in self.address.targets() {
            match timeout(self.timeouts.connect, TcpStream::connect(target)).await {
                Ok(Ok(stream)) if is_anothers(&stream, target).await => is_foreign = true,
                Ok(Ok(stream)) => {
                    // Requests are small; Nagle's algorithm would delay them.
                    let _ = stream.set_nodelay(true);
                    return Ok(stream);
                }
                Ok(Err(error)) => why = error,
                Err(_) => why = io::ErrorKind::TimedOut.into(),
            }
        }
        let address = self.address.clone();
        Err(if is_foreign {
            DaemonError::Foreign { address }
        } else {
            DaemonError::Unreachable { address, why }
        })
    }

    async fn read(&self, response: Response<Incoming>) -> Result<HttpResponse, DaemonError> {
        let status = response.status();
        let retry_after = response.headers().get(header::RETRY_AFTER).cloned();
        let content_type = response.headers().get(header::CONTENT_TYPE);
        let content_type = content_type
            .and_then(|it| it.to_str().ok()?.split(';').next())
            .map(|it| it.trim().to_owned());
        let body = Limited::new(response.into_body(), MAX_RESPONSE)
            .collect()
            .await;
        let body = body.map_err(|error| {
            if error.is::<LengthLimitError>() {
                return self
                    .invalid_response(format!("the answer is larger than {MAX_RESPONSE} bytes"));
            }
            self.connection_lost(&*error)
        })?;
        let body = body.to_bytes();
        if status.is_success() {
            let status = status.as_u16();
            return Ok(HttpResponse {
                status,
                content_type,
                body,
            });
        }
        let retry_after = retry_after.as_ref().and_then(|it| it.to_str().ok());
        let error = ErrorResponse::read(status.as_u16(), retry_after, &body);
        Err(DaemonError::Refused(Box::new(error)))
    }

    pub(crate) fn invalid_response(&self, why: impl Into<String>) -> DaemonError {
        DaemonError::InvalidResponse {
            address: self.address.clone(),
            why: why.into(),
        }
    }

    pub(crate) fn timed_out(&self, timeout: Duration) -> DaemonError {
        DaemonError::Timeout {
            address: self.address.clone(),
            timeout,
        }
    }

    /// The outer error alone rarely gives the cause, so the message holds the whole chain of
    /// sources.
    pub(crate) fn connection_lost(&self, error: &(dyn Error + 'static)) -> DaemonError {
        let mut why = error.to_string();
        let mut deeper = error.source();
        while let Some(error) = deeper {
            why = format!("{why}: {error}");
            deeper = error.source();
        }
        DaemonError::ConnectionLost {
            address: self.address.clone(),
            why,
        }
    }
}

/// Whether the server at the other end is known to be another user's.
async fn is_anothers(stream: &TcpStream, target: SocketAddr) -> bool {
    let Ok(ours) = stream.local_addr() else {
        return false;
    };
    // It reads a table of the system, which is long on a machine with many connections.
    let look = tokio::task::spawn_blocking(move || private::listening_peer(ours, target));
    look.await.is_ok_and(|peer| peer == Peer::AnotherUser)
}

/// Percent-encodes `text` as one path segment or one query value. Dots are encoded too: a segment
/// of nothing but dots would mean another path.
pub(crate) fn encode(text: &str) -> String {
    use std::fmt::Write as _;

    text.bytes()
        .fold(String::with_capacity(text.len()), |mut encoded, byte| {
            if byte.is_ascii_alphanumeric() || b"-_~".contains(&byte) {
                encoded.push(char::from(byte));
            } else {
                // Writing to a `String` cannot fail.
                let _ = write!(encoded, "%{byte:02X}");
            }
            encoded
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_in_an_id_can_change_the_path() {
        assert_eq!(encode("../a b?c#d/ä"), "%2E%2E%2Fa%20b%3Fc%23d%2F%C3%A4");
        assert_eq!(encode("550e8400-e29b"), "550e8400-e29b");
    }
}
