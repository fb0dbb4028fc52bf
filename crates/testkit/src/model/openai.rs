//! The chat-completions format, which Qwen Code speaks to its model.

use serde_json::{Value, json};

use super::{Answer, Conversation};

/// The content type and body for one `chat/completions` request.
pub(super) fn respond(
    body: &Value,
    answer: impl FnOnce(&Conversation) -> Answer,
) -> (&'static str, String) {
    // A request without tools is a side job of the agent (a title, a suggestion).
    let has_tools = body["tools"].as_array().is_some_and(|it| !it.is_empty());
    let answer = if has_tools {
        answer(&conversation(body))
    } else {
        Answer::Text("NO TOOLS".into())
    };
    let (message, reason) = match answer {
        Answer::Text(text) => (json!({"role": "assistant", "content": text}), "stop"),
        Answer::Calls(calls) => {
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
            (
                json!({"role": "assistant", "content": null, "tool_calls": calls}),
                "tool_calls",
            )
        }
    };
    let envelope = |object: &str, choices: Value| {
        json!({
            "id": "answer",
            "object": object,
            "created": 0,
            "model": body["model"],
            "choices": choices,
            "usage": {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15},
        })
    };
    if body["stream"] == true {
        let choices = json!([{"index": 0, "delta": message, "finish_reason": null}]);
        let end = json!([{"index": 0, "delta": {}, "finish_reason": reason}]);
        let mut text = String::new();
        for choices in [choices, end] {
            let chunk = envelope("chat.completion.chunk", choices);
            text += &format!("data: {chunk}\n\n");
        }
        text += "data: [DONE]\n\n";
        ("text/event-stream", text)
    } else {
        let choices = json!([{"index": 0, "message": message, "finish_reason": reason}]);
        let whole = envelope("chat.completion", choices);
        ("application/json", whole.to_string())
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
