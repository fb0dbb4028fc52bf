//! A client of the API, for the program's commands.

use std::time::Duration;

use axum::http::{Method, Request, StatusCode, header};
use bytes::Bytes;
use companion::Token;
use http_body_util::{BodyExt, Full};
use hyper_util::rt::TokioIo;
use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio::net::TcpStream;

use crate::wire::Problem;

/// How long a companion may take to answer; it is on the same machine.
const TIMEOUT: Duration = Duration::from_secs(20);

/// A client for one companion.
#[derive(Clone, Debug)]
pub struct Client {
    port: u16,
    secret: Token,
}

/// Why a request failed.
#[derive(Debug, thiserror::Error)]
pub enum ClientError {
    /// No answer, or not the answer of a companion.
    #[error("the companion on port {port} does not answer: {why}")]
    Silent {
        /// The port of the request.
        port: u16,
        /// What went wrong.
        why: String,
    },
    /// The companion has refused the request.
    #[error("{}", .0.message)]
    Refused(Problem),
}

impl Client {
    /// A client for the companion on `port`.
    pub fn new(port: u16, secret: Token) -> Client {
        Client { port, secret }
    }

    /// Sends a GET request.
    pub async fn get<T: DeserializeOwned>(&self, path: &str) -> Result<T, ClientError> {
        self.request(Method::GET, path, Bytes::new()).await
    }

    /// Sends a POST request with a JSON body.
    pub async fn post<T: DeserializeOwned>(
        &self,
        path: &str,
        body: &impl Serialize,
    ) -> Result<T, ClientError> {
        let body = serde_json::to_vec(body).map_err(|error| self.silent(&error))?;
        self.request(Method::POST, path, body.into()).await
    }

    async fn request<T: DeserializeOwned>(
        &self,
        method: Method,
        path: &str,
        body: Bytes,
    ) -> Result<T, ClientError> {
        let exchange = tokio::time::timeout(TIMEOUT, self.exchange(method, path, body)).await;
        let (status, body) = exchange.map_err(|late| self.silent(&late))??;
        if status.is_success() {
            return serde_json::from_slice(&body).map_err(|error| self.silent(&error));
        }
        match serde_json::from_slice::<Problem>(&body) {
            Ok(problem) => Err(ClientError::Refused(problem)),
            Err(_) => Err(self.silent(&format!("it answers {status}"))),
        }
    }

    async fn exchange(
        &self,
        method: Method,
        path: &str,
        body: Bytes,
    ) -> Result<(StatusCode, Bytes), ClientError> {
        let stream = TcpStream::connect(("127.0.0.1", self.port))
            .await
            .map_err(|error| self.silent(&error))?;
        let (mut sender, connection) = hyper::client::conn::http1::handshake(TokioIo::new(stream))
            .await
            .map_err(|error| self.silent(&error))?;
        tokio::spawn(connection);
        let request = Request::builder()
            .method(method)
            .uri(path)
            .header(header::HOST, format!("127.0.0.1:{}", self.port))
            .header(
                header::AUTHORIZATION,
                format!("Bearer {}", self.secret.expose()),
            )
            .header(header::CONTENT_TYPE, "application/json")
            .body(Full::new(body))
            .map_err(|error| self.silent(&error))?;
        let response = sender
            .send_request(request)
            .await
            .map_err(|error| self.silent(&error))?;
        let status = response.status();
        let body = response
            .into_body()
            .collect()
            .await
            .map_err(|error| self.silent(&error))?;
        Ok((status, body.to_bytes()))
    }

    fn silent(&self, why: &impl ToString) -> ClientError {
        ClientError::Silent {
            port: self.port,
            why: why.to_string(),
        }
    }
}
