//! The IDE connection with the published daemon.

use std::fs;

use outrigger_daemon::connection::{
    CloseReason, ConnectOptions, DisconnectReason, IdeConnection, IdeEvent, IdeEvents,
    InteractionRequest, SessionChoice, UserAnswer,
};
use outrigger_daemon::wire::{ApprovalMode, PermissionOutcome, SessionUpdate, VoteResult};
use outrigger_daemon::{Address, DisconnectMode, Token, TurnEnd};
use rustix::process::Signal;
use serde_json::json;
use testkit::{Call, PATIENCE, TOKEN};

use crate::conversations::complete;
use crate::house::{House, settings};

pub(crate) fn options(house: &House) -> ConnectOptions {
    ConnectOptions {
        address: Address::local(house.daemon.port()),
        token: Token::new(TOKEN).ok(),
        workspace: Some(house.workspace()),
        session: SessionChoice::New,
        approval_mode: Some(ApprovalMode::Default),
        settings: settings(),
        ..ConnectOptions::default()
    }
}

pub(crate) async fn connected(house: &House) -> (IdeConnection, IdeEvents) {
    let (connection, events) = IdeConnection::new();
    connection.connect(options(house)).await.unwrap();
    (connection, events)
}

pub(crate) async fn first<T>(
    events: &mut IdeEvents,
    what: &str,
    pick: impl Fn(&IdeEvent) -> Option<T>,
) -> T {
    let mut seen = Vec::new();
    let picking = async {
        loop {
            let event = events.next().await.expect("the connection is not dropped");
            if let Some(picked) = pick(&event) {
                return picked;
            }
            seen.push(event);
        }
    };
    let picked = tokio::time::timeout(PATIENCE, picking).await;
    picked.unwrap_or_else(|_| panic!("waited in vain for {what}; seen: {seen:#?}"))
}

pub(crate) async fn asked(events: &mut IdeEvents) -> InteractionRequest {
    let pick = |event: &IdeEvent| match event {
        IdeEvent::RequestOpened(request) => Some((**request).clone()),
        _ => None,
    };
    first(events, "a request", pick).await
}

pub(crate) async fn closed(events: &mut IdeEvents) -> CloseReason {
    let pick = |event: &IdeEvent| match event {
        IdeEvent::RequestClosed { reason, .. } => Some(reason.clone()),
        _ => None,
    };
    first(events, "the end of a request", pick).await
}

/// Takes what is said until the turn is over.
async fn turn(events: &mut IdeEvents) -> (String, TurnEnd) {
    let text = std::cell::RefCell::new(String::new());
    let pick = |event: &IdeEvent| match event {
        IdeEvent::Update {
            update: SessionUpdate::AgentMessage(chunk),
            ..
        } => {
            *text.borrow_mut() += chunk.text();
            None
        }
        IdeEvent::TurnEnded { end, .. } => Some(end.clone()),
        _ => None,
    };
    let end = first(events, "the end of a turn", pick).await;
    (text.into_inner(), end)
}

#[tokio::test]
async fn a_person_talks_allows_refuses_and_answers() {
    let Some(house) = House::open() else { return };
    let file = house.workspace().join("made.txt");
    let write = Call::write(&file, "made\n");
    house.model.speak("HELLO", vec![]).say("Good ").say("day");
    house.model.speak("WRITE", vec![vec![write]]).say("written");
    let questions = json!({"questions": [
        {"question": "Which database?", "header": "Database", "options": [{"label": "SQLite", "description": "a"}, {"label": "Postgres", "description": "b"}], "multiSelect": false},
        {"question": "Which features?", "header": "Features", "options": [{"label": "Search", "description": "a"}, {"label": "Export", "description": "b"}], "multiSelect": true},
    ]});
    let ask = Call::Other("ask_user_question", questions);
    house.model.speak("ASK", vec![vec![ask]]).say("thanks");
    let (connection, mut events) = connected(&house).await;

    let sent = connection.send_prompt("HELLO").await.unwrap();
    assert_eq!(turn(&mut events).await, ("Good day".into(), complete()));
    assert_eq!(sent.end().await, complete());

    connection.send_prompt("WRITE").await.unwrap();
    let request = asked(&mut events).await;
    assert_eq!(request.content[0].as_diff().unwrap().new_text, "made\n");
    let person = async { Some(UserAnswer::Decline) };
    let answered = connection.decide(&request.id, person).await.unwrap();
    assert_eq!(answered.outcome, PermissionOutcome::Cancelled);
    assert!(matches!(closed(&mut events).await, CloseReason::Mine(_)));
    assert_eq!(turn(&mut events).await.1, complete());
    assert!(!file.exists());

    connection.send_prompt("WRITE").await.unwrap();
    let request = asked(&mut events).await;
    let answered = connection
        .answer(&request.id, &UserAnswer::Allow)
        .await
        .unwrap();
    assert_eq!(answered.vote, VoteResult::Taken);
    assert_eq!(turn(&mut events).await, ("written".into(), complete()));
    assert_eq!(fs::read_to_string(&file).unwrap(), "made\n");

    connection.send_prompt("ASK").await.unwrap();
    let request = asked(&mut events).await;
    assert_eq!(request.questions.as_ref().unwrap().len(), 2);
    let reply = vec![
        vec!["SQLite".into()],
        vec!["Search".into(), "Export".into()],
    ];
    connection
        .answer(&request.id, &UserAnswer::Reply(reply))
        .await
        .unwrap();
    let taken = |event: &IdeEvent| match event {
        IdeEvent::Update {
            update: SessionUpdate::ToolCallUpdate(call),
            ..
        } => call.raw_output.as_ref().map(ToString::to_string),
        _ => None,
    };
    let output = first(&mut events, "the answers", taken).await;
    assert!(
        output.contains("SQLite") && output.contains("Search, Export"),
        "{output}"
    );
    assert_eq!(turn(&mut events).await.0, "thanks");
}

#[tokio::test]
async fn two_people_in_one_conversation() {
    let Some(house) = House::open() else { return };
    let file = house.workspace().join("both.txt");
    let write = Call::write(&file, "x");
    house.model.speak("WRITE", vec![vec![write]]).say("done");
    let (one, mut events) = connected(&house).await;
    one.send_prompt("WRITE").await.unwrap();
    let request = asked(&mut events).await;
    // The second one comes while the request waits, and finds it.
    let (two, mut others) = IdeConnection::new();
    let same = ConnectOptions {
        session: SessionChoice::Known(one.session().unwrap()),
        approval_mode: None,
        ..options(&house)
    };
    two.connect(same).await.unwrap();
    assert_eq!(asked(&mut others).await.id, request.id);
    let (a, b) = tokio::join!(
        one.answer(&request.id, &UserAnswer::Allow),
        two.answer(&request.id, &UserAnswer::Allow)
    );
    let votes = [a.unwrap().vote, b.unwrap().vote];
    assert_eq!(
        votes.iter().filter(|it| **it == VoteResult::Taken).count(),
        1,
        "{votes:?}"
    );
    // It is closed for both: by the one whose vote was taken, and behind the other one's back.
    let ways = [closed(&mut events).await, closed(&mut others).await];
    for (vote, way) in votes.iter().zip(&ways) {
        if *vote == VoteResult::Taken {
            assert!(
                matches!(
                    way,
                    CloseReason::Mine(Some(PermissionOutcome::Selected { .. }))
                ),
                "{ways:?}"
            );
        } else {
            assert!(
                matches!(way, CloseReason::Elsewhere(_) | CloseReason::Gone),
                "{ways:?}"
            );
        }
    }
    assert_eq!(turn(&mut events).await.1, complete());
    assert_eq!(turn(&mut others).await.1, complete());
    assert_eq!(fs::read_to_string(&file).unwrap(), "x");
    two.disconnect(DisconnectMode::Detach).await.unwrap();
}

#[tokio::test]
async fn a_daemon_that_is_killed_and_started_again() {
    let Some(mut house) = House::open() else {
        return;
    };
    house.model.speak("HELLO", vec![]).say("again");
    let speech = house.model.speak("SLOW", vec![]);
    let (connection, mut events) = connected(&house).await;
    let sent = connection.send_prompt("SLOW").await.unwrap();
    speech.say("beginning");
    let begun = |event: &IdeEvent| match event {
        IdeEvent::Update {
            update: SessionUpdate::AgentMessage(chunk),
            ..
        } => (!chunk.text().is_empty()).then_some(()),
        _ => None,
    };
    first(&mut events, "the beginning", begun).await;
    house.end(Signal::KILL).await;
    let away = |event: &IdeEvent| matches!(event, IdeEvent::ConnectionLost { .. }).then_some(());
    first(&mut events, "the interruption", away).await;
    house.start_again();
    drop(speech);
    let over = |event: &IdeEvent| matches!(event, IdeEvent::HistoryLoaded { .. }).then_some(());
    first(&mut events, "the conversation", over).await;
    let end = tokio::time::timeout(PATIENCE, sent.end()).await.unwrap();
    assert!(
        matches!(end, TurnEnd::Interrupted { .. } | TurnEnd::Unknown { .. }),
        "{end:?}"
    );
    turn(&mut events).await;
    connection.send_prompt("HELLO").await.unwrap();
    assert_eq!(turn(&mut events).await, ("again".into(), complete()));

    // And one that ends in an orderly way is told, and can be come back to.
    house.end(Signal::TERM).await;
    let gone = |event: &IdeEvent| match event {
        IdeEvent::Disconnected { reason, .. } => Some(reason.clone()),
        _ => None,
    };
    let reason = first(&mut events, "the end", gone).await;
    assert!(
        matches!(reason, DisconnectReason::Died { .. }) && reason.can_reconnect(),
        "{reason:?}"
    );
    house.start_again();
    connection.reconnect().await.unwrap();
    first(&mut events, "the conversation", over).await;
}
