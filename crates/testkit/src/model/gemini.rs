//! The generate-content format, which Gemini CLI speaks to its model.

use axum::body::Body;
use axum::http::Response;
use serde_json::{Value, json};

use super::{Answer, Conversation, refused, streamed, whole};

/// What answers one `generateContent` or `streamGenerateContent` request.
pub(super) fn respond(
    body: &Value,
    stream: bool,
    answer: impl FnOnce(&Conversation) -> Answer,
) -> Response<Body> {
    // A request for JSON is a side job of the agent; this one object satisfies all of them.
    let wants_json = body["generationConfig"]["responseMimeType"] == "application/json";
    let answer = if wants_json {
        let verdicts = json!({
            "reasoning": "none",
            "next_speaker": "user",
            "model_choice": "flash",
            "complexity_reasoning": "none",
            "complexity_score": 1,
        });
        Answer::Text(verdicts.to_string())
    } else {
        answer(&conversation(body))
    };
    let parts: Vec<Value> = match answer {
        Answer::Text(text) => vec![json!({"text": text})],
        // Nobody watches this agent speak, so it says what there is.
        Answer::Speech(heard) => vec![json!({"text": heard.so_far()})],
        Answer::Refusal => return refused(),
        Answer::Calls(calls) => {
            let turn = body["contents"].as_array().map_or(0, Vec::len);
            calls
                .iter()
                .enumerate()
                .map(|(index, call)| {
                    let (name, args) = call.on_wire("replace");
                    let id = format!("call_{turn}_{index}");
                    json!({"functionCall": {"id": id, "name": name, "args": args}})
                })
                .collect()
        }
    };
    let content = json!({
        "candidates": [{
            "index": 0,
            "content": {"role": "model", "parts": parts},
            "finishReason": "STOP",
        }],
        "usageMetadata": {
            "promptTokenCount": 10,
            "candidatesTokenCount": 5,
            "totalTokenCount": 15,
        },
        "modelVersion": "fake",
    });
    if stream {
        streamed(format!("data: {content}\r\n\r\n"))
    } else {
        whole(&content)
    }
}

fn conversation(body: &Value) -> Conversation {
    let mut texts: Vec<(String, usize)> = Vec::new();
    for content in body["contents"].as_array().into_iter().flatten() {
        let parts = || content["parts"].as_array().into_iter().flatten();
        if content["role"] == "user" {
            let text: String = parts().filter_map(|part| part["text"].as_str()).collect();
            texts.push((text, 0));
        } else if parts().any(|part| part["functionCall"].is_object()) {
            for (_, turns) in &mut texts {
                *turns += 1;
            }
        }
    }
    Conversation { texts }
}
