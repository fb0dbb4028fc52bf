//! What leaves the process holds nothing that must stay.

use conversation::BackendEvent;
use conversation::backend::daemon::Translator;
use conversation::view::Speaker;
use daemon::connection::{ConnectOptions, IdeConnection, IdeEvent};
use daemon::sanitiser::{Sanitiser, TextLimits};
use daemon::{Address, DisconnectMode, Token};
use serde_json::{Value, json};
use testkit::fake_daemon::{
    FakeDaemon, SESSION, TOKEN, capabilities, permission, question, stand, until,
};

use crate::ide::{self, connected, daemon, next, options};

/// What no page may ever see, wherever it stands in what the daemon sends.
const SECRETS: &[&str] = &[
    TOKEN,
    "sk-key",
    "api.provider",
    "client_",
    "s3tting",
    "blob",
    "Bearer",
    SESSION,
    "rawOutput",
    "_meta",
    "authorization",
    "epoch-",
];

fn poison(mut value: Value) -> Value {
    fn walk(value: &mut Value) {
        match value {
            Value::Object(fields) => {
                fields.values_mut().for_each(walk);
                fields.insert("blob".into(), json!({"blob": "blob"}));
                fields.insert("originatorClientId".into(), "client_77".into());
            }
            Value::Array(items) => items.iter_mut().for_each(walk),
            _ => {}
        }
    }
    walk(&mut value);
    value
}

fn update(update: &Value) -> Value {
    json!({"sessionId": SESSION, "update": update})
}

fn everything(daemon: &FakeDaemon) -> Vec<(&'static str, Value)> {
    let chunk = |kind: &str| {
        update(
            &json!({"sessionUpdate": kind, "content": {"type": "text", "text": format!("the token is {TOKEN} at http://127.0.0.1:{}", daemon.port)}, "_meta": {"source": "blob"}}),
        )
    };
    vec![
        ("session_update", chunk("user_message_chunk")),
        ("session_update", chunk("agent_message_chunk")),
        ("session_update", chunk("agent_thought_chunk")),
        (
            "session_update",
            update(
                &json!({"sessionUpdate": "tool_call", "toolCallId": "t", "title": "Run", "kind": "execute", "rawInput": {"command": "ls", "apiKey": "sk-key"}, "rawOutput": "blob", "content": [{"type": "diff", "path": "/home/dev/ws/a", "oldText": "a", "newText": "b"}], "locations": [{"path": "/home/dev/ws/a", "line": 3}]}),
            ),
        ),
        (
            "session_update",
            update(&json!({"sessionUpdate": "plan", "entries": [{"content": "step"}]})),
        ),
        (
            "session_update",
            update(
                &json!({"sessionUpdate": "available_commands_update", "availableCommands": [{"name": "help"}]}),
            ),
        ),
        (
            "session_update",
            update(&json!({"sessionUpdate": "usage_update", "used": 1, "size": 2})),
        ),
        (
            "session_update",
            update(&json!({"sessionUpdate": "never_seen", "key": "sk-key"})),
        ),
        ("permission_request", permission("r-1")),
        ("permission_request", question("r-2")),
        (
            "permission_partial_vote",
            json!({"requestId": "r-1", "votesReceived": 1, "votesNeeded": 2}),
        ),
        (
            "permission_forbidden",
            json!({"requestId": "r-1", "clientId": "client_77", "reason": "blob"}),
        ),
        (
            "permission_resolved",
            json!({"requestId": "r-1", "outcome": {"outcome": "cancelled"}, "voterClientId": "client_77"}),
        ),
        ("settings_changed", json!({"key": "k", "value": "s3tting"})),
        (
            "model_switched",
            json!({"modelId": "m(openai)", "baseUrl": "https://api.provider"}),
        ),
        (
            "model_switch_failed",
            json!({"requestedModelId": "m", "error": "https://api.provider says sk-key"}),
        ),
        (
            "approval_mode_changed",
            json!({"next": "yolo", "persisted": true}),
        ),
        (
            "session_metadata_updated",
            json!({"displayName": "A title"}),
        ),
        (
            "pending_prompt_added",
            json!({"promptId": "p", "text": "next"}),
        ),
        ("followup_suggestion", json!({"suggestion": "go on"})),
        ("stream_error", json!({"error": "blob"})),
        (
            "permission_request",
            json!({"requestId": "r-3", "toolCall": "blob"}),
        ),
        (
            "turn_error",
            json!({"sessionId": SESSION, "promptId": "p", "message": "401 from https://api.provider: sk-key is wrong", "code": -32603, "data": "blob"}),
        ),
        (
            "turn_complete",
            json!({"sessionId": SESSION, "promptId": format!("{SESSION}########n"), "stopReason": "end_turn", "backgroundTurn": {"turnId": SESSION}}),
        ),
        ("unheard_of", json!({"apiKey": "sk-key"})),
        (
            "session_died",
            json!({"sessionId": SESSION, "reason": "blob"}),
        ),
    ]
}

#[tokio::test]
async fn nothing_secret_reaches_a_page_whatever_the_daemon_sends() {
    let daemon = daemon().await;
    let mut poisoned = capabilities("/home/dev/ws");
    poisoned["secretThing"] = "blob".into();
    stand(&daemon, "GET /capabilities", 200, &poisoned);
    let (connection, mut events) = IdeConnection::new();
    connection.connect(options(&daemon)).await.unwrap();
    daemon.listened_to().await;
    let status = format!("GET /session/{SESSION}/status");
    until("the end of the past", || {
        !daemon.requests(&status).is_empty()
    })
    .await;
    for (kind, data) in everything(&daemon) {
        daemon.emit(kind, poison(data));
    }
    let address = Address::local(daemon.port);
    let sanitiser = Sanitiser::new(TextLimits::default()).hiding(Token::new(TOKEN).ok(), &address);
    let mut translator = Translator::new(sanitiser);
    let mut told = Vec::new();
    loop {
        let event = next(&mut events).await;
        told.extend(translator.translate(&event));
        if matches!(event, IdeEvent::Disconnected { .. }) {
            break;
        }
    }
    // Again, as a history.
    connection
        .connect(ConnectOptions {
            disconnect_mode: DisconnectMode::KeepRunning,
            ..options(&daemon)
        })
        .await
        .unwrap();
    loop {
        let event = next(&mut events).await;
        told.extend(translator.translate(&event));
        if matches!(event, IdeEvent::HistoryLoaded { .. }) {
            break;
        }
    }
    let text = serde_json::to_string_pretty(&ide::json(&told)).unwrap();
    let port = format!("127.0.0.1:{}", daemon.port);
    for secret in SECRETS.iter().copied().chain([port.as_str()]) {
        assert!(!text.contains(secret), "{secret} in {text}");
    }
    // And what a person needs is there.
    for needed in [
        "\"command\": \"ls\"",
        "\"daemonPath\": \"/home/dev/ws/a\"",
        "A title",
        "Which database?",
        "yolo",
        "m(openai)",
        "-32603",
        "[hidden]",
    ] {
        assert!(text.contains(needed), "{needed} not in {text}");
    }
}

#[tokio::test]
async fn long_texts_and_lists_are_cut() {
    let daemon = daemon().await;
    let (_connection, mut events) = connected(&daemon).await;
    let steps: Vec<_> = (0..1000)
        .map(|n| json!({"content": "é".repeat(n)}))
        .collect();
    daemon.emit(
        "session_update",
        update(&json!({"sessionUpdate": "plan", "entries": steps})),
    );
    let limits = TextLimits {
        text: 5,
        content: 5,
        line: 5,
        entries: 10,
    };
    let mut translator = Translator::new(Sanitiser::new(limits));
    let steps = loop {
        let told = translator.translate(&next(&mut events).await);
        if let Some(BackendEvent::Plan(steps)) = told.into_iter().next() {
            break steps;
        }
    };
    assert_eq!((steps.len(), steps[9].text.as_str()), (10, "ééééé…"));
}

/// What a page shows of a turn in which the agent says these pieces, with a title in between.
async fn shown(pieces: &[&str]) -> Vec<(Speaker, String)> {
    let daemon = daemon().await;
    let (_connection, mut events) = connected(&daemon).await;
    for piece in pieces {
        daemon.say(piece);
        daemon.emit(
            "session_metadata_updated",
            json!({"displayName": "A title"}),
        );
    }
    daemon.emit(
        "turn_complete",
        json!({"promptId": "p", "stopReason": "end_turn"}),
    );
    let address = Address::local(daemon.port);
    let sanitiser = Sanitiser::new(TextLimits::default()).hiding(Token::new(TOKEN).ok(), &address);
    let mut translator = Translator::new(sanitiser);
    let mut shown: Vec<(Speaker, String)> = Vec::new();
    loop {
        for told in translator.translate(&next(&mut events).await) {
            match told {
                BackendEvent::Said { speaker, text } => match shown.last_mut() {
                    Some((last, said)) if *last == speaker => said.push_str(&text),
                    _ => shown.push((speaker, text)),
                },
                BackendEvent::TurnEnded { .. } => return shown,
                _ => {}
            }
        }
    }
}

#[tokio::test]
async fn a_secret_in_pieces_is_hidden_and_nothing_else_is_lost() {
    let (first, second) = TOKEN.split_at(3);
    let pieces = ["it is ", first, second, ", I say: ", &TOKEN[..1]];
    let text = format!("it is [hidden], I say: {}", &TOKEN[..1]);
    assert_eq!(shown(&pieces).await, [(Speaker::Agent, text)]);
    let letters: Vec<String> = TOKEN.chars().map(String::from).collect();
    let letters: Vec<&str> = letters.iter().map(String::as_str).collect();
    assert_eq!(shown(&letters).await, [(Speaker::Agent, "[hidden]".into())]);
}

/// An address begins with `lo`, and so may what comes after the end of a prompt. Nothing comes.
#[tokio::test]
async fn what_a_person_says_is_not_held_back() {
    let daemon = daemon().await;
    let (_connection, mut events) = connected(&daemon).await;
    let text = "say hello";
    let chunk = json!({
        "sessionUpdate": "user_message_chunk", "content": {"type": "text", "text": text},
    });
    daemon.emit("session_update", update(&chunk));
    let address = Address::local(daemon.port);
    let sanitiser = Sanitiser::new(TextLimits::default()).hiding(None, &address);
    let mut translator = Translator::new(sanitiser);
    let mut shown = String::new();
    while shown != text {
        for told in translator.translate(&next(&mut events).await) {
            if let BackendEvent::Said { text, .. } = told {
                shown.push_str(&text);
            }
        }
    }
}
