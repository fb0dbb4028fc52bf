//! An agent's client, and the record of what was said.

use std::fmt::Write as _;
use std::sync::atomic::{AtomicU32, Ordering};

use serde_json::{Value, json};
use workbench::Agent;

use crate::companion::Companion;
use crate::wire::{Answer, Ask, Connection, End, Stream, message, soon};

const BOTH: &str = "application/json, text/event-stream";

/// An agent's client. It writes down the whole conversation.
pub(crate) struct Peer {
    port: u16,
    token: String,
    root: String,
    pub(crate) session: String,
    stream: Option<Stream>,
    log: String,
    next_id: u64,
}

impl Peer {
    pub(crate) fn new(companion: &Companion, agent: Agent) -> Peer {
        Peer {
            port: companion.port,
            token: companion.token(agent).to_owned(),
            root: companion.path(""),
            session: String::new(),
            stream: None,
            log: String::new(),
            next_id: 0,
        }
    }

    /// The same client, still in its session, after the companion has come back elsewhere.
    pub(crate) fn moved_to(mut self, companion: &Companion) -> Peer {
        self.port = companion.port;
        self.stream = None;
        self
    }

    /// A request as this client makes it.
    pub(crate) fn ask(&self, method: &str) -> Ask {
        let accept = if method == "GET" {
            "text/event-stream"
        } else {
            BOTH
        };
        Ask::new(method)
            .header("host", &format!("127.0.0.1:{}", self.port))
            .header("authorization", &format!("Bearer {}", self.token))
            .header("content-type", "application/json")
            .header("accept", accept)
            .header("mcp-session-id", &self.session)
    }

    pub(crate) async fn send(&self, ask: &Ask) -> Answer {
        Connection::open(self.port).await.ask(ask).await
    }

    pub(crate) async fn post(&self, body: &str) -> Answer {
        self.send(&self.ask("POST").body(body)).await
    }

    /// Begins a session.
    pub(crate) async fn initialize(&mut self) {
        let params = json!({
            "protocolVersion": "2025-11-25",
            "capabilities": {},
            "clientInfo": { "name": "streamable-http-client", "version": "1.0.0" },
        });
        let answer = self.request("initialize", params).await;
        let session = answer.header("mcp-session-id");
        session.unwrap_or_default().clone_into(&mut self.session);
        self.notify("notifications/initialized").await;
    }

    /// Makes a request and writes it down with its answer.
    pub(crate) async fn request(&mut self, method: &str, params: Value) -> Answer {
        let body = self.say(method, Some(params));
        let answer = self.post(&body).await;
        self.hear_answer(&answer);
        answer
    }

    pub(crate) async fn notify(&mut self, method: &str) {
        self.note(&format!("POST {method}"));
        let body = json!({ "jsonrpc": "2.0", "method": method }).to_string();
        let answer = self.post(&body).await;
        self.hear_answer(&answer);
    }

    pub(crate) async fn open_diff(&mut self, path: &str, text: &str) -> Answer {
        let arguments = json!({ "filePath": path, "newContent": text });
        self.call("openDiff", arguments).await
    }

    pub(crate) async fn close_diff(&mut self, path: &str) -> Answer {
        self.call("closeDiff", json!({ "filePath": path })).await
    }

    pub(crate) async fn call(&mut self, tool: &str, arguments: Value) -> Answer {
        let params = json!({ "name": tool, "arguments": arguments });
        self.request("tools/call", params).await
    }

    /// Proposes an edit without having a stream: the answer is one.
    pub(crate) async fn open_diff_streaming(&mut self, path: &str, text: &str) -> Stream {
        let arguments = json!({ "filePath": path, "newContent": text });
        let params = json!({ "name": "openDiff", "arguments": arguments });
        let body = self.say("tools/call", Some(params));
        let ask = self.ask("POST").body(body);
        Connection::open(self.port).await.listen(&ask).await
    }

    /// Opens the session's own stream and reads the context that stands at its start.
    pub(crate) async fn listen(&mut self) {
        self.listen_for_anything().await;
        let first = self.hear().await;
        assert_eq!(first["method"], "ide/contextUpdate");
    }

    /// Opens the session's own stream; what comes first on it is for the test to see.
    pub(crate) async fn listen_for_anything(&mut self) {
        self.note("GET");
        self.stream = Some(self.stream().await);
        self.note_back("200 text/event-stream");
    }

    /// A stream of the session, for the test to read.
    pub(crate) async fn stream(&self) -> Stream {
        let connection = Connection::open(self.port).await;
        connection.listen(&self.ask("GET")).await
    }

    /// The next message on the stream; comments are passed over.
    pub(crate) async fn hear(&mut self) -> Value {
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

    /// Drops the stream without a word, as a client that was killed does.
    pub(crate) fn hang_up(&mut self) {
        self.stream = None;
        self.note("(gone)");
    }

    /// Reads the stream to its end.
    pub(crate) async fn hear_out(&mut self) -> End {
        let mut stream = self.stream.take().expect("a stream");
        let (blocks, end) = stream.rest().await;
        for block in blocks {
            self.note_back(&indent(&block));
        }
        self.note_back(&format!("({end:?} end)").to_lowercase());
        end
    }

    /// Makes sure that nothing but contexts is on its way: what is asked for now comes next.
    pub(crate) async fn nothing_more(&mut self, companion: &Companion) {
        let before = self.log.len();
        self.hear_all_contexts(companion).await;
        self.log.truncate(before);
    }

    /// Reads contexts up to one that is made for this call.
    pub(crate) async fn hear_all_contexts(&mut self, companion: &Companion) {
        static MARKS: AtomicU32 = AtomicU32::new(1);
        let mark = MARKS.fetch_add(1, Ordering::Relaxed);
        let path = companion.file("a mark", "");
        companion.focus(&path, (mark, 1), None).await;
        loop {
            let next = self.hear().await;
            assert_eq!(next["method"], "ide/contextUpdate", "{next}");
            let first = &next["params"]["workspaceState"]["openFiles"][0];
            if first["path"] == path && first["cursor"]["line"] == mark {
                return;
            }
        }
    }

    /// Begins the record anew.
    pub(crate) fn forget(&mut self) {
        self.log.clear();
    }

    /// The conversation so far, without what differs from run to run and what cannot be seen.
    pub(crate) fn transcript(&self) -> String {
        let mut text = self.log.replace(self.root.trim_end_matches('/'), "/w");
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

    fn hear_answer(&mut self, answer: &Answer) {
        let mut line = answer.status.to_string();
        if let Some(kind) = answer.header("content-type") {
            let _ = write!(line, " {kind}");
        }
        if let Some(session) = answer.header("mcp-session-id") {
            let _ = write!(line, ", session {session}");
        }
        if !answer.body.is_empty() {
            let _ = write!(line, "\n  {}", answer.body);
        }
        self.note_back(&line);
    }

    pub(crate) fn note(&mut self, line: &str) {
        let _ = writeln!(self.log, "→ {}", line.trim_end());
    }

    pub(crate) fn note_back(&mut self, line: &str) {
        let _ = writeln!(self.log, "← {line}");
    }
}

/// Lines after the first stand under it.
pub(crate) fn indent(block: &str) -> String {
    block.replace('\n', "\n  ")
}
