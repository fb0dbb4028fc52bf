//! A client of the API, for the program's commands.

use std::time::Duration;

use axum::http::{Method, Request, Response, StatusCode, header, request};
use bytes::Bytes;
use companion::Token;
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper_util::rt::TokioIo;
use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio::net::TcpStream;

use crate::response::REFUSED_KIND;
use crate::routes::{EditorPipe, PROTOCOL};
use crate::wire::Problem;

/// How long a companion may take to answer; it is on the same machine.
const PATIENCE: Duration = Duration::from_secs(20);

/// A client for one companion.
#[derive(Clone, Debug)]
pub struct Client {
    port: u16,
    secret: Token,
    /// The companion's process, if it is known to run.
    process: Option<u32>,
    patience: Duration,
}

/// Why a request failed.
#[derive(Debug, thiserror::Error)]
pub enum ClientError {
    /// No answer, or not the answer of a companion.
    #[error("{}: {why}", silence(*port, *process))]
    Silent {
        /// The port of the request.
        port: u16,
        /// The companion's process, if it is known to run.
        process: Option<u32>,
        /// What went wrong.
        why: String,
    },
    /// The companion has refused the request.
    #[error("{}", .0.message)]
    Refused(Problem),
}

impl ClientError {
    /// Whether the same request will fail again, however long one waits.
    pub fn is_final(&self) -> bool {
        matches!(self, ClientError::Refused(problem) if problem.kind == REFUSED_KIND)
    }
}

impl Client {
    /// A client for the companion on `port`.
    pub fn new(port: u16, secret: Token) -> Client {
        Client {
            port,
            secret,
            process: None,
            patience: PATIENCE,
        }
    }

    /// The same client, of a companion whose process is known to run.
    #[must_use]
    pub fn of_process(self, process: u32) -> Client {
        let process = Some(process);
        Client { process, ..self }
    }

    /// The same client, which waits only so long for an answer.
    #[must_use]
    pub fn with_patience(self, patience: Duration) -> Client {
        Client { patience, ..self }
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

    /// Joins the companion as an editor: what goes over the pipe from now on is the editor's.
    pub async fn join(&self) -> Result<EditorPipe, ClientError> {
        let joined = async {
            let request = self
                .head(Method::GET, "/api/editor")
                .header(header::CONNECTION, "upgrade")
                .header(header::UPGRADE, PROTOCOL)
                .body(Full::new(Bytes::new()));
            let request = request.map_err(|error| self.silent(&error))?;
            let response = self.send(request).await?;
            if response.status() != StatusCode::SWITCHING_PROTOCOLS {
                let status = response.status();
                let body = response.into_body().collect().await;
                let body = body.map_err(|error| self.silent(&error))?.to_bytes();
                return Err(self.refusal(status, &body));
            }
            let upgraded = hyper::upgrade::on(response).await;
            upgraded
                .map(TokioIo::new)
                .map_err(|error| self.silent(&error))
        };
        let joined = tokio::time::timeout(self.patience, joined).await;
        joined.map_err(|_| self.late())?
    }

    async fn request<T: DeserializeOwned>(
        &self,
        method: Method,
        path: &str,
        body: Bytes,
    ) -> Result<T, ClientError> {
        let exchange = self.exchange(method, path, body);
        let exchange = tokio::time::timeout(self.patience, exchange).await;
        let (status, body) = exchange.map_err(|_| self.late())??;
        if status.is_success() {
            return serde_json::from_slice(&body).map_err(|error| self.silent(&error));
        }
        Err(self.refusal(status, &body))
    }

    fn refusal(&self, status: StatusCode, body: &[u8]) -> ClientError {
        match serde_json::from_slice::<Problem>(body) {
            Ok(problem) => ClientError::Refused(problem),
            Err(_) => self.silent(&format!("it answers {status}")),
        }
    }

    async fn exchange(
        &self,
        method: Method,
        path: &str,
        body: Bytes,
    ) -> Result<(StatusCode, Bytes), ClientError> {
        let request = self
            .head(method, path)
            .header(header::CONTENT_TYPE, "application/json")
            .body(Full::new(body))
            .map_err(|error| self.silent(&error))?;
        let response = self.send(request).await?;
        let status = response.status();
        let body = response
            .into_body()
            .collect()
            .await
            .map_err(|error| self.silent(&error))?;
        Ok((status, body.to_bytes()))
    }

    /// A request with the secret.
    fn head(&self, method: Method, path: &str) -> request::Builder {
        Request::builder()
            .method(method)
            .uri(path)
            .header(header::HOST, format!("127.0.0.1:{}", self.port))
            .header(
                header::AUTHORIZATION,
                format!("Bearer {}", self.secret.expose()),
            )
    }

    async fn send(&self, request: Request<Full<Bytes>>) -> Result<Response<Incoming>, ClientError> {
        let stream = TcpStream::connect(("127.0.0.1", self.port))
            .await
            .map_err(|error| self.silent(&error))?;
        // What an editor says must not wait for more.
        let _ = stream.set_nodelay(true);
        let (mut sender, connection) = hyper::client::conn::http1::handshake(TokioIo::new(stream))
            .await
            .map_err(|error| self.silent(&error))?;
        tokio::spawn(connection.with_upgrades());
        let response = sender.send_request(request).await;
        response.map_err(|error| self.silent(&error))
    }

    fn late(&self) -> ClientError {
        self.silent(&format!(
            "nothing came within {} s",
            self.patience.as_secs()
        ))
    }

    fn silent(&self, why: &impl ToString) -> ClientError {
        ClientError::Silent {
            port: self.port,
            process: self.process,
            why: why.to_string(),
        }
    }
}

/// That a companion does not answer is not that there is none.
fn silence(port: u16, process: Option<u32>) -> String {
    match process {
        Some(pid) => format!("a companion runs (process {pid}, port {port}) but does not answer"),
        None => format!("the companion on port {port} does not answer"),
    }
}
