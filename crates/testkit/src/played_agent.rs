//! An agent that a test plays itself: the kit's MCP peer, for tests that block.

use serde_json::Value;
use tokio::runtime::{Builder, Runtime};

use crate::http::StreamEnd;
use crate::{Companion, Machine, McpPeer};

/// A client in a session. Its runtime runs while one of its methods does.
pub struct PlayedAgent {
    peer: McpPeer,
    runtime: Runtime,
}

impl PlayedAgent {
    /// Qwen Code, connected and listening.
    pub fn qwen(machine: &Machine, companion: &Companion) -> PlayedAgent {
        PlayedAgent::connect(companion.port(), &machine.qwen_token(companion.port()))
    }

    /// Gemini CLI, connected and listening.
    pub fn gemini(machine: &Machine, companion: &Companion) -> PlayedAgent {
        PlayedAgent::connect(companion.port(), &machine.gemini_token(companion.port()))
    }

    /// A client that has not said anything yet.
    pub fn stranger(port: u16, token: &str) -> PlayedAgent {
        PlayedAgent {
            peer: McpPeer::new(port, token),
            runtime: Builder::new_current_thread().enable_all().build().unwrap(),
        }
    }

    /// A client that has the token, connected and listening.
    pub fn connect(port: u16, token: &str) -> PlayedAgent {
        let mut agent = PlayedAgent::stranger(port, token);
        agent.runtime.block_on(agent.peer.initialize());
        assert!(!agent.session().is_empty());
        agent.listen();
        agent
    }

    /// Its session.
    pub fn session(&self) -> &str {
        &self.peer.session
    }

    /// Opens the session's stream.
    pub fn listen(&mut self) {
        self.runtime.block_on(self.peer.listen_for_anything());
    }

    /// Closes the session's stream.
    pub fn hang_up(&mut self) {
        self.peer.hang_up();
    }

    /// The status of a request, without the rest.
    pub fn knock(&self) -> u16 {
        let ping = r#"{"jsonrpc":"2.0","id":0,"method":"ping"}"#;
        let request = self.peer.http_request("POST").body(ping);
        self.runtime.block_on(self.peer.status(&request))
    }

    /// The status that this agent gets at another path.
    pub fn knock_at(&self, method: &str, path: &str) -> u16 {
        let request = self.peer.http_request_at(method, path).body("{}");
        let request = request.header("content-length", "2");
        self.runtime.block_on(self.peer.status(&request))
    }

    /// What a request is answered, which must be with success.
    pub fn request(&mut self, method: &str, params: Value) -> Value {
        let response = self.runtime.block_on(self.peer.request(method, params));
        assert_eq!(response.status, 200, "{method}");
        response.json()
    }

    /// Proposes a text for a file.
    pub fn open_diff(&mut self, path: &str, text: &str) {
        self.runtime.block_on(self.peer.propose(path, text));
    }

    /// The next message on the stream.
    pub fn hear(&mut self) -> Value {
        self.runtime.block_on(self.peer.hear())
    }

    /// The next message that is not a context.
    pub fn hear_verdict(&mut self) -> Value {
        self.runtime.block_on(self.peer.hear_verdict())
    }

    /// Contexts up to one that has this file in front; all of them as text.
    pub fn hear_until_active(&mut self, path: &str) -> String {
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
    pub fn hear_out(&mut self) -> Vec<String> {
        let (blocks, end) = self.runtime.block_on(self.peer.rest_of_stream());
        assert_eq!(end, StreamEnd::Clean);
        blocks
    }
}
