//! Somebody who speaks HTTP to a companion: a browser, a command, a stranger.

use std::net::{Ipv4Addr, SocketAddr};

use axum::http::{HeaderMap, Method, Request, StatusCode};
use bytes::{Bytes, BytesMut};
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper_util::rt::TokioIo;
use serde_json::Value;
use tokio::net::TcpSocket;

use crate::house::soon;

#[derive(Clone)]
pub(crate) struct Visitor {
    port: u16,
    /// Sent with each request; an empty value leaves a header out.
    headers: Vec<(String, String)>,
}

/// An answer whose body is there as a whole.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) body: String,
}

impl Answer {
    pub(crate) fn header(&self, name: &str) -> &str {
        let value = self.headers.get(name);
        value.map_or("", |value| value.to_str().unwrap())
    }

    /// The body of an answer that went well.
    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        assert_eq!(self.status, 200, "{}", self.body);
        serde_json::from_str(&self.body).unwrap()
    }

    /// The status and the kind of an answer that did not go well.
    #[track_caller]
    pub(crate) fn problem(&self) -> (u16, String) {
        let problem: Value = serde_json::from_str(&self.body).unwrap();
        let kind = problem["kind"].as_str().unwrap().to_owned();
        assert!(!problem["message"].as_str().unwrap().is_empty());
        (self.status.as_u16(), kind)
    }
}

impl Visitor {
    pub(crate) fn new(port: u16, key: Option<&str>) -> Visitor {
        let visitor = Visitor {
            port,
            headers: Vec::new(),
        };
        visitor
            .with("host", &format!("127.0.0.1:{port}"))
            .with("content-type", "application/json")
            .with(
                "authorization",
                &key.map(|key| format!("Bearer {key}")).unwrap_or_default(),
            )
    }

    /// The same visitor with another header; an empty value leaves it out.
    pub(crate) fn with(mut self, name: &str, value: &str) -> Visitor {
        self.headers.retain(|(known, _)| known != name);
        if !value.is_empty() {
            self.headers.push((name.into(), value.into()));
        }
        self
    }

    pub(crate) async fn get(&self, path: &str) -> Answer {
        self.ask(Method::GET, path, "").await
    }

    pub(crate) async fn post(&self, path: &str, body: &Value) -> Answer {
        self.ask(Method::POST, path, body.to_string()).await
    }

    pub(crate) async fn put(&self, path: &str, body: &Value) -> Answer {
        self.ask(Method::PUT, path, body.to_string()).await
    }

    pub(crate) async fn ask(&self, method: Method, path: &str, body: impl Into<Bytes>) -> Answer {
        let (status, headers, body) = self.send(method, path, body.into(), None).await;
        let body = soon("a whole answer", body.collect()).await.unwrap();
        Answer {
            status,
            headers,
            body: String::from_utf8(body.to_bytes().to_vec()).unwrap(),
        }
    }

    /// Listens to what happens.
    pub(crate) async fn listen(&self) -> Stream {
        self.listen_at("/api/events", None).await
    }

    /// Listens on a connection on which the system takes in about `window` bytes unread.
    pub(crate) async fn listen_at(&self, path: &str, window: Option<u32>) -> Stream {
        let (status, headers, body) = self.send(Method::GET, path, Bytes::new(), window).await;
        assert_eq!(status, 200);
        assert_eq!(headers["content-type"], "text/event-stream");
        Stream {
            body,
            text: BytesMut::new(),
        }
    }

    async fn send(
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
pub(crate) struct Stream {
    body: Incoming,
    text: BytesMut,
}

/// An event on a stream.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Event {
    pub(crate) id: String,
    pub(crate) kind: String,
    pub(crate) data: Value,
}

impl Event {
    /// Reads a block; a comment is no event.
    fn read(block: &str) -> Option<Event> {
        let field = |name| block.lines().find_map(|line| line.strip_prefix(name));
        Some(Event {
            id: field("id: ").unwrap_or_default().to_owned(),
            kind: field("event: ")?.to_owned(),
            data: serde_json::from_str(field("data: ")?).unwrap(),
        })
    }
}

impl Stream {
    /// The next event; nothing after a clean end.
    pub(crate) async fn next(&mut self) -> Option<Event> {
        soon("an event", async {
            loop {
                if let Some(at) = self.text.windows(2).position(|pair| pair == b"\n\n") {
                    let block = self.text.split_to(at + 2);
                    if let Some(event) = Event::read(std::str::from_utf8(&block).unwrap()) {
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
    pub(crate) async fn next_of(&mut self, kind: &str) -> Event {
        loop {
            let event = self.next().await.expect("an event before the end");
            if event.kind == kind {
                return event;
            }
        }
    }
}
