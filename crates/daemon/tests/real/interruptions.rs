//! Streams that break while the daemon is fine: cuts, old cursors, rings that are too small.

use outrigger_daemon::client::Subscription;
use outrigger_daemon::wire::{Epoch, RestoreSession};
use outrigger_daemon::{
    DaemonError, ErrorReason, HistoryCause, ResumeState, Session, SessionEvent,
};

use crate::conversations::complete;
use crate::house::{House, Screen, end_of, settings};
use crate::tunnel::Tunnel;

#[tokio::test]
async fn a_turn_survives_cuts_and_every_word_is_shown_once() {
    let Some(house) = House::open() else { return };
    let tunnel = Tunnel::to(house.daemon.port()).await;
    let (session, mut updates) = house
        .session_by(house.client_at(tunnel.address.clone()))
        .await;
    let mut screen = Screen::default();
    let mut expected = String::new();
    for round in 0..6 {
        let mark = format!("ROUND{round}.");
        let speech = house.model.speak(&mark, vec![]);
        let turn = session
            .prompt(format!("please {mark}").as_str())
            .await
            .unwrap();
        for n in 0..10 {
            let word = format!("[{round}:{n}]");
            expected += &word;
            speech.say(&word);
            if (n + round) % 4 == 0 {
                let whole = expected.clone();
                screen
                    .watch(&mut updates, "the words before the cut", |screen, _| {
                        screen.text == whole
                    })
                    .await;
                tunnel.cut();
            }
        }
        drop(speech);
        if round % 2 == 0 {
            tunnel.cut();
        }
        assert_eq!(end_of(turn).await, complete());
    }
    screen
        .watch(&mut updates, "every word", |screen, _| {
            screen.text == expected
        })
        .await;
    let counters = session.counters();
    assert!(counters.streams > 10, "{counters:?}");
    assert_eq!(
        (counters.histories, counters.unreadable, counters.unknown),
        (0, 0, 0)
    );
}

#[tokio::test]
async fn old_and_foreign_cursors_lead_to_the_history() {
    let Some(house) = House::open() else { return };
    house.model.speak("TALK", vec![]).say("one ").say("two");
    let (session, mut updates) = house.session().await;
    let turn = session.prompt("please TALK").await.unwrap();
    assert_eq!(end_of(turn).await, complete());
    let mut screen = Screen::default();
    screen.event(&mut updates, "turn_complete").await;
    let good = updates.resume_state();
    let foreign = ResumeState {
        epoch: Some(Epoch::new("11111111-1111-4111-8111-111111111111").unwrap()),
        ..good.clone()
    };
    let future = ResumeState {
        last_event_id: 99_999,
        ..good.clone()
    };
    let middle = ResumeState {
        last_event_id: 2,
        ..good.clone()
    };
    for (state, histories) in [(good, 0), (middle, 0), (foreign, 1), (future, 1)] {
        let resumed = Session::resume(
            house.client(),
            &state,
            &RestoreSession::default(),
            settings(),
        )
        .await
        .unwrap();
        let (session, mut updates) = resumed;
        let mut screen = Screen::default();
        let caught_up = |screen: &Screen, update: &SessionEvent| {
            let found = screen
                .seen
                .iter()
                .filter(|it| matches!(it, SessionEvent::History(_)))
                .count();
            crate::house::is(update, "replay_complete") && found == histories
        };
        screen
            .watch(&mut updates, "the end of the replay", caught_up)
            .await;
        assert_eq!(session.counters().histories, histories as u64, "{state:?}");
        if histories == 1 {
            assert_eq!(screen.text, "one two");
        }
        // The cursor is right again: the next stream needs no history.
        let state = updates.resume_state();
        let (again, mut updates) = Session::resume(
            house.client(),
            &state,
            &RestoreSession::default(),
            settings(),
        )
        .await
        .unwrap();
        Screen::default()
            .event(&mut updates, "replay_complete")
            .await;
        assert_eq!(again.counters().histories, 0);
    }
}

#[tokio::test]
async fn a_ring_that_is_too_small_leads_to_the_history() {
    let Some(house) = House::with_flags(&["--event-ring-size", "20"]) else {
        return;
    };
    let pieces: Vec<String> = (0..60).map(|n| format!("chunk {n}; ")).collect();
    house.model.speak("MUCH", vec![]).say_all(&pieces);
    let (session, mut updates) = house.session().await;
    let mut screen = Screen::default();
    let turn = session.prompt("please MUCH").await.unwrap();
    assert_eq!(end_of(turn).await, complete());
    screen.event(&mut updates, "turn_complete").await;
    assert_eq!(screen.text, pieces.concat());
    let state = ResumeState {
        last_event_id: 5,
        ..updates.resume_state()
    };
    let (late, mut updates) = Session::resume(
        house.client(),
        &state,
        &RestoreSession::default(),
        settings(),
    )
    .await
    .unwrap();
    let mut screen = Screen::default();
    let update = screen
        .watch(&mut updates, "the history", |_, it| {
            matches!(it, SessionEvent::History(_))
        })
        .await;
    assert!(matches!(update, SessionEvent::History(it) if it.cause == HistoryCause::Resync));
    screen.event(&mut updates, "replay_complete").await;
    assert_eq!(screen.text, pieces.concat());
    assert_eq!(late.counters().histories, 1);
}

#[tokio::test]
async fn a_session_has_room_for_so_many_streams() {
    let Some(house) = House::open() else { return };
    let (session, _updates) = house.session().await;
    let mut streams = Vec::new();
    let refused: DaemonError = loop {
        match house
            .client()
            .events(session.id(), &Subscription::default(), None)
            .await
        {
            Ok(stream) => streams.push(stream),
            Err(error) => break error,
        }
        assert!(streams.len() < 100);
    };
    assert_eq!(refused.reason(), Some(ErrorReason::SubscriberLimit));
    assert!(refused.response().unwrap().retry_after.is_some());
}
