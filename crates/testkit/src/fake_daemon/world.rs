//! The session of the fake daemon: numbered events, a ring, a generation, prompts and their turns.

use std::collections::{HashMap, HashSet, VecDeque};

use serde_json::{Value, json};
use tokio::sync::mpsc::UnboundedSender;

use super::files::Files;
use super::{SESSION, chunk};

/// The approval mode of the daemon's settings, with which every session begins that asks for no other.
/// It asks nobody.
const SETTINGS_MODE: &str = "auto";

/// What a stream is sent.
pub(super) enum Piece {
    Bytes(Vec<u8>),
    /// A proper end.
    End,
    /// No end: the socket just closes.
    Cut,
}

/// A request, as it arrived.
#[derive(Clone, Debug)]
pub struct Seen {
    /// Method and path without query, for example `POST /session`.
    pub what: String,
    /// What stands after the question mark.
    pub query: String,
    /// Names in lower case.
    pub headers: HashMap<String, String>,
    /// The JSON of its body; null if it has none.
    pub body: Value,
}

/// What the daemon does with a prompt.
#[derive(Clone, Default)]
pub enum OnPrompt {
    /// The test drives the turn.
    #[default]
    Manual,
    /// Says these words and completes the turn, all before it answers the request.
    FinishFirst(Vec<String>),
}

/// The session, and what the daemon is told to do.
pub struct World {
    /// How often the session was taken from disk; part of its epoch.
    pub generation: u32,
    /// The number of the last event.
    pub last_id: u64,
    /// How many events are kept for streams that come back.
    pub ring_size: usize,
    pub(super) ring: VecDeque<(u64, String)>,
    /// Everything that ever happened, as envelopes without numbers.
    pub(super) past: Vec<Value>,
    /// Whether the session is in memory.
    pub alive: bool,
    /// Whether the session can be taken from disk.
    pub on_disk: bool,
    /// What the agent may do without asking. It is not on disk.
    pub mode: String,
    pub(super) minted: u32,
    pub(super) registered: HashSet<String>,
    pub(super) streams: Vec<UnboundedSender<Piece>>,
    /// Raw answers that replace the next ones to requests of that kind.
    pub(super) scripted: Vec<(String, Vec<u8>)>,
    /// Answers to all requests of that kind, for routes that have no rules here.
    pub standing: HashMap<String, (u16, Value)>,
    /// Every request so far.
    pub requests: Vec<Seen>,
    pub(super) prompts: u32,
    /// The prompt whose turn runs.
    pub prompt: Option<String>,
    /// What the turns route says of each prompt.
    pub turns: HashMap<String, Value>,
    /// How prompts ended, as the transcript on disk remembers it.
    pub terminals: Vec<Value>,
    /// What waits for a person: the requests that were made and not answered.
    waiting: Vec<Value>,
    /// What happens to the next prompts.
    pub on_prompt: OnPrompt,
    /// New streams are opened and then say nothing, not even what was missed.
    pub mute: bool,
    /// What can be read in its folder.
    pub files: Files,
    /// Requests of these kinds are never answered.
    pub stalled: HashSet<String>,
    pub(super) silent: Vec<UnboundedSender<Piece>>,
}

impl World {
    pub(super) fn new() -> World {
        World {
            generation: 1,
            last_id: 0,
            ring_size: 1000,
            ring: VecDeque::new(),
            past: Vec::new(),
            alive: false,
            on_disk: false,
            mode: SETTINGS_MODE.into(),
            minted: 0,
            registered: HashSet::new(),
            streams: Vec::new(),
            scripted: Vec::new(),
            standing: HashMap::new(),
            requests: Vec::new(),
            prompts: 0,
            prompt: None,
            turns: HashMap::new(),
            terminals: Vec::new(),
            waiting: Vec::new(),
            on_prompt: OnPrompt::Manual,
            mute: false,
            files: Files::default(),
            stalled: HashSet::new(),
            silent: Vec::new(),
        }
    }

    pub(super) fn epoch(&self) -> String {
        format!("epoch-{}", self.generation)
    }

    fn mint(&mut self) -> String {
        self.minted += 1;
        let id = format!("client_{}", self.minted);
        self.registered.insert(id.clone());
        id
    }

    /// The id of a client that opens or restores: its own if it is known, a new one otherwise.
    pub(super) fn register(&mut self, presented: Option<&String>) -> String {
        match presented {
            Some(id) if self.registered.contains(id) => id.clone(),
            _ => self.mint(),
        }
    }

    pub(super) fn emit(&mut self, kind: &str, data: &Value, prompt: Option<&str>) {
        self.keep_waiting(kind, data);
        let mut envelope = json!({"v": 1, "type": kind, "data": data});
        if let Some(prompt) = prompt {
            envelope["promptId"] = prompt.into();
        }
        self.past.push(envelope.clone());
        self.last_id += 1;
        envelope["id"] = self.last_id.into();
        let frame = format!("id: {}\nevent: {kind}\ndata: {envelope}\n\n", self.last_id);
        self.ring.push_back((self.last_id, frame.clone()));
        while self.ring.len() > self.ring_size {
            self.ring.pop_front();
        }
        self.send(frame.as_bytes());
    }

    /// Another approval mode, which all clients are told if it is one.
    pub(super) fn set_mode(&mut self, mode: &str) -> Value {
        let previous = std::mem::replace(&mut self.mode, mode.into());
        if previous != mode {
            let data = json!({"sessionId": SESSION, "previous": previous, "next": mode, "persisted": false});
            self.emit("approval_mode_changed", &data, None);
        }
        json!({"sessionId": SESSION, "mode": mode, "previous": previous, "persisted": false})
    }

    /// The list that the status route shows agrees with the events.
    fn keep_waiting(&mut self, kind: &str, data: &Value) {
        match kind {
            "permission_request" => self.waiting.push(data.clone()),
            "permission_resolved" => self
                .waiting
                .retain(|it| it["requestId"] != data["requestId"]),
            "turn_complete" | "turn_error" => self.waiting.clear(),
            _ => {}
        }
    }

    pub(super) fn status(&self) -> Value {
        let pending = |asked: &Value| {
            json!({
                "requestId": asked["requestId"], "kind": "permission", "title": asked["toolCall"]["title"],
                "action": asked["toolCall"], "options": asked["options"],
            })
        };
        let waiting: Vec<Value> = self.waiting.iter().map(pending).collect();
        json!({"sessionId": SESSION, "pendingInteractions": waiting})
    }

    /// Something happens that is only in the past, not on any stream.
    pub fn emit_quietly(&mut self, text: &str) {
        let streams = std::mem::take(&mut self.streams);
        self.emit("session_update", &chunk(text), None);
        self.streams = streams;
    }

    /// The session's events are numbered anew, from here on.
    pub fn renumber(&mut self, last_id: u64) {
        self.generation += 1;
        self.last_id = last_id;
        self.ring.clear();
    }

    /// The daemon has started again: the session is on disk, and nobody is known.
    pub(super) fn forget_all(&mut self) {
        self.alive = false;
        self.on_disk = true;
        self.forget_clients();
    }

    /// What was to be answered and was not asked for is not answered later.
    pub fn forget_scripted(&mut self) {
        self.scripted.clear();
    }

    /// The daemon has no idea who anybody is.
    pub fn forget_clients(&mut self) {
        self.registered.clear();
    }

    /// Sends bytes as they are to every stream.
    pub(super) fn send(&mut self, bytes: &[u8]) {
        self.streams
            .retain(|stream| stream.send(Piece::Bytes(bytes.to_vec())).is_ok());
    }

    pub(super) fn end_turn(&mut self, kind: &str, mut data: Value) {
        let prompt = self.prompt.take().expect("a prompt is running");
        data["sessionId"] = SESSION.into();
        data["promptId"] = prompt.clone().into();
        let turn = if kind == "turn_complete" {
            json!({"state": "completed", "promptId": prompt, "stopReason": data["stopReason"], "endedAt": 1})
        } else {
            json!({"state": "error", "promptId": prompt, "error": {"message": data["message"]}, "endedAt": 1})
        };
        self.turns.insert(prompt.clone(), turn);
        self.terminals.push(json!({"v": 1, "promptId": prompt, "terminal": "completed", "stopReason": data["stopReason"], "at": 1}));
        self.emit(kind, &data, Some(&prompt));
    }

    /// What a new stream gets first, by the published daemon's rules.
    pub(super) fn replay(&self, headers: &HashMap<String, String>) -> String {
        let mut text = "retry: 3000\n\n".to_owned();
        let Some(last) = headers
            .get("last-event-id")
            .and_then(|it| it.parse::<u64>().ok())
        else {
            return text;
        };
        let synthetic = |kind: &str, data: Value| {
            format!(
                "event: {kind}\ndata: {}\n\n",
                json!({"v": 1, "type": kind, "data": data})
            )
        };
        let epoch = headers.get("x-qwen-event-epoch");
        let first = self.ring.front().map_or(self.last_id + 1, |(id, _)| *id);
        let mut from = last;
        if epoch.is_some_and(|it| *it != self.epoch()) || last > self.last_id {
            let data = json!({"reason": "epoch_reset", "lastDeliveredId": last, "earliestAvailableId": first});
            text += &synthetic("state_resync_required", data);
            from = 0;
        } else if last + 1 < first {
            let data = json!({"reason": "ring_evicted", "lastDeliveredId": last, "earliestAvailableId": first});
            text += &synthetic("state_resync_required", data);
        }
        let missed: Vec<&str> = self
            .ring
            .iter()
            .filter(|(id, _)| *id > from)
            .map(|(_, frame)| frame.as_str())
            .collect();
        text += &missed.concat();
        let data = json!({"replayedCount": missed.len(), "lastEventId": self.last_id});
        text + &synthetic("replay_complete", data)
    }

    pub(super) fn load(&mut self, presented: Option<&String>, with_history: bool) -> Option<Value> {
        let attached = self.alive;
        if !self.alive {
            if !self.on_disk {
                return None;
            }
            self.alive = true;
            self.mode = SETTINGS_MODE.into();
            self.generation += 1;
            self.ring.clear();
            self.last_id = self.past.len() as u64;
            if let Some(lost) = self.prompt.take() {
                self.terminals.push(json!({"v": 1, "promptId": lost, "terminal": "interrupted", "code": "daemon_lost", "at": 2}));
                self.turns.clear();
            }
        }
        let client = self.register(presented);
        let mut answer = json!({
            "sessionId": SESSION, "workspaceCwd": "/home/dev/ws", "attached": attached, "clientId": client,
            "hasActivePrompt": self.prompt.is_some(), "lastEventId": self.last_id, "eventEpoch": self.epoch(), "state": {},
        });
        if with_history {
            let number = |(at, envelope): (usize, &Value)| {
                let mut envelope = envelope.clone();
                envelope["id"] = (at as u64 + 1 + self.last_id - self.past.len() as u64).into();
                envelope
            };
            let events: Vec<Value> = self.past.iter().enumerate().map(number).collect();
            answer[if attached {
                "liveJournal"
            } else {
                "compactedReplay"
            }] = events.into();
        }
        if !attached {
            answer["state"] = json!({"modes": {"currentModeId": self.mode, "availableModes": []}});
            answer["promptTerminals"] = self.terminals.clone().into();
        }
        Some(answer)
    }
}
