//! An agent's client, and the record of what was said.

use std::fmt::Write as _;

use serde_json::{Value, json};

use crate::http::{Connection, EventStream, Request, Response, StreamEnd, message};
use crate::soon;

const BOTH: &str = "application/json, text/event-stream";

/// An agent's client over plain HTTP. It writes down the whole conversation.
///
/// It fails the test on what published clients cannot bear: an event with an id or without data,
/// more than one line of JSON in an event, a `null` in a message.
pub struct McpPeer {
    port: u16,
    token: String,
    /// The folder that the transcript shows as `/w`.
    folder: String,
    /// Empty before the session begins.
    pub session: String,
    /// The session's own stream, while the peer listens.
    stream: Option<EventStream>,
    pub(crate) record: String,
    next_id: u64,
}

impl McpPeer {
    /// A client that has not said anything yet.
    pub fn new(port: u16, token: &str) -> McpPeer {
        McpPeer {
            port,
            token: token.to_owned(),
            folder: String::new(),
            session: String::new(),
            stream: None,
            record: String::new(),
            next_id: 0,
        }
    }

    /// The same client, whose transcript shows `folder` as `/w`.
    #[must_use]
    pub fn working_in(mut self, folder: &str) -> McpPeer {
        folder.trim_end_matches('/').clone_into(&mut self.folder);
        self
    }

    /// The same client, still in its session, after the companion has come back on another port.
    #[must_use]
    pub fn moved_to(mut self, port: u16) -> McpPeer {
        self.port = port;
        self.stream = None;
        self
    }

    /// A request as this client makes it.
    pub fn http_request(&self, method: &str) -> Request {
        self.http_request_at(method, "/mcp")
    }

    /// The same, to another path than that of MCP.
    pub fn http_request_at(&self, method: &str, path: &str) -> Request {
        let accept = if method == "GET" {
            "text/event-stream"
        } else {
            BOTH
        };
        Request::new(method, path)
            .header("host", &format!("127.0.0.1:{}", self.port))
            .header("authorization", &format!("Bearer {}", self.token))
            .header("content-type", "application/json")
            .header("accept", accept)
            .header("mcp-session-id", &self.session)
    }

    /// Sends a request as it is, and writes nothing down.
    pub async fn send(&self, request: &Request) -> Response {
        Connection::open(self.port).await.request(request).await
    }

    /// Sends a body as it is, and writes nothing down.
    pub async fn post(&self, body: &str) -> Response {
        self.send(&self.http_request("POST").body(body)).await
    }

    /// The status of a request, without the rest.
    pub async fn status(&self, request: &Request) -> u16 {
        Connection::open(self.port).await.status(request).await
    }

    /// Begins a session.
    pub async fn initialize(&mut self) {
        let params = json!({
            "protocolVersion": "2025-11-25",
            "capabilities": {},
            "clientInfo": { "name": "streamable-http-client", "version": "1.0.0" },
        });
        let response = self.request("initialize", params).await;
        let session = response.header("mcp-session-id");
        session.unwrap_or_default().clone_into(&mut self.session);
        let response = self.notify("notifications/initialized").await;
        assert_eq!(response.status, 202);
    }

    /// Makes a request and writes it down with its answer.
    pub async fn request(&mut self, method: &str, params: Value) -> Response {
        let body = self.say(method, Some(params));
        let response = self.post(&body).await;
        self.record_response(&response);
        if response.status == 200 {
            assert_eq!(response.json()["id"], self.next_id, "{method}");
        }
        response
    }

    /// Sends a notification.
    pub async fn notify(&mut self, method: &str) -> Response {
        self.note(&format!("POST {method}"));
        let body = json!({ "jsonrpc": "2.0", "method": method }).to_string();
        let response = self.post(&body).await;
        self.record_response(&response);
        response
    }

    /// Proposes an edit, whatever the companion says to it.
    pub async fn open_diff(&mut self, path: &str, text: &str) -> Response {
        let arguments = json!({ "filePath": path, "newContent": text });
        self.call("openDiff", arguments).await
    }

    /// Proposes an edit that has to be taken.
    pub async fn propose(&mut self, path: &str, text: &str) {
        let response = self.open_diff(path, text).await;
        assert_eq!(response.json()["result"], json!({ "content": [] }));
    }

    /// Takes a proposal back, whatever the companion says to it.
    pub async fn close_diff(&mut self, path: &str) -> Response {
        self.call("closeDiff", json!({ "filePath": path })).await
    }

    /// Takes a proposal back; the text as it stood.
    pub async fn withdraw(&mut self, path: &str) -> Value {
        let response = self.close_diff(path).await.json();
        let text = response["result"]["content"][0]["text"].as_str().unwrap();
        serde_json::from_str::<Value>(text).unwrap()["content"].clone()
    }

    /// Calls a tool.
    pub async fn call(&mut self, tool: &str, arguments: Value) -> Response {
        let params = json!({ "name": tool, "arguments": arguments });
        self.request("tools/call", params).await
    }

    /// Proposes an edit without having a stream: the answer is one.
    pub async fn open_diff_streaming(&mut self, path: &str, text: &str) -> EventStream {
        let arguments = json!({ "filePath": path, "newContent": text });
        let params = json!({ "name": "openDiff", "arguments": arguments });
        let body = self.say("tools/call", Some(params));
        let request = self.http_request("POST").body(body);
        Connection::open(self.port).await.listen(&request).await
    }

    /// Opens the session's own stream and reads the context that stands at its start.
    pub async fn listen(&mut self) {
        self.listen_for_anything().await;
        let first = self.hear().await;
        assert_eq!(first["method"], "ide/contextUpdate");
    }

    /// Opens the session's own stream; what comes first on it is for the test to see.
    pub async fn listen_for_anything(&mut self) {
        self.note("GET");
        self.stream = Some(self.stream().await);
        self.note_back("200 text/event-stream");
    }

    /// A stream of the session, for the test to read.
    pub async fn stream(&self) -> EventStream {
        let connection = Connection::open(self.port).await;
        connection.listen(&self.http_request("GET")).await
    }

    /// The next message on the stream; comments are passed over.
    pub async fn hear(&mut self) -> Value {
        let stream = self.stream.as_mut().expect("a stream");
        let (block, message) = soon("a message", async {
            loop {
                let block = stream.block().await.expect("an event");
                if let Some(message) = message(&block) {
                    return (block, message);
                }
            }
        })
        .await;
        self.note_back(&indent(&block));
        message
    }

    /// The next message that is not a context.
    pub async fn hear_verdict(&mut self) -> Value {
        loop {
            let heard = self.hear().await;
            if heard["method"] != "ide/contextUpdate" {
                return heard;
            }
        }
    }

    /// The next verdict: the end of its method (`Accepted`, `Rejected`), and its content.
    pub async fn verdict(&mut self) -> (String, Value) {
        let heard = self.hear_verdict().await;
        let method = heard["method"].as_str().unwrap();
        let verdict = method.strip_prefix("ide/diff").unwrap().to_owned();
        (verdict, heard["params"]["content"].clone())
    }

    /// Drops the stream without a word, as a client that was killed does.
    pub fn hang_up(&mut self) {
        self.stream = None;
        self.note("(gone)");
    }

    /// Ends its session, as a client that quits does.
    pub async fn leave(&mut self) {
        let response = self.send(&self.http_request("DELETE")).await;
        assert_eq!(response.status, 200);
        self.stream = None;
    }

    /// Reads the stream to its end.
    pub async fn hear_out(&mut self) -> StreamEnd {
        self.rest_of_stream().await.1
    }

    /// Reads the stream to its end; the blocks that were left.
    pub async fn rest_of_stream(&mut self) -> (Vec<String>, StreamEnd) {
        let mut stream = self.stream.take().expect("a stream");
        let (blocks, end) = stream.rest().await;
        for block in &blocks {
            self.note_back(&indent(block));
        }
        self.note_back(&format!("({end:?} end)").to_lowercase());
        (blocks, end)
    }

    /// Begins the record anew.
    pub fn forget(&mut self) {
        self.record.clear();
    }

    /// The conversation so far, without what differs from run to run and what cannot be seen.
    pub fn transcript(&self) -> String {
        let mut text = self.record.clone();
        if !self.folder.is_empty() {
            text = text.replace(&self.folder, "/w");
        }
        if !self.session.is_empty() {
            text = text.replace(&self.session, "[session]");
        }
        text = text
            .replace('\u{feff}', "[BOM]")
            .replace('\u{2028}', "[LS]");
        let version = concat!("\"version\":\"", env!("CARGO_PKG_VERSION"), "\"}}");
        text = text.replace(version, "\"version\":\"[version]\"}}");
        let mut parts = text.split("\"timestamp\":");
        let mut clean = parts.next().unwrap_or_default().to_owned();
        for part in parts {
            clean += "\"timestamp\":[ms]";
            clean += part.trim_start_matches(|c: char| c.is_ascii_digit());
        }
        clean
    }

    fn say(&mut self, method: &str, params: Option<Value>) -> String {
        self.next_id += 1;
        let shown = params.as_ref().map(Value::to_string).unwrap_or_default();
        self.note(&format!("POST {method} {shown}"));
        let mut body = json!({ "jsonrpc": "2.0", "id": self.next_id, "method": method });
        if let Some(params) = params {
            body["params"] = params;
        }
        body.to_string()
    }

    fn record_response(&mut self, response: &Response) {
        let mut line = response.status.to_string();
        if let Some(kind) = response.header("content-type") {
            let _ = write!(line, " {kind}");
        }
        if let Some(session) = response.header("mcp-session-id") {
            let _ = write!(line, ", session {session}");
        }
        if !response.body.is_empty() {
            let _ = write!(line, "\n  {}", response.body);
        }
        self.note_back(&line);
    }

    /// Writes down what the test did on the agent's side.
    pub fn note(&mut self, line: &str) {
        let _ = writeln!(self.record, "→ {}", line.trim_end());
    }

    /// Writes down what came from the companion.
    pub fn note_back(&mut self, line: &str) {
        let _ = writeln!(self.record, "← {line}");
    }
}

/// Lines after the first stand under it.
pub fn indent(block: &str) -> String {
    block.replace('\n', "\n  ")
}
