//! A client of the HTTP API: a browser, a command, a stranger.

use std::net::{Ipv4Addr, SocketAddr};

use axum::http::{HeaderMap, Method, Request, StatusCode};
use bytes::{Bytes, BytesMut};
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper_util::rt::TokioIo;
use serde_json::Value;
use testkit::soon;
use tokio::net::TcpSocket;

#[derive(Clone)]
pub(crate) struct ApiClient {
    port: u16,
    /// Sent with each request; an empty value leaves a header out.
    headers: Vec<(String, String)>,
}

/// A response whose body is there as a whole.
#[derive(Debug)]
pub(crate) struct ApiResponse {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) body: String,
}

impl ApiResponse {
    pub(crate) fn header(&self, name: &str) -> &str {
        let value = self.headers.get(name);
        value.map_or("", |value| value.to_str().unwrap())
    }

    /// The body of a response that went well.
    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        assert_eq!(self.status, 200, "{}", self.body);
        serde_json::from_str(&self.body).unwrap()
    }

    /// The status and the kind of a response that did not go well.
    #[track_caller]
    pub(crate) fn problem(&self) -> (u16, String) {
        let problem: Value = serde_json::from_str(&self.body).unwrap();
        let kind = problem["kind"].as_str().unwrap().to_owned();
        assert!(!problem["message"].as_str().unwrap().is_empty());
        (self.status.as_u16(), kind)
    }
}

impl ApiClient {
    pub(crate) fn new(port: u16, key: Option<&str>) -> ApiClient {
        let client = ApiClient {
            port,
            headers: Vec::new(),
        };
        client
            .with("host", &format!("127.0.0.1:{port}"))
            .with("content-type", "application/json")
            .with(
                "authorization",
                &key.map(|key| format!("Bearer {key}")).unwrap_or_default(),
            )
    }

    /// The same client with another header; an empty value leaves it out.
    pub(crate) fn with(mut self, name: &str, value: &str) -> ApiClient {
        self.headers.retain(|(known, _)| known != name);
        if !value.is_empty() {
            self.headers.push((name.into(), value.into()));
        }
        self
    }

    pub(crate) async fn get(&self, path: &str) -> ApiResponse {
        self.request(Method::GET, path, "").await
    }

    pub(crate) async fn post(&self, path: &str, body: &Value) -> ApiResponse {
        self.request(Method::POST, path, body.to_string()).await
    }

    pub(crate) async fn put(&self, path: &str, body: &Value) -> ApiResponse {
        self.request(Method::PUT, path, body.to_string()).await
    }

    pub(crate) async fn request(
        &self,
        method: Method,
        path: &str,
        body: impl Into<Bytes>,
    ) -> ApiResponse {
        let (status, headers, body) = self.exchange(method, path, body.into(), None).await;
        let body = soon("a whole answer", body.collect()).await.unwrap();
        ApiResponse {
            status,
            headers,
            body: String::from_utf8(body.to_bytes().to_vec()).unwrap(),
        }
    }

    /// Listens to what happens.
    pub(crate) async fn listen(&self) -> ApiStream {
        self.listen_at("/api/events", None).await
    }

    /// Listens on a connection on which the system takes in about `window` bytes unread.
    pub(crate) async fn listen_at(&self, path: &str, window: Option<u32>) -> ApiStream {
        let (status, headers, body) = self.exchange(Method::GET, path, Bytes::new(), window).await;
        assert_eq!(status, 200);
        assert_eq!(headers["content-type"], "text/event-stream");
        ApiStream {
            body,
            text: BytesMut::new(),
        }
    }

    async fn exchange(
        &self,
        method: Method,
        path: &str,
        body: Bytes,
        window: Option<u32>,
    ) -> (StatusCode, HeaderMap, Incoming) {
        let socket = TcpSocket::new_v4().unwrap();
        if let Some(window) = window {
            socket.set_recv_buffer_size(window).unwrap();
        }
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, self.port));
        let socket = soon("a connection", socket.connect(address)).await.unwrap();
        let handshake = hyper::client::conn::http1::handshake(TokioIo::new(socket));
        let (mut sender, connection) = handshake.await.unwrap();
        tokio::spawn(connection);
        let mut request = Request::builder().method(method).uri(path);
        for (name, value) in &self.headers {
            request = request.header(name, value);
        }
        let request = request.body(Full::new(body)).unwrap();
        let response = soon("an answer", sender.send_request(request)).await;
        let (head, body) = response.unwrap().into_parts();
        (head.status, head.headers, body)
    }
}

/// An event stream.
pub(crate) struct ApiStream {
    body: Incoming,
    text: BytesMut,
}

/// An event on a stream.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ApiEvent {
    pub(crate) id: String,
    pub(crate) kind: String,
    pub(crate) data: Value,
}

impl ApiEvent {
    /// Reads a block; a comment is no event.
    fn read(block: &str) -> Option<ApiEvent> {
        let field = |name| block.lines().find_map(|line| line.strip_prefix(name));
        Some(ApiEvent {
            id: field("id: ").unwrap_or_default().to_owned(),
            kind: field("event: ")?.to_owned(),
            data: serde_json::from_str(field("data: ")?).unwrap(),
        })
    }
}

impl ApiStream {
    /// The next event; nothing after a clean end.
    pub(crate) async fn next(&mut self) -> Option<ApiEvent> {
        soon("an event", async {
            loop {
                if let Some(at) = self.text.windows(2).position(|pair| pair == b"\n\n") {
                    let block = self.text.split_to(at + 2);
                    if let Some(event) = ApiEvent::read(std::str::from_utf8(&block).unwrap()) {
                        return Some(event);
                    }
                    continue;
                }
                let frame = self.body.frame().await?.expect("the stream is cut off");
                self.text.extend(frame.into_data().unwrap());
            }
        })
        .await
    }

    /// The next event of a kind; others are passed over.
    pub(crate) async fn next_of(&mut self, kind: &str) -> ApiEvent {
        loop {
            let event = self.next().await.expect("an event before the end");
            if event.kind == kind {
                return event;
            }
        }
    }
}
