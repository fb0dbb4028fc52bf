//! An agent that speaks MCP to a companion.

use axum::http::Method;
use companion::Token;
use serde_json::{Value, json};

use crate::visitor::{Stream, Visitor};

pub(crate) struct Peer {
    visitor: Visitor,
    pub(crate) session: String,
    stream: Stream,
}

impl Peer {
    pub(crate) async fn connect(port: u16, token: &Token) -> Peer {
        let both = "application/json, text/event-stream";
        let visitor = Visitor::new(port, Some(token.expose())).with("accept", both);
        let client = json!({ "name": "streamable-http-client", "version": "1.2.3" });
        let params = json!({ "protocolVersion": "2025-11-25", "clientInfo": client });
        let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params });
        let welcome = visitor.post("/mcp", &body).await;
        let session = welcome.header("mcp-session-id").to_owned();
        let visitor = visitor.with("mcp-session-id", &session);
        Peer {
            stream: visitor.listen_at("/mcp", None).await,
            visitor,
            session,
        }
    }

    pub(crate) async fn open_diff(&self, path: &str, text: &str) {
        let arguments = json!({ "filePath": path, "newContent": text });
        let result = self.call("openDiff", arguments).await;
        assert_eq!(result, json!({ "content": [] }));
    }

    /// Takes a proposal back; the text as it stood.
    pub(crate) async fn close_diff(&self, path: &str) -> String {
        let result = self.call("closeDiff", json!({ "filePath": path })).await;
        let told = result["content"][0]["text"].as_str().unwrap();
        let told: Value = serde_json::from_str(told).unwrap();
        told["content"].as_str().unwrap().to_owned()
    }

    /// The next verdict that the agent hears.
    pub(crate) async fn hear_verdict(&mut self) -> Value {
        loop {
            let heard = self.stream.next_of("message").await.data;
            if heard["method"] != "ide/contextUpdate" {
                return heard;
            }
        }
    }

    /// Leaves for good.
    pub(crate) async fn leave(self) {
        let answer = self.visitor.ask(Method::DELETE, "/mcp", "").await;
        assert_eq!(answer.status, 200);
    }

    async fn call(&self, tool: &str, arguments: Value) -> Value {
        let params = json!({ "name": tool, "arguments": arguments });
        let body = json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": params });
        self.visitor.post("/mcp", &body).await.json()["result"].clone()
    }
}
