//! Connects and disconnects happen in the order in which they were asked for.

use std::future::Future;

use outrigger_daemon::connection::{
    CallError, ConnectOptions, DisconnectReason, IdeConnection, IdeEvent, SessionChoice,
};
use outrigger_daemon::wire::SessionUpdate;
use outrigger_daemon::{DisconnectMode, HistoryCause, TurnEnd};
use serde_json::json;

use crate::fake::SESSION;
use crate::person::{
    asked, connected, daemon, disconnected, first, next, options, permission, said, take_until,
};

#[tokio::test]
async fn the_last_of_many_connects_holds() {
    let daemons = [daemon().await, daemon().await, daemon().await];
    let (connection, mut events) = IdeConnection::new();
    let attempts = tokio::join!(
        connection.connect(options(&daemons[0])),
        connection.connect(options(&daemons[1])),
        connection.connect(options(&daemons[2])),
    );
    assert!(matches!(attempts, (Ok(_), Ok(_), Ok(_))));
    for daemon in &daemons {
        daemon.say(&daemon.port.to_string());
    }
    assert_eq!(said(&mut events).await, daemons[2].port.to_string());
}

#[tokio::test]
async fn a_disconnect_during_a_connect_comes_after_it() {
    let daemon = daemon().await;
    let (connection, mut events) = IdeConnection::new();
    let (connect, disconnect) = tokio::join!(
        connection.connect(options(&daemon)),
        connection.disconnect(DisconnectMode::Detach),
    );
    assert!(connect.is_ok() && disconnect.is_ok());
    assert!(matches!(next(&mut events).await, IdeEvent::Connected(_)));
    assert_eq!(disconnected(&mut events).await, DisconnectReason::Left);
    assert!(connection.session().is_none());
    assert_eq!(
        daemon
            .requests(&format!("POST /session/{SESSION}/detach"))
            .len(),
        1
    );
}

#[tokio::test]
async fn a_connect_that_nobody_waits_for_is_not_begun() {
    let (slow, never) = (daemon().await, daemon().await);
    let (connection, _events) = IdeConnection::new();
    let mut first = Box::pin(connection.connect(options(&slow)));
    let mut second = Box::pin(connection.connect(options(&never)));
    // Both are asked for, then the second one is given up before its turn.
    std::future::poll_fn(|context| {
        assert!(first.as_mut().poll(context).is_pending());
        assert!(second.as_mut().poll(context).is_pending());
        std::task::Poll::Ready(())
    })
    .await;
    drop(second);
    first.await.unwrap();
    connection
        .disconnect(DisconnectMode::KeepRunning)
        .await
        .unwrap();
    assert!(never.requests("GET /capabilities").is_empty());
}

#[tokio::test]
async fn a_failed_connect_leaves_nothing_behind() {
    let daemon = daemon().await;
    let (connection, mut events) = connected(&daemon).await;
    let wrong = ConnectOptions {
        token: None,
        ..options(&daemon)
    };
    assert!(connection.connect(wrong).await.is_err());
    assert_eq!(disconnected(&mut events).await, DisconnectReason::Left);
    assert!(connection.session().is_none() && events.try_next().is_none());
    connection.disconnect(DisconnectMode::Cancel).await.unwrap();
    assert!(events.try_next().is_none());
}

/// The one who waits for the disconnect is the one who should take the events, and does not.
#[tokio::test]
async fn a_listener_that_does_not_listen_cannot_block_a_disconnect() {
    let daemon = daemon().await;
    let (connection, mut events) = connected(&daemon).await;
    let turn = connection.send_prompt("go").await.unwrap();
    let large = "x".repeat(1 << 20);
    for _ in 0..12 {
        daemon.say(&large);
    }
    // The turn ends when all of it has been read, and nothing has been taken.
    daemon.complete();
    turn.end().await;
    connection
        .disconnect(DisconnectMode::KeepRunning)
        .await
        .unwrap();
    let mut told = 0;
    loop {
        match next(&mut events).await {
            IdeEvent::Update { .. } | IdeEvent::TurnEnded { .. } => told += 1,
            IdeEvent::Disconnected { resume, .. } => {
                // Nothing is lost without saying so: what was not told is still to come.
                assert_eq!(resume.last_event_id, told);
                break;
            }
            _ => {}
        }
    }
}

#[tokio::test]
async fn every_way_of_parting_does_what_it_says() {
    for (parting, cancels, detaches) in [
        (DisconnectMode::KeepRunning, 0, 0),
        (DisconnectMode::Detach, 0, 1),
        (DisconnectMode::Cancel, 1, 1),
    ] {
        let daemon = daemon().await;
        let (connection, mut events) = connected(&daemon).await;
        let sent = connection.send_prompt("go").await.unwrap();
        connection.disconnect(parting).await.unwrap();
        // The turn may go on, but its end will not be told here, and that is told.
        assert!(matches!(sent.end().await, TurnEnd::Unknown { .. }));
        let taken = take_until(&mut events, |it| {
            matches!(it, IdeEvent::Disconnected { .. })
        })
        .await;
        let ends = taken
            .iter()
            .filter(|it| matches!(it, IdeEvent::TurnEnded { .. }))
            .count();
        assert_eq!(ends, 1, "{parting:?}");
        let count = |what: &str| {
            daemon
                .requests(&format!("POST /session/{SESSION}/{what}"))
                .len()
        };
        assert_eq!(
            (count("cancel"), count("detach")),
            (cancels, detaches),
            "{parting:?}"
        );
    }
}

#[tokio::test]
async fn reconnecting_goes_on_where_it_was_left() {
    let daemon = daemon().await;
    let (connection, mut events) = connected(&daemon).await;
    daemon.say("one");
    assert_eq!(said(&mut events).await, "one");
    connection
        .disconnect(DisconnectMode::KeepRunning)
        .await
        .unwrap();
    daemon.world().emit_quietly("two");
    connection.reconnect().await.unwrap();
    assert_eq!(said(&mut events).await, "two");
    assert_eq!(daemon.requests("POST /session").len(), 1);
}

#[tokio::test]
async fn a_conversation_of_a_dead_daemon_is_brought_back_whole() {
    let daemon = daemon().await;
    let (connection, mut events) = connected(&daemon).await;
    let sent = connection.send_prompt("go").await.unwrap();
    let before = ["one ", "two ", "three "];
    for text in before {
        daemon.say(text);
        assert_eq!(said(&mut events).await, text);
    }
    daemon.complete();
    sent.end().await;
    daemon.emit(
        "session_died",
        json!({"sessionId": SESSION, "reason": "daemon_shutdown"}),
    );
    disconnected(&mut events).await;
    daemon.go_down().await;
    assert!(connection.reconnect().await.is_err());
    daemon.come_back().await;
    connection.reconnect().await.unwrap();
    let over = |event| match event {
        IdeEvent::HistoryLoaded {
            cause,
            events,
            incomplete,
            ..
        } => Some((cause, events, incomplete)),
        _ => None,
    };
    let (cause, history, incomplete) = first(&mut events, over).await;
    assert_eq!((cause, incomplete), (HistoryCause::Resync, false));
    let texts = history.iter().filter_map(|event| match event {
        IdeEvent::Update {
            update: SessionUpdate::AgentMessage(chunk),
            ..
        } => Some(chunk.text()),
        _ => None,
    });
    // Each of it once, in its order, and the end of the turn.
    assert_eq!(texts.collect::<Vec<_>>(), before);
    let ends = history
        .iter()
        .filter(|event| matches!(event, IdeEvent::TurnEnded { .. }));
    assert_eq!(ends.count(), 1);
    // What follows is new: nothing of the history comes a second time.
    daemon.say("four");
    assert_eq!(said(&mut events).await, "four");
}

#[tokio::test]
async fn dropping_the_last_handle_ends_the_connection_and_nothing_else() {
    let daemon = daemon().await;
    let (connection, mut events) = connected(&daemon).await;
    daemon.emit("permission_request", permission("r-1"));
    asked(&mut events).await;
    let other = connection.clone();
    drop(connection);
    assert!(other.session().is_some());
    drop(other);
    assert_eq!(disconnected(&mut events).await, DisconnectReason::Left);
    assert_eq!(events.next().await, None);
    assert!(
        daemon
            .requests(&format!("POST /session/{SESSION}/cancel"))
            .is_empty()
    );
}

#[tokio::test]
async fn a_conversation_of_ones_own_is_asked_for() {
    let daemon = daemon().await;
    let (connection, _events) = IdeConnection::new();
    let own = ConnectOptions {
        session: SessionChoice::New,
        approval_mode: Some("default".into()),
        ..options(&daemon)
    };
    connection.connect(own).await.unwrap();
    let asked = &daemon.requests("POST /session")[0].body;
    assert_eq!(
        *asked,
        json!({"sessionScope": "thread", "approvalMode": "default"})
    );
    let route = format!("POST /session/{SESSION}/approval-mode");
    let invalid = json!({"error": "unknown mode", "code": "invalid_approval_mode"});
    daemon.refuse_next(&route, 400, "", &invalid);
    let unknown = connection.set_approval_mode(&"yolo!".into()).await;
    assert!(matches!(unknown, Err(CallError::Daemon(_))));
}
