//! The test cases of the published adapter, under their own names, with what ours does instead where
//! it differs on purpose.

use outrigger_daemon::connection::{
    CallError, ConnectError, DisconnectReason, IdeConnection, IdeEvent,
};
use outrigger_daemon::wire::{ContentBlock, PromptRequest, StopReason};
use outrigger_daemon::{Address, AddressError, DisconnectMode, TurnEnd};
use serde_json::json;

use crate::fake::{SESSION, chunk};
use crate::person::{connected, daemon, disconnected, first, options, said, stand, take_until};

#[tokio::test]
async fn connects_through_a_daemon_session_factory_and_forwards_session_updates() {
    let daemon = daemon().await;
    let (connection, mut events) = connected(&daemon).await;
    daemon.say("hello");
    assert_eq!(said(&mut events).await, "hello");
    assert_eq!(connection.session().unwrap().as_str(), SESSION);
}

/// Both get their own result; the second one holds, and the first session is not left listening.
#[tokio::test]
async fn serializes_concurrent_connects_without_orphaning_the_first_session() {
    let (one, two) = (daemon().await, daemon().await);
    let (connection, mut events) = IdeConnection::new();
    let (first, second) = tokio::join!(
        connection.connect(options(&one)),
        connection.connect(options(&two))
    );
    assert!(first.is_ok() && second.is_ok());
    let taken = take_until(&mut events, |it| {
        matches!(it, IdeEvent::Disconnected { .. })
    })
    .await;
    assert!(matches!(taken[0], IdeEvent::Connected(_)));
    two.say("from the second");
    assert_eq!(said(&mut events).await, "from the second");
    assert_eq!(one.requests("POST /session").len(), 1);
}

#[tokio::test]
async fn proceeds_with_a_second_connect_after_the_first_one_fails() {
    let daemon = daemon().await;
    daemon.refuse_next("GET /capabilities", 503, "", &json!({"error": "starting"}));
    let (connection, _events) = IdeConnection::new();
    let attempts = tokio::join!(
        connection.connect(options(&daemon)),
        connection.connect(options(&daemon))
    );
    assert!(matches!(attempts, (Err(ConnectError::Daemon(_)), Ok(_))));
}

/// An address that is not one of this machine's never becomes an [`Address`]. The whole table is
/// with the type.
#[test]
fn validates_daemon_base_urls_before_connecting() {
    let refused = |text: &str| text.parse::<Address>().unwrap_err();
    assert!(matches!(
        refused("http://example.com:4170"),
        AddressError::NotLoopback(_)
    ));
    assert!(matches!(
        refused("http://0.0.0.0:4170"),
        AddressError::NotLoopback(_)
    ));
    assert!(matches!(
        refused("ftp://127.0.0.1:4170"),
        AddressError::Scheme(_)
    ));
    assert!(matches!(
        refused("http://u:p@127.0.0.1:4170"),
        AddressError::Credentials
    ));
    for good in [
        "http://127.0.0.1:4170",
        "http://localhost:4170",
        "http://[::1]:4170/",
    ] {
        assert!(good.parse::<Address>().is_ok(), "{good}");
    }
}

#[tokio::test]
async fn sends_prompts_through_the_bound_daemon_session() {
    let daemon = daemon().await;
    let (connection, mut events) = connected(&daemon).await;
    let route = format!("POST /session/{SESSION}/prompt");
    let sent = connection.send_prompt("hello").await.unwrap();
    daemon.complete();
    let end = TurnEnd::Complete {
        stop_reason: StopReason::EndTurn,
    };
    assert_eq!(sent.end().await, end);
    let blocks = vec![
        ContentBlock::text("look"),
        ContentBlock::resource_link("a", "file:///a"),
    ];
    let sent = connection
        .send_prompt(PromptRequest::new(blocks))
        .await
        .unwrap();
    daemon.fail("the model is gone");
    assert!(matches!(sent.end().await, TurnEnd::Failed { .. }));
    let bodies: Vec<_> = daemon
        .requests(&route)
        .into_iter()
        .map(|it| it.body["prompt"].clone())
        .collect();
    assert_eq!(bodies[0], json!([{"type": "text", "text": "hello"}]));
    assert_eq!(bodies[1][1]["uri"], "file:///a");
    // The end of each is an event too, and comes once.
    let ended = |event| match event {
        IdeEvent::TurnEnded { prompt, .. } => prompt.map(|it| it.to_string()),
        _ => None,
    };
    assert_eq!(first(&mut events, ended).await, "prompt-1");
    assert_eq!(first(&mut events, ended).await, "prompt-2");
    daemon.refuse_next(
        &route,
        503,
        "",
        &json!({"error": "full", "code": "prompt_queue_full"}),
    );
    assert!(matches!(
        connection.send_prompt("x").await,
        Err(CallError::Daemon(_))
    ));
}

#[tokio::test]
async fn forwards_cancel_and_model_changes_to_the_daemon_session() {
    let daemon = daemon().await;
    let (connection, mut events) = connected(&daemon).await;
    let model = format!("POST /session/{SESSION}/model");
    stand(
        &daemon,
        &model,
        200,
        &json!({"_meta": {"qwenModelSwitch": {"apiKey": "k", "modelId": "m"}}}),
    );
    connection.set_model("m(openai)").await.unwrap();
    assert_eq!(
        daemon.requests(&model)[0].body,
        json!({"modelId": "m(openai)"})
    );
    daemon.emit(
        "model_switched",
        json!({"sessionId": SESSION, "modelId": "m(openai)"}),
    );
    let changed = |event| match event {
        IdeEvent::ModelChanged { model } => Some(model),
        _ => None,
    };
    assert_eq!(first(&mut events, changed).await, "m(openai)");
    let sent = connection.send_prompt("go").await.unwrap();
    connection.cancel().await.unwrap();
    let end = TurnEnd::Complete {
        stop_reason: StopReason::Cancelled,
    };
    assert_eq!(sent.end().await, end);
    // Without a session: nothing to cancel, and nothing to set.
    connection
        .disconnect(DisconnectMode::KeepRunning)
        .await
        .unwrap();
    connection.cancel().await.unwrap();
    assert!(matches!(
        connection.set_model("m").await,
        Err(CallError::NotConnected)
    ));
    assert!(matches!(
        connection.send_prompt("x").await,
        Err(CallError::NotConnected)
    ));
}

#[tokio::test]
async fn surfaces_session_died_as_a_disconnect() {
    let daemon = daemon().await;
    let (connection, mut events) = connected(&daemon).await;
    daemon.emit(
        "session_died",
        json!({"sessionId": SESSION, "reason": "channel_closed"}),
    );
    let reason = disconnected(&mut events).await;
    assert_eq!(
        reason,
        DisconnectReason::Died {
            reason: Some("channel_closed".into())
        }
    );
    assert!(reason.can_reconnect() && connection.session().is_none());
}

#[tokio::test]
async fn ignores_stale_session_died_events_from_another_session() {
    let daemon = daemon().await;
    let (connection, mut events) = connected(&daemon).await;
    daemon.emit(
        "session_died",
        json!({"sessionId": "another", "reason": "x"}),
    );
    daemon.emit("session_died", json!({"reason": "x"}));
    daemon.say("still here");
    assert_eq!(said(&mut events).await, "still here");
    assert!(connection.session().is_some());
}

/// Neither is the end of a connection here: both are healed, and told.
#[tokio::test]
async fn surfaces_event_stream_failures_and_normal_stream_completion() {
    let daemon = daemon().await;
    let (_connection, mut events) = connected(&daemon).await;
    for (broken, text) in [(true, "after a cut"), (false, "after an end")] {
        if broken {
            daemon.cut();
        } else {
            daemon.end_streams();
        }
        take_until(&mut events, |it| {
            matches!(it, IdeEvent::ConnectionLost { .. })
        })
        .await;
        take_until(&mut events, |it| matches!(it, IdeEvent::ConnectionRestored)).await;
        daemon.say(text);
        assert_eq!(said(&mut events).await, text);
    }
}

/// Whoever handles an event may fail. Who takes the next one all the same has dealt with it, and the
/// place to go on from moves.
#[tokio::test]
async fn continues_after_handler_failures_while_advancing_replay_state() {
    let daemon = daemon().await;
    let (connection, mut events) = connected(&daemon).await;
    let turn = connection.send_prompt("go").await.unwrap();
    daemon.emit("session_update", chunk("the handler breaks here"));
    let text = said(&mut events).await;
    let handler = tokio::spawn(async move {
        panic!("the handler broke at {text:?} (this panic is part of the test)");
    });
    assert!(handler.await.unwrap_err().is_panic());
    assert_eq!(connection.resume_state().unwrap().last_event_id, 0);
    daemon.emit("session_update", chunk("it goes on"));
    assert_eq!(said(&mut events).await, "it goes on");
    assert_eq!(connection.resume_state().unwrap().last_event_id, 1);
    daemon.complete();
    assert!(matches!(turn.end().await, TurnEnd::Complete { .. }));
}

/// Whoever takes the events may be gone for good. Prompts still end, and the place to go on from
/// stays where that was.
#[tokio::test]
async fn turns_end_although_nobody_takes_events() {
    let daemon = daemon().await;
    let (connection, mut events) = connected(&daemon).await;
    let sent = connection.send_prompt("go").await.unwrap();
    daemon.emit("session_update", chunk("taken"));
    said(&mut events).await;
    drop(events);
    // More than the events that nobody takes may fill.
    let large = "x".repeat(1 << 20);
    for _ in 0..12 {
        daemon.emit("session_update", chunk(&large));
    }
    daemon.complete();
    assert!(matches!(sent.end().await, TurnEnd::Complete { .. }));
    assert_eq!(connection.resume_state().unwrap().last_event_id, 0);
    // It is the same connection, and goes on.
    let sent = connection.send_prompt("again").await.unwrap();
    daemon.complete();
    assert!(matches!(sent.end().await, TurnEnd::Complete { .. }));
    assert_eq!(daemon.requests("POST /session").len(), 1);
}
