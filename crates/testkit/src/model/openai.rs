//! The chat-completions format, which Qwen Code speaks to its model.

use std::convert::Infallible;

use axum::body::{Body, Bytes};
use axum::http::Response;
use futures_util::{StreamExt, stream};
use serde_json::{Value, json};

use super::speech::{Heard, Piece};
use super::{Answer, Call, Conversation, refused, streamed, whole};

/// What answers one `chat/completions` request.
pub(super) fn respond(
    body: &Value,
    answer: impl FnOnce(&Conversation) -> Answer,
) -> Response<Body> {
    // A request without tools is a side job of the agent (a title, a suggestion).
    let has_tools = body["tools"].as_array().is_some_and(|it| !it.is_empty());
    let answer = if has_tools {
        answer(&conversation(body))
    } else {
        Answer::Text("NO TOOLS".into())
    };
    let is_streamed = body["stream"] == true;
    let envelope = Envelope(body["model"].clone());
    let (message, reason) = match answer {
        Answer::Refusal => return refused(),
        Answer::Speech(heard) if is_streamed => return streamed(speak(heard, envelope)),
        Answer::Speech(heard) => (said(&heard.so_far()), "stop"),
        Answer::Text(text) => (said(&text), "stop"),
        Answer::Calls(calls) => (called(&calls, body), "tool_calls"),
    };
    if is_streamed {
        streamed(envelope.piece(&message) + &envelope.end(reason))
    } else {
        let choices = json!([{"index": 0, "message": message, "finish_reason": reason}]);
        whole(&envelope.around("chat.completion", &choices))
    }
}

fn said(text: &str) -> Value {
    json!({"role": "assistant", "content": text})
}

fn called(calls: &[Call], body: &Value) -> Value {
    let turn = body["messages"].as_array().map_or(0, Vec::len);
    let calls: Vec<Value> = calls
        .iter()
        .enumerate()
        .map(|(index, call)| {
            let (name, arguments) = call.on_wire("edit");
            json!({
                "index": index,
                "id": format!("call_{turn}_{index}"),
                "type": "function",
                "function": {"name": name, "arguments": arguments.to_string()},
            })
        })
        .collect();
    json!({"role": "assistant", "content": null, "tool_calls": calls})
}

/// An answer that is written while it is said.
fn speak(heard: Heard, envelope: Envelope) -> Body {
    let end = Bytes::from(envelope.end("stop"));
    let pieces = heard.frames(move |piece| {
        envelope.piece(&match piece {
            Piece::Thought(text) => json!({"role": "assistant", "reasoning_content": text}),
            Piece::Text(text) => said(text),
        })
    });
    let whole = pieces.chain(stream::once(async { end }));
    Body::from_stream(whole.map(Ok::<_, Infallible>))
}

/// What stands around every answer of this model.
struct Envelope(Value);

impl Envelope {
    fn around(&self, object: &str, choices: &Value) -> Value {
        json!({
            "id": "answer",
            "object": object,
            "created": 0,
            "model": self.0,
            "choices": choices,
            "usage": {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15},
        })
    }

    fn chunk(&self, delta: &Value, reason: Option<&str>) -> String {
        let choices = json!([{"index": 0, "delta": delta, "finish_reason": reason}]);
        let chunk = self.around("chat.completion.chunk", &choices);
        format!("data: {chunk}\n\n")
    }

    fn piece(&self, message: &Value) -> String {
        self.chunk(message, None)
    }

    fn end(&self, reason: &str) -> String {
        self.chunk(&json!({}), Some(reason)) + "data: [DONE]\n\n"
    }
}

fn conversation(body: &Value) -> Conversation {
    let mut texts: Vec<(String, usize)> = Vec::new();
    for message in body["messages"].as_array().into_iter().flatten() {
        if message["role"] == "user" {
            texts.push((text_of(&message["content"]), 0));
        } else if message["tool_calls"].is_array() {
            for (_, turns) in &mut texts {
                *turns += 1;
            }
        }
    }
    Conversation { texts }
}

fn text_of(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(parts) => parts
            .iter()
            .filter_map(|part| part["text"].as_str())
            .collect(),
        _ => String::new(),
    }
}
