//! HTTP and event streams, spelled out, so that a test sees exactly what was sent.
//!
//! Every response and every event passes one inspection here, for what published clients cannot
//! bear: see [`McpPeer`](crate::McpPeer).

use std::fmt::Write as _;
use std::net::{Ipv4Addr, SocketAddr};

use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpSocket, TcpStream};

use crate::soon;

/// A request, complete down to its headers.
#[derive(Clone)]
#[must_use]
pub struct Request {
    method: String,
    path: String,
    headers: Vec<(String, String)>,
    body: Vec<u8>,
}

impl Request {
    /// A request without headers and body.
    pub fn new(method: &str, path: &str) -> Request {
        Request {
            method: method.to_owned(),
            path: path.to_owned(),
            headers: Vec::new(),
            body: Vec::new(),
        }
    }

    /// Sets a header; an empty value leaves it out.
    pub fn header(mut self, name: &str, value: &str) -> Request {
        self.headers.retain(|(known, _)| known != name);
        if !value.is_empty() {
            self.headers.push((name.to_owned(), value.to_owned()));
        }
        self
    }

    /// Sets the body.
    pub fn body(mut self, body: impl Into<Vec<u8>>) -> Request {
        self.body = body.into();
        self
    }

    /// The request as it is sent. What has a body, and any POST, says how long it is, unless a header
    /// does.
    pub fn bytes(&self) -> Vec<u8> {
        let mut head = format!("{} {} HTTP/1.1\r\n", self.method, self.path);
        for (name, value) in &self.headers {
            let _ = write!(head, "{name}: {value}\r\n");
        }
        let has_body = self.method == "POST" || !self.body.is_empty();
        if has_body && header(&self.headers, "content-length").is_none() {
            let _ = write!(head, "content-length: {}\r\n", self.body.len());
        }
        [format!("{head}\r\n").as_bytes(), &self.body].concat()
    }
}

/// A response whose body is there as a whole.
#[derive(Debug)]
pub struct Response {
    /// As HTTP has it.
    pub status: u16,
    /// Names in lower case.
    pub headers: Vec<(String, String)>,
    /// Inspected, if there is one.
    pub body: String,
}

impl Response {
    /// The value of a header, whose name is in lower case.
    pub fn header(&self, name: &str) -> Option<&str> {
        header(&self.headers, name)
    }

    /// The body, which must be JSON.
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap()
    }
}

fn header<'a>(headers: &'a [(String, String)], name: &str) -> Option<&'a str> {
    let found = headers.iter().find(|(known, _)| known == name);
    found.map(|(_, value)| value.as_str())
}

/// One connection to the companion.
pub struct Connection {
    socket: TcpStream,
    /// What has come and was not looked at yet.
    pending: Vec<u8>,
}

impl Connection {
    /// A connection to the companion on this port.
    pub async fn open(port: u16) -> Connection {
        Connection::with_window(port, None).await
    }

    /// A connection on which the system takes in no more than about `window` bytes unread.
    pub async fn with_window(port: u16, window: Option<u32>) -> Connection {
        let socket = TcpSocket::new_v4().unwrap();
        if let Some(window) = window {
            socket.set_recv_buffer_size(window).unwrap();
        }
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
        let socket = soon("a connection", socket.connect(address)).await.unwrap();
        socket.set_nodelay(true).unwrap();
        Connection {
            socket,
            pending: Vec::new(),
        }
    }

    /// Sends bytes that may be less than a request.
    pub async fn send(&mut self, bytes: &[u8]) {
        let sent = soon("room to send", self.socket.write_all(bytes)).await;
        sent.unwrap();
    }

    /// Sends a request and reads its whole response.
    pub async fn request(&mut self, request: &Request) -> Response {
        self.send(&request.bytes()).await;
        self.response().await
    }

    /// Reads a whole response.
    pub async fn response(&mut self) -> Response {
        let (status, headers) = self.head().await;
        let length: usize = header(&headers, "content-length").unwrap().parse().unwrap();
        while self.pending.len() < length {
            assert!(self.fill().await > 0, "the response is cut off");
        }
        let body = String::from_utf8(self.pending.drain(..length).collect()).unwrap();
        if !body.is_empty() {
            inspect_json(&body);
        }
        Response {
            status,
            headers,
            body,
        }
    }

    /// Sends a request and reads no more than the status of its response.
    pub async fn status(mut self, request: &Request) -> u16 {
        self.send(&request.bytes()).await;
        self.head().await.0
    }

    /// Sends a request and reads the head of a response that is an event stream.
    pub async fn listen(mut self, request: &Request) -> EventStream {
        self.send(&request.bytes()).await;
        let (status, headers) = self.head().await;
        assert_eq!(status, 200, "{headers:?}");
        assert_eq!(header(&headers, "content-type"), Some("text/event-stream"));
        assert_eq!(header(&headers, "transfer-encoding"), Some("chunked"));
        EventStream {
            connection: self,
            headers,
            text: Vec::new(),
            end: None,
        }
    }

    /// Reads until the companion closes the connection, and returns what came before that.
    pub async fn rest(mut self) -> String {
        while self.fill().await > 0 {}
        String::from_utf8(self.pending).unwrap()
    }

    async fn head(&mut self) -> (u16, Vec<(String, String)>) {
        let head = self.take_until(b"\r\n\r\n").await;
        let head = head.expect("a response before the connection is closed");
        let mut lines = head.split("\r\n");
        let status = lines.next().and_then(|line| line.split(' ').nth(1));
        let headers = lines.filter_map(|line| line.split_once(": "));
        let headers = headers.map(|(name, value)| (name.to_lowercase(), value.to_owned()));
        (status.unwrap().parse().unwrap(), headers.collect())
    }

    /// The text up to `mark`, which is thrown away; `None` if the connection ends before it.
    async fn take_until(&mut self, mark: &[u8]) -> Option<String> {
        loop {
            let at = self.pending.windows(mark.len()).position(|w| w == mark);
            if let Some(at) = at {
                let text = self.pending.drain(..at).collect();
                self.pending.drain(..mark.len());
                return Some(String::from_utf8(text).unwrap());
            }
            if self.fill().await == 0 {
                return None;
            }
        }
    }

    /// Reads some more; a connection that was torn down counts as ended.
    async fn fill(&mut self) -> usize {
        let read = self.socket.read_buf(&mut self.pending);
        soon("something from the companion", read)
            .await
            .unwrap_or(0)
    }
}

/// How a stream ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StreamEnd {
    /// The body was finished as HTTP wants it.
    Clean,
    /// The connection went away under it.
    Cut,
}

/// An event stream.
pub struct EventStream {
    connection: Connection,
    /// The headers at its start, names in lower case.
    pub headers: Vec<(String, String)>,
    /// What has come of the body and was not looked at yet.
    text: Vec<u8>,
    end: Option<StreamEnd>,
}

impl EventStream {
    /// The next block (an event, a comment, a `retry`), or how the stream ended.
    pub async fn block(&mut self) -> Result<String, StreamEnd> {
        loop {
            if let Some(at) = self.text.windows(2).position(|pair| pair == b"\n\n") {
                let block: Vec<u8> = self.text.drain(..at).collect();
                self.text.drain(..2);
                let block = String::from_utf8(block).unwrap();
                inspect_block(&block);
                return Ok(block);
            }
            if let Some(end) = self.end {
                assert!(
                    end == StreamEnd::Cut || self.text.is_empty(),
                    "half a block"
                );
                return Err(end);
            }
            self.chunk().await;
        }
    }

    /// Reads everything up to the end.
    pub async fn rest(&mut self) -> (Vec<String>, StreamEnd) {
        let mut blocks = Vec::new();
        let end = soon("the end of a stream", async {
            loop {
                match self.block().await {
                    Ok(block) => blocks.push(block),
                    Err(end) => return end,
                }
            }
        });
        let end = end.await;
        (blocks, end)
    }

    async fn chunk(&mut self) {
        let Some(size) = self.connection.take_until(b"\r\n").await else {
            self.end = Some(StreamEnd::Cut);
            return;
        };
        let size = usize::from_str_radix(&size, 16).unwrap();
        while self.connection.pending.len() < size + 2 {
            if self.connection.fill().await == 0 {
                self.end = Some(StreamEnd::Cut);
                return;
            }
        }
        self.text.extend(self.connection.pending.drain(..size));
        assert_eq!(self.connection.pending.drain(..2).as_slice(), b"\r\n");
        if size == 0 {
            self.end = Some(StreamEnd::Clean);
        }
    }
}

/// The message of an event, or nothing if the block is a comment or a `retry`.
pub fn message(block: &str) -> Option<Value> {
    let data = block.strip_prefix("event: message\ndata: ")?;
    Some(serde_json::from_str(data).unwrap())
}

/// Clients resume from ids, disconnect on empty data, and drop what they cannot parse: so a
/// block is a comment, a `retry`, or one event with one line of JSON.
fn inspect_block(block: &str) {
    let retry = block.strip_prefix("retry: ");
    if block == ":" || retry.is_some_and(|delay| delay.parse::<u64>().is_ok()) {
        return;
    }
    let data = block.strip_prefix("event: message\ndata: ");
    let data = data.unwrap_or_else(|| panic!("not a block that clients can bear: {block:?}"));
    assert!(!data.contains('\n'), "more than one line: {block:?}");
    inspect_json(data);
}

/// Clients disconnect for good on a `null`. JSON-RPC demands one, as the id of the response to
/// something unreadable.
fn inspect_json(text: &str) {
    fn has_null(value: &Value) -> bool {
        match value {
            Value::Null => true,
            Value::Array(list) => list.iter().any(has_null),
            Value::Object(fields) => fields.values().any(has_null),
            _ => false,
        }
    }
    let mut value: Value = serde_json::from_str(text).unwrap_or_else(|_| panic!("no JSON: {text}"));
    if let Some(fields) = value.as_object_mut()
        && fields.contains_key("error")
        && fields.get("id") == Some(&Value::Null)
    {
        fields.remove("id");
    }
    assert!(!has_null(&value), "a null: {text}");
}
