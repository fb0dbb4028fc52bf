//! Daemons and agents that end, politely or not, and come back.

use std::time::Duration;

use outrigger_daemon::wire::{RestoreSession, TranscriptRequest};
use outrigger_daemon::{
    DaemonEvent, ErrorCode, HistoryCause, Session, SessionEndReason, SessionEvent, TurnEnd,
};
use rustix::process::Signal;
use testkit::soon;

use crate::conversations::complete;
use crate::house::{House, Screen, end_of, once_it_has_an_agent, settings};

#[tokio::test]
async fn a_killed_daemon_that_comes_back_has_the_conversation() {
    let Some(mut house) = House::open() else {
        return;
    };
    house.model.speak("TALK", vec![]).say("said before; ");
    house.model.speak("AFTER", vec![]).say("said after");
    let speech = house.model.speak("HOLD", vec![]);
    let (session, mut updates) = house.session().await;
    let mut screen = Screen::default();
    let turn = session.prompt("please TALK").await.unwrap();
    assert_eq!(end_of(turn).await, complete());
    written_down(&session, "said before").await;
    let turn = session.prompt("please HOLD").await.unwrap();
    speech.say("half a wo");
    screen
        .watch(&mut updates, "half a word", |screen, _| {
            screen.text.ends_with("half a wo")
        })
        .await;
    let before = session.client_id();
    house.end(Signal::KILL).await;
    screen
        .watch(&mut updates, "the outage", |_, it| {
            matches!(it, SessionEvent::Disconnected { .. })
        })
        .await;
    house.start_again();

    let update = screen
        .watch(&mut updates, "the history", |_, it| {
            matches!(it, SessionEvent::History(_))
        })
        .await;
    let SessionEvent::History(history) = update else {
        panic!()
    };
    assert_eq!(history.cause, HistoryCause::Revived);
    assert_eq!(
        end_of(turn).await,
        TurnEnd::Interrupted {
            code: Some(ErrorCode::Name("daemon_lost".into()))
        }
    );
    assert!(screen.text.starts_with("said before; "), "{}", screen.text);
    assert_ne!(session.client_id(), before);
    let turn = session.prompt("please AFTER").await.unwrap();
    assert_eq!(end_of(turn).await, complete());
    screen.event(&mut updates, "turn_complete").await;
    assert!(screen.text.ends_with("said after"), "{}", screen.text);
    drop(speech);
}

#[tokio::test]
async fn a_daemon_that_shuts_down_says_so() {
    let Some(mut house) = House::open() else {
        return;
    };
    let speech = house.model.speak("HOLD", vec![]);
    let (session, mut updates) = house.session().await;
    let mut screen = Screen::default();
    let turn = session.prompt("please HOLD").await.unwrap();
    speech.say("begun");
    screen
        .watch(&mut updates, "the beginning", |screen, _| {
            screen.text == "begun"
        })
        .await;
    house.end(Signal::TERM).await;
    let end = screen
        .watch(&mut updates, "the end", |_, it| {
            matches!(it, SessionEvent::Ended(_))
        })
        .await;
    let reason = Some("daemon_shutdown".into());
    assert_eq!(end, SessionEvent::Ended(SessionEndReason::Died { reason }));
    // However it ends, it ends.
    end_of(turn).await;
    let error = session.status().await.unwrap_err();
    assert!(error.nothing_was_sent(), "{error:?}");
}

#[tokio::test]
async fn an_agent_that_is_killed_ends_the_session_which_can_be_loaded_again() {
    let Some(house) = House::open() else { return };
    let speech = house.model.speak("HOLD", vec![]);
    house.model.speak("TALK", vec![]).say("said before; ");
    house.model.speak("AFTER", vec![]).say("said after");
    let (session, mut updates) = house.session().await;
    let mut screen = Screen::default();
    let turn = session.prompt("please TALK").await.unwrap();
    assert_eq!(end_of(turn).await, complete());
    // The agent writes the transcript behind the turn; what it has not written dies with it.
    written_down(&session, "said before").await;
    let turn = session.prompt("please HOLD").await.unwrap();
    speech.say("begun");
    screen
        .watch(&mut updates, "the beginning", |screen, _| {
            screen.text.ends_with("begun")
        })
        .await;
    assert!(house.daemon.kill_agent());
    assert!(matches!(end_of(turn).await, TurnEnd::Failed { .. }));
    let end = screen
        .watch(&mut updates, "the end", |_, it| {
            matches!(it, SessionEvent::Ended(_))
        })
        .await;
    assert!(
        matches!(end, SessionEvent::Ended(SessionEndReason::Died { .. })),
        "{end:?}"
    );
    let restore = RestoreSession::default();
    let load = async || Session::load(house.client(), session.id(), &restore, settings()).await;
    let (again, mut updates) = once_it_has_an_agent(load).await;
    let turn = again.prompt("please AFTER").await.unwrap();
    assert_eq!(end_of(turn).await, complete());
    let mut screen = Screen::default();
    screen.event(&mut updates, "turn_complete").await;
    assert!(screen.text.starts_with("said before; "), "{}", screen.text);
    assert!(screen.text.ends_with("said after"), "{}", screen.text);
}

/// Why a session is never resumed by the route of that name: the history would be gone for everybody.
#[tokio::test]
async fn what_was_resumed_from_disk_has_no_history_to_load() {
    let Some(mut house) = House::open() else {
        return;
    };
    house.model.speak("BEFORE", vec![]).say("said before");
    let (session, mut updates) = house.session().await;
    let turn = session.prompt("BEFORE").await.unwrap();
    let mut screen = Screen::default();
    screen.event(&mut updates, "turn_complete").await;
    end_of(turn).await;
    written_down(&session, "said before").await;
    let id = session.id().clone();
    drop((session, updates));
    house.end(Signal::TERM).await;
    house.start_again();
    let (client, restore) = (house.client(), RestoreSession::default());
    once_it_has_an_agent(async || client.resume_session(&id, &restore, None).await).await;
    let loaded = client.load_session(&id, &restore, None).await.unwrap();
    assert!(loaded.opened.attached, "{loaded:?}");
    assert_eq!(loaded.compacted_replay, vec![]);
    // The agent may have told its commands by now, which is not what was said.
    let is_said = |event: &&DaemonEvent| !event.data().contains("available_commands_update");
    let said: Vec<_> = loaded.live_journal.iter().filter(is_said).collect();
    assert!(said.is_empty(), "{said:?}");
}

/// Waits until the transcript on disk has this text.
pub(crate) async fn written_down(session: &Session, text: &str) {
    let looking = async {
        loop {
            let page = session.transcript(&TranscriptRequest::default()).await;
            let found = |event: &DaemonEvent| event.data().contains(text);
            if page.is_ok_and(|page| page.events.iter().any(found)) {
                return;
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    soon("the turn is written down", looking).await;
}
