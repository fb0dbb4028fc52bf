//! Every row of the cursor table: what a stream answers to a cursor, and what the session makes of it.

use outrigger_daemon::wire::{NewSession, RestoreSession};
use outrigger_daemon::{HistoryCause, ResumeState, Session, SessionEndReason, SessionEvent};
use serde_json::json;

use crate::fake::{FakeDaemon, SESSION, ending, http, is, next, quick, shown, take_until, until};
use crate::routes::captured;
use crate::watching::Opens;

fn events_route() -> String {
    format!("GET /session/{SESSION}/events")
}

/// The cursors that streams were opened with: number and generation.
fn cursors(daemon: &FakeDaemon) -> Vec<(String, Option<String>)> {
    let seen = daemon.requests(&events_route());
    seen.into_iter()
        .map(|seen| {
            (
                seen.headers["last-event-id"].clone(),
                seen.headers.get("x-qwen-event-epoch").cloned(),
            )
        })
        .collect()
}

#[tokio::test]
async fn a_new_session_listens_from_zero_and_misses_nothing() {
    let daemon = FakeDaemon::start().await;
    let (session, mut updates) = daemon.session().await;
    daemon.say("first");
    let taken = take_until(&mut updates, is("session_update")).await;
    assert_eq!(shown(&taken), "first");
    assert_eq!(cursors(&daemon), [("0".into(), None)]);
    let state = updates.resume_state();
    assert_eq!(state.last_event_id, 1);
    assert_eq!(state.epoch.unwrap().as_str(), "epoch-1");
    drop(session);
}

#[tokio::test]
async fn a_cut_stream_goes_on_after_the_last_event() {
    let daemon = FakeDaemon::start().await;
    let (session, mut updates) = daemon.session().await;
    daemon.say("one ");
    let mut taken = take_until(&mut updates, is("session_update")).await;
    daemon.cut();
    daemon.say("two ");
    taken.extend(take_until(&mut updates, is("session_update")).await);
    daemon.listened_to().await;
    daemon.end_streams();
    daemon.say("three");
    taken.extend(take_until(&mut updates, is("session_update")).await);
    assert_eq!(shown(&taken), "one two three");
    let epoch = Some("epoch-1".to_owned());
    assert_eq!(
        cursors(&daemon),
        [
            ("0".into(), None),
            ("1".into(), epoch.clone()),
            ("2".into(), epoch)
        ]
    );
    assert_eq!(session.counters().histories, 0);
    let reasons: Vec<String> = daemon
        .requests(&events_route())
        .into_iter()
        .map(|it| it.query)
        .collect();
    assert!(reasons[0].contains("connectReason=initial"));
    assert!(
        reasons[1].contains("connectReason=transport_error&previousStreamId=stream-"),
        "{reasons:?}"
    );
    assert!(reasons[2].contains("connectReason=stream_end"));
}

#[tokio::test]
async fn an_up_to_date_cursor_brings_only_the_end_of_the_replay() {
    let daemon = FakeDaemon::start().await;
    let (session, mut updates) = daemon.session().await;
    daemon.say("one");
    take_until(&mut updates, is("session_update")).await;
    daemon.cut();
    let taken = take_until(&mut updates, is("replay_complete")).await;
    assert_eq!(shown(&taken), "");
    assert_eq!(session.counters().repeated, 0);
}

#[tokio::test]
async fn an_evicted_ring_brings_the_history_and_resets_the_cursor() {
    let daemon = FakeDaemon::start().await;
    daemon.world().ring_size = 3;
    let (session, mut updates) = daemon.session().await;
    daemon.say("0 ");
    let mut taken = take_until(&mut updates, is("session_update")).await;
    daemon.go_down().await;
    for n in 1..10 {
        daemon.say(&format!("{n} "));
    }
    let state = updates.resume_state();
    // Only the connection was down; the session was alive all the time.
    daemon.come_back().await;
    daemon.world().alive = true;
    taken.extend(take_until(&mut updates, |it| matches!(it, SessionEvent::History(_))).await);
    daemon.say("end");
    taken.extend(take_until(&mut updates, is("session_update")).await);
    assert_eq!(shown(&taken), "0 1 2 3 4 5 6 7 8 9 end");
    assert_eq!(
        (state.last_event_id, updates.resume_state().last_event_id),
        (1, 11)
    );
    assert_eq!(session.counters().histories, 1);
    assert_eq!(cursors(&daemon).last().unwrap().0, "10");
}

/// The published SDK takes the larger number and resyncs for ever after.
#[tokio::test]
async fn another_generation_sets_the_cursor_down() {
    let daemon = FakeDaemon::start().await;
    let (session, mut updates) = daemon.session().await;
    for n in 0..5 {
        daemon.say(&format!("{n} "));
    }
    until("every event", || session.counters().events >= 6).await;
    let mut taken: Vec<SessionEvent> = std::iter::from_fn(|| updates.try_next()).collect();
    // The daemon numbers anew, and has fewer events than we have seen.
    daemon.world().renumber(2);
    let loaded = json!({"sessionId": SESSION, "attached": true, "clientId": "client_1", "lastEventId": 2, "eventEpoch": "epoch-2",
        "liveJournal": [{"id": 2, "v": 1, "type": "session_update", "data": crate::fake::chunk("all of it ")}]});
    daemon.answer_next(
        &format!("POST /session/{SESSION}/load"),
        http(200, "", &loaded.to_string()),
    );
    daemon.cut();
    taken.extend(take_until(&mut updates, |it| matches!(it, SessionEvent::History(_))).await);
    taken.extend(take_until(&mut updates, is("replay_complete")).await);
    daemon.say("end");
    taken.extend(take_until(&mut updates, is("session_update")).await);
    assert_eq!(shown(&taken), "all of it end");
    assert_eq!(
        cursors(&daemon).last().unwrap(),
        &("2".to_owned(), Some("epoch-2".to_owned()))
    );
    let state = updates.resume_state();
    assert_eq!(
        (state.last_event_id, state.epoch.unwrap().as_str()),
        (3, "epoch-2")
    );
    // One resync is enough.
    daemon.listened_to().await;
    daemon.cut();
    take_until(&mut updates, is("replay_complete")).await;
    assert_eq!(session.counters().histories, 1);
}

/// Three captured ways of saying it: another generation, a number from the future, a lost ring.
#[tokio::test]
async fn every_captured_resync_leads_to_the_history() {
    for name in [
        "reconnect-wrong-epoch",
        "reconnect-future-id",
        "ring-evicted",
        "ring-from-zero",
        "daemon-restarted.events-stale-cursor",
    ] {
        let daemon = FakeDaemon::start().await;
        daemon.answer_next(&events_route(), captured(&format!("{name}.sse.txt")));
        daemon.world().emit_quietly("fresh");
        let (session, mut updates) = daemon.session().await;
        let taken = take_until(&mut updates, is("replay_complete")).await;
        let causes: Vec<HistoryCause> = taken
            .iter()
            .filter_map(|it| {
                if let SessionEvent::History(history) = it {
                    Some(history.cause)
                } else {
                    None
                }
            })
            .collect();
        assert_eq!(causes, [HistoryCause::Resync], "{name}");
        // Nothing of the stream that could not be continued is shown.
        assert_eq!(shown(&taken), "fresh", "{name}");
        assert_eq!(session.counters().streams, 2);
    }
}

#[tokio::test]
async fn attaching_starts_with_the_history_and_does_not_repeat_it() {
    let daemon = FakeDaemon::start().await;
    let (_first, _updates) = daemon.session().await;
    daemon.say("before ");
    let (session, mut updates) = daemon.session().await;
    daemon.say("after");
    let taken = take_until(&mut updates, is("session_update")).await;
    assert!(matches!(&taken[0], SessionEvent::History(it) if it.cause == HistoryCause::Attached));
    assert_eq!(shown(&taken), "before after");
    assert_eq!(session.counters().repeated, 0);
    // The id that the daemon minted for us is used for loading too: one registration, not two ids.
    let load = &daemon.requests(&format!("POST /session/{SESSION}/load"))[0];
    assert_eq!(
        load.headers["x-qwen-client-id"],
        session.client_id().unwrap().as_str()
    );
}

#[tokio::test]
async fn a_later_handle_goes_on_where_the_consumer_was() {
    let daemon = FakeDaemon::start().await;
    let (session, mut updates) = daemon.session().await;
    daemon.say("one ");
    let mut taken = take_until(&mut updates, is("session_update")).await;
    daemon.say("two ");
    // The reader has it, the consumer has not taken it.
    until("the second event", || session.counters().events >= 3).await;
    let state = serde_json::to_string(&updates.resume_state()).unwrap();
    drop((session, updates));
    let state: ResumeState = serde_json::from_str(&state).unwrap();
    let (_session, mut updates) =
        Session::resume(daemon.client(), &state, &RestoreSession::default(), quick())
            .await
            .unwrap();
    taken.extend(take_until(&mut updates, is("session_update")).await);
    assert_eq!(shown(&taken), "one two ");
}

#[tokio::test]
async fn a_state_of_another_life_of_the_session_leads_to_the_history() {
    let daemon = FakeDaemon::start().await;
    let (session, mut updates) = daemon.session().await;
    daemon.say("one ");
    take_until(&mut updates, is("session_update")).await;
    let state = updates.resume_state();
    drop((session, updates));
    daemon.go_down().await;
    daemon.come_back().await;
    let (_session, mut updates) =
        Session::resume(daemon.client(), &state, &RestoreSession::default(), quick())
            .await
            .unwrap();
    let taken = take_until(&mut updates, is("replay_complete")).await;
    assert!(
        taken
            .iter()
            .any(|it| matches!(it, SessionEvent::History(it) if it.cause == HistoryCause::Resync))
    );
    assert_eq!(shown(&taken), "one ");
}

#[tokio::test]
async fn a_session_that_nobody_knows_is_lost_and_not_sought_for_ever() {
    let daemon = FakeDaemon::start().await;
    let (session, mut updates) = daemon.session().await;
    daemon.listened_to().await;
    daemon.world().alive = false;
    daemon.world().on_disk = false;
    daemon.cut();
    assert_eq!(ending(&mut updates).await, SessionEndReason::Lost);
    assert_eq!(updates.next().await, None);
    let error = Session::load(
        daemon.client(),
        session.id(),
        &outrigger_daemon::wire::RestoreSession::default(),
        quick(),
    )
    .await;
    assert!(error.is_err());
    let reopened = Session::open(daemon.client(), &NewSession::default(), quick()).await;
    assert!(reopened.is_ok());
}

#[tokio::test]
async fn numbers_that_go_backwards_or_skip_are_not_shown_as_if_nothing_was() {
    let daemon = FakeDaemon::start().await;
    let (session, mut updates) = daemon.session().await;
    take_until(&mut updates, is("replay_complete")).await;
    let frame = |id: u64, text: &str| {
        let envelope =
            json!({"id": id, "v": 1, "type": "session_update", "data": crate::fake::chunk(text)});
        format!("id: {id}\ndata: {envelope}\n\n")
    };
    for (id, text) in [
        (1, "a"),
        (2, "b"),
        (1, "a"),
        (2, "x"),
        (5, "e"),
        (4, "d"),
        (6, "f"),
    ] {
        daemon.send(frame(id, text));
    }
    until("all frames", || {
        session.counters().events >= 5 && session.counters().repeated >= 3
    })
    .await;
    let taken: Vec<SessionEvent> = std::iter::from_fn(|| updates.try_next()).collect();
    assert_eq!(shown(&taken), "abef");
    let missing: Vec<&SessionEvent> = taken
        .iter()
        .filter(|it| matches!(it, SessionEvent::Missing { .. }))
        .collect();
    assert_eq!(missing, [&SessionEvent::Missing { from: 3, to: 4 }]);
}

#[tokio::test]
async fn the_first_update_is_that_there_is_a_stream() {
    let daemon = FakeDaemon::start().await;
    let (_session, mut updates) = daemon.session().await;
    assert_eq!(next(&mut updates).await, SessionEvent::Connected);
    daemon.listened_to().await;
    daemon.cut();
    let taken = take_until(&mut updates, |it| *it == SessionEvent::Connected).await;
    assert!(
        taken
            .iter()
            .any(|it| matches!(it, SessionEvent::Disconnected { .. }))
    );
}
