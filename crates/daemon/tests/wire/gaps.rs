//! The known gaps of the published adapter, as far as they are closed below the IDE connection. Each
//! test fails on the gap it is named after.

use outrigger_daemon::wire::{NewSession, PermissionVote, RequestId, RestoreSession, VoteResult};
use outrigger_daemon::{DisconnectMode, EventBody, ResumeState, Session, TurnEnd};
use serde_json::json;

use crate::fake::{FakeDaemon, SESSION, end_of, http, is, quick, shown, take_until, until};
use crate::routes::captured;
use crate::watching::Opens;

fn request(id: &str) -> serde_json::Value {
    json!({"requestId": id, "sessionId": SESSION, "toolCall": {"toolCallId": "t"}, "options": [{"optionId": "proceed_once", "kind": "allow_once", "name": "Allow"}]})
}

#[tokio::test]
async fn gap_01_questions_are_recognised_although_their_kind_is_think() {
    let daemon = FakeDaemon::start().await;
    daemon.answer_next(
        &format!("GET /session/{SESSION}/events"),
        captured("ask-question.sse.txt"),
    );
    let (_session, mut updates) = daemon.session().await;
    let taken = take_until(&mut updates, is("permission_request")).await;
    let Some(outrigger_daemon::SessionEvent::Event(event)) = taken.last() else {
        panic!()
    };
    let EventBody::PermissionRequest(request) = event.body() else {
        panic!()
    };
    assert_eq!(request.tool_call.kind.as_ref().unwrap().as_str(), "think");
    let questions = request.questions().unwrap();
    assert_eq!((questions.len(), questions[1].multi_select), (2, true));
}

/// Nobody takes a single update; the turn ends all the same, and the stream is read to its end.
#[tokio::test]
async fn gap_02_an_open_dialog_does_not_stop_the_stream() {
    let daemon = FakeDaemon::start().await;
    let (session, _updates) = daemon.session().await;
    let turn = session.prompt("go").await.unwrap();
    daemon.emit("permission_request", request("r-1"));
    for n in 0..500 {
        daemon.say(&n.to_string());
    }
    daemon.emit(
        "permission_resolved",
        json!({"requestId": "r-1", "outcome": {"outcome": "cancelled"}}),
    );
    daemon.complete();
    assert!(matches!(end_of(turn).await, TurnEnd::Complete { .. }));
}

#[tokio::test]
async fn gap_03_resolutions_by_others_are_delivered() {
    let daemon = FakeDaemon::start().await;
    let (_session, mut updates) = daemon.session().await;
    daemon.emit("permission_request", request("r-1"));
    daemon.emit("permission_resolved", json!({"requestId": "r-1", "outcome": {"outcome": "selected", "optionId": "x"}, "voterClientId": "client_9"}));
    daemon.emit(
        "permission_already_resolved",
        json!({"requestId": "r-1", "sessionId": SESSION, "outcome": {"outcome": "new kind"}}),
    );
    let taken = take_until(&mut updates, is("permission_already_resolved")).await;
    let resolved: Vec<String> = taken
        .iter()
        .filter_map(|it| match it {
            outrigger_daemon::SessionEvent::Event(event) => match event.body() {
                EventBody::PermissionResolved(it) | EventBody::PermissionAlreadyResolved(it) => {
                    Some(it.request_id.to_string())
                }
                _ => None,
            },
            _ => None,
        })
        .collect();
    assert_eq!(resolved, ["r-1", "r-1"]);
}

#[tokio::test]
async fn gap_04_leaving_does_not_end_the_turn_at_the_daemon() {
    let daemon = FakeDaemon::start().await;
    let (session, updates) = daemon.session().await;
    let turn = session.prompt("a long one").await.unwrap();
    session.leave(DisconnectMode::default()).await.unwrap();
    assert!(matches!(end_of(turn).await, TurnEnd::Unknown { .. }));
    drop((session, updates));
    assert!(
        daemon
            .requests(&format!("POST /session/{SESSION}/cancel"))
            .is_empty()
    );
    assert_eq!(daemon.world().prompt.as_deref(), Some("prompt-1"));
}

#[tokio::test]
async fn gap_06_a_resync_does_not_show_the_replayed_text_twice() {
    let daemon = FakeDaemon::start().await;
    daemon.world().ring_size = 2;
    let (session, mut updates) = daemon.session().await;
    take_until(&mut updates, is("replay_complete")).await;
    daemon.say("a");
    let mut taken = take_until(&mut updates, is("session_update")).await;
    daemon.cut();
    for text in ["b", "c", "d"] {
        daemon.say(text);
    }
    taken.extend(take_until(&mut updates, is("replay_complete")).await);
    assert_eq!(shown(&taken), "abcd");
    assert_eq!(session.counters().histories, 1);
}

/// A cursor belongs to a session and a generation, and goes nowhere without them.
#[tokio::test]
async fn gap_07_a_cursor_is_never_applied_to_another_session() {
    let daemon = FakeDaemon::start().await;
    let (session, mut updates) = daemon.session().await;
    daemon.say("one");
    take_until(&mut updates, is("session_update")).await;
    let state = updates.resume_state();
    let text = serde_json::to_value(&state).unwrap();
    assert_eq!(
        text,
        json!({"session_id": SESSION, "epoch": "epoch-1", "last_event_id": 1})
    );
    drop((session, updates));
    // A new session starts at zero, whatever was remembered; only `resume` takes the state, whole.
    daemon.world().alive = false;
    let (_new, mut updates) = Session::open(daemon.client(), &NewSession::default(), quick())
        .await
        .unwrap();
    take_until(&mut updates, is("replay_complete")).await;
    let route = format!("GET /session/{SESSION}/events");
    assert_eq!(
        daemon.requests(&route).last().unwrap().headers["last-event-id"],
        "0"
    );
    let state: ResumeState = serde_json::from_value(text).unwrap();
    let (_old, mut updates) =
        Session::resume(daemon.client(), &state, &RestoreSession::default(), quick())
            .await
            .unwrap();
    take_until(&mut updates, is("replay_complete")).await;
    let headers = daemon.requests(&route).pop().unwrap().headers;
    assert_eq!(
        (
            headers["last-event-id"].as_str(),
            headers["x-qwen-event-epoch"].as_str()
        ),
        ("1", "epoch-1")
    );
}

#[tokio::test]
async fn gap_08_requests_behind_the_cursor_are_found_by_the_status_route() {
    let daemon = FakeDaemon::start().await;
    let (session, mut updates) = daemon.session().await;
    take_until(&mut updates, is("replay_complete")).await;
    daemon.answer_next(
        &format!("GET /session/{SESSION}/status"),
        captured("ask-question.status.http.txt"),
    );
    let status = session.status().await.unwrap();
    let pending: Vec<_> = status.interactions().collect();
    assert_eq!(
        (pending.len(), pending[0].questions.as_ref().unwrap().len()),
        (1, 2)
    );
    // One that cannot be read does not hide the others.
    let body = json!({"sessionId": SESSION, "pendingInteractions": [{"kind": "permission"}, 5, {"requestId": "r"}]});
    daemon.answer_next(
        &format!("GET /session/{SESSION}/status"),
        http(200, "", &body.to_string()),
    );
    assert_eq!(session.status().await.unwrap().interactions().count(), 1);
}

#[tokio::test]
async fn gap_09_votes_go_to_the_route_of_the_session() {
    let daemon = FakeDaemon::start().await;
    let (session, _updates) = daemon.session().await;
    let route = format!("POST /session/{SESSION}/permission/r-1");
    daemon.answer_next(&route, http(200, "", "{}"));
    let id = RequestId::new("r-1").unwrap();
    assert_eq!(
        session
            .vote(&id, &PermissionVote::select("proceed_once"))
            .await
            .unwrap(),
        VoteResult::Taken
    );
    assert_eq!(
        daemon.requests(&route)[0].headers["x-qwen-client-id"],
        session.client_id().unwrap().as_str()
    );
    // A second answer is lost, which is no error.
    daemon.answer_next(&route, captured("perm-vote-late-session-route.http.txt"));
    assert_eq!(
        session.vote(&id, &PermissionVote::cancel()).await.unwrap(),
        VoteResult::Lost
    );
}

#[tokio::test]
async fn gap_10_registrations_do_not_leak() {
    let daemon = FakeDaemon::start().await;
    daemon.world().ring_size = 1;
    let (session, mut updates) = daemon.session().await;
    take_until(&mut updates, is("replay_complete")).await;
    daemon.cut();
    for _ in 0..3 {
        daemon.say("x");
    }
    // The resync loads under the same id, which the daemon counts once more.
    take_until(&mut updates, is("replay_complete")).await;
    session.leave(DisconnectMode::Detach).await.unwrap();
    let detaches = daemon.requests(&format!("POST /session/{SESSION}/detach"));
    let id = session.client_id().unwrap();
    assert_eq!(detaches.len(), 2);
    assert!(
        detaches
            .iter()
            .all(|it| it.headers["x-qwen-client-id"] == id.as_str())
    );
}

#[tokio::test]
async fn gap_11_every_event_that_matters_has_a_type() {
    let cases = [
        ("session_closed", json!({"sessionId": "another"})),
        ("slow_client_warning", json!({"queueSize": 1})),
        ("turn_error", json!({"message": "m", "code": 5})),
        ("model_switched", json!({"modelId": "m"})),
        (
            "model_switch_failed",
            json!({"requestedModelId": "m", "error": "e"}),
        ),
        (
            "approval_mode_changed",
            json!({"previous": "auto", "next": "plan"}),
        ),
    ];
    let daemon = FakeDaemon::start().await;
    let (session, mut updates) = daemon.session().await;
    for (kind, data) in &cases {
        daemon.emit(kind, data.clone());
    }
    until("every event", || session.counters().events == 7).await;
    let typed = std::iter::from_fn(|| updates.try_next()).filter(|it| match it {
        outrigger_daemon::SessionEvent::Event(event) => {
            !matches!(event.body(), EventBody::Unknown | EventBody::Malformed(_))
        }
        _ => false,
    });
    assert_eq!(typed.count(), 7);
}

#[tokio::test]
async fn gap_13_a_malformed_request_can_still_be_declined() {
    let daemon = FakeDaemon::start().await;
    let (session, mut updates) = daemon.session().await;
    daemon.emit(
        "permission_request",
        json!({"requestId": "r-1", "options": "none"}),
    );
    let taken = take_until(&mut updates, is("permission_request")).await;
    let Some(outrigger_daemon::SessionEvent::Event(event)) = taken.last() else {
        panic!()
    };
    assert!(matches!(event.body(), EventBody::Malformed(_)));
    let id = RequestId::new(event.field("requestId").unwrap().as_str().unwrap()).unwrap();
    let route = format!("POST /session/{SESSION}/permission/r-1");
    daemon.answer_next(&route, http(200, "", "{}"));
    assert_eq!(
        session.vote(&id, &PermissionVote::cancel()).await.unwrap(),
        VoteResult::Taken
    );
}
