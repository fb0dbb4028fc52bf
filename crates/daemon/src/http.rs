//! One request, one connection, to a loopback address.
//!
//! HTTP is spoken by `hyper` directly rather than by a general client such as `reqwest`: what such a
//! client adds is what must not happen here. It would look names up, take a proxy from the
//! environment, follow redirects and keep connections, each of which can carry the token to somebody
//! else or fail in ways that look like the daemon's fault. The daemon closes idle connections after
//! five seconds, so a kept connection is likely to die under the next request; a new one on loopback
//! costs a fraction of a millisecond.

use std::error::Error;
use std::io;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::{BodyExt, Full, LengthLimitError, Limited};
use hyper::body::Incoming;
use hyper::client::conn::http1;
use hyper::header::{self, HeaderMap, HeaderName, HeaderValue};
use hyper::{Method, Request, Response};
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;
use tokio::task::AbortHandle;
use tokio::time::timeout;

use crate::address::Address;
use crate::error::{DaemonError, Refusal};
use crate::token::Token;
use crate::wire::ClientId;

/// No answer is larger than this; the largest is the history of a session.
const MAX_ANSWER: usize = 64 * 1024 * 1024;

/// The header that says who asks.
const CLIENT_ID: HeaderName = HeaderName::from_static("x-qwen-client-id");

/// How long things may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timeouts {
    /// To connect. On loopback a listening daemon needs microseconds.
    pub connect: Duration,
    /// To answer a request completely, or to begin an event stream.
    pub answer: Duration,
    /// To create or restore a session, which may have to start the agent first.
    pub restore: Duration,
}

impl Default for Timeouts {
    fn default() -> Self {
        Self {
            connect: Duration::from_secs(5),
            answer: Duration::from_secs(30),
            restore: Duration::from_secs(70),
        }
    }
}

/// A way to one daemon.
#[derive(Clone, Debug)]
pub(crate) struct Link {
    pub(crate) address: Address,
    pub(crate) token: Option<Token>,
    pub(crate) timeouts: Timeouts,
}

/// A request to be made.
pub(crate) struct Call {
    pub(crate) method: Method,
    /// Path and query, encoded.
    pub(crate) path: String,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Option<Vec<u8>>,
    pub(crate) patience: Duration,
}

impl Call {
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

/// A complete answer.
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) body: Bytes,
}

/// The connection behind an answer; it ends when this is dropped.
#[derive(Debug)]
pub(crate) struct Connection(AbortHandle);

impl Drop for Connection {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl Link {
    /// Makes a request and reads the whole answer; an error status is an error.
    pub(crate) async fn ask(&self, call: Call) -> Result<Answer, DaemonError> {
        let patience = call.patience;
        let exchange = async {
            let (response, connection) = self.send(call).await?;
            let answer = self.read(response).await;
            drop(connection);
            answer
        };
        let late = |_| self.silent(patience);
        timeout(patience, exchange).await.map_err(late)?
    }

    /// Makes a request and hands out the answer's body as it comes; an error status is an error.
    pub(crate) async fn open(
        &self,
        call: Call,
    ) -> Result<(HeaderMap, Incoming, Connection), DaemonError> {
        let patience = call.patience;
        let exchange = async {
            let (response, connection) = self.send(call).await?;
            if response.status().as_u16() != 200 {
                let answer = self.read(response).await?;
                let why = format!("a stream was answered with status {}", answer.status);
                return Err(self.strange(why));
            }
            let (head, body) = response.into_parts();
            Ok((head.headers, body, connection))
        };
        let late = |_| self.silent(patience);
        timeout(patience, exchange).await.map_err(late)?
    }

    async fn send(&self, call: Call) -> Result<(Response<Incoming>, Connection), DaemonError> {
        let stream = self.connect().await?;
        let handshake = http1::handshake(TokioIo::new(stream)).await;
        let (mut sender, connection) = handshake.map_err(|error| self.cut(&error))?;
        // A connection that fails makes the request fail; there is nobody else to tell.
        let connection = Connection(tokio::spawn(connection).abort_handle());
        let request = self.request(call)?;
        let response = sender.send_request(request).await;
        Ok((response.map_err(|error| self.cut(&error))?, connection))
    }

    fn request(&self, call: Call) -> Result<Request<Full<Bytes>>, DaemonError> {
        let mut request = Request::builder()
            .method(call.method)
            .uri(call.path)
            .header(header::HOST, self.address.authority())
            .header(header::CONNECTION, "close");
        if let Some(headers) = request.headers_mut() {
            headers.extend(call.headers);
            if let Some(token) = &self.token {
                headers.insert(header::AUTHORIZATION, token.header());
            }
            if call.body.is_some() {
                // Without it the daemon ignores the body, silently.
                let json = HeaderValue::from_static("application/json");
                headers.insert(header::CONTENT_TYPE, json);
            }
        }
        let body = Full::new(Bytes::from(call.body.unwrap_or_default()));
        let bad = |error: hyper::http::Error| self.strange(error.to_string());
        request.body(body).map_err(bad)
    }

    /// Connects to the first target that answers. All of them are loopback addresses.
    async fn connect(&self) -> Result<TcpStream, DaemonError> {
        let mut why = io::Error::from(io::ErrorKind::AddrNotAvailable);
        for target in self.address.targets() {
            match timeout(self.timeouts.connect, TcpStream::connect(target)).await {
                Ok(Ok(stream)) => {
                    // A small request must not wait for the next one.
                    let _ = stream.set_nodelay(true);
                    return Ok(stream);
                }
                Ok(Err(error)) => why = error,
                Err(_) => why = io::ErrorKind::TimedOut.into(),
            }
        }
        let address = self.address.clone();
        Err(DaemonError::Unreachable { address, why })
    }

    async fn read(&self, response: Response<Incoming>) -> Result<Answer, DaemonError> {
        let status = response.status();
        let retry_after = response.headers().get(header::RETRY_AFTER).cloned();
        let body = Limited::new(response.into_body(), MAX_ANSWER)
            .collect()
            .await;
        let body = body.map_err(|error| {
            if error.is::<LengthLimitError>() {
                return self.strange(format!("the answer is larger than {MAX_ANSWER} bytes"));
            }
            self.cut(&*error)
        })?;
        let body = body.to_bytes();
        if status.is_success() {
            let status = status.as_u16();
            return Ok(Answer { status, body });
        }
        let retry_after = retry_after.as_ref().and_then(|it| it.to_str().ok());
        let refusal = Refusal::read(status.as_u16(), retry_after, &body);
        Err(DaemonError::Refused(Box::new(refusal)))
    }

    pub(crate) fn strange(&self, why: impl Into<String>) -> DaemonError {
        DaemonError::Strange {
            address: self.address.clone(),
            why: why.into(),
        }
    }

    pub(crate) fn silent(&self, patience: Duration) -> DaemonError {
        DaemonError::Silent {
            address: self.address.clone(),
            patience,
        }
    }

    /// The connection broke. The outer error alone rarely says why, so all of them are told.
    pub(crate) fn cut(&self, error: &(dyn Error + 'static)) -> DaemonError {
        let mut why = error.to_string();
        let mut deeper = error.source();
        while let Some(error) = deeper {
            why = format!("{why}: {error}");
            deeper = error.source();
        }
        DaemonError::Cut {
            address: self.address.clone(),
            why,
        }
    }
}

/// `text` as one segment of a path, or as a value in a query. Dots are encoded too, because a segment
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
