//! A person in front of a connection, and the daemon behind it.

use outrigger_daemon::connection::{ConnectOptions, IdeConnection, IdeEvent, IdeEvents};
use outrigger_daemon::wire::{RequestId, SessionUpdate};
use outrigger_daemon::{Address, Timeouts, Token};
use testkit::fake_daemon::{FakeDaemon, PATIENCE, SESSION, TOKEN, until};

use crate::quick::quick;

pub(crate) use testkit::fake_daemon::{
    cancelled, capabilities, nothing_waits, permission, question, resolve, selected, stand,
    takes_votes, vote_route, votes, waiting,
};

/// A daemon that knows the routes which an IDE connection needs.
pub(crate) async fn daemon() -> FakeDaemon {
    FakeDaemon::for_conversations("/home/dev/ws").await
}

pub(crate) fn options(daemon: &FakeDaemon) -> ConnectOptions {
    ConnectOptions {
        address: Address::local(daemon.port),
        token: Some(Token::new(TOKEN).unwrap()),
        settings: quick(),
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
    connected_as(daemon, options(daemon)).await
}

/// The same, with other options.
pub(crate) async fn connected_as(
    daemon: &FakeDaemon,
    options: ConnectOptions,
) -> (IdeConnection, IdeEvents) {
    let (connection, mut events) = IdeConnection::new();
    connection.connect(options).await.unwrap();
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

pub(crate) async fn asked(
    events: &mut IdeEvents,
) -> outrigger_daemon::connection::InteractionRequest {
    first(events, |event| match event {
        IdeEvent::RequestOpened(request) => Some(*request),
        _ => None,
    })
    .await
}

pub(crate) async fn closed(
    events: &mut IdeEvents,
) -> (String, outrigger_daemon::connection::CloseReason) {
    first(events, |event| match event {
        IdeEvent::RequestClosed { request, reason } => Some((request.to_string(), reason)),
        _ => None,
    })
    .await
}

pub(crate) async fn disconnected(
    events: &mut IdeEvents,
) -> outrigger_daemon::connection::DisconnectReason {
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
