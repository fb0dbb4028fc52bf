//! Each route: what goes out, and what captured answers become.

use std::fs;
use std::path::Path;

use outrigger_daemon::client::{EventCursor, StreamItem, StreamReason, Subscription};
use outrigger_daemon::wire::{
    ApprovalMode, ClientId, ContentBlock, Epoch, NewSession, PageRequest, PermissionVote, PromptId,
    PromptRequest, PromptResponse, RequestId, RestoreSession, SessionId, SessionScope, StopReason,
    TranscriptRequest, TurnState, VoteResult,
};
use serde_json::json;

use crate::fake::{FakeDaemon, PATIENCE, SESSION, Seen, TOKEN, http};
use crate::watching::Opens;

fn session() -> SessionId {
    SessionId::new(SESSION).unwrap()
}

/// The raw answer of a capture, as it can be sent again.
pub(crate) fn captured(name: &str) -> Vec<u8> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/captures")
        .join(name);
    let capture = fs::read(path).unwrap();
    let start = capture.windows(5).position(|it| it == b"HTTP/").unwrap();
    let end = capture.windows(4).position(|it| it == b"\r\n\r\n").unwrap();
    let body = &capture[end + 4..];
    // The captures' lengths were true for the folders of the machine they were made on.
    let head = String::from_utf8_lossy(&capture[start..end]).into_owned();
    let lines: Vec<String> = head
        .split("\r\n")
        .filter(|line| !line.starts_with("Transfer-Encoding"))
        .map(|line| match line.split_once(": ") {
            Some(("Content-Length", _)) => format!("Content-Length: {}", body.len()),
            _ => line.to_owned(),
        })
        .collect();
    [lines.join("\r\n").as_bytes(), b"\r\n\r\n", body].concat()
}

fn sole(daemon: &FakeDaemon, what: &str) -> Seen {
    let mut seen = daemon.requests(what);
    assert_eq!(seen.len(), 1, "{what}: {:?}", daemon.world().requests);
    seen.remove(0)
}

#[tokio::test]
async fn every_request_carries_what_the_daemon_needs_and_nothing_else() {
    let daemon = FakeDaemon::start().await;
    let client = ClientId::new("client_1").unwrap();
    daemon.answer_next(
        &format!("POST /session/{SESSION}/heartbeat"),
        captured("heartbeat.ok.http.txt"),
    );
    let heartbeat = daemon
        .client()
        .heartbeat(&session(), Some(&client))
        .await
        .unwrap();
    assert!(heartbeat.last_seen_at.is_some());
    let seen = sole(&daemon, &format!("POST /session/{SESSION}/heartbeat"));
    assert_eq!(seen.headers["host"], format!("127.0.0.1:{}", daemon.port));
    assert_eq!(seen.headers["authorization"], format!("Bearer {TOKEN}"));
    assert_eq!(seen.headers["content-type"], "application/json");
    assert_eq!(seen.headers["x-qwen-client-id"], "client_1");
    // A foreign origin is refused, so none is ever sent; nor does anybody learn more about us.
    let mut names: Vec<&str> = seen.headers.keys().map(String::as_str).collect();
    names.sort_unstable();
    assert_eq!(
        names,
        [
            "authorization",
            "connection",
            "content-length",
            "content-type",
            "host",
            "x-qwen-client-id"
        ]
    );
}

#[tokio::test]
async fn reading_routes() {
    let daemon = FakeDaemon::start().await;
    let client = daemon.client();
    let at = |tail: &str| format!("GET /session/{SESSION}{tail}");

    daemon.answer_next("GET /health", captured("health.http.txt"));
    assert_eq!(client.health().await.unwrap().status, "ok");
    daemon.answer_next("GET /health", captured("health-deep.http.txt"));
    assert_eq!(
        client.deep_health().await.unwrap().channel_alive,
        Some(true)
    );
    daemon.answer_next("GET /daemon/status", captured("daemon-status.http.txt"));
    assert!(
        client
            .daemon_status()
            .await
            .unwrap()
            .daemon
            .unwrap()
            .run_id
            .is_some()
    );

    for (name, is_up) in [
        ("capabilities.http.txt", true),
        ("boot-capabilities-immediately.http.txt", false),
    ] {
        daemon.answer_next("GET /capabilities", captured(name));
        let capabilities = client.capabilities().await.unwrap();
        assert!(capabilities.speaks_v1() && capabilities.has("session_create"));
        assert_eq!(
            (
                capabilities.workspaces.is_some(),
                capabilities.folders().count()
            ),
            (is_up, 1),
            "{name}"
        );
    }

    daemon.answer_next(
        "GET /workspace/%2Fhome%2Fdev%2Fws/sessions",
        captured("list.http.txt"),
    );
    let page = PageRequest {
        size: Some(3),
        cursor: Some("a b".into()),
    };
    let page = client.sessions("/home/dev/ws", &page).await.unwrap();
    assert!(page.sessions.len() == 4 && page.next_cursor.is_some());
    assert_eq!(
        daemon.requests("GET /workspace/%2Fhome%2Fdev%2Fws/sessions")[0].query,
        "size=3&cursor=a%20b"
    );

    daemon.answer_next(&at("/status"), captured("perm-pending.status.http.txt"));
    let status = client.session_status(&session()).await.unwrap();
    let pending: Vec<_> = status.interactions().collect();
    assert_eq!(pending[0].options[1].title(), "Allow");
    daemon.answer_next(&at("/context"), captured("session-context.http.txt"));
    let context = client.session_context(&session()).await.unwrap();
    assert_eq!(context.state.models.unwrap().available_models.len(), 2);
    assert_eq!(
        context.state.modes.unwrap().current_mode_id,
        Some(ApprovalMode::Auto)
    );
    daemon.answer_next(&at("/transcript"), captured("transcript-page.http.txt"));
    let page = TranscriptRequest {
        limit: Some(2),
        ..TranscriptRequest::default()
    };
    let transcript = client.transcript(&session(), &page).await.unwrap();
    assert_eq!(
        (transcript.events.len(), transcript.events[0].id()),
        (1, None)
    );
    daemon.answer_next(&at("/turns/current"), captured("turn-fail.turn.http.txt"));
    let turn = client.current_turn(&session()).await.unwrap();
    assert_eq!(
        (turn.state, turn.error.unwrap().code.unwrap().number()),
        (Some(TurnState::Error), Some(-32603))
    );
    daemon.answer_next(&at("/pending-prompts"), captured("queue.pending.http.txt"));
    assert_eq!(client.pending_prompts(&session()).await.unwrap().len(), 5);
}

#[tokio::test]
async fn writing_routes() {
    let daemon = FakeDaemon::start().await;
    let client = daemon.client();
    let post = |tail: &str| format!("POST /session/{SESSION}{tail}");

    daemon.answer_next("POST /session", captured("session-attach.http.txt"));
    let new = NewSession {
        cwd: Some("/home/dev/ws".into()),
        session_scope: Some(SessionScope::Thread),
        approval_mode: Some(ApprovalMode::Default),
        ..NewSession::default()
    };
    assert!(client.create_session(&new).await.unwrap().attached);
    let body = sole(&daemon, "POST /session").body;
    assert_eq!(
        body,
        json!({"cwd": "/home/dev/ws", "sessionScope": "thread", "approvalMode": "default"})
    );

    daemon.answer_next(&post("/load"), captured("daemon-restarted.load.http.txt"));
    let loaded = client
        .load_session(&session(), &RestoreSession::default(), None)
        .await
        .unwrap();
    assert_eq!(
        (loaded.prompt_terminals.len(), loaded.opened.attached),
        (2, false)
    );
    assert_eq!(sole(&daemon, &post("/load")).body, json!({}));

    daemon.answer_next(&post("/prompt"), captured("text-prompt.post.http.txt"));
    let prompt = PromptRequest::new(vec![
        ContentBlock::text("look"),
        ContentBlock::resource_link("a.txt", "file:///a.txt"),
    ]);
    let admission = client.prompt(&session(), &prompt, None).await.unwrap();
    assert!(matches!(admission, PromptResponse::Accepted(it) if it.last_event_id == Some(1)));
    let blocks = json!([{"type": "text", "text": "look"}, {"type": "resource_link", "name": "a.txt", "uri": "file:///a.txt"}]);
    assert_eq!(
        sole(&daemon, &post("/prompt")).body,
        json!({"prompt": blocks})
    );
    daemon.answer_next(
        &post("/prompt"),
        http(200, "", r#"{"stopReason":"end_turn"}"#),
    );
    let admission = client.prompt(&session(), &"x".into(), None).await.unwrap();
    assert_eq!(admission, PromptResponse::Finished(StopReason::EndTurn));

    daemon.answer_next(&post("/model"), captured("model-switch.ok.http.txt"));
    let switch = client
        .set_model(&session(), "fake-model-2(openai)", None)
        .await
        .unwrap();
    assert_eq!(switch.model_id(), Some("fake-model-2"));
    daemon.answer_next(
        &post("/approval-mode"),
        captured("approval-mode.ok.http.txt"),
    );
    let set = client
        .set_approval_mode(&session(), &ApprovalMode::Yolo, false, None)
        .await
        .unwrap();
    assert_eq!(set.previous, Some(ApprovalMode::Default));
    assert_eq!(
        sole(&daemon, &post("/approval-mode")).body,
        json!({"mode": "yolo"})
    );

    daemon.answer_next(&post("/cancel"), captured("cancel-idle.post.http.txt"));
    client.cancel(&session(), None).await.unwrap();
    let patch = format!("PATCH /session/{SESSION}/metadata");
    daemon.answer_next(&patch, captured("metadata.http.txt"));
    let metadata = client
        .set_display_name(&session(), "My chat", None)
        .await
        .unwrap();
    assert_eq!(metadata.display_name.as_deref(), Some("My chat"));
    let delete = format!("DELETE /session/{SESSION}/pending-prompts/p%2F1");
    daemon.answer_next(&delete, captured("queue-remove.delete.http.txt"));
    let prompt = PromptId::new("p/1").unwrap();
    assert!(
        client
            .remove_pending_prompt(&session(), &prompt, None)
            .await
            .unwrap()
    );
}

/// Closing and leaving are content with a session that is gone.
#[tokio::test]
async fn what_is_gone_need_not_be_closed() {
    let daemon = FakeDaemon::start().await;
    let client = daemon.client();
    let (delete, detach) = (
        format!("DELETE /session/{SESSION}"),
        format!("POST /session/{SESSION}/detach"),
    );
    daemon.answer_next(&delete, captured("session-close.http.txt"));
    assert!(client.close_session(&session(), None).await.unwrap());
    daemon.answer_next(&delete, captured("session-close-again.http.txt"));
    assert!(!client.close_session(&session(), None).await.unwrap());
    daemon.answer_next(&detach, captured("detach.http.txt"));
    assert!(
        client
            .detach(&session(), &ClientId::new("c").unwrap())
            .await
            .unwrap()
    );
}

#[tokio::test]
async fn votes_and_their_fates() {
    let daemon = FakeDaemon::start().await;
    let client = daemon.client();
    let request = RequestId::new("r-1").unwrap();
    let route = format!("POST /session/{SESSION}/permission/r-1");
    let vote = async |name: &str| {
        daemon.answer_next(&route, captured(name));
        client
            .vote(
                &session(),
                &request,
                &PermissionVote::select("proceed_once"),
                None,
            )
            .await
    };
    assert_eq!(
        vote("perm-vote-ok.http.txt").await.unwrap(),
        VoteResult::Taken
    );
    assert_eq!(
        vote("perm-vote-late-session-route.http.txt").await.unwrap(),
        VoteResult::Lost
    );
    assert_eq!(
        vote("perm-vote-unknown-request.http.txt").await.unwrap(),
        VoteResult::Lost
    );
    assert!(vote("policy-designated.vote-other.http.txt").await.is_err());
    assert!(vote("perm-vote-invalid-option.http.txt").await.is_err());
    assert!(
        vote("prompt-unknown-session.http.txt").await.is_err(),
        "a lost session is not a lost vote"
    );

    daemon.answer_next(&route, http(200, "", "{}"));
    let ballot = PermissionVote::answer("proceed_once", ["SQLite".into(), "Search, Export".into()]);
    client
        .vote(&session(), &request, &ballot, None)
        .await
        .unwrap();
    let expected = json!({
        "outcome": {"outcome": "selected", "optionId": "proceed_once"},
        "answers": {"0": "SQLite", "1": "Search, Export"},
    });
    assert_eq!(daemon.requests(&route).last().unwrap().body, expected);
    daemon.answer_next(&route, http(200, "", "{}"));
    client
        .vote(&session(), &request, &PermissionVote::cancel(), None)
        .await
        .unwrap();
    assert_eq!(
        daemon.requests(&route).last().unwrap().body,
        json!({"outcome": {"outcome": "cancelled"}})
    );
}

#[tokio::test]
async fn a_stream_is_asked_for_with_cursor_and_epoch() {
    let daemon = FakeDaemon::start().await;
    let route = format!("GET /session/{SESSION}/events");
    daemon.answer_next(&route, captured("text-prompt.sse.txt"));
    let subscription = Subscription {
        cursor: Some(EventCursor {
            last_event_id: 7,
            epoch: Some(Epoch::new("e-1").unwrap()),
        }),
        snapshot: true,
        max_queued: Some(512),
        reason: StreamReason::TransportError,
        previous_stream: Some("s-0".into()),
        ..Subscription::default()
    };
    let mut stream = daemon
        .client()
        .events(&session(), &subscription, None)
        .await
        .unwrap();
    assert_eq!(
        stream.epoch.as_ref().unwrap().as_str(),
        "674882dd-886e-4272-abe2-290e9c8fe232"
    );
    let mut ids = Vec::new();
    while let Some(signal) = stream.next(PATIENCE).await.unwrap() {
        if let StreamItem::Event(event) = signal {
            ids.push(event.id());
        }
    }
    assert_eq!(ids.len(), 11);
    let seen = sole(&daemon, &route);
    assert_eq!(
        (
            seen.headers["last-event-id"].as_str(),
            seen.headers["x-qwen-event-epoch"].as_str()
        ),
        ("7", "e-1")
    );
    assert_eq!(
        seen.query,
        "snapshot=1&maxQueued=512&connectReason=transport_error&previousStreamId=s%2D0"
            .replace("%2D", "-")
    );

    // Without a cursor there is neither number nor generation.
    daemon.answer_next(&route, captured("reconnect-bad-id.sse.txt"));
    daemon
        .client()
        .events(&session(), &Subscription::default(), None)
        .await
        .unwrap();
    let headers = &daemon.requests(&route)[1].headers;
    assert!(!headers.contains_key("last-event-id") && !headers.contains_key("x-qwen-event-epoch"));
}
