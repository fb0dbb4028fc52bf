//! In which mode a session of the published daemon runs, and what is left at the daemon when its
//! client leaves.

use outrigger_daemon::connection::{ConnectError, IdeEvent};
use outrigger_daemon::wire::{ApprovalMode, NewSession, RestoreSession, SessionScope};
use outrigger_daemon::{
    Backoff, DisconnectMode, HistoryCause, Jitter, Session, SessionEvent, SessionSettings,
};
use rustix::process::Signal;
use serde_json::json;
use testkit::{Call, PATIENCE, soon};

use crate::conversations::complete;
use crate::endings::written_down;
use crate::house::{House, Screen, end_of, once_it_has_an_agent, settings, thread};

/// The mode in force, as the daemon tells.
async fn mode(session: &Session) -> Option<ApprovalMode> {
    let context = session.context().await.unwrap();
    context.state.modes.and_then(|modes| modes.current_mode_id)
}

/// A house whose daemon asks nobody, unless it is told to. That is its own default, too; the settings
/// of the tests are others.
fn house() -> Option<House> {
    House::with_settings(&json!({"tools": {"approvalMode": "auto"}}))
}

/// The mode is no part of what the daemon keeps on disk, and that of its settings asks nobody.
#[tokio::test]
async fn a_session_asks_again_when_it_comes_back() {
    let Some(mut house) = house() else { return };
    let file = house.workspace().join("made.txt");
    let write = Call::write(&file, "made");
    house.model.speak("BEFORE", vec![]).say("said before; ");
    let (session, mut events) = house.session().await;
    let mut screen = Screen::default();
    let turn = session.prompt("please BEFORE").await.unwrap();
    assert_eq!(end_of(turn).await, complete());
    written_down(&session, "said before").await;
    assert_eq!(mode(&session).await, Some(ApprovalMode::Default));
    house.end(Signal::KILL).await;
    house.start_again();
    screen
        .watch(&mut events, "the history", |_, it| {
            matches!(it, SessionEvent::History(history) if history.cause == HistoryCause::Revived)
        })
        .await;
    assert_eq!(mode(&session).await, Some(ApprovalMode::Default));
    house.model.on("WRITE", vec![vec![write]]);
    let turn = session.prompt("please WRITE").await.unwrap();
    screen.event(&mut events, "permission_request").await;
    assert!(!file.exists());
    session.cancel().await.unwrap();
    end_of(turn).await;
}

/// Somebody else is faster after the crash, and does not care for the mode. Our own request finds a
/// session that is alive already.
#[tokio::test]
async fn a_session_asks_again_although_somebody_else_has_brought_it_back() {
    let Some(mut house) = house() else { return };
    house.model.speak("BEFORE", vec![]).say("said before");
    let slow = SessionSettings {
        backoff: Backoff {
            first: PATIENCE / 4,
            longest: PATIENCE / 4,
            jitter: Jitter::none(),
        },
        ..settings()
    };
    let (session, mut events) = Session::open(house.client(), &thread(), slow)
        .await
        .unwrap();
    let turn = session.prompt("please BEFORE").await.unwrap();
    assert_eq!(end_of(turn).await, complete());
    written_down(&session, "said before").await;
    house.end(Signal::KILL).await;
    house.start_again();
    let restore = RestoreSession::default();
    let client = house.client();
    let load = async || client.load_session(session.id(), &restore, None).await;
    let loaded = once_it_has_an_agent(load).await;
    assert!(!loaded.opened.attached, "we were not faster");
    assert_eq!(mode(&session).await, Some(ApprovalMode::Auto));
    let is_history = |_: &Screen, it: &SessionEvent| matches!(it, SessionEvent::History(_));
    let mut screen = Screen::default();
    screen.watch(&mut events, "the history", is_history).await;
    assert_eq!(mode(&session).await, Some(ApprovalMode::Default));
}

/// The daemon ends in good order, which ends every session. Whoever connects again to the same one is
/// asked about as much as before.
#[tokio::test]
async fn a_connection_goes_on_in_the_mode_that_the_person_has_chosen() {
    let Some(mut house) = house() else { return };
    house.model.speak("BEFORE", vec![]).say("said before");
    let (connection, mut events) = crate::ide::connected(&house).await;
    let turn = connection.send_prompt("please BEFORE").await.unwrap();
    assert_eq!(end_of(turn).await, complete());
    let session = house.client();
    let id = connection.session().unwrap();
    let (session, watching) = Session::load(session, &id, &RestoreSession::default(), settings())
        .await
        .unwrap();
    written_down(&session, "said before").await;
    drop((session, watching));
    let plan = ApprovalMode::Plan;
    connection.set_approval_mode(&plan).await.unwrap();
    house.end(Signal::TERM).await;
    let is_over = |it: &IdeEvent| matches!(it, IdeEvent::Disconnected { .. }).then_some(());
    crate::ide::first(&mut events, "the end", is_over).await;
    house.start_again();
    let again = async || match connection.reconnect().await {
        Err(ConnectError::Daemon(error)) => Err(error),
        connected => Ok(connected.unwrap()),
    };
    once_it_has_an_agent(again).await;
    let context = connection.context().await.unwrap();
    let modes = context.state.modes.unwrap();
    assert_eq!(modes.current_mode_id, Some(plan));
}

#[tokio::test]
async fn a_session_from_disk_has_the_mode_of_whoever_loads_it() {
    let Some(house) = house() else { return };
    house.model.speak("BEFORE", vec![]).say("said before");
    for (wanted, expected) in [
        (None, "auto"),
        (Some(ApprovalMode::Default), "default"),
        (Some(ApprovalMode::Plan), "plan"),
    ] {
        let (session, _events) = house.session().await;
        let turn = session.prompt("BEFORE").await.unwrap();
        assert_eq!(end_of(turn).await, complete());
        written_down(&session, "said before").await;
        session.close().await.unwrap();
        let restore = RestoreSession {
            approval_mode: wanted.clone(),
            ..RestoreSession::default()
        };
        let load = async || Session::load(house.client(), session.id(), &restore, settings()).await;
        let (again, _events) = once_it_has_an_agent(load).await;
        let mode = mode(&again).await.unwrap();
        assert_eq!(mode.as_str(), expected, "{wanted:?}");
        // Live now, and whoever comes later does not change it for those who are in it.
        let restore = RestoreSession {
            approval_mode: Some(ApprovalMode::Yolo),
            ..RestoreSession::default()
        };
        let load = Session::load(house.client(), session.id(), &restore, settings());
        let (later, _events) = load.await.unwrap();
        assert_eq!(self::mode(&later).await.unwrap().as_str(), expected);
    }
}

/// Why the mode is not sent along with a request that may find a session: it would change it.
#[tokio::test]
async fn the_daemon_gives_a_live_session_the_mode_of_whoever_asks() {
    let Some(house) = house() else { return };
    let open = async || Session::open(house.client(), &thread(), settings()).await;
    let (session, _events) = once_it_has_an_agent(open).await;
    let yolo = RestoreSession {
        approval_mode: Some(ApprovalMode::Yolo),
        ..RestoreSession::default()
    };
    let loaded = house.client().load_session(session.id(), &yolo, None).await;
    assert!(loaded.unwrap().opened.attached);
    assert_eq!(mode(&session).await, Some(ApprovalMode::Yolo));
}

#[tokio::test]
async fn whoever_comes_later_changes_nothing_in_a_shared_session() {
    let Some(house) = house() else { return };
    let shared = |mode: ApprovalMode| NewSession {
        session_scope: Some(SessionScope::Single),
        approval_mode: Some(mode),
        ..NewSession::default()
    };
    let first = shared(ApprovalMode::Default);
    let open = async || Session::open(house.client(), &first, settings()).await;
    let (first, _events) = once_it_has_an_agent(open).await;
    assert_eq!(mode(&first).await, Some(ApprovalMode::Default));
    let second = shared(ApprovalMode::Yolo);
    let open = Session::open(house.client(), &second, settings());
    let (second, _events) = open.await.unwrap();
    assert_eq!(second.id(), first.id());
    assert_eq!(mode(&second).await, Some(ApprovalMode::Default));
}

/// A registration that stays counts in a quorum, and keeps the session in memory.
#[tokio::test]
async fn whoever_leaves_is_not_counted_any_more() {
    let Some(house) = house() else { return };
    let open = async || Session::open(house.client(), &thread(), settings()).await;
    let (stays, _events) = once_it_has_an_agent(open).await;
    let restore = RestoreSession::default();
    let load = Session::load(house.client(), stays.id(), &restore, settings());
    let (leaves, _events) = load.await.unwrap();
    let count = async || stays.status().await.unwrap().client_count;
    assert_eq!(count().await, Some(2));
    leaves.leave(DisconnectMode::Detach).await.unwrap();
    assert_eq!(count().await, Some(1));
}

/// The last one leaves in the middle of a turn: it goes on, and the session is closed after it.
#[tokio::test]
async fn a_turn_goes_on_when_the_last_client_leaves() {
    let Some(house) = house() else { return };
    let speech = house.model.speak("HOLD", vec![]);
    let (session, mut events) = house.session().await;
    let turn = session.prompt("please HOLD").await.unwrap();
    speech.say("begun ");
    let mut screen = Screen::default();
    let has_begun = |screen: &Screen, _: &SessionEvent| screen.text == "begun ";
    screen.watch(&mut events, "the beginning", has_begun).await;
    session.leave(DisconnectMode::Detach).await.unwrap();
    drop((events, turn));
    let status = house.client().session_status(session.id()).await.unwrap();
    assert_eq!(status.has_active_prompt, Some(true));
    assert_eq!(status.client_count, Some(0));
    speech.say("and ended");
    drop(speech);
    written_down(&session, "and ended").await;
    let closed = async {
        while house.client().session_status(session.id()).await.is_ok() {
            tokio::time::sleep(std::time::Duration::from_millis(50)).await;
        }
    };
    soon("the session is closed", closed).await;
}
