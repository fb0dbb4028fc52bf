//! The test cases of the published adapter about permissions and questions, under their own names.

use outrigger_daemon::DisconnectMode;
use outrigger_daemon::connection::{CallError, CloseReason, IdeEvent, UserAnswer};
use outrigger_daemon::wire::{PermissionOutcome, VoteResult};
use serde_json::json;

use crate::fake::{SESSION, until};
use crate::person::{
    asked, cancelled, closed, connected, daemon, id, permission, question, selected, take_until,
    takes_votes, vote_route, votes, waiting,
};

#[tokio::test]
async fn responds_to_permission_requests_with_the_selected_option_id() {
    let daemon = daemon().await;
    let (connection, mut events) = connected(&daemon).await;
    takes_votes(&daemon, "r-1");
    daemon.emit("permission_request", permission("r-1"));
    let request = asked(&mut events).await;
    let person = async { Some(UserAnswer::Choose("proceed_once".into())) };
    let answered = connection.decide(&request.id, person).await.unwrap();
    assert_eq!(answered.vote, VoteResult::Taken);
    assert_eq!(votes(&daemon, "r-1"), [selected("proceed_once")]);
}

#[tokio::test]
async fn cancels_permission_requests_by_default_and_for_reject_options() {
    let daemon = daemon().await;
    let (connection, mut events) = connected(&daemon).await;
    let answers = [
        None,
        Some(UserAnswer::Choose("cancel".into())),
        Some(UserAnswer::Choose("an option of yesterday".into())),
    ];
    for (n, answer) in answers.into_iter().enumerate() {
        let name = format!("r-{n}");
        takes_votes(&daemon, &name);
        daemon.emit("permission_request", permission(&name));
        let request = asked(&mut events).await;
        let answered = connection
            .decide(&request.id, async { answer })
            .await
            .unwrap();
        assert_eq!(answered.outcome, PermissionOutcome::Cancelled);
        assert_eq!(votes(&daemon, &name), [cancelled()]);
    }
}

#[tokio::test]
async fn cancels_permission_requests_when_the_handler_throws() {
    let daemon = daemon().await;
    let (connection, mut events) = connected(&daemon).await;
    takes_votes(&daemon, "r-1");
    daemon.emit("permission_request", permission("r-1"));
    asked(&mut events).await;
    let person = async { panic!("the dialog broke (this panic is part of the test)") };
    connection.decide(&id("r-1"), person).await.unwrap();
    assert_eq!(votes(&daemon, "r-1"), [cancelled()]);
}

#[tokio::test]
async fn cancels_permission_requests_when_no_option_id_is_preferred() {
    let daemon = daemon().await;
    let (connection, mut events) = connected(&daemon).await;
    takes_votes(&daemon, "r-1");
    daemon.emit("permission_request", permission("r-1"));
    asked(&mut events).await;
    connection
        .answer(&id("r-1"), &UserAnswer::Choose(String::new()))
        .await
        .unwrap();
    assert_eq!(votes(&daemon, "r-1"), [cancelled()]);
}

#[tokio::test]
async fn disconnects_without_waiting_for_an_in_flight_permission_callback() {
    let daemon = daemon().await;
    let (connection, mut events) = connected(&daemon).await;
    daemon.emit("permission_request", permission("r-1"));
    asked(&mut events).await;
    let dialog = tokio::spawn({
        let connection = connection.clone();
        async move { connection.decide(&id("r-1"), std::future::pending()).await }
    });
    tokio::task::yield_now().await;
    connection
        .disconnect(DisconnectMode::KeepRunning)
        .await
        .unwrap();
    assert_eq!(
        closed(&mut events).await,
        ("r-1".into(), CloseReason::Disconnected)
    );
    match dialog.await.unwrap() {
        Ok(answered) => assert_eq!(answered.vote, VoteResult::Lost),
        Err(error) => assert!(matches!(error, CallError::NotConnected)),
    }
    assert_eq!(votes(&daemon, "r-1"), [] as [serde_json::Value; 0]);
}

/// Ignoring one would leave the turn waiting for ever, so it is declined; see the gaps.
#[tokio::test]
async fn ignores_malformed_permission_events() {
    let daemon = daemon().await;
    let (_connection, mut events) = connected(&daemon).await;
    takes_votes(&daemon, "r-1");
    daemon.emit(
        "permission_request",
        json!({"requestId": "r-1", "toolCall": "none"}),
    );
    daemon.emit("permission_request", json!({"toolCall": {}, "options": []}));
    daemon.say("still here");
    let taken = take_until(&mut events, |it| matches!(it, IdeEvent::Update { .. })).await;
    assert!(
        !taken
            .iter()
            .any(|it| matches!(it, IdeEvent::RequestOpened(_)))
    );
    until("the no", || votes(&daemon, "r-1") == [cancelled()]).await;
}

/// The request stays open, and can be answered again. Until the next event is asked for, whoever goes
/// on from the saved place is asked again.
#[tokio::test]
async fn does_not_advance_replay_state_when_permission_responses_fail() {
    let daemon = daemon().await;
    let (connection, mut events) = connected(&daemon).await;
    takes_votes(&daemon, "r-1");
    daemon.emit("permission_request", permission("r-1"));
    asked(&mut events).await;
    let at_the_request = connection.resume_state().unwrap();
    assert_eq!(at_the_request.last_event_id, 0);
    daemon.refuse_next(&vote_route("r-1"), 500, "", &json!({"error": "oops"}));
    let failed = connection.answer(&id("r-1"), &UserAnswer::Allow).await;
    assert!(matches!(failed, Err(CallError::Daemon(_))));
    assert_eq!(connection.pending().len(), 1);
    assert_eq!(connection.resume_state().unwrap(), at_the_request);
    let answered = connection
        .answer(&id("r-1"), &UserAnswer::Allow)
        .await
        .unwrap();
    assert_eq!(answered.vote, VoteResult::Taken);
    assert_eq!(connection.resume_state().unwrap(), at_the_request);

    takes_votes(&daemon, "r-2");
    daemon.emit("permission_request", permission("r-2"));
    asked(&mut events).await;
    daemon.refuse_next(&vote_route("r-2"), 500, "", &json!({"error": "oops"}));
    let failed = connection.answer(&id("r-2"), &UserAnswer::Allow).await;
    assert!(matches!(failed, Err(CallError::Daemon(_))));
    let pending = json!({"requestId": "r-2", "kind": "permission", "options": [{"optionId": "proceed_once", "kind": "allow_once"}]});
    waiting(&daemon, &json!([pending]));
    connection.reconnect().await.unwrap();
    assert_eq!(asked(&mut events).await.id.as_str(), "r-2");
    let streams = daemon.requests(&format!("GET /session/{SESSION}/events"));
    let cursor = streams.last().unwrap().headers.get("last-event-id");
    assert_eq!(cursor.map(String::as_str), Some("2"));
    let answered = connection
        .answer(&id("r-2"), &UserAnswer::Allow)
        .await
        .unwrap();
    assert_eq!(answered.vote, VoteResult::Taken);
}

#[tokio::test]
async fn forwards_ask_user_question_answers_and_cancels_invalid_selections() {
    let daemon = daemon().await;
    let (connection, mut events) = connected(&daemon).await;
    let replies = UserAnswer::Reply(vec![
        vec!["SQLite".into()],
        vec!["Search".into(), "Export".into()],
    ]);
    let mut good = selected("proceed_once");
    good["answers"] = json!({"0": "SQLite", "1": "Search, Export"});
    let cases = [
        (replies, good),
        (UserAnswer::Choose(String::new()), cancelled()),
        (
            UserAnswer::Choose("an option of yesterday".into()),
            cancelled(),
        ),
    ];
    for (n, (answer, vote)) in cases.into_iter().enumerate() {
        let name = format!("q-{n}");
        takes_votes(&daemon, &name);
        daemon.emit("permission_request", question(&name));
        assert_eq!(asked(&mut events).await.questions.unwrap().len(), 2);
        connection.answer(&id(&name), &answer).await.unwrap();
        assert_eq!(votes(&daemon, &name), [vote]);
    }
}

#[tokio::test]
async fn does_not_route_non_question_permission_requests_through_ask_user_question_ui() {
    let daemon = daemon().await;
    let (_connection, mut events) = connected(&daemon).await;
    // Questions in the input alone do not make a question: any tool may have such an argument.
    for kind in ["edit", "other", ""] {
        let mut request = permission(&format!("r-{kind}"));
        request["toolCall"]["rawInput"] = json!({"questions": [{"question": "?"}]});
        request["toolCall"]["kind"] = kind.into();
        daemon.emit("permission_request", request);
        assert_eq!(asked(&mut events).await.questions, None, "{kind:?}");
    }
}

/// The form of the specification, beside the one of the published daemon.
#[tokio::test]
async fn a_tool_call_of_the_question_kind_is_a_question() {
    let daemon = daemon().await;
    let (connection, mut events) = connected(&daemon).await;
    takes_votes(&daemon, "r-1");
    let mut request = permission("r-1");
    request["toolCall"]["kind"] = "ask_user_question".into();
    request["toolCall"]["rawInput"] = json!({"questions": [
        {"question": "Which store?", "header": "Store", "options": [{"label": "SQLite", "description": "a file"}], "multiSelect": false},
    ]});
    daemon.emit("permission_request", request);
    let questions = asked(&mut events).await.questions.unwrap();
    assert_eq!(questions.len(), 1);
    assert_eq!(questions[0].question, "Which store?");
    let reply = UserAnswer::Reply(vec![vec!["SQLite".into()]]);
    connection.answer(&id("r-1"), &reply).await.unwrap();
    let mut expected = selected("proceed_once");
    expected["answers"] = json!({"0": "SQLite"});
    assert_eq!(votes(&daemon, "r-1"), [expected]);
}

/// It names itself a question, and has none that can be shown: the person still decides.
#[tokio::test]
async fn a_question_without_questions_is_a_permission() {
    let daemon = daemon().await;
    let (_connection, mut events) = connected(&daemon).await;
    let inputs = [
        json!({}),
        json!({"questions": []}),
        json!({"questions": "?"}),
        json!(null),
    ];
    for (n, input) in inputs.into_iter().enumerate() {
        let mut request = permission(&format!("r-{n}"));
        request["toolCall"]["kind"] = "ask_user_question".into();
        request["toolCall"]["rawInput"] = input.clone();
        daemon.emit("permission_request", request);
        assert_eq!(asked(&mut events).await.questions, None, "{input}");
    }
}
