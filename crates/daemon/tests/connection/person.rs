//! A person in front of a connection, and the daemon behind it.

use daemon::connection::{IdeConnection, IdeEvent, IdeEvents, Options};
use daemon::wire::{RequestId, SessionUpdate};
use daemon::{Address, Timeouts, Token};
use serde_json::{Value, json};

use crate::fake::{FakeDaemon, PATIENCE, SESSION, TOKEN, quick, until};

/// A daemon that knows the routes which an IDE connection needs.
pub(crate) async fn daemon() -> FakeDaemon {
    let daemon = FakeDaemon::start().await;
    stand(
        &daemon,
        "GET /capabilities",
        200,
        &capabilities("/home/dev/ws"),
    );
    nothing_waits(&daemon);
    daemon
}

pub(crate) fn capabilities(folder: &str) -> Value {
    json!({
        "v": 1, "protocolVersions": {"current": "v1", "supported": ["v1"]}, "workspaceCwd": folder,
        "features": ["session_create", "session_prompt", "session_cancel", "session_events", "session_permission_vote"],
        "workspaces": [{"cwd": folder, "primary": true}],
    })
}

/// All requests of this kind get this answer.
pub(crate) fn stand(daemon: &FakeDaemon, what: &str, status: u16, body: &Value) {
    daemon
        .world()
        .standing
        .insert(what.into(), (status, body.clone()));
}

pub(crate) fn nothing_waits(daemon: &FakeDaemon) {
    waiting(daemon, &json!([]));
}

/// What the status route says to wait for a person.
pub(crate) fn waiting(daemon: &FakeDaemon, interactions: &Value) {
    let status = json!({"sessionId": SESSION, "pendingInteractions": interactions});
    stand(
        daemon,
        &format!("GET /session/{SESSION}/status"),
        200,
        &status,
    );
}

pub(crate) fn options(daemon: &FakeDaemon) -> Options {
    Options {
        address: Address::local(daemon.port),
        token: Some(Token::new(TOKEN).unwrap()),
        settings: quick(),
        timeouts: Timeouts {
            connect: PATIENCE,
            answer: PATIENCE,
            restore: PATIENCE,
        },
        ..Options::default()
    }
}

/// A connection that stands, and has heard what there was to hear.
pub(crate) async fn connected(daemon: &FakeDaemon) -> (IdeConnection, IdeEvents) {
    let (connection, mut events) = IdeConnection::new();
    connection.connect(options(daemon)).await.unwrap();
    take_until(&mut events, |event| matches!(event, IdeEvent::Connected(_))).await;
    daemon.listened_to().await;
    let status = format!("GET /session/{SESSION}/status");
    until("the question about what waits", || {
        !daemon.requests(&status).is_empty()
    })
    .await;
    (connection, events)
}

pub(crate) async fn next(events: &mut IdeEvents) -> IdeEvent {
    let event = tokio::time::timeout(PATIENCE, events.next()).await;
    event
        .expect("an event comes")
        .expect("the connection is not dropped")
}

/// Takes events until one fits, and hands out all of them.
pub(crate) async fn take_until(
    events: &mut IdeEvents,
    fits: impl Fn(&IdeEvent) -> bool,
) -> Vec<IdeEvent> {
    let mut taken = Vec::new();
    loop {
        let event = next(events).await;
        let found = fits(&event);
        taken.push(event);
        if found {
            return taken;
        }
    }
}

/// The first event that `pick` takes.
pub(crate) async fn first<T>(events: &mut IdeEvents, pick: impl Fn(IdeEvent) -> Option<T>) -> T {
    loop {
        if let Some(picked) = pick(next(events).await) {
            return picked;
        }
    }
}

pub(crate) async fn asked(events: &mut IdeEvents) -> daemon::connection::Request {
    first(events, |event| match event {
        IdeEvent::Asked(request) => Some(*request),
        _ => None,
    })
    .await
}

pub(crate) async fn closed(events: &mut IdeEvents) -> (String, daemon::connection::Closing) {
    first(events, |event| match event {
        IdeEvent::Closed { request, how } => Some((request.to_string(), how)),
        _ => None,
    })
    .await
}

pub(crate) async fn disconnected(events: &mut IdeEvents) -> daemon::connection::Departure {
    first(events, |event| match event {
        IdeEvent::Disconnected { reason, .. } => Some(reason),
        _ => None,
    })
    .await
}

pub(crate) async fn said(events: &mut IdeEvents) -> String {
    first(events, |event| match event {
        IdeEvent::Update {
            update: SessionUpdate::AgentMessage(chunk),
            ..
        } => Some(chunk.text().to_owned()),
        _ => None,
    })
    .await
}

pub(crate) fn id(text: &str) -> RequestId {
    RequestId::new(text).unwrap()
}

/// The data of a request for leave to write a file.
pub(crate) fn permission(id: &str) -> Value {
    json!({
        "requestId": id, "sessionId": SESSION,
        "toolCall": {"toolCallId": "t", "title": "Writing to a.txt", "kind": "edit", "status": "pending"},
        "options": [
            {"optionId": "proceed_always", "name": "Allow All Edits", "kind": "allow_always"},
            {"optionId": "proceed_once", "name": "Allow", "kind": "allow_once"},
            {"optionId": "cancel", "name": "Reject", "kind": "reject_once"},
        ],
    })
}

/// The data of a question, as the published daemon sends it.
pub(crate) fn question(id: &str) -> Value {
    json!({
        "requestId": id, "sessionId": SESSION,
        "toolCall": {
            "toolCallId": "q", "title": "Ask user 2 questions", "kind": "think",
            "rawInput": {"questions": [
                {"question": "Which database?", "header": "Database", "options": [{"label": "SQLite"}, {"label": "Postgres"}], "multiSelect": false},
                {"question": "Which features?", "header": "Features", "options": [{"label": "Search"}, {"label": "Export"}], "multiSelect": true},
            ]},
            "_meta": {"toolName": "ask_user_question", "qwenInteractionKind": "user_question"},
        },
        "options": [
            {"optionId": "proceed_once", "name": "Submit", "kind": "allow_once"},
            {"optionId": "cancel", "name": "Cancel", "kind": "reject_once"},
        ],
    })
}

pub(crate) fn vote_route(id: &str) -> String {
    format!("POST /session/{SESSION}/permission/{id}")
}

/// The daemon takes votes on this request.
pub(crate) fn takes_votes(daemon: &FakeDaemon, id: &str) {
    stand(daemon, &vote_route(id), 200, &json!({}));
}

/// The bodies of the votes on a request.
pub(crate) fn votes(daemon: &FakeDaemon, id: &str) -> Vec<Value> {
    daemon
        .requests(&vote_route(id))
        .into_iter()
        .map(|it| it.body)
        .collect()
}

pub(crate) fn selected(option: &str) -> Value {
    json!({"outcome": {"outcome": "selected", "optionId": option}})
}

pub(crate) fn cancelled() -> Value {
    json!({"outcome": {"outcome": "cancelled"}})
}

/// Somebody answers a request.
pub(crate) fn resolve(daemon: &FakeDaemon, id: &str, option: &str, voter: &str) {
    let outcome = json!({"outcome": "selected", "optionId": option});
    let data = json!({"requestId": id, "outcome": outcome, "voterClientId": voter});
    daemon.emit("permission_resolved", data);
}
