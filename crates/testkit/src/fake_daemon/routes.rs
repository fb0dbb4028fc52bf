//! The routes of the fake daemon.

use serde_json::{Value, json};
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};

use super::files::Files;
use super::world::{OnPrompt, Piece, Seen, World};
use super::{SESSION, TOKEN, chunk, http};

/// What is sent at once, and what follows it if it is a stream.
type Answer = (Vec<u8>, Option<UnboundedReceiver<Piece>>);

fn answer(status: u16, body: &Value) -> Answer {
    let kind = "Content-Type: application/json\r\n";
    (http(status, kind, &body.to_string()), None)
}

fn gone() -> Answer {
    let body = json!({"error": "No session", "code": "session_not_found", "sessionId": SESSION});
    answer(404, &body)
}

impl World {
    pub(super) fn answer(&mut self, seen: &Seen) -> Answer {
        self.requests.push(seen.clone());
        if self.stalled.contains(&seen.what) {
            // A stream on which nothing ever comes, not even the head of an answer.
            let (sender, receiver) = unbounded_channel();
            self.silent.push(sender);
            return (Vec::new(), Some(receiver));
        }
        let scripted = self
            .scripted
            .iter()
            .position(|(what, _)| *what == seen.what);
        if let Some(at) = scripted {
            return (self.scripted.remove(at).1, None);
        }
        if seen.headers.get("authorization") != Some(&format!("Bearer {TOKEN}")) {
            return answer(401, &json!({"error": "Unauthorized"}));
        }
        if let Some((status, body)) = Files::refusal(&seen.what, &seen.query) {
            return answer(status, &body);
        }
        if let Some((status, body)) = self.standing.get(&seen.what) {
            return answer(*status, body);
        }
        if let Some((status, body)) = self.files.answer(&seen.what, &seen.query) {
            return answer(status, &body);
        }
        let client = seen.headers.get("x-qwen-client-id");
        let route = seen.what.replace(SESSION, "ID");
        match route.as_str() {
            "POST /session" => {
                let attached = std::mem::replace(&mut self.alive, true);
                if let Some(mode) = seen.body["approvalMode"].as_str() {
                    mode.clone_into(&mut self.mode);
                }
                let client = self.register(client);
                let body = json!({"sessionId": SESSION, "workspaceCwd": "/home/dev/ws", "attached": attached, "clientId": client});
                answer(200, &body)
            }
            "POST /session/ID/load" | "POST /session/ID/resume" => self
                .load(client, route.ends_with("load"))
                .map_or_else(gone, |body| answer(200, &body)),
            _ if route.contains("/ID") && !self.alive => gone(),
            _ if route.starts_with("GET") => self.read(&route, seen),
            _ if client.is_some_and(|it| !self.registered.contains(it)) => {
                let body = json!({"error": "unknown client", "code": "invalid_client_id", "clientId": client});
                answer(400, &body)
            }
            _ => self.act(&route, seen, client),
        }
    }

    fn read(&mut self, route: &str, seen: &Seen) -> Answer {
        if route == "GET /session/ID/events" {
            return self.stream(seen);
        }
        if route == "GET /session/ID/status" {
            return answer(200, &self.status());
        }
        match route.strip_prefix("GET /session/ID/turns/") {
            Some(id) => self.turns.get(id).map_or_else(
                || {
                    answer(
                        404,
                        &json!({"error": "no prompt", "code": "prompt_not_found"}),
                    )
                },
                |turn| answer(200, turn),
            ),
            None => nothing(),
        }
    }

    fn stream(&mut self, seen: &Seen) -> Answer {
        let (sender, receiver) = unbounded_channel();
        if !self.mute {
            let replay = self.replay(&seen.headers);
            let _ = sender.send(Piece::Bytes(replay.into()));
        }
        self.streams.push(sender);
        let head = format!(
            "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\
             X-Qwen-Event-Epoch: {}\r\nX-Qwen-SSE-Stream-Id: stream-{}\r\n\r\n",
            self.epoch(),
            self.requests.len()
        );
        (head.into(), Some(receiver))
    }

    fn act(&mut self, route: &str, seen: &Seen, client: Option<&String>) -> Answer {
        match route {
            "POST /session/ID/prompt" => self.prompt(),
            "POST /session/ID/cancel" => {
                if self.prompt.is_some() {
                    self.emit("prompt_cancelled", &json!({"sessionId": SESSION}), None);
                    self.end_turn("turn_complete", json!({"stopReason": "cancelled"}));
                }
                (http(204, "", ""), None)
            }
            "POST /session/ID/approval-mode" => {
                let mode = seen.body["mode"].as_str().unwrap_or_default();
                let body = self.set_mode(mode);
                answer(200, &body)
            }
            "POST /session/ID/detach" => (http(204, "", ""), None),
            "POST /session/ID/heartbeat" => {
                let body = json!({"sessionId": SESSION, "clientId": client, "lastSeenAt": 5});
                answer(200, &body)
            }
            _ => nothing(),
        }
    }

    fn prompt(&mut self) -> Answer {
        self.prompts += 1;
        let id = format!("prompt-{}", self.prompts);
        let accepted =
            json!({"promptId": id, "lastEventId": self.last_id, "eventEpoch": self.epoch()});
        let turn = json!({"state": "running", "promptId": id});
        self.turns.insert(id.clone(), turn);
        self.prompt = Some(id.clone());
        if let OnPrompt::FinishFirst(words) = self.on_prompt.clone() {
            for word in words {
                self.emit("session_update", &chunk(&word), Some(&id));
            }
            self.end_turn("turn_complete", json!({"stopReason": "end_turn"}));
        }
        answer(202, &accepted)
    }
}

/// What the published daemon says about routes that it does not have.
fn nothing() -> Answer {
    let page = "<html><pre>Cannot do that</pre></html>";
    (http(404, "Content-Type: text/html\r\n", page), None)
}
