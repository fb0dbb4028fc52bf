//! A connection to the kit's daemon, and what is told of its events.

use std::time::Duration;

use conversation::BackendEvent;
use daemon::connection::{ConnectOptions, IdeConnection, IdeEvent, IdeEvents};
use daemon::{Address, Backoff, Jitter, SessionSettings, Timeouts, Token};
use serde_json::Value;
use testkit::fake_daemon::{FakeDaemon, PATIENCE, SESSION, TOKEN, until};

pub(crate) async fn daemon() -> FakeDaemon {
    FakeDaemon::for_conversations("/home/dev/ws").await
}

pub(crate) fn options(daemon: &FakeDaemon) -> ConnectOptions {
    ConnectOptions {
        address: Address::local(daemon.port),
        token: Some(Token::new(TOKEN).unwrap()),
        settings: SessionSettings {
            backoff: Backoff {
                first: Duration::from_millis(5),
                longest: Duration::from_millis(40),
                jitter: Jitter::none(),
            },
            give_up_after: PATIENCE,
            ..SessionSettings::default()
        },
        timeouts: Timeouts {
            connect: PATIENCE,
            response: PATIENCE,
            restore: PATIENCE,
        },
        ..ConnectOptions::default()
    }
}

/// A connection that stands, and has heard what there was to hear.
pub(crate) async fn connected(daemon: &FakeDaemon) -> (IdeConnection, IdeEvents) {
    let (connection, mut events) = IdeConnection::new();
    connection.connect(options(daemon)).await.unwrap();
    while !matches!(next(&mut events).await, IdeEvent::Connected(_)) {}
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

/// Events as a page reads them.
pub(crate) fn json<'a>(told: impl IntoIterator<Item = &'a BackendEvent>) -> Vec<Value> {
    let told = told.into_iter().filter_map(wire::conversation::event);
    told.map(|event| serde_json::to_value(event).unwrap())
        .collect()
}
