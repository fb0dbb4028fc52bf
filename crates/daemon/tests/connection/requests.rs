//! Requests of the agent: each for itself, at the same time, and over when they are over.

use outrigger_daemon::connection::{CallError, CloseReason, IdeEvent, UserAnswer};
use outrigger_daemon::wire::{PermissionOutcome, ToolKind, VoteResult};
use serde_json::{Value, json};

use crate::fake::{FakeDaemon, SESSION, until};
use crate::person::{
    asked, cancelled, closed, connected, daemon, first, id, nothing_waits, permission, question,
    resolve, said, selected, stand, take_until, takes_votes, vote_route, votes, waiting,
};

fn pending(id: &str) -> Value {
    json!({
        "requestId": id, "kind": "permission",
        "action": {"type": "edit", "title": "Writing to a.txt", "locations": [{"path": "/home/dev/ws/a.txt"}], "input": {"file_path": "/home/dev/ws/a.txt"}},
        "options": [{"optionId": "proceed_once", "label": "Allow", "kind": "allow_once"}, {"optionId": "cancel", "label": "Reject", "kind": "reject_once"}],
    })
}

/// Cuts the stream, and waits until the daemon has been asked again what waits for a person.
async fn interrupt(daemon: &FakeDaemon) {
    let status = format!("GET /session/{SESSION}/status");
    let before = daemon.requests(&status).len();
    daemon.cut();
    until("the question about what waits", || {
        daemon.requests(&status).len() > before
    })
    .await;
}

#[tokio::test]
async fn two_dialogs_are_open_and_answered_at_the_same_time() {
    let daemon = daemon().await;
    let (connection, mut events) = connected(&daemon).await;
    for name in ["r-1", "r-2"] {
        takes_votes(&daemon, name);
        daemon.emit("permission_request", permission(name));
        asked(&mut events).await;
    }
    assert_eq!(connection.pending().len(), 2);
    let (one, two) = (id("r-1"), id("r-2"));
    let answers = tokio::join!(
        connection.answer(&two, &UserAnswer::Decline),
        connection.answer(&one, &UserAnswer::Allow),
    );
    assert!(answers.0.is_ok() && answers.1.is_ok());
    assert_eq!(votes(&daemon, "r-1"), [selected("proceed_once")]);
    assert_eq!(votes(&daemon, "r-2"), [cancelled()]);
}

#[tokio::test]
async fn a_page_that_answers_twice_votes_once() {
    let daemon = daemon().await;
    let (connection, mut events) = connected(&daemon).await;
    takes_votes(&daemon, "r-1");
    daemon.emit("permission_request", permission("r-1"));
    asked(&mut events).await;
    let id = id("r-1");
    let (one, two) = tokio::join!(
        connection.answer(&id, &UserAnswer::Allow),
        connection.answer(&id, &UserAnswer::AllowAlways),
    );
    let counted = [one.unwrap().vote, two.unwrap().vote];
    assert!(counted.contains(&VoteResult::Taken) && counted.contains(&VoteResult::Lost));
    resolve(&daemon, "r-1", "proceed_once", "client_1");
    closed(&mut events).await;
    assert_eq!(
        connection
            .answer(&id, &UserAnswer::Allow)
            .await
            .unwrap()
            .vote,
        VoteResult::Lost
    );
    assert_eq!(votes(&daemon, "r-1").len(), 1);
}

#[tokio::test]
async fn who_closed_a_request_is_told() {
    let daemon = daemon().await;
    let (_connection, mut events) = connected(&daemon).await;
    let outcome = Some(PermissionOutcome::Selected {
        option_id: "proceed_once".into(),
    });
    for (voter, how) in [
        ("client_1", CloseReason::Mine(outcome.clone())),
        ("client_2", CloseReason::Elsewhere(outcome)),
    ] {
        daemon.emit("permission_request", permission(voter));
        asked(&mut events).await;
        resolve(&daemon, voter, "proceed_once", voter);
        assert_eq!(closed(&mut events).await, (voter.into(), how));
    }
}

/// The vote is on its way when another client's is counted.
#[tokio::test]
async fn a_lost_vote_is_a_normal_result_and_closes_the_request() {
    let daemon = daemon().await;
    let (connection, mut events) = connected(&daemon).await;
    stand(
        &daemon,
        &vote_route("r-1"),
        404,
        &json!({"error": "unknown", "requestId": "r-1"}),
    );
    daemon.emit("permission_request", permission("r-1"));
    asked(&mut events).await;
    let answered = connection
        .answer(&id("r-1"), &UserAnswer::Allow)
        .await
        .unwrap();
    assert_eq!(answered.vote, VoteResult::Lost);
    assert_eq!(closed(&mut events).await, ("r-1".into(), CloseReason::Gone));
    assert!(connection.pending().is_empty());
}

#[tokio::test]
async fn a_vote_that_the_policy_forbids_leaves_the_request_to_others() {
    let daemon = daemon().await;
    let (connection, mut events) = connected(&daemon).await;
    let body =
        json!({"error": "no", "code": "permission_forbidden", "reason": "designated_mismatch"});
    stand(&daemon, &vote_route("r-1"), 403, &body);
    daemon.emit("permission_request", permission("r-1"));
    asked(&mut events).await;
    let refused = connection.answer(&id("r-1"), &UserAnswer::Allow).await;
    assert!(matches!(refused, Err(CallError::Daemon(_))));
    assert_eq!(connection.pending().len(), 1);
}

#[tokio::test]
async fn a_dialog_is_dropped_when_somebody_else_answers() {
    let daemon = daemon().await;
    let (connection, mut events) = connected(&daemon).await;
    daemon.emit("permission_request", permission("r-1"));
    asked(&mut events).await;
    let (shown, was_shown) = tokio::sync::oneshot::channel::<()>();
    let dialog = async move {
        let _open = shown;
        std::future::pending().await
    };
    let request = id("r-1");
    let deciding = connection.decide(&request, dialog);
    let others = async {
        resolve(&daemon, "r-1", "proceed_once", "client_9");
        closed(&mut events).await;
    };
    let (decided, ()) = tokio::join!(deciding, others);
    assert_eq!(decided.unwrap().vote, VoteResult::Lost);
    // The sender was dropped with the dialog.
    assert!(was_shown.await.is_err());
    assert!(votes(&daemon, "r-1").is_empty());
}

#[tokio::test]
async fn what_was_answered_in_the_past_is_not_asked_again() {
    let daemon = daemon().await;
    let (_connection, mut events) = connected(&daemon).await;
    daemon.go_down().await;
    daemon.emit("permission_request", permission("r-1"));
    resolve(&daemon, "r-1", "proceed_once", "client_9");
    daemon.emit("permission_request", permission("r-2"));
    waiting(&daemon, &json!([pending("r-2")]));
    daemon.come_back().await;
    let request = asked(&mut events).await;
    // The event tells more than the status, so its version is the one that is shown.
    assert_eq!(
        (request.id.as_str(), request.tool_call_id.as_deref()),
        ("r-2", Some("t"))
    );
}

#[tokio::test]
async fn a_request_is_recovered_from_the_status_if_no_event_tells_it() {
    let daemon = daemon().await;
    let (connection, mut events) = connected(&daemon).await;
    let mut asks = question("x");
    let questions = asks["toolCall"]["rawInput"]["questions"].take();
    let unseen = json!({"requestId": "q-1", "kind": "user_question", "title": "Ask user", "questions": questions,
        "options": [{"optionId": "proceed_once", "label": "Submit", "kind": "allow_once"}]});
    waiting(&daemon, &json!([pending("r-1"), unseen]));
    interrupt(&daemon).await;
    let request = asked(&mut events).await;
    assert_eq!(
        (request.title.as_str(), request.kind),
        ("Writing to a.txt", Some(ToolKind::Edit))
    );
    let second = asked(&mut events).await;
    assert_eq!(second.questions.unwrap().len(), 2);
    takes_votes(&daemon, "q-1");
    let reply = UserAnswer::Reply(vec![vec!["SQLite".into()]]);
    connection.answer(&id("q-1"), &reply).await.unwrap();
    assert_eq!(votes(&daemon, "q-1")[0]["answers"], json!({"0": "SQLite"}));
    // And it is not asked a second time after the next interruption.
    interrupt(&daemon).await;
    daemon.say("later");
    let later = take_until(&mut events, |it| matches!(it, IdeEvent::Update { .. })).await;
    assert!(
        !later
            .iter()
            .any(|it| matches!(it, IdeEvent::RequestOpened(_)))
    );
}

#[tokio::test]
async fn a_request_that_was_closed_while_we_were_away_is_closed_here() {
    let daemon = daemon().await;
    let (_connection, mut events) = connected(&daemon).await;
    daemon.emit("permission_request", permission("r-1"));
    asked(&mut events).await;
    nothing_waits(&daemon);
    daemon.cut();
    assert_eq!(closed(&mut events).await, ("r-1".into(), CloseReason::Gone));
}

#[tokio::test]
async fn requests_outside_of_any_turn_are_asked_too() {
    let daemon = daemon().await;
    let (_connection, mut events) = connected(&daemon).await;
    let mut request = permission("r-1");
    request["backgroundTurn"] = json!({"turnId": "x"});
    daemon.emit("permission_request", request);
    assert!(asked(&mut events).await.background);
    let turn = json!({"sessionId": SESSION, "stopReason": "end_turn", "promptId": "s########n", "backgroundTurn": {}});
    daemon.emit("turn_complete", turn);
    let background = |event| match event {
        IdeEvent::TurnEnded { background, .. } => Some(background),
        _ => None,
    };
    assert!(first(&mut events, background).await);
}

#[tokio::test]
async fn requests_of_other_sessions_and_without_options_are_not_asked() {
    let daemon = daemon().await;
    let (connection, mut events) = connected(&daemon).await;
    takes_votes(&daemon, "r-2");
    let (mut other, mut empty) = (permission("r-1"), permission("r-2"));
    other["sessionId"] = "another".into();
    empty["options"] = json!([]);
    daemon.emit("permission_request", other);
    daemon.emit("permission_request", empty);
    daemon.say("on");
    said(&mut events).await;
    assert!(connection.pending().is_empty());
    until("the no", || votes(&daemon, "r-2") == [cancelled()]).await;
    assert!(votes(&daemon, "r-1").is_empty());
}
