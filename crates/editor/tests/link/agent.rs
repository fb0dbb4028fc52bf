//! An agent's client over plain HTTP, as far as the editor's side can tell them apart.

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpStream;

use crate::companion::soon;

/// A client in a session, with its event stream.
pub(crate) struct Peer {
    port: u16,
    token: String,
    pub(crate) session: String,
    events: Option<BufReader<TcpStream>>,
    next_id: u64,
}

impl Peer {
    pub(crate) async fn connect(port: u16, token: &str) -> Peer {
        let mut peer = Peer {
            port,
            token: token.to_owned(),
            session: String::new(),
            events: None,
            next_id: 0,
        };
        let client = json!({ "name": "agent", "version": "1.0.0" });
        let params =
            json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client });
        peer.request("initialize", params).await;
        let (mut events, status, _) = peer.send("GET", "").await;
        assert_eq!(status, 200);
        // The context that stands at its start.
        next_event(&mut events).await;
        peer.events = Some(events);
        peer
    }

    /// Proposes an edit.
    pub(crate) async fn open_diff(&mut self, path: &str, text: &str) {
        let arguments = json!({ "filePath": path, "newContent": text });
        let answer = self.call("openDiff", arguments).await;
        assert_eq!(answer["result"], json!({ "content": [] }));
    }

    /// Takes a proposal back; the text that it had by then.
    pub(crate) async fn close_diff(&mut self, path: &str) -> Value {
        let answer = self.call("closeDiff", json!({ "filePath": path })).await;
        let text = answer["result"]["content"][0]["text"].as_str().unwrap();
        serde_json::from_str::<Value>(text).unwrap()["content"].clone()
    }

    /// The next message on the stream that is not a context, as `method content`.
    pub(crate) async fn verdict(&mut self) -> (String, Value) {
        loop {
            let heard = self.hear().await;
            let method = heard["method"].as_str().unwrap();
            if let Some(verdict) = method.strip_prefix("ide/diff") {
                return (verdict.to_owned(), heard["params"]["content"].clone());
            }
        }
    }

    /// The next message on the stream.
    pub(crate) async fn hear(&mut self) -> Value {
        next_event(self.events.as_mut().unwrap()).await
    }

    /// Ends its session.
    pub(crate) async fn leave(&mut self) {
        self.events = None;
        self.send("DELETE", "").await;
    }

    async fn call(&mut self, tool: &str, arguments: Value) -> Value {
        let params = json!({ "name": tool, "arguments": arguments });
        self.request("tools/call", params).await
    }

    async fn request(&mut self, method: &str, params: Value) -> Value {
        self.next_id += 1;
        let body =
            json!({ "jsonrpc": "2.0", "id": self.next_id, "method": method, "params": params });
        let (mut reader, status, length) = self.send("POST", &body.to_string()).await;
        assert_eq!(status, 200, "{method}");
        let mut body = vec![0; length];
        let read = reader.read_exact(&mut body);
        soon("the body of an answer", read).await.unwrap();
        serde_json::from_slice(&body).unwrap()
    }

    /// Sends a request and reads the head of its answer: the rest, the status, the length.
    async fn send(&mut self, method: &str, body: &str) -> (BufReader<TcpStream>, u16, usize) {
        let mut socket = TcpStream::connect(("127.0.0.1", self.port)).await.unwrap();
        let (port, token, session) = (self.port, &self.token, &self.session);
        let accept = if method == "GET" {
            "text/event-stream"
        } else {
            "application/json"
        };
        let mut head = format!(
            "{method} /mcp HTTP/1.1\r\nhost: 127.0.0.1:{port}\r\nauthorization: Bearer {token}\r\n\
             accept: {accept}\r\ncontent-length: {}\r\n",
            body.len()
        );
        if !session.is_empty() {
            head.extend(["mcp-session-id: ", session, "\r\n"]);
        }
        let request = format!("{head}\r\n{body}");
        socket.write_all(request.as_bytes()).await.unwrap();
        let mut reader = BufReader::new(socket);
        let status = line(&mut reader).await;
        let status = status.split(' ').nth(1).unwrap().parse().unwrap();
        let mut length = 0;
        loop {
            match line(&mut reader).await.split_once(": ") {
                Some(("mcp-session-id", value)) => value.clone_into(&mut self.session),
                Some(("content-length", value)) => length = value.parse().unwrap(),
                Some(_) => {}
                None => return (reader, status, length),
            }
        }
    }
}

/// The next event of a stream. Chunk sizes and comments are passed over, which works because an
/// event is one line.
async fn next_event(events: &mut BufReader<TcpStream>) -> Value {
    loop {
        let line = line(events).await;
        if let Some(data) = line.strip_prefix("data: ") {
            return serde_json::from_str(data).unwrap();
        }
    }
}

async fn line(reader: &mut BufReader<TcpStream>) -> String {
    let mut line = String::new();
    let read = soon("a line from the companion", reader.read_line(&mut line)).await;
    assert!(read.unwrap() > 0, "the companion hung up");
    line.trim_end_matches(['\r', '\n']).to_owned()
}
