//! What an agent asks the person, what the daemon says of it, and what it hears of the answers.

use serde_json::{Value, json};

use super::{FakeDaemon, SESSION};

/// What the daemon says of itself, if it works in this folder.
pub fn capabilities(folder: &str) -> Value {
    json!({
        "v": 1, "protocolVersions": {"current": "v1", "supported": ["v1"]}, "workspaceCwd": folder,
        "features": ["session_create", "session_prompt", "session_cancel", "session_events", "session_permission_vote"],
        "workspaces": [{"cwd": folder, "primary": true}],
    })
}

/// All requests of this kind get this answer.
pub fn stand(daemon: &FakeDaemon, what: &str, status: u16, body: &Value) {
    daemon
        .world()
        .standing
        .insert(what.into(), (status, body.clone()));
}

/// Nothing waits for a person.
pub fn nothing_waits(daemon: &FakeDaemon) {
    waiting(daemon, &json!([]));
}

/// What the status route says to wait for a person.
pub fn waiting(daemon: &FakeDaemon, interactions: &Value) {
    let status = json!({"sessionId": SESSION, "pendingInteractions": interactions});
    stand(
        daemon,
        &format!("GET /session/{SESSION}/status"),
        200,
        &status,
    );
}

/// The data of a request for leave to write a file.
pub fn permission(id: &str) -> Value {
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
pub fn question(id: &str) -> Value {
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

/// The request with which somebody answers.
pub fn vote_route(id: &str) -> String {
    format!("POST /session/{SESSION}/permission/{id}")
}

/// The daemon takes votes on this request.
pub fn takes_votes(daemon: &FakeDaemon, id: &str) {
    stand(daemon, &vote_route(id), 200, &json!({}));
}

/// The bodies of the votes on a request.
pub fn votes(daemon: &FakeDaemon, id: &str) -> Vec<Value> {
    daemon
        .requests(&vote_route(id))
        .into_iter()
        .map(|it| it.body)
        .collect()
}

/// The body of a vote for an option.
pub fn selected(option: &str) -> Value {
    json!({"outcome": {"outcome": "selected", "optionId": option}})
}

/// The body of a vote that says no.
pub fn cancelled() -> Value {
    json!({"outcome": {"outcome": "cancelled"}})
}

/// Somebody answers a request.
pub fn resolve(daemon: &FakeDaemon, id: &str, option: &str, voter: &str) {
    let outcome = json!({"outcome": "selected", "optionId": option});
    let data = json!({"requestId": id, "outcome": outcome, "voterClientId": voter});
    daemon.emit("permission_resolved", data);
}
