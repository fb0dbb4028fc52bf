//! A scripted editor: the client side of `outrigger lsp`, over a real pipe.
//!
//! It does what a test tells it and nothing by itself: it answers no question, opens no
//! document, and keeps what it heard until somebody asks for it. Authors of plugins can use it
//! to see what their plugin will see, and to replay a trace that `outrigger lsp --record` made.

use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::thread::{self, Thread};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::{PATIENCE, wait_for};

/// An editor that runs `outrigger lsp`. Dropping it ends the program.
pub struct ScriptedEditor {
    child: Child,
    /// Absent once it was closed.
    stdin: Option<ChildStdin>,
    /// What the program says, as it comes.
    pipe: mpsc::Receiver<Value>,
    /// Whether the pipe is not read any more.
    deaf: Arc<AtomicBool>,
    /// The thread that reads it.
    reader: Thread,
    /// What it said and nobody has asked for yet.
    heard: VecDeque<Value>,
    /// What it has written to stderr so far.
    log: Arc<Mutex<String>>,
    next_id: u64,
    version: u64,
}

impl ScriptedEditor {
    /// Starts `command`, which is `outrigger lsp` with its arguments and environment.
    pub fn start(mut command: Command) -> Self {
        command.stdin(Stdio::piped());
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let log = Arc::<Mutex<String>>::default();
        let (stderr, written) = (child.stderr.take().unwrap(), log.clone());
        thread::spawn(move || {
            for line in BufReader::new(stderr).lines().map_while(Result::ok) {
                *written.lock().unwrap() += &format!("{line}\n");
            }
        });
        let mut stdout = BufReader::new(child.stdout.take().unwrap());
        let (send, pipe) = mpsc::channel();
        let deaf = Arc::<AtomicBool>::default();
        let stopped = deaf.clone();
        let reader = thread::spawn(move || {
            while let Some(message) = read(&mut stdout) {
                if send.send(message).is_err() {
                    break;
                }
                while stopped.load(Ordering::Relaxed) {
                    thread::park();
                }
            }
        });
        Self {
            deaf,
            reader: reader.thread().clone(),
            stdin: child.stdin.take(),
            child,
            pipe,
            heard: VecDeque::new(),
            log,
            next_id: 1,
            version: 1,
        }
    }

    /// Begins as an editor with a plugin whose process is `process`; what `outrigger/ready` says.
    #[track_caller]
    pub fn begin(&mut self, name: &str, root: &Path, process: u32) -> Value {
        let capabilities = json!({ "experimental": { "outrigger": true } });
        self.initialize(name, root, process, &capabilities);
        self.hear("outrigger/ready")["params"].clone()
    }

    /// Begins with these capabilities; what the program offers.
    #[track_caller]
    pub fn initialize(
        &mut self,
        name: &str,
        root: &Path,
        process: u32,
        capabilities: &Value,
    ) -> Value {
        let params = json!({
            "processId": process,
            "clientInfo": { "name": name },
            "workspaceFolders": [{ "uri": uri(root), "name": "workspace" }],
            "capabilities": capabilities,
        });
        let answer = self.request("initialize", params);
        self.notify("initialized", json!({}));
        answer
    }

    /// The process id of `outrigger lsp`.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// What it has logged so far.
    pub fn log(&self) -> String {
        self.log.lock().unwrap().clone()
    }

    /// Asks something and returns the result, or the error.
    #[track_caller]
    pub fn request(&mut self, method: &str, params: Value) -> Value {
        let id = self.next_id;
        self.next_id += 1;
        let mut message = json!({ "jsonrpc": "2.0", "id": id, "method": method });
        message["params"] = params;
        self.say(&message);
        let answer = self.take(&format!("an answer to {method}"), |message| {
            message.get("method").is_none() && message["id"] == id
        });
        answer.get("error").unwrap_or(&answer["result"]).clone()
    }

    /// The same for a program that may be gone or stand still: nothing if no answer comes in time.
    pub fn request_within(
        &mut self,
        time: Duration,
        method: &str,
        params: Value,
    ) -> Option<Result<Value, Value>> {
        let id = self.next_id;
        self.next_id += 1;
        let mut message = json!({ "jsonrpc": "2.0", "id": id, "method": method });
        message["params"] = params;
        self.say(&message);
        let end = Instant::now() + time;
        loop {
            let left = end.saturating_duration_since(Instant::now());
            let heard = self.pipe.recv_timeout(left).ok()?;
            if heard.get("method").is_none() && heard["id"] == id {
                let error = heard.get("error").cloned();
                return Some(error.map_or_else(|| Ok(heard["result"].clone()), Err));
            }
            self.heard.push_back(heard);
        }
    }

    /// Tells something.
    pub fn notify(&mut self, method: &str, params: Value) {
        let mut message = json!({ "jsonrpc": "2.0", "method": method });
        message["params"] = params;
        self.say(&message);
    }

    /// Answers a question.
    pub fn reply(&mut self, question: &Value, result: Value) {
        let mut message = json!({ "jsonrpc": "2.0", "id": question["id"] });
        message["result"] = result;
        self.say(&message);
    }

    /// The next message with this method; others stay for those who ask for them.
    #[track_caller]
    pub fn hear(&mut self, method: &str) -> Value {
        self.take(method, |message| message["method"] == method)
    }

    /// The next message that is true of `wanted`.
    #[track_caller]
    pub fn take(&mut self, what: &str, wanted: impl Fn(&Value) -> bool) -> Value {
        if let Some(at) = self.heard.iter().position(&wanted) {
            return self.heard.remove(at).unwrap();
        }
        loop {
            let Ok(message) = self.pipe.recv_timeout(PATIENCE) else {
                panic!(
                    "waited in vain for {what}; heard {:?}\n{}",
                    self.heard,
                    self.log()
                );
            };
            if wanted(&message) {
                return message;
            }
            self.heard.push_back(message);
        }
    }

    /// A message with this method that came before the last answer and that nobody has asked for.
    pub fn heard_before(&mut self, method: &str) -> Option<Value> {
        let at = self.heard.iter().position(|it| it["method"] == method)?;
        self.heard.remove(at)
    }

    /// The proposal that the program wants shown; the editor says that it shows it.
    #[track_caller]
    pub fn show_proposal(&mut self) -> Value {
        let asked = self.hear("outrigger/proposal/open");
        self.reply(&asked, json!({ "opened": true }));
        asked["params"].clone()
    }

    /// The person decides; the fields beside the id are in `verdict`.
    #[track_caller]
    pub fn decide(&mut self, proposal: &Value, mut verdict: Value) -> Value {
        verdict["id"] = proposal["id"].clone();
        self.request("outrigger/proposal/verdict", verdict)
    }

    /// Opens a document whose text need not be that of the file.
    pub fn open(&mut self, path: &Path, text: &str) {
        let document =
            json!({ "uri": uri(path), "languageId": "plaintext", "version": 1, "text": text });
        self.notify("textDocument/didOpen", json!({ "textDocument": document }));
    }

    /// Replaces what stands between two places of an open document, each line and character.
    pub fn change(&mut self, path: &Path, from: (u32, u32), to: (u32, u32), text: &str) {
        self.version += 1;
        let range = json!({ "start": place(from), "end": place(to) });
        self.notify(
            "textDocument/didChange",
            json!({
                "textDocument": { "uri": uri(path), "version": self.version },
                "contentChanges": [{ "range": range, "text": text }],
            }),
        );
    }

    /// Moves to a document.
    pub fn focus(&mut self, path: &Path) {
        let document = json!({ "textDocument": { "uri": uri(path) } });
        self.notify("textDocument/didFocus", document);
    }

    /// Selects what stands between two places of a document.
    pub fn select(&mut self, path: &Path, anchor: (u32, u32), active: (u32, u32)) {
        let selection = json!({ "anchor": place(anchor), "active": place(active) });
        self.notify(
            "outrigger/selectionChanged",
            json!({ "textDocument": { "uri": uri(path) }, "selections": [selection] }),
        );
    }

    /// Says one message.
    pub fn say(&mut self, message: &Value) {
        let content = message.to_string();
        self.say_bytes(format!("Content-Length: {}\r\n\r\n{content}", content.len()).as_bytes());
    }

    /// Writes bytes, whatever they are. A program that has left does not read them.
    pub fn say_bytes(&mut self, bytes: &[u8]) {
        if let Some(stdin) = &mut self.stdin {
            let _ = stdin.write_all(bytes).and_then(|()| stdin.flush());
        }
    }

    /// Says again what an editor said in a trace, and waits wherever the program spoke then; what
    /// it said then and now, in pairs. Statuses come when they come and are left out.
    #[track_caller]
    pub fn replay(&mut self, trace: &str) -> Vec<(Value, Value)> {
        // These come when something happens elsewhere, not in turn.
        let is_news = |message: &Value| {
            message["method"] == "outrigger/status" || message["method"] == "window/logMessage"
        };
        let mut pairs = Vec::new();
        for line in trace.lines() {
            let line: Value = serde_json::from_str(line).unwrap();
            let message = &line["message"];
            if line["from"] == "editor" {
                self.say(message);
            } else if !is_news(message) {
                let now = self.take(&format!("what the trace says: {message}"), |now| {
                    !is_news(now)
                });
                pairs.push((message.clone(), now));
            }
        }
        pairs
    }

    /// Reads nothing any more but what is on its way, as an editor does that hangs.
    pub fn stop_listening(&self) {
        self.deaf.store(true, Ordering::Relaxed);
    }

    /// Closes the pipe to the program.
    pub fn hang_up(&mut self) {
        self.stdin = None;
    }

    /// Says goodbye as an editor should; how the program ended.
    #[track_caller]
    pub fn quit(mut self) -> ExitStatus {
        self.request("shutdown", Value::Null);
        self.notify("exit", Value::Null);
        self.ended()
    }

    /// Waits until the program has ended.
    #[track_caller]
    pub fn ended(&mut self) -> ExitStatus {
        let (child, log) = (&mut self.child, &self.log);
        wait_for(
            "the end of outrigger lsp",
            || child.try_wait().unwrap(),
            || log.lock().unwrap().clone(),
        )
    }

    /// Ends the program without any warning, as a crash would.
    pub fn crash(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Drop for ScriptedEditor {
    fn drop(&mut self) {
        if thread::panicking() {
            eprintln!("--- log of outrigger lsp ---\n{}", self.log());
        }
        self.deaf.store(false, Ordering::Relaxed);
        self.reader.unpark();
        // Without its editor it ends by itself, and takes its files with it.
        self.stdin = None;
        let end = std::time::Instant::now() + PATIENCE;
        while matches!(self.child.try_wait(), Ok(None)) {
            if std::time::Instant::now() > end {
                self.crash();
            }
            thread::sleep(std::time::Duration::from_millis(5));
        }
    }
}

/// A path as editors write it.
pub fn uri(path: &Path) -> String {
    let mut uri = String::from("file://");
    for &byte in path.as_os_str().as_encoded_bytes() {
        if byte.is_ascii_alphanumeric() || b"/-_.~".contains(&byte) {
            uri.push(byte.into());
        } else {
            uri += &format!("%{byte:02X}");
        }
    }
    uri
}

fn place((line, character): (u32, u32)) -> Value {
    json!({ "line": line, "character": character })
}

/// The next message of a pipe; nothing at its end.
fn read(pipe: &mut impl BufRead) -> Option<Value> {
    let mut length = None;
    loop {
        let mut line = String::new();
        if pipe.read_line(&mut line).ok()? == 0 {
            return None;
        }
        if let Some(value) = line.strip_prefix("Content-Length:") {
            length = value.trim().parse().ok();
        } else if line == "\r\n" {
            break;
        }
    }
    let mut content = vec![0; length?];
    pipe.read_exact(&mut content).ok()?;
    serde_json::from_slice(&content).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_read_off_a_pipe() {
        let mut pipe = &b"Content-Length: 2\r\nX: y\r\n\r\n{}Content-Length: 4\r\n\r\nnull"[..];
        assert_eq!(read(&mut pipe), Some(json!({})));
        assert_eq!(read(&mut pipe), Some(Value::Null));
        assert_eq!(read(&mut pipe), None);
    }

    #[test]
    fn paths_are_written_as_editors_write_them() {
        assert_eq!(uri(Path::new("/a b/é~.rs")), "file:///a%20b/%C3%A9~.rs");
    }
}
