//! A daemon that plays one turn, for the tests of `outrigger daemon`.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use testkit::{Done, Machine, finish, until};

pub(crate) const TOKEN: &str = "the-daemon-token";

/// A daemon whose agent says something, asks to write a file, and says something else.
pub(crate) struct Daemon {
    pub(crate) port: u16,
    seen: Arc<Mutex<Vec<(String, Value)>>>,
}

#[derive(Clone)]
struct Play {
    folder: String,
    seen: Arc<Mutex<Vec<(String, Value)>>>,
    stream: Arc<Mutex<Option<TcpStream>>>,
    agent: Agent,
}

/// What the agent does after its first words.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Agent {
    Asks,
    /// Asks to run a command, the widest permission first, as the published agents do.
    AsksToRun,
    /// Goes on until it is cancelled.
    GoesOn,
    /// Goes on whatever happens.
    NeverEnds,
}

impl Daemon {
    pub(crate) fn start(machine: &Machine, agent: Agent) -> Daemon {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let play = Play {
            folder: machine.workspace().to_str().unwrap().into(),
            seen: Arc::default(),
            stream: Arc::default(),
            agent,
        };
        let seen = play.seen.clone();
        std::thread::spawn(move || {
            for socket in listener.incoming() {
                let (play, socket) = (play.clone(), socket.unwrap());
                std::thread::spawn(move || play.answer(socket));
            }
        });
        Daemon { port, seen }
    }

    pub(crate) fn seen(&self, what: &str) -> Vec<Value> {
        let seen = self.seen.lock().unwrap();
        seen.iter()
            .filter(|(it, _)| it == what)
            .map(|(_, body)| body.clone())
            .collect()
    }

    pub(crate) fn command(&self, machine: &Machine, args: &[&str]) -> std::process::Command {
        let mut command = machine.command(&[&["daemon"], args].concat());
        command.env(
            "QWEN_IDE_DAEMON_URL",
            format!("http://127.0.0.1:{}", self.port),
        );
        command.env("QWEN_SERVER_TOKEN", TOKEN);
        command
    }

    pub(crate) fn run(&self, machine: &Machine, args: &[&str], stdin: &str) -> Done {
        finish(self.command(machine, args), stdin.as_bytes())
    }
}

impl Play {
    fn answer(&self, mut socket: TcpStream) -> Option<()> {
        let mut reader = BufReader::new(socket.try_clone().ok()?);
        let (mut line, mut length, mut token) = (String::new(), 0, false);
        reader.read_line(&mut line).ok()?;
        let path = line.rsplit_once(' ')?.0.split('?').next()?.to_owned();
        loop {
            let mut header = String::new();
            reader.read_line(&mut header).ok()?;
            let header = header.trim().to_lowercase();
            if let Some(value) = header.strip_prefix("content-length: ") {
                length = value.parse().ok()?;
            }
            token |= header == format!("authorization: bearer {TOKEN}");
            if header.is_empty() {
                break;
            }
        }
        let mut body = vec![0; length];
        reader.read_exact(&mut body).ok()?;
        let body = serde_json::from_slice(&body).unwrap_or_default();
        self.seen.lock().unwrap().push((path.clone(), body));
        let features = [
            "session_create",
            "session_prompt",
            "session_cancel",
            "session_events",
            "session_permission_vote",
        ];
        let (status, answer) = match path.as_str() {
            _ if !token => (401, json!({"error": "Unauthorized"})),
            "GET /capabilities" => (
                200,
                json!({"v": 1, "features": features, "workspaceCwd": self.folder, "workspaces": [{"cwd": self.folder}], "qwenCodeVersion": "0.24.4"}),
            ),
            "GET /health" if self.agent == Agent::NeverEnds => (503, json!({"status": "degraded"})),
            "GET /health" => (
                200,
                json!({"status": "ok", "sessions": 2, "activePrompts": 1, "pendingPermissions": 0}),
            ),
            "POST /session" => (200, json!({"sessionId": "s", "clientId": "client_1"})),
            "GET /session/s/status" => (200, json!({"sessionId": "s", "pendingInteractions": []})),
            "POST /session/s/prompt" => (202, json!({"promptId": "p"})),
            "POST /session/s/permission/r" => (200, json!({})),
            "POST /session/s/cancel" | "POST /session/s/detach" => (204, Value::Null),
            "GET /session/s/events" => {
                let head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n";
                // Before the turn can send anything: a client takes what comes before the end of
                // the replay for old, and drops a request that is not in the status.
                let replayed = frame(0, "replay_complete", &json!({}));
                socket
                    .write_all((head.to_owned() + &replayed).as_bytes())
                    .ok()?;
                *self.stream.lock().unwrap() = Some(socket);
                return Some(());
            }
            path if path.ends_with("/sessions") => (
                200,
                json!({"sessions": [{"sessionId": "s", "displayName": "A\u{1b}[2Jtitle", "hasActivePrompt": true}]}),
            ),
            _ => (404, json!({"error": "no such route"})),
        };
        let text = if answer.is_null() {
            String::new()
        } else {
            answer.to_string()
        };
        let head = format!(
            "HTTP/1.1 {status} X\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{text}",
            text.len()
        );
        socket.write_all(head.as_bytes()).ok()?;
        self.happen(&path);
        Some(())
    }

    /// What follows from a request.
    fn happen(&self, path: &str) {
        let say = |text: &str| json!({"sessionId": "s", "update": {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": text}}});
        let end = |reason: &str| json!({"sessionId": "s", "promptId": "p", "stopReason": reason});
        match path {
            "POST /session/s/prompt" => {
                self.event(1, "session_update", &say("Hello \u{1b}[2J"));
                if self.agent == Agent::Asks {
                    let options = json!([{"optionId": "once", "name": "Allow", "kind": "allow_once"}, {"optionId": "no", "name": "Reject", "kind": "reject_once"}]);
                    let diff = json!([{"type": "diff", "path": "/w/a.txt", "oldText": null, "newText": "new line\n"}]);
                    let call = json!({"toolCallId": "t", "title": "Writing to a.txt", "kind": "edit", "content": diff});
                    self.event(2, "permission_request", &json!({"requestId": "r", "sessionId": "s", "toolCall": call, "options": options}));
                }
                if self.agent == Agent::AsksToRun {
                    let options = json!([
                        {"optionId": "project", "name": "Always Allow in project: rm *", "kind": "allow_always"},
                        {"optionId": "user", "name": "Always Allow for user: rm *", "kind": "allow_always"},
                        {"optionId": "once", "name": "Allow", "kind": "allow_once"},
                        {"optionId": "no", "name": "Reject", "kind": "reject_once"},
                    ]);
                    let call = json!({"toolCallId": "t", "title": "Shell: rm -r build", "kind": "execute", "rawInput": {"command": "rm -r build"}});
                    self.event(2, "permission_request", &json!({"requestId": "r", "sessionId": "s", "toolCall": call, "options": options}));
                }
            }
            "POST /session/s/permission/r" => {
                self.event(3, "permission_resolved", &json!({"requestId": "r", "outcome": {"outcome": "cancelled"}, "voterClientId": "client_1"}));
                let update = json!({"sessionUpdate": "tool_call_update", "toolCallId": "t", "title": "Writing to a.txt", "status": "completed"});
                self.event(
                    4,
                    "session_update",
                    &json!({"sessionId": "s", "update": update}),
                );
                self.event(5, "session_update", &say("done"));
                self.event(6, "turn_complete", &end("end_turn"));
            }
            "POST /session/s/cancel" if self.agent != Agent::NeverEnds => {
                self.event(7, "turn_complete", &end("cancelled"));
            }
            _ => {}
        }
    }

    fn event(&self, id: u64, kind: &str, data: &Value) {
        // The stream may be opened a moment after the prompt is sent.
        until("a stream", || {
            self.stream.lock().unwrap().is_some().then_some(())
        });
        let mut stream = self.stream.lock().unwrap();
        let _ = stream
            .as_mut()
            .unwrap()
            .write_all(frame(id, kind, data).as_bytes());
    }
}

fn frame(id: u64, kind: &str, data: &Value) -> String {
    let mut envelope = json!({"v": 1, "type": kind, "data": data, "promptId": "p"});
    if id > 0 {
        envelope["id"] = id.into();
    }
    format!("data: {envelope}\n\n")
}
