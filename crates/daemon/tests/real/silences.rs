//! Streams that are quiet, slow or late.

use std::time::Duration;

use outrigger_daemon::DaemonError;
use outrigger_daemon::client::{EventCursor, StreamItem, Subscription};
use outrigger_daemon::connection::IdeEvent;
use outrigger_daemon::wire::{RestoreSession, SessionUpdate};
use serde_json::json;
use testkit::{Call, PATIENCE};

use crate::conversations::complete;
use crate::house::{House, Screen, end_of, said};
use crate::ide::{asked, connected, first};

#[tokio::test]
async fn a_quiet_stream_shows_that_it_lives() {
    let Some(house) = House::open() else { return };
    let (session, _updates) = house.session().await;
    let mut stream = house
        .client()
        .events(session.id(), &Subscription::default(), None)
        .await
        .unwrap();
    // It is told every 15 seconds. The list of commands may still be on its way before.
    loop {
        match stream.next(PATIENCE).await.unwrap() {
            Some(StreamItem::Heartbeat) => return,
            Some(StreamItem::Event(_)) => {}
            other => panic!("{other:?}"),
        }
    }
}

#[tokio::test]
async fn a_reader_that_stalls_is_cut_off_and_others_are_not() {
    let Some(house) = House::open() else { return };
    let speech = house.model.speak("FLOOD", vec![]);
    let (session, mut updates) = house.session().await;
    let stalled = Subscription {
        cursor: Some(EventCursor::default()),
        max_queued: Some(16),
        ..Subscription::default()
    };
    let mut stalled = house
        .client()
        .events(session.id(), &stalled, None)
        .await
        .unwrap();
    let turn = session.prompt("FLOOD please").await.unwrap();
    let (mut screen, mut text) = (Screen::default(), String::new());
    // Far more than the sockets between us hold, and never more at once than the daemon keeps for
    // somebody who reads.
    for batch in 0..20 {
        for piece in 0..100 {
            let piece = format!("{batch} {piece} {}\n", "flood ".repeat(1_400));
            text += &piece;
            speech.say(&piece);
        }
        let all = text.len();
        screen
            .watch(&mut updates, "a batch", |it, _| it.text.len() >= all)
            .await;
    }
    drop(speech);
    screen.event(&mut updates, "turn_complete").await;
    assert_eq!(end_of(turn).await, complete());
    assert!(screen.text == text, "{} bytes", screen.text.len());
    // What it gets is only the beginning, and then the end of the line: silence would not be one.
    let mut got = String::new();
    let cut = loop {
        match stalled.next(PATIENCE).await {
            Ok(Some(StreamItem::Event(event))) => {
                assert_ne!(event.kind(), "turn_complete");
                got += &said(&event);
            }
            Ok(Some(_)) => {}
            Ok(None) => break None,
            Err(error) => break Some(error),
        }
    };
    assert!(
        matches!(cut, None | Some(DaemonError::ConnectionLost { .. })),
        "{cut:?}"
    );
    assert!(!got.is_empty() && got.len() < text.len(), "{}", got.len());
    assert!(text.starts_with(&got), "{} bytes", got.len());
}

#[tokio::test]
async fn a_background_agent_goes_on_after_the_turn() {
    let Some(house) = House::open() else { return };
    let agent = json!({"description": "sub task", "prompt": "please INNER", "subagent_type": "general-purpose"});
    let turns = vec![vec![Call::Other("agent", agent)]];
    house.model.speak("OUTER", turns).say("it works");
    let inner = house.model.speak("INNER", vec![]);
    let (connection, mut events) = connected(&house).await;
    let sent = connection.send_prompt("please OUTER").await.unwrap();
    let request = asked(&mut events).await;
    let yes = outrigger_daemon::connection::UserAnswer::Allow;
    connection.answer(&request.id, &yes).await.unwrap();
    let prompt = sent.id().cloned();
    assert_eq!(sent.end().await, complete());
    let ours = |event: &IdeEvent| match event {
        IdeEvent::TurnEnded { prompt, .. } => Some(prompt.clone()),
        _ => None,
    };
    assert_eq!(first(&mut events, "our turn", ours).await, prompt);
    // Our turn is over, and the other agent has not said a word yet.
    inner.say("from the background");
    drop(inner);
    let later = |event: &IdeEvent| match event {
        IdeEvent::Update {
            update: SessionUpdate::AgentMessage(chunk),
            ..
        } if !chunk.text().is_empty() => Some(()),
        _ => None,
    };
    first(&mut events, "news after the turn", later).await;
    let background = |event: &IdeEvent| match event {
        IdeEvent::TurnEnded {
            background: true,
            prompt: other,
            ..
        } => Some(*other != prompt),
        _ => None,
    };
    assert!(first(&mut events, "the background turn", background).await);
}

#[tokio::test]
async fn a_daemon_that_comes_back_on_another_port_is_found_by_its_new_address() {
    let Some(mut house) = House::open() else {
        return;
    };
    house.model.speak("BEFORE", vec![]).say("said before");
    house.model.speak("AFTER", vec![]).say("said after");
    let (session, mut updates) = house.session().await;
    let mut screen = Screen::default();
    let turn = session.prompt("BEFORE").await.unwrap();
    screen.event(&mut updates, "turn_complete").await;
    end_of(turn).await;
    crate::endings::written_down(&session, "said before").await;
    let state = updates.resume_state();
    drop((session, updates));
    house.end(rustix::process::Signal::TERM).await;
    house.start_elsewhere();
    let settings = outrigger_daemon::SessionSettings {
        give_up_after: Duration::from_mins(3),
        ..crate::house::settings()
    };
    let client = house.client();
    let (session, mut updates) =
        outrigger_daemon::Session::resume(client, &state, &RestoreSession::default(), settings)
            .await
            .unwrap();
    let mut screen = Screen::default();
    let history =
        |screen: &Screen, _: &outrigger_daemon::SessionEvent| screen.text == "said before";
    screen.watch(&mut updates, "the history", history).await;
    let turn = session.prompt("AFTER").await.unwrap();
    assert_eq!(end_of(turn).await, complete());
    let both = |screen: &Screen, _: &outrigger_daemon::SessionEvent| {
        screen.text == "said beforesaid after"
    };
    screen.watch(&mut updates, "both", both).await;
}
