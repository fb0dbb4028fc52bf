//! An editor's client over a connection in memory, and the record of what was said.

use std::collections::VecDeque;
use std::fmt::Write as _;

use ::editor::buffer::{Buffer, Encoding, Position};
use ::editor::{Connection, EditorSession, MemoryEditor, SessionEnd, uri};
use serde_json::{Value, json};
use testkit::soon;
use tokio::task::JoinHandle;

use crate::companion::EditorCompanion;

/// Where the ids of questions begin that the test asks for itself.
const HIDDEN: u64 = 1_000_000;

/// An editor's client. It writes down the whole conversation.
pub(crate) struct Editor<'a> {
    companion: &'a EditorCompanion,
    pipe: MemoryEditor,
    pub(crate) link: JoinHandle<SessionEnd>,
    /// What came and was not looked at yet.
    heard: VecDeque<Value>,
    /// The newest status; they come when they come, so they are not part of the record.
    pub(crate) status: Value,
    /// What the link wrote into the editor's log, apart from the conversation.
    pub(crate) logged: Vec<String>,
    log: String,
    next_id: u64,
    next_hidden: u64,
    versions: u64,
}

impl<'a> Editor<'a> {
    /// An editor that has not said anything yet.
    pub(crate) fn new(companion: &'a EditorCompanion) -> Editor<'a> {
        let (connection, pipe) = Connection::memory();
        Editor {
            companion,
            pipe,
            link: tokio::spawn(EditorSession::new(connection, companion.host()).run()),
            heard: VecDeque::new(),
            status: Value::Null,
            logged: Vec::new(),
            log: String::new(),
            next_id: 1,
            next_hidden: HIDDEN,
            versions: 1,
        }
    }

    /// An editor with a plugin, ready; its record begins after that.
    pub(crate) async fn with_plugin(companion: &'a EditorCompanion) -> Editor<'a> {
        let capabilities = json!({ "experimental": { "outrigger": true } });
        Editor::started(companion, "Neovim", &capabilities).await
    }

    /// An editor with these capabilities, ready; its record begins after that.
    pub(crate) async fn started(
        companion: &'a EditorCompanion,
        name: &str,
        capabilities: &Value,
    ) -> Editor<'a> {
        let mut editor = Editor::new(companion);
        editor.initialize(name, capabilities).await;
        editor.settle().await;
        editor
            .heard
            .retain(|message| message["method"] != "outrigger/ready");
        editor.log.clear();
        editor
    }

    /// Says hello and that it is ready.
    pub(crate) async fn initialize(&mut self, name: &str, capabilities: &Value) -> Value {
        let root = uri::from_path(&self.companion.root());
        let params = json!({
            "processId": 1,
            "clientInfo": { "name": name, "version": "1.0" },
            "workspaceFolders": [{ "uri": root, "name": "w" }],
            "capabilities": capabilities,
        });
        let offered = self.request("initialize", params).await;
        self.notify("initialized", json!({})).await;
        offered
    }

    /// Asks something and returns the outcome: the result, or the error.
    pub(crate) async fn request(&mut self, method: &str, params: Value) -> Value {
        let id = self.next_id;
        self.next_id += 1;
        let _ = writeln!(self.log, "→ {method} #{id} {params}");
        let mut message = json!({ "jsonrpc": "2.0", "id": id, "method": method });
        message["params"] = params;
        self.say(&message).await;
        let answer = self.answer(id).await;
        let _ = writeln!(self.log, "← #{id} {}", outcome(&answer));
        outcome(&answer).clone()
    }

    /// Tells something.
    pub(crate) async fn notify(&mut self, method: &str, params: Value) {
        let _ = writeln!(self.log, "→ {method} {params}");
        let mut message = json!({ "jsonrpc": "2.0", "method": method });
        message["params"] = params;
        self.say(&message).await;
    }

    /// Answers a question of the link's.
    pub(crate) async fn reply(&mut self, question: &Value, result: Value) {
        let id = &question["id"];
        let _ = writeln!(self.log, "→ #{id} {result}");
        let mut message = json!({ "jsonrpc": "2.0", "id": id });
        message["result"] = result;
        self.say(&message).await;
    }

    /// Says a message that is not written down.
    pub(crate) async fn say(&self, message: &Value) {
        self.pipe.say(message).await;
    }

    /// Says the bytes of a message that is not written down.
    pub(crate) async fn say_bytes(&self, content: &[u8]) {
        // A link that has left does not hear it.
        let _ = self.pipe.say.send(::editor::rpc::parse(content)).await;
    }

    /// The next message that is no answer and no status.
    pub(crate) async fn hear(&mut self) -> Value {
        let message = match self.heard.pop_front() {
            Some(message) => message,
            None => loop {
                let message = self.next().await;
                assert_ne!(message.get("method"), None, "not asked for: {message}");
                if !self.is_status(&message) {
                    break message;
                }
            },
        };
        self.note(&message);
        message
    }

    /// The next message that is no status, whatever answers come before it.
    pub(crate) async fn hear_past_answers(&mut self) -> Value {
        loop {
            let message = self.next().await;
            if message.get("method").is_some() && !self.is_status(&message) {
                self.note(&message);
                return message;
            }
        }
    }

    /// The next answer to something that could not be understood.
    pub(crate) async fn hear_odd(&mut self) -> Value {
        let message = loop {
            let message = self.next().await;
            if !self.is_status(&message) {
                break message;
            }
        };
        assert_eq!(message.get("method"), None, "{message}");
        message
    }

    /// Waits until the link tells a status in which this is true.
    pub(crate) async fn status_with(&mut self, is_so: impl Fn(&Value) -> bool) {
        while !is_so(&self.status) {
            let message = self.next().await;
            if !self.is_status(&message) {
                self.heard.push_back(message);
            }
        }
    }

    /// Asks more than the link can answer before somebody reads, so that it stands still.
    pub(crate) async fn stop_reading(&mut self) {
        for _ in 0..100 {
            let id = self.next_hidden;
            self.next_hidden += 1;
            self.say(&json!({ "jsonrpc": "2.0", "id": id, "method": "outrigger/status" }))
                .await;
        }
    }

    /// Makes sure that everything said so far was taken in, and that nothing came of it that the
    /// test has not heard.
    pub(crate) async fn nothing_more(&mut self) {
        // Events reach the link by another way than messages, so asking once is not enough.
        for _ in 0..20 {
            self.settle().await;
        }
        assert_eq!(self.heard, VecDeque::new());
    }

    /// Makes sure that everything said so far was taken in.
    pub(crate) async fn settle(&mut self) {
        let id = self.next_hidden;
        self.next_hidden += 1;
        self.say(&json!({ "jsonrpc": "2.0", "id": id, "method": "outrigger/status" }))
            .await;
        self.answer(id).await;
    }

    /// Writes down what agents would be told now.
    pub(crate) async fn note_context(&mut self) {
        let line = self.context().await;
        let _ = writeln!(self.log, "= {line}");
    }

    /// What agents would be told now: the files, newest first, the active one with a star.
    pub(crate) async fn context(&mut self) -> String {
        self.settle().await;
        let context = self.companion.context().await;
        let files = context.files.iter().map(|file| {
            let name = file.path.strip_prefix(self.companion.root());
            let mut line = name.unwrap_or(&file.path).display().to_string();
            if let Some(active) = &file.active {
                line.insert(0, '*');
                if let Some(cursor) = active.cursor {
                    let _ = write!(line, ":{}:{}", cursor.line, cursor.character);
                }
                if let Some(selection) = &active.selection {
                    let _ = write!(line, " {selection:?}");
                }
            }
            line
        });
        files.collect::<Vec<_>>().join(", ")
    }

    /// The conversation since the last time it was asked for, without what differs from run to
    /// run.
    pub(crate) fn transcript(&mut self) -> String {
        let place = |path: std::path::PathBuf| path.to_str().unwrap().to_owned();
        let log = std::mem::take(&mut self.log)
            .replace(&place(self.companion.root()), "/w")
            .replace(&place(self.companion.state()), "/state")
            .replace(&self.companion.port.to_string(), "[port]");
        let mut parts = log.split("\"session\":\"");
        let mut clean = parts.next().unwrap_or_default().to_owned();
        for part in parts {
            clean += "\"session\":\"[session]";
            clean += part.trim_start_matches(|c: char| c.is_ascii_hexdigit());
        }
        clean
    }

    /// The URI of a file in the workspace.
    pub(crate) fn uri(&self, name: &str) -> String {
        uri::from_path(&self.companion.root().join(name))
    }

    /// Opens a document; the file may say something else, or not exist.
    pub(crate) async fn open(&mut self, uri: &str, text: &str) {
        let document = json!({ "uri": uri, "languageId": "plaintext", "version": 1, "text": text });
        self.notify("textDocument/didOpen", json!({ "textDocument": document }))
            .await;
    }

    /// Changes a document: line, character, line, character, text.
    pub(crate) async fn change(&mut self, uri: &str, at: [u32; 4], text: &str) {
        self.versions += 1;
        let change = json!({ "range": range(at), "text": text });
        let params = json!({
            "textDocument": { "uri": uri, "version": self.versions },
            "contentChanges": [change],
        });
        self.notify("textDocument/didChange", params).await;
    }

    /// Tells or asks something about a document and nothing else.
    pub(crate) fn about(uri: &str) -> Value {
        json!({ "textDocument": { "uri": uri } })
    }

    /// The end of the conversation.
    pub(crate) async fn left(self) -> SessionEnd {
        let Editor { pipe, link, .. } = self;
        drop(pipe);
        soon("the link ends", link).await.unwrap()
    }

    /// The answer to a request, and what came before it is kept.
    pub(crate) async fn answer(&mut self, id: u64) -> Value {
        loop {
            let message = self.next().await;
            if message.get("method").is_none() && message["id"] == id {
                return message;
            }
            if !self.is_status(&message) {
                self.heard.push_back(message);
            }
        }
    }

    async fn next(&mut self) -> Value {
        let next = soon("something from the link", self.pipe.hear()).await;
        next.expect("the link has not left")
    }

    fn is_status(&mut self, message: &Value) -> bool {
        if message["method"] == "window/logMessage" {
            let line = message["params"]["message"].as_str().unwrap();
            self.logged.push(line.to_owned());
            return true;
        }
        let is_status = message["method"] == "outrigger/status";
        if is_status {
            self.status = message["params"].clone();
        }
        is_status
    }

    fn note(&mut self, message: &Value) {
        let method = message["method"].as_str().unwrap();
        let id = message.get("id").map(|id| format!("#{id} "));
        let id = id.unwrap_or_default();
        let _ = writeln!(self.log, "← {method} {id}{}", message["params"]);
    }
}

/// A range as the protocol writes it.
pub(crate) fn range([l1, c1, l2, c2]: [u32; 4]) -> Value {
    json!({ "start": place(l1, c1), "end": place(l2, c2) })
}

/// A position as the protocol writes it.
pub(crate) fn place(line: u32, character: u32) -> Value {
    json!({ "line": line, "character": character })
}

/// What becomes of a text when an editor applies an edit of the protocol.
pub(crate) fn edited(text: &str, edit: &Value, encoding: Encoding) -> String {
    let at = |end: &str| {
        let number = |name: &str| edit["range"][end][name].as_u64().unwrap();
        Position {
            line: number("line").try_into().unwrap(),
            character: number("character").try_into().unwrap(),
        }
    };
    let mut buffer = Buffer::new(text.to_owned());
    let new = edit["newText"].as_str().unwrap();
    buffer.change(at("start"), at("end"), new, encoding);
    buffer.text().to_owned()
}

fn outcome(answer: &Value) -> &Value {
    answer.get("error").unwrap_or(&answer["result"])
}
