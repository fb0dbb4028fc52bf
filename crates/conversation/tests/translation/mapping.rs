//! The table that the daemon's design gives to whoever adapts it, row by row: what each event becomes
//! for a page.

use conversation::backend::daemon::Translator;
use conversation::{BackendEvent, unreviewed_with};
use daemon::connection::IdeEvent;
use daemon::sanitiser::{Sanitiser, TextLimits};
use daemon::wire::SessionUpdate;
use serde_json::{Value, json};
use testkit::fake_daemon::{FakeDaemon, SESSION, permission, resolve};

use crate::ide::{connected, daemon, json, next};

/// Something that happens in a row.
enum Act {
    /// The daemon sends an event.
    Event(&'static str, Value),
    /// Another client answers a request.
    AnsweredElsewhere(&'static str),
}

/// One row: its left side, what is done for it, and its right side.
type Row = (&'static str, Vec<Act>, Vec<Value>);

fn update(update: &Value) -> Act {
    let data = json!({"sessionId": SESSION, "update": update});
    Act::Event("session_update", data)
}

fn died(session: &str) -> Act {
    let data = json!({"sessionId": session, "reason": "agent_exited"});
    Act::Event("session_died", data)
}

/// Everything that a page is told because of these acts.
async fn told(daemon: &FakeDaemon, acts: Vec<Act>) -> Vec<Value> {
    const LAST: &str = "nothing more comes";
    let (_connection, mut events) = connected(daemon).await;
    daemon.say("the row begins");
    while !matches!(next(&mut events).await, IdeEvent::Update { .. }) {}
    for act in acts {
        match act {
            Act::Event(kind, data) => daemon.emit(kind, data),
            Act::AnsweredElsewhere(request) => resolve(daemon, request, "proceed_once", "client_9"),
        }
    }
    daemon.emit("session_metadata_updated", json!({"displayName": LAST}));
    let mut translator = Translator::new(Sanitiser::new(TextLimits::default()));
    let mut told = Vec::new();
    loop {
        let event = next(&mut events).await;
        match &event {
            IdeEvent::TitleChanged { title } if title == LAST => return json(&told),
            IdeEvent::Disconnected { .. } => {
                told.extend(translator.translate(&event));
                return json(&told);
            }
            // Before or after the last event, as it happens.
            IdeEvent::CaughtUp => {}
            _ => told.extend(translator.translate(&event)),
        }
    }
}

#[tokio::test]
async fn what_each_event_becomes_for_a_page() {
    let options = json!([
        {"id": "proceed_once", "title": "Allow", "kind": "allow_once", "lasts": false},
        {"id": "cancel", "title": "Reject", "kind": "reject_once", "lasts": false},
        {"id": "proceed_always", "title": "Allow All Edits", "kind": "allow_always", "lasts": true},
    ]);
    let card = json!({
        "event": "asked", "request": "r-1", "title": "Writing to a.txt",
        "tool": {"id": "t", "kind": "edit", "content": [], "files": []},
        "options": options, "background": false,
    });
    let mut subagent = permission("r-1");
    subagent["toolCall"]["_meta"] = json!({"toolName": "agent"});
    let mut starting = card.clone();
    starting["tool"]["tool"] = "agent".into();
    starting["unreviewed"] = unreviewed_with("agent").into();
    let text =
        |kind: &str| json!({"sessionUpdate": kind, "content": {"type": "text", "text": "hm"}});
    let call = json!({
        "sessionUpdate": "tool_call", "toolCallId": "t", "title": "List", "kind": "execute",
        "status": "pending", "rawInput": {"command": "ls"},
    });
    let rows: Vec<Row> = vec![
        (
            "session_update / agent_message_chunk → the stream of the answer",
            vec![update(&text("agent_message_chunk"))],
            vec![json!({"event": "said", "speaker": "agent", "text": "hm"})],
        ),
        (
            "session_update / agent_thought_chunk → the stream of the thoughts",
            vec![update(&text("agent_thought_chunk"))],
            vec![json!({"event": "said", "speaker": "thought", "text": "hm"})],
        ),
        (
            "session_update / tool_call → the tool call",
            vec![update(&call)],
            vec![json!({
                "event": "tool", "id": "t", "title": "List", "kind": "execute",
                "status": "pending", "command": "ls",
            })],
        ),
        (
            "permission_request → the approval card",
            vec![Act::Event("permission_request", permission("r-1"))],
            vec![card.clone()],
        ),
        (
            "permission_request of a subagent → with what is not reviewed of it",
            vec![Act::Event("permission_request", subagent)],
            vec![starting],
        ),
        (
            "permission_resolved → the card is closed",
            vec![
                Act::Event("permission_request", permission("r-1")),
                Act::AnsweredElsewhere("r-1"),
            ],
            vec![
                card,
                json!({"event": "closed", "request": "r-1", "byMe": false}),
            ],
        ),
        (
            "model_switched → the model",
            vec![Act::Event(
                "model_switched",
                json!({"modelId": "m(openai)"}),
            )],
            vec![json!({"event": "modelChanged", "model": "m(openai)"})],
        ),
        (
            "session_died → the loss, with a way back",
            vec![died(SESSION)],
            vec![json!({"event": "disconnected", "reason": "died", "canReconnect": true})],
        ),
        (
            "unknown events → nothing",
            vec![Act::Event("never_heard_of", json!({"a": 1}))],
            vec![],
        ),
    ];
    for (row, acts, expected) in rows {
        let daemon = daemon().await;
        assert_eq!(told(&daemon, acts).await, expected, "{row}");
    }
}

#[tokio::test]
async fn gap_14_nothing_raw_reaches_a_page() {
    let daemon = daemon().await;
    let (_connection, mut events) = connected(&daemon).await;
    daemon.emit(
        "settings_changed",
        json!({"key": "apiKey", "value": "s3cret"}),
    );
    daemon.emit(
        "session_update",
        json!({"sessionId": SESSION, "update": {"sessionUpdate": "new_kind", "secret": "s3cret"}}),
    );
    daemon.say("end");
    let mut taken = Vec::new();
    let is_said = |event: &IdeEvent| {
        matches!(
            event,
            IdeEvent::Update {
                update: SessionUpdate::AgentMessage(_),
                ..
            }
        )
    };
    while !taken.last().is_some_and(is_said) {
        taken.push(next(&mut events).await);
    }
    let mut translator = Translator::new(Sanitiser::new(TextLimits::default()));
    let told: Vec<_> = taken
        .iter()
        .flat_map(|event| translator.translate(event))
        .filter(|told| *told != BackendEvent::CaughtUp)
        .collect();
    // That there was something is said, and nothing of what it was.
    assert_eq!(
        Value::from(json(&told)),
        json!([
            {"event": "notice", "text": "Something is not shown here, because this version does not know it: new_kind."},
            {"event": "said", "speaker": "agent", "text": "end"},
        ])
    );
}
