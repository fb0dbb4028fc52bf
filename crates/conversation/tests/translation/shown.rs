//! What is shown beside text, and what is named because it is not shown.

use conversation::BackendEvent;
use conversation::backend::daemon::Translator;
use daemon::connection::IdeEvent;
use daemon::sanitiser::{Sanitiser, TextLimits};
use daemon::{Address, Token};
use serde_json::{Value, json};
use testkit::fake_daemon::{FakeDaemon, SESSION, TOKEN};

use crate::ide::{connected, daemon, json, next};

/// What the daemon sends.
pub(crate) type Sent = (&'static str, Value);

pub(crate) fn update(update: &Value) -> Sent {
    let data = json!({"sessionId": SESSION, "update": update});
    ("session_update", data)
}

fn chunk(kind: &str, content: &Value) -> Sent {
    update(&json!({"sessionUpdate": kind, "content": content}))
}

fn agent(content: &Value) -> Sent {
    chunk("agent_message_chunk", content)
}

fn person(content: &Value) -> Sent {
    chunk("user_message_chunk", content)
}

fn task(source: &str, text: &str) -> Sent {
    task_block(source, &json!({"type": "text", "text": text}))
}

fn task_block(source: &str, block: &Value) -> Sent {
    update(&json!({
        "sessionUpdate": "agent_message_chunk", "content": block, "_meta": {"source": source},
    }))
}

/// An event about the session.
pub(crate) fn event(kind: &'static str, mut data: Value) -> Sent {
    data["sessionId"] = SESSION.into();
    (kind, data)
}

fn notice(kind: &str) -> Value {
    let text =
        format!("Something is not shown here, because this version does not know it: {kind}.");
    json!({"event": "notice", "text": text})
}

fn not_recorded() -> Value {
    json!({"event": "notice", "text": "The agent cannot write this conversation to its disk any more. What is said from here on will be missing when it is opened again."})
}

fn said(speaker: &str, text: &str) -> Value {
    json!({"event": "said", "speaker": speaker, "text": text})
}

/// Everything that a page is told because of these, in the middle of a turn that then ends as it
/// should, whatever came before.
pub(crate) async fn told(daemon: &FakeDaemon, sent: &[Sent]) -> Vec<Value> {
    let (connection, mut events) = connected(daemon).await;
    let turn = connection.send_prompt("go").await.unwrap();
    for (kind, data) in sent {
        daemon.emit(kind, data.clone());
    }
    daemon.complete();
    let address = Address::local(daemon.port);
    let sanitiser = Sanitiser::new(TextLimits::default()).hiding(Token::new(TOKEN).ok(), &address);
    let mut translator = Translator::new(sanitiser);
    let mut told = Vec::new();
    loop {
        let event = next(&mut events).await;
        told.extend(translator.translate(&event));
        if let IdeEvent::TurnEnded { prompt, .. } = &event {
            assert_eq!(prompt.as_ref(), turn.id());
            let last = told.pop();
            assert!(
                matches!(last, Some(BackendEvent::TurnEnded { .. })),
                "{last:?}"
            );
            told.retain(|it| {
                !matches!(it, BackendEvent::Connected { .. } | BackendEvent::CaughtUp)
            });
            return json(&told);
        }
    }
}

/// Each row in a turn of its own.
async fn check(rows: Vec<(&str, Vec<Sent>, Vec<Value>)>) {
    for (row, sent, expected) in rows {
        let daemon = daemon().await;
        assert_eq!(told(&daemon, &sent).await, expected, "{row}");
    }
}

#[tokio::test]
async fn pictures_links_and_files_are_shown() {
    let picture = json!({"type": "image", "mimeType": "image/png", "data": "iVBORw0KGgo="});
    let link = json!({"type": "resource_link", "name": "a.txt", "uri": "file:///w/a.txt"});
    let file = json!({"type": "resource", "resource": {"uri": "file:///w/b.txt", "mimeType": "text/plain", "text": "one\ntwo"}});
    let shown_picture = json!({"type": "image", "mimeType": "image/png", "data": "iVBORw0KGgo="});
    let huge = "A".repeat(3 * 1024 * 1024);
    let output = |content: &Value| {
        update(
            &json!({"sessionUpdate": "tool_call_update", "toolCallId": "t", "content": [{"type": "content", "content": content}]}),
        )
    };
    check(vec![
        (
            "a picture of the agent",
            vec![agent(&picture)],
            vec![json!({"event": "attached", "speaker": "agent", "text": "a picture (image/png, 1 kB)", "attachment": shown_picture})],
        ),
        (
            "a picture that is too large",
            vec![agent(&json!({"type": "image", "mimeType": "image/jpeg", "data": huge}))],
            vec![json!({"event": "attached", "speaker": "agent", "text": "a picture that is too large to be shown (image/jpeg)", "attachment": {"type": "image", "mimeType": "image/jpeg"}})],
        ),
        (
            "a prompt of several parts is one turn",
            vec![person(&json!({"type": "text", "text": "look"})), person(&picture), person(&link)],
            vec![
                json!({"event": "turnBegan"}),
                said("other", "look"),
                json!({"event": "attached", "speaker": "other", "text": "a picture (image/png, 1 kB)", "attachment": shown_picture}),
                json!({"event": "attached", "speaker": "other", "text": "a.txt (file:///w/a.txt)", "attachment": {"type": "link", "name": "a.txt", "uri": "file:///w/a.txt"}}),
            ],
        ),
        (
            "a person knows the file that they attach, and does not see it again",
            vec![person(&file)],
            vec![
                json!({"event": "turnBegan"}),
                json!({"event": "attached", "speaker": "other", "text": "file:///w/b.txt", "attachment": {"type": "file", "uri": "file:///w/b.txt"}}),
            ],
        ),
        (
            "a file of the agent",
            vec![agent(&file)],
            vec![json!({"event": "attached", "speaker": "agent", "text": "file:///w/b.txt", "attachment": {"type": "file", "uri": "file:///w/b.txt", "content": "one\ntwo"}})],
        ),
        (
            "the output of a tool",
            vec![output(&picture)],
            vec![json!({"event": "tool", "id": "t", "content": [{"type": "attachment", "text": "a picture (image/png, 1 kB)", "attachment": shown_picture}]})],
        ),
    ])
    .await;
}

/// A page puts a picture into an address of its own. So it must be what it says, in base64, and of a
/// type that holds nothing but pixels.
#[tokio::test]
async fn what_is_no_picture_is_named_and_not_passed_on() {
    let image =
        |mime: &str, data: &str| agent(&json!({"type": "image", "mimeType": mime, "data": data}));
    check(vec![
        (
            "one that can hold scripts",
            vec![image("image/svg+xml", "PHN2Zz4=")],
            vec![notice("image")],
        ),
        (
            "a type with something behind it",
            vec![image("image/png;x", "AAAA")],
            vec![notice("image")],
        ),
        (
            "no base64",
            vec![image("image/png", "\"><script>")],
            vec![notice("image")],
        ),
        (
            "padding in the middle",
            vec![image("image/png", "AA==AA")],
            vec![notice("image")],
        ),
        (
            "nothing",
            vec![image("image/png", "")],
            vec![notice("image")],
        ),
        (
            "no fields",
            vec![agent(&json!({"type": "image"}))],
            vec![notice("image")],
        ),
    ])
    .await;
}

#[tokio::test]
async fn what_is_not_shown_is_named_once_for_each_kind() {
    let sound = json!({"type": "audio", "mimeType": "audio/wav", "data": "AAAA"});
    let new = |kind: &str| update(&json!({"sessionUpdate": kind, "secret": "s3cret"}));
    check(vec![
        ("a sound", vec![agent(&sound), agent(&sound)], vec![notice("audio")]),
        ("a block of a new type", vec![agent(&json!({"type": "hologram"}))], vec![notice("hologram")]),
        (
            "updates of new kinds, between words",
            vec![
                agent(&json!({"type": "text", "text": "one "})),
                new("new_kind"),
                new("newer_kind"),
                new("new_kind"),
                agent(&json!({"type": "text", "text": "two"})),
            ],
            vec![said("agent", "one "), notice("new_kind"), notice("newer_kind"), said("agent", "two")],
        ),
        (
            "the part of a tool's output",
            vec![update(&json!({"sessionUpdate": "tool_call_update", "toolCallId": "t", "content": [{"type": "terminal", "terminalId": "x"}, {"type": "content", "content": sound}]}))],
            vec![json!({"event": "tool", "id": "t", "content": []}), notice("terminal"), notice("audio")],
        ),
        (
            "an update that is called like something else that is said once",
            vec![new("recording"), event("session_recording_degraded", json!({"reason": "write_failed"}))],
            vec![notice("recording"), not_recorded()],
        ),
        (
            "what is no text in a message of a task",
            vec![
                task_block("background_task_completed", &sound),
                task_block("background_notification", &sound),
            ],
            vec![notice("audio")],
        ),
    ])
    .await;
}

#[tokio::test]
async fn a_daemon_that_makes_up_kinds_without_end_fills_no_conversation() {
    let daemon = daemon().await;
    let made_up: Vec<Sent> = (0..200)
        .map(|n| update(&json!({"sessionUpdate": format!("kind_{n}")})))
        .collect();
    let told = told(&daemon, &made_up).await;
    assert_eq!(told.len(), 32);
}

/// Events about servers, settings and extensions belong to no conversation, and neither do those that
/// a later daemon invents. The turn goes on around each of them.
#[tokio::test]
async fn events_about_other_things_stay_out_of_the_conversation() {
    let daemon = daemon().await;
    let mut sent = Vec::new();
    for kind in [
        "settings_changed",
        "mcp_budget_warning",
        "git_branch_changed",
        "auth_device_flow_started",
        "never_heard_of",
    ] {
        sent.push(agent(&json!({"type": "text", "text": "word "})));
        sent.push(event(kind, json!({"value": "s3cret"})));
        sent.push((kind, json!(null)));
        sent.push((kind, json!([1])));
    }
    let told = told(&daemon, &sent).await;
    let text: String = told.iter().filter_map(|it| it["text"].as_str()).collect();
    assert_eq!(text, "word ".repeat(5));
    assert!(told.iter().all(|it| it["event"] == "said"), "{told:?}");
}

#[tokio::test]
async fn what_happens_to_the_conversation_is_said() {
    check(vec![
        (
            "taken back",
            vec![event("session_rewound", json!({"promptId": "p", "targetTurnIndex": 2, "filesChanged": ["/w/a"], "filesFailed": ["/w/b"]}))],
            vec![json!({"event": "rewound", "turn": 2, "restored": ["/w/a"], "failed": ["/w/b"]})],
        ),
        (
            "copied",
            vec![event("session_branched", json!({"sourceSessionId": SESSION, "newSessionId": "95c73ec8-0920-45db-8dde-af1945dbd384", "displayName": "Tea, again"}))],
            vec![json!({"event": "notice", "text": "A copy of this conversation was made: Tea, again. It is in the list of conversations."})],
        ),
        (
            "no longer written down, however often that is told",
            vec![
                event("session_recording_degraded", json!({"reason": "write_failed"})),
                event("session_recording_degraded", json!({"reason": "write_failed"})),
                event("session_snapshot", json!({"currentModelId": null, "currentApprovalMode": null, "recordingDegraded": true})),
            ],
            vec![not_recorded()],
        ),
        (
            "no longer written down since before we came",
            vec![event("session_snapshot", json!({"currentModelId": null, "currentApprovalMode": null, "recordingDegraded": true}))],
            vec![not_recorded()],
        ),
        (
            "in another folder",
            vec![event("session_cwd_changed", json!({"previousCwd": "/w", "newCwd": "/w/b"}))],
            vec![json!({"event": "notice", "text": "The agent works in /w/b from here on."})],
        ),
        (
            "a message in the middle of a turn",
            vec![event("mid_turn_message_injected", json!({"messages": ["and tea"], "messageIds": ["m-1"]}))],
            vec![said("other", "and tea")],
        ),
        (
            "a task in the background, which the daemon tells twice",
            vec![
                task("background_task_completed", "The search is done."),
                task("background_notification_turn_started", "search"),
                task("background_notification", "The search is done."),
                task("background_notification_response", "Nothing was found."),
            ],
            vec![said("task", "The search is done."), said("agent", "Nothing was found.")],
        ),
    ])
    .await;
}
