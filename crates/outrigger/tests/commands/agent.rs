//! An agent's client over plain HTTP.

use std::fmt::Write as _;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::time::Instant;

use serde_json::{Value, json};

use crate::world::{DEADLINE, Served, World};

/// A client in a session.
pub(crate) struct Agent {
    port: u16,
    token: String,
    pub(crate) session: String,
    events: Option<Events>,
    next_id: u64,
}

impl Agent {
    /// Qwen Code, connected and listening.
    pub(crate) fn qwen(world: &World, served: &Served) -> Agent {
        Agent::connect(served.port, world.qwen_token(served.port))
    }

    /// Gemini CLI, connected and listening.
    pub(crate) fn gemini(world: &World, served: &Served) -> Agent {
        Agent::connect(served.port, world.gemini_token(served.port))
    }

    /// A client that has not said anything yet.
    pub(crate) fn stranger(port: u16, token: String) -> Agent {
        Agent {
            port,
            token,
            session: String::new(),
            events: None,
            next_id: 0,
        }
    }

    pub(crate) fn connect(port: u16, token: String) -> Agent {
        let mut agent = Agent::stranger(port, token);
        let client = json!({ "name": "streamable-http-client", "version": "1.0.0" });
        let asked = json!({ "protocolVersion": "2025-11-25", "clientInfo": client });
        agent.request("initialize", &asked);
        assert!(!agent.session.is_empty());
        let initialized = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
        let (status, _) = agent.post(&initialized.to_string());
        assert_eq!(status, 202);
        agent.listen();
        agent
    }

    /// Opens the session's stream.
    pub(crate) fn listen(&mut self) {
        let reader = self.send("GET", "");
        let (status, head) = read_head(reader);
        assert_eq!(status, 200);
        self.events = Some(Events {
            reader: head.reader,
            text: String::new(),
        });
    }

    pub(crate) fn hang_up(&mut self) {
        self.events = None;
    }

    /// The status of a request, without the rest.
    pub(crate) fn knock(&self) -> u16 {
        self.post(r#"{"jsonrpc":"2.0","id":0,"method":"ping"}"#).0
    }

    /// The status that this agent gets at another path.
    pub(crate) fn knock_at(&self, method: &str, path: &str) -> u16 {
        read_head(self.send_to(path, method, "{}")).0
    }

    pub(crate) fn request(&mut self, method: &str, params: &Value) -> Value {
        self.next_id += 1;
        let body =
            json!({ "jsonrpc": "2.0", "id": self.next_id, "method": method, "params": params });
        let reader = self.send("POST", &body.to_string());
        let (status, mut head) = read_head(reader);
        assert_eq!(status, 200, "{method}");
        if !head.session.is_empty() {
            self.session = std::mem::take(&mut head.session);
        }
        let answer: Value = serde_json::from_str(&head.body()).unwrap();
        assert_eq!(answer["id"], self.next_id);
        answer
    }

    pub(crate) fn open_diff(&mut self, path: &str, text: &str) {
        let arguments = json!({ "filePath": path, "newContent": text });
        let params = json!({ "name": "openDiff", "arguments": arguments });
        let answer = self.request("tools/call", &params);
        assert_eq!(answer["result"], json!({ "content": [] }));
    }

    /// The next message on the stream.
    #[track_caller]
    pub(crate) fn hear(&mut self) -> Value {
        let events = self.events.as_mut().unwrap();
        let end = Instant::now() + DEADLINE;
        loop {
            // Signs of life go on for ever.
            assert!(Instant::now() < end, "waited in vain for a message");
            let block = events.block().expect("a message before the stream ends");
            if let Some(data) = block.strip_prefix("event: message\ndata: ") {
                return serde_json::from_str(data).unwrap();
            }
        }
    }

    /// The next message that is not a context.
    #[track_caller]
    pub(crate) fn hear_verdict(&mut self) -> Value {
        loop {
            let heard = self.hear();
            if heard["method"] != "ide/contextUpdate" {
                return heard;
            }
        }
    }

    /// Contexts up to one that has this file in front; all of them as text.
    #[track_caller]
    pub(crate) fn hear_until_active(&mut self, path: &str) -> String {
        let mut text = String::new();
        loop {
            let heard = self.hear();
            text += &heard.to_string();
            let first = &heard["params"]["workspaceState"]["openFiles"][0];
            if first["path"] == path && first["isActive"] == true {
                return text;
            }
        }
    }

    /// Reads the stream to its clean end.
    #[track_caller]
    pub(crate) fn hear_out(&mut self) -> Vec<String> {
        let mut events = self.events.take().unwrap();
        let end = Instant::now() + DEADLINE;
        let block = || {
            assert!(Instant::now() < end, "waited in vain for the end");
            events.block()
        };
        std::iter::from_fn(block).collect()
    }

    fn post(&self, body: &str) -> (u16, String) {
        let (status, head) = read_head(self.send("POST", body));
        (status, head.body())
    }

    fn send(&self, method: &str, body: &str) -> BufReader<TcpStream> {
        self.send_to("/mcp", method, body)
    }

    fn send_to(&self, path: &str, method: &str, body: &str) -> BufReader<TcpStream> {
        let mut socket = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        socket.set_read_timeout(Some(DEADLINE)).unwrap();
        let accept = if method == "GET" {
            "text/event-stream"
        } else {
            "application/json"
        };
        let mut head = format!(
            "{method} {path} HTTP/1.1\r\nhost: 127.0.0.1:{}\r\nauthorization: Bearer {}\r\naccept: {accept}\r\n",
            self.port, self.token
        );
        if !self.session.is_empty() {
            let _ = write!(head, "mcp-session-id: {}\r\n", self.session);
        }
        let _ = write!(head, "content-length: {}\r\n\r\n{body}", body.len());
        socket.write_all(head.as_bytes()).unwrap();
        BufReader::new(socket)
    }
}

/// The start of an answer, and the way to the rest.
struct Head {
    session: String,
    length: usize,
    reader: BufReader<TcpStream>,
}

impl Head {
    fn body(mut self) -> String {
        let mut body = vec![0; self.length];
        self.reader.read_exact(&mut body).unwrap();
        String::from_utf8(body).unwrap()
    }
}

fn read_head(mut reader: BufReader<TcpStream>) -> (u16, Head) {
    let status = read_line(&mut reader);
    let status = status.split(' ').nth(1).and_then(|it| it.parse().ok());
    let (mut session, mut length) = (String::new(), 0);
    loop {
        let line = read_line(&mut reader);
        match line.split_once(": ") {
            Some(("mcp-session-id", value)) => value.clone_into(&mut session),
            Some(("content-length", value)) => length = value.parse().unwrap(),
            Some(_) => {}
            None => break,
        }
    }
    let head = Head {
        session,
        length,
        reader,
    };
    (status.expect("a status"), head)
}

fn read_line(reader: &mut impl BufRead) -> String {
    let mut line = String::new();
    reader.read_line(&mut line).unwrap();
    line.trim_end_matches("\r\n").to_owned()
}

/// An event stream.
struct Events {
    reader: BufReader<TcpStream>,
    text: String,
}

impl Events {
    /// The next block, or nothing after a clean end. A stream that is cut off fails the test.
    fn block(&mut self) -> Option<String> {
        loop {
            if let Some((block, rest)) = self.text.split_once("\n\n") {
                let block = block.to_owned();
                self.text = rest.to_owned();
                return Some(block);
            }
            let size = read_line(&mut self.reader);
            let size = usize::from_str_radix(&size, 16).expect("the stream is cut off");
            let mut chunk = vec![0; size + 2];
            self.reader.read_exact(&mut chunk).unwrap();
            chunk.truncate(size);
            self.text += std::str::from_utf8(&chunk).unwrap();
            if size == 0 {
                return None;
            }
        }
    }
}
