//! Just enough HTTP and MCP to be an agent, or a person's command, at next to no cost.
//!
//! The load must not be what is measured, so requests are bytes and answers are skimmed.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpStream;

use crate::process::Companion;

/// What marks a context on a stream.
const CONTEXT: &[u8] = b"ide/contextUpdate";

/// A connection that is kept alive, with whatever its requests have in common.
pub(crate) struct Connection {
    stream: BufReader<TcpStream>,
    /// The header lines of every request.
    headers: String,
}

/// An answer, read to its end.
pub(crate) struct Answer {
    pub(crate) status: u16,
    /// The id of the session that it opened, if it did.
    session: Option<String>,
    pub(crate) body: Vec<u8>,
}

impl Connection {
    async fn open(port: u16, token: &str) -> Connection {
        let stream = TcpStream::connect(("127.0.0.1", port)).await.unwrap();
        stream.set_nodelay(true).unwrap();
        let headers = format!(
            "Host: 127.0.0.1:{port}\r\nAuthorization: Bearer {token}\r\n\
             Content-Type: application/json\r\nAccept: application/json, text/event-stream\r\n"
        );
        Connection {
            stream: BufReader::with_capacity(64 * 1024, stream),
            headers,
        }
    }

    /// A connection of the person's own commands.
    pub(crate) async fn person(companion: &Companion) -> Connection {
        Connection::open(companion.port, &companion.secret).await
    }

    /// A connection of an agent that has said hello; its later requests name the session.
    pub(crate) async fn agent(companion: &Companion) -> Connection {
        let said_hello = Connection::hello(companion, &companion.token).await;
        said_hello.unwrap_or_else(|refused| panic!("no session, but {refused}"))
    }

    /// The same, for an agent of another kind.
    pub(crate) async fn other_agent(companion: &Companion) -> Connection {
        let said_hello = Connection::hello(companion, &companion.other_token).await;
        said_hello.unwrap_or_else(|refused| panic!("no session, but {refused}"))
    }

    /// The same, where an agent may be one too many.
    pub(crate) async fn try_agent(companion: &Companion) -> Option<Connection> {
        Connection::hello(companion, &companion.token).await.ok()
    }

    async fn hello(companion: &Companion, token: &str) -> Result<Connection, String> {
        let mut connection = Connection::open(companion.port, token).await;
        let hello = json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
            "protocolVersion": "2025-06-18",
            "capabilities": {},
            "clientInfo": { "name": "streamable-http-client", "version": "1.0.0" },
        } });
        let answer = connection.post("/mcp", hello.to_string().as_bytes()).await;
        let Some(session) = answer.session else {
            let body = String::from_utf8_lossy(&answer.body);
            return Err(format!("{}: {body}", answer.status));
        };
        connection.headers.push_str("Mcp-Session-Id: ");
        connection.headers.push_str(&session);
        connection.headers.push_str("\r\n");
        Ok(connection)
    }

    /// Another connection of the same agent.
    pub(crate) async fn again(&self, companion: &Companion) -> Connection {
        self.again_on(companion.port).await
    }

    /// The same, to the companion on this port.
    pub(crate) async fn again_on(&self, port: u16) -> Connection {
        // Its headers are replaced by those of the agent.
        let mut connection = Connection::open(port, "").await;
        connection.headers.clone_from(&self.headers);
        connection
    }

    /// Takes answers as JSON only. The answer to a proposal of a session without a stream would be a
    /// stream otherwise, which this does not read.
    pub(crate) fn take_no_streams(&mut self) {
        self.headers = self.headers.replace(", text/event-stream", "");
    }

    /// Posts a body and reads the answer, which must be a success.
    pub(crate) async fn post(&mut self, path: &str, body: &[u8]) -> Answer {
        let head = format!(
            "POST {path} HTTP/1.1\r\n{}Content-Length: {}\r\n\r\n",
            self.headers,
            body.len()
        );
        let socket = self.stream.get_mut();
        if body.len() < 64 * 1024 {
            let whole = [head.as_bytes(), body].concat();
            socket.write_all(&whole).await.unwrap();
        } else {
            socket.write_all(head.as_bytes()).await.unwrap();
            socket.write_all(body).await.unwrap();
        }
        let mut answer = self.head().await;
        self.stream.read_exact(&mut answer.body).await.unwrap();
        assert!(
            answer.status < 300,
            "{path} answers {}: {}",
            answer.status,
            String::from_utf8_lossy(&answer.body)
        );
        answer
    }

    /// Calls a tool and returns how long that took.
    pub(crate) async fn call(&mut self, name: &str, arguments: &Value) -> Duration {
        let (answer, took) = self.try_call(name, arguments).await;
        assert!(
            is_taken(&answer),
            "{name} failed: {}",
            String::from_utf8_lossy(&answer.body)
        );
        took
    }

    /// Proposes an edit that may be one too many, and returns whether it is taken.
    pub(crate) async fn offer(&mut self, edit: &Value) -> bool {
        is_taken(&self.try_call("openDiff", edit).await.0)
    }

    async fn try_call(&mut self, name: &str, arguments: &Value) -> (Answer, Duration) {
        let call = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {
            "name": name, "arguments": arguments,
        } });
        let call = call.to_string();
        let asked = Instant::now();
        let answer = self.post("/mcp", call.as_bytes()).await;
        (answer, asked.elapsed())
    }

    /// Makes this connection the stream of its session.
    pub(crate) async fn listen(mut self) -> Listener {
        let head = format!("GET /mcp HTTP/1.1\r\n{}\r\n", self.headers);
        let socket = self.stream.get_mut();
        socket.write_all(head.as_bytes()).await.unwrap();
        let answer = self.head().await;
        assert_eq!(answer.status, 200, "the stream was refused");
        let already_read = self.stream.buffer().to_vec();
        Listener {
            stream: self.stream.into_inner(),
            held: already_read,
        }
    }

    /// Reads the head of an answer; the body gets its size and no content yet.
    async fn head(&mut self) -> Answer {
        let (mut status, mut session, mut length) = (0, None, 0);
        let mut line = String::new();
        loop {
            line.clear();
            let read = self.stream.read_line(&mut line).await.unwrap();
            assert!(read > 0, "the companion hung up");
            let line = line.trim_end();
            if line.is_empty() {
                break;
            }
            match line.split_once(": ") {
                None => status = line.split(' ').nth(1).unwrap().parse().unwrap(),
                Some(("mcp-session-id", id)) => session = Some(id.to_owned()),
                Some(("content-length", size)) => length = size.parse().unwrap(),
                Some(_) => {}
            }
        }
        Answer {
            status,
            session,
            body: vec![0; length],
        }
    }
}

/// An agent's stream. It counts contexts and looks no closer.
pub(crate) struct Listener {
    stream: TcpStream,
    /// What was read and not looked at yet.
    held: Vec<u8>,
}

impl Listener {
    /// Waits until there are contexts that were not counted yet, and counts them.
    pub(crate) async fn contexts(&mut self) -> u32 {
        loop {
            let mut found = 0;
            for window in self.held.windows(CONTEXT.len()) {
                // Comparing the first byte here saves most of the calls.
                found += u32::from(window[0] == CONTEXT[0] && window == CONTEXT);
            }
            // A marker can be cut in two by the end of a read.
            let kept = self.held.len().min(CONTEXT.len() - 1);
            self.held.drain(..self.held.len() - kept);
            if found > 0 {
                return found;
            }
            self.fill().await;
        }
    }

    /// Waits for the context that has the cursor on `line`; those before it are passed over.
    pub(crate) async fn cursor_on(&mut self, line: u32) {
        let wanted = format!("\"line\":{line},");
        loop {
            let seen = self
                .held
                .windows(wanted.len())
                .position(|window| window == wanted.as_bytes());
            if let Some(at) = seen {
                self.held.drain(..at + wanted.len());
                return;
            }
            self.fill().await;
        }
    }

    /// Reads all there is, until the companion ends the stream or the task is dropped.
    pub(crate) async fn drain(mut self) {
        loop {
            self.held.clear();
            self.fill().await;
        }
    }

    async fn fill(&mut self) {
        self.held.reserve(64 * 1024);
        let read = self.stream.read_buf(&mut self.held).await.unwrap();
        assert!(read > 0, "the companion ended a stream");
    }
}

/// Whether the call of a tool has gone well.
fn is_taken(answer: &Answer) -> bool {
    let body = String::from_utf8_lossy(&answer.body);
    body.starts_with(r#"{"jsonrpc":"2.0","result""#) && !body.contains(r#""isError":true"#)
}

/// The body that says where the person is.
pub(crate) fn focus(path: &std::path::Path, line: u32, selection: Option<&str>) -> Vec<u8> {
    let mut focus = json!({ "path": path, "line": line, "column": 1 });
    if let Some(selection) = selection {
        focus["selection"] = selection.into();
    }
    focus.to_string().into_bytes()
}
