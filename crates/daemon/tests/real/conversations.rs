//! Talking: text, thoughts, tools, queues, models, modes, and what the reading routes tell.

use outrigger_daemon::wire::{
    ApprovalMode, NewSession, PageRequest, RestoreSession, SessionUpdate, StopReason,
    TranscriptRequest, TurnState,
};
use outrigger_daemon::{
    DaemonClient, DisconnectMode, ErrorReason, EventBody, Session, SessionEndReason, SessionEvent,
    Token, TurnEnd,
};

use crate::house::{House, Screen, end_of, settings};

pub(crate) fn complete() -> TurnEnd {
    TurnEnd::Complete {
        stop_reason: StopReason::EndTurn,
    }
}

#[tokio::test]
async fn a_turn_streams_text_and_the_routes_agree_about_it() {
    let Some(house) = House::open() else { return };
    let client = house.client();
    let folder = house.workspace().to_str().unwrap().to_owned();
    assert_eq!(client.health().await.unwrap().status, "ok");
    let capabilities = client.capabilities().await.unwrap();
    assert!(capabilities.speaks_v1() && capabilities.has("non_blocking_prompt"));
    assert_eq!(capabilities.workspace_cwd, folder);
    assert!(
        client
            .daemon_status()
            .await
            .unwrap()
            .daemon
            .unwrap()
            .pid
            .is_some()
    );

    let pieces: Vec<String> = (0..30).map(|n| format!("piece {n} — ü𐍈; ")).collect();
    house.model.speak("TALK", vec![]).say_all(&pieces);
    house
        .model
        .speak("THINK", vec![])
        .think("hmm")
        .say("so be it");
    let (session, mut updates) = house.session().await;
    let mut screen = Screen::default();
    let turn = session.prompt("please TALK").await.unwrap();
    let id = turn.id().unwrap().clone();
    assert_eq!(end_of(turn).await, complete());
    screen.event(&mut updates, "turn_complete").await;
    assert_eq!(screen.text, pieces.concat());

    let turn = session.prompt("please THINK").await.unwrap();
    assert_eq!(end_of(turn).await, complete());
    screen.event(&mut updates, "turn_complete").await;
    let thoughts = screen.seen.iter().any(|it| match it {
        SessionEvent::Event(event) => matches!(
            event.body(),
            EventBody::SessionUpdate(SessionUpdate::AgentThought(_))
        ),
        _ => false,
    });
    assert!(thoughts);
    assert_eq!(
        session.counters().unknown,
        0,
        "the daemon has learnt new events"
    );

    assert_eq!(
        session.turn(&id).await.unwrap().state,
        Some(TurnState::Completed)
    );
    assert!(session.pending_prompts().await.unwrap().is_empty());
    let status = session.status().await.unwrap();
    assert_eq!(
        (status.client_count, status.interactions().count()),
        (Some(1), 0)
    );
    let context = session.context().await.unwrap();
    assert_eq!(context.state.models.unwrap().available_models.len(), 2);
    let transcript = session
        .transcript(&TranscriptRequest::default())
        .await
        .unwrap();
    assert!(
        transcript
            .events
            .iter()
            .all(|it| !matches!(it.body(), EventBody::Malformed(_) | EventBody::Unknown))
    );
    session.set_display_name("a title").await.unwrap();
    session.heartbeat().await.unwrap();
    let page = client
        .sessions(&folder, &PageRequest::default())
        .await
        .unwrap();
    let listed = page
        .sessions
        .iter()
        .find(|it| it.session_id == *session.id())
        .unwrap();
    assert_eq!(listed.display_name.as_deref(), Some("a title"));

    let expected = pieces.concat() + "so be it";
    leave_and_come_back(&house, &session, &expected).await;
}

/// Leaving keeps the session, loading brings it back whole, closing ends it.
async fn leave_and_come_back(house: &House, session: &Session, expected: &str) {
    session.leave(DisconnectMode::KeepRunning).await.unwrap();
    let (again, mut updates) = Session::load(
        house.client(),
        session.id(),
        &RestoreSession::default(),
        settings(),
    )
    .await
    .unwrap();
    let mut screen = Screen::default();
    screen.event(&mut updates, "replay_complete").await;
    assert_eq!(screen.text, expected);
    assert!(again.close().await.unwrap());
    let end = screen
        .watch(&mut updates, "the end", |_, it| {
            matches!(it, SessionEvent::Ended(_))
        })
        .await;
    assert!(
        matches!(end, SessionEvent::Ended(SessionEndReason::Closed { .. })),
        "{end:?}"
    );
    assert!(!again.close().await.unwrap());
}

#[tokio::test]
async fn prompts_queue_and_can_be_cancelled_or_taken_back() {
    let Some(house) = House::open() else { return };
    let speech = house.model.speak("HOLD", vec![]);
    house.model.speak("NEXT", vec![]).say("next");
    let (session, mut updates) = house.session().await;
    let mut screen = Screen::default();
    let first = session.prompt("please HOLD").await.unwrap();
    speech.say("holding");
    screen
        .watch(&mut updates, "the first words", |screen, _| {
            screen.text == "holding"
        })
        .await;
    let mut queued = Vec::new();
    for _ in 0..4 {
        queued.push(session.prompt("please NEXT").await.unwrap());
    }
    let full = session.prompt("one too many").await.unwrap_err();
    assert_eq!(full.reason(), Some(ErrorReason::QueueFull));
    assert!(full.response().unwrap().retry_after.is_some());
    assert_eq!(session.pending_prompts().await.unwrap().len(), 5);
    let removed = queued.pop().unwrap();
    assert!(
        session
            .remove_pending_prompt(removed.id().unwrap())
            .await
            .unwrap()
    );
    let cancelled = TurnEnd::Complete {
        stop_reason: StopReason::Cancelled,
    };
    assert_eq!(end_of(removed).await, cancelled);
    session.cancel().await.unwrap();
    assert_eq!(end_of(first).await, cancelled);
    for turn in queued {
        assert_eq!(end_of(turn).await, complete());
    }
    session.cancel().await.unwrap();
}

#[tokio::test]
async fn models_modes_failures_and_set_up_errors() {
    let Some(house) = House::open() else { return };
    house.model.refuse("FAIL");
    let (session, mut updates) = house.session().await;
    let mut screen = Screen::default();

    let switch = session.set_model("fake-model-2(openai)").await.unwrap();
    assert_eq!(switch.model_id(), Some("fake-model-2"));
    screen.event(&mut updates, "model_switched").await;
    let unknown = session.set_model("no-such-model").await.unwrap_err();
    assert_eq!(
        unknown.response().unwrap().code.as_ref().unwrap().number(),
        Some(-32603)
    );
    screen.event(&mut updates, "model_switch_failed").await;
    let set = session
        .set_approval_mode(&ApprovalMode::Plan, false)
        .await
        .unwrap();
    assert_eq!(set.mode, ApprovalMode::Plan);
    let event = screen.event(&mut updates, "approval_mode_changed").await;
    assert!(
        matches!(event.body(), EventBody::ApprovalModeChanged(it) if it.next == ApprovalMode::Plan)
    );
    let wrong = session
        .set_approval_mode(&ApprovalMode::Other("zzz".into()), false)
        .await
        .unwrap_err();
    assert_eq!(wrong.reason(), Some(ErrorReason::BadRequest));

    let turn = session.prompt("please FAIL").await.unwrap();
    assert!(matches!(end_of(turn).await, TurnEnd::Failed { .. }));
    let empty = session
        .prompt(outrigger_daemon::wire::PromptRequest::new(Vec::new()))
        .await
        .unwrap_err();
    assert_eq!(empty.reason(), Some(ErrorReason::BadRequest));

    let elsewhere = NewSession {
        cwd: Some("/".into()),
        ..NewSession::default()
    };
    let mismatch = house.client().create_session(&elsewhere).await.unwrap_err();
    assert_eq!(mismatch.reason(), Some(ErrorReason::WorkspaceMismatch));
    let bound = mismatch
        .response()
        .unwrap()
        .field("boundWorkspace")
        .unwrap()
        .to_owned();
    assert_eq!(bound, house.workspace().to_str().unwrap());
    let stranger = DaemonClient::new(
        house.client().address().clone(),
        Some(Token::new("wrong").unwrap()),
    );
    let refused = stranger.capabilities().await.unwrap_err();
    assert_eq!(refused.reason(), Some(ErrorReason::Unauthorized));
    let named: outrigger_daemon::Address = format!("http://localhost:{}", house.daemon.port())
        .parse()
        .unwrap();
    house.client_at(named).capabilities().await.unwrap();
}
