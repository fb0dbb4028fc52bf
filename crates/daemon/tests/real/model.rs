//! A language model that answers what the test has laid down, in pieces, when the test wants it.
//!
//! The last mark in what the person said decides. A mark has one answer per call of the model; which
//! one is next is read from the request: how many tool results stand after the mark.

use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

/// One answer of the model.
#[derive(Clone)]
pub(crate) enum Reply {
    /// Says this, piece by piece.
    Text(Vec<String>),
    /// Thinks the first, says the second.
    Thought(String, String),
    /// Calls tools.
    Calls(Vec<(&'static str, Value)>),
    /// Says what the test sends, until the test lets go.
    Held(Arc<tokio::sync::Mutex<UnboundedReceiver<String>>>),
    /// Fails.
    Refuse,
}

impl Reply {
    pub(crate) fn text(text: &str) -> Self {
        Self::Text(vec![text.into()])
    }

    pub(crate) fn call(tool: &'static str, arguments: Value) -> Self {
        Self::Calls(vec![(tool, arguments)])
    }

    /// An answer, and the handle to give it with.
    pub(crate) fn held() -> (UnboundedSender<String>, Self) {
        let (sender, receiver) = unbounded_channel();
        (
            sender,
            Self::Held(Arc::new(tokio::sync::Mutex::new(receiver))),
        )
    }
}

type Script = Arc<Mutex<Vec<(String, Vec<Reply>)>>>;

pub(crate) struct Model {
    pub(crate) port: u16,
    script: Script,
}

impl Model {
    pub(crate) async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let script = Script::default();
        let shared = script.clone();
        tokio::spawn(async move {
            while let Ok((socket, _)) = listener.accept().await {
                tokio::spawn(serve(socket, shared.clone()));
            }
        });
        Self { port, script }
    }

    /// From now on, `mark` in what the person says means these answers.
    pub(crate) fn on(&self, mark: &str, replies: Vec<Reply>) {
        self.script.lock().unwrap().push((mark.into(), replies));
    }
}

fn choose(script: &Script, body: &Value) -> Reply {
    let tools = body["tools"].as_array().is_some_and(|it| !it.is_empty());
    if !tools {
        return Reply::text("a title");
    }
    let script = script.lock().unwrap();
    let mut results = 0;
    for message in body["messages"].as_array().unwrap().iter().rev() {
        if message["role"] == "tool" {
            results += 1;
        }
        let text = message["content"].to_string();
        if message["role"] != "user" {
            continue;
        }
        let places = script
            .iter()
            .filter_map(|entry| Some((text.rfind(&entry.0)?, entry)));
        if let Some((_, (mark, replies))) = places.max_by_key(|(place, _)| *place) {
            // Several tools called at once count as one step.
            let step = replies.iter().scan(0, |seen, reply| {
                let before = *seen;
                *seen += if let Reply::Calls(calls) = reply {
                    calls.len()
                } else {
                    0
                };
                Some(before)
            });
            let at = step
                .take_while(|before| *before <= results)
                .count()
                .saturating_sub(1);
            let is_after_all =
                results > 0 && at + 1 == replies.len() && matches!(replies[at], Reply::Calls(_));
            return if is_after_all {
                Reply::text(&format!("DONE {mark}"))
            } else {
                replies[at].clone()
            };
        }
    }
    Reply::text("NOTHING TO DO")
}

async fn serve(mut socket: TcpStream, script: Script) -> Option<()> {
    let mut bytes = Vec::new();
    let body = loop {
        if let Some(at) = bytes.windows(4).position(|it| it == b"\r\n\r\n") {
            let head = String::from_utf8_lossy(&bytes[..at]).to_lowercase();
            let length = head.split("content-length: ").nth(1)?;
            let length: usize = length.split("\r\n").next()?.parse().ok()?;
            if bytes.len() >= at + 4 + length {
                break serde_json::from_slice::<Value>(&bytes[at + 4..at + 4 + length]).ok()?;
            }
        }
        if socket.read_buf(&mut bytes).await.ok()? == 0 {
            return None;
        }
    };
    let reply = choose(&script, &body);
    if matches!(reply, Reply::Refuse) {
        let error =
            json!({"error": {"message": "the model says no", "type": "invalid_request_error"}})
                .to_string();
        let head = format!(
            "HTTP/1.1 400 Bad Request\r\nContent-Type: application/json\r\nConnection: close\r\nContent-Length: {}\r\n\r\n{error}",
            error.len()
        );
        return socket.write_all(head.as_bytes()).await.ok();
    }
    if body["stream"] != true {
        let message = json!({"role": "assistant", "content": "a side answer"});
        let whole = json!({"id": "a", "object": "chat.completion", "created": 0, "model": body["model"], "choices": [{"index": 0, "message": message, "finish_reason": "stop"}], "usage": usage()}).to_string();
        let answer = format!(
            "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\nContent-Length: {}\r\n\r\n{whole}",
            whole.len()
        );
        return socket.write_all(answer.as_bytes()).await.ok();
    }
    let head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n";
    socket.write_all(head.as_bytes()).await.ok()?;
    stream(&mut socket, &body, reply).await
}

async fn stream(socket: &mut TcpStream, body: &Value, reply: Reply) -> Option<()> {
    let envelope = |choices: Value| {
        let chunk = json!({"id": "a", "object": "chat.completion.chunk", "created": 0, "model": body["model"], "choices": choices, "usage": usage()});
        format!("data: {chunk}\n\n")
    };
    let delta =
        |delta: Value| envelope(json!([{"index": 0, "delta": delta, "finish_reason": null}]));
    let mut reason = "stop";
    match reply {
        Reply::Text(pieces) => {
            for piece in pieces {
                socket
                    .write_all(delta(json!({"content": piece})).as_bytes())
                    .await
                    .ok()?;
            }
        }
        Reply::Thought(thought, text) => {
            let pieces = [
                json!({"reasoning_content": thought}),
                json!({"content": text}),
            ];
            for piece in pieces {
                socket.write_all(delta(piece).as_bytes()).await.ok()?;
            }
        }
        Reply::Held(pieces) => {
            let mut pieces = pieces.lock().await;
            while let Some(piece) = pieces.recv().await {
                socket
                    .write_all(delta(json!({"content": piece})).as_bytes())
                    .await
                    .ok()?;
            }
        }
        Reply::Calls(calls) => {
            reason = "tool_calls";
            let turn = body["messages"].as_array().map_or(0, Vec::len);
            let calls: Vec<Value> = calls
                .iter()
                .enumerate()
                .map(|(at, (name, arguments))| json!({"index": at, "id": format!("call_{turn}_{at}"), "type": "function", "function": {"name": name, "arguments": arguments.to_string()}}))
                .collect();
            socket
                .write_all(delta(json!({"tool_calls": calls})).as_bytes())
                .await
                .ok()?;
        }
        Reply::Refuse => {}
    }
    let end = envelope(json!([{"index": 0, "delta": {}, "finish_reason": reason}]));
    socket
        .write_all((end + "data: [DONE]\n\n").as_bytes())
        .await
        .ok()
}

fn usage() -> Value {
    json!({"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110})
}
