//! Streams that are broken in every way, and consumers that are slow.

use std::time::Duration;

use outrigger_daemon::wire::{NewSession, RestoreSession, SessionId};
use outrigger_daemon::{
    Address, DaemonClient, HistoryCause, Session, SessionEndReason, SessionEvent, SessionSettings,
    Token, TurnEnd,
};
use serde_json::json;

use crate::fake::{
    FakeDaemon, PATIENCE, SESSION, TOKEN, chunk, end_of, ending, is, quick, shown, take_until,
    until,
};
use crate::watching::Opens;

fn envelope(id: u64, text: &str) -> String {
    json!({"id": id, "v": 1, "type": "session_update", "data": chunk(text)}).to_string()
}

fn all(updates: &mut outrigger_daemon::SessionEvents) -> Vec<SessionEvent> {
    std::iter::from_fn(|| updates.try_next()).collect()
}

#[tokio::test]
async fn framing_in_every_legal_form_is_understood() {
    let daemon = FakeDaemon::start().await;
    let (session, mut updates) = daemon.session().await;
    take_until(&mut updates, is("replay_complete")).await;
    daemon.send(format!(
        "id: 1\r\nevent: session_update\r\ndata: {}\r\n\r\n",
        envelope(1, "a")
    ));
    let split = envelope(2, "b").replacen(",\"type\"", "\n,\"type\"", 1);
    daemon.send(format!("data: {}\n\n", split.replace('\n', "\ndata: ")));
    daemon.send(format!(
        ": note\nid: 3\n: note\ndata:{}\n\n",
        envelope(3, "c")
    ));
    for piece in format!("id: 4\ndata: {}\n\n", envelope(4, "d—ü"))
        .as_bytes()
        .chunks(1)
    {
        daemon.send(piece);
    }
    until("every event", || session.counters().events == 5).await;
    assert_eq!(shown(&all(&mut updates)), "abcd—ü");
}

#[tokio::test]
async fn a_frame_cut_in_the_middle_is_thrown_away_and_comes_again() {
    let daemon = FakeDaemon::start().await;
    let (session, mut updates) = daemon.session().await;
    take_until(&mut updates, is("replay_complete")).await;
    daemon.send(
        &format!(
            "id: 1\nevent: session_update\ndata: {}",
            envelope(1, "cut off")
        )[..60],
    );
    daemon.world().emit_quietly("whole");
    daemon.cut();
    let taken = take_until(&mut updates, is("session_update")).await;
    assert_eq!(shown(&taken), "whole");
    assert_eq!(session.counters().unreadable, 0);
}

#[tokio::test]
async fn nonsense_is_reported_and_survived() {
    let daemon = FakeDaemon::start().await;
    let (session, mut updates) = daemon.session().await;
    take_until(&mut updates, is("replay_complete")).await;
    for nonsense in [
        "{",
        "null",
        "[1]",
        "5",
        r#"{"v":2,"type":"x","data":{}}"#,
        r#"{"id":0,"v":1,"type":"x","data":{}}"#,
    ] {
        daemon.send(format!("data: {nonsense}\n\n"));
    }
    daemon.send(format!(
        "id: 1\ndata: nonsense with a number\n\ndata: {}\n\n",
        envelope(2, "fine")
    ));
    daemon.world().last_id = 2;
    until("every frame", || session.counters().events == 2).await;
    let taken = all(&mut updates);
    let unreadable = taken
        .iter()
        .filter(|it| matches!(it, SessionEvent::Unreadable { .. }))
        .count();
    assert_eq!((unreadable, session.counters().unreadable), (7, 7));
    assert_eq!(shown(&taken), "fine");
    assert!(
        !taken
            .iter()
            .any(|it| matches!(it, SessionEvent::Missing { .. }))
    );
}

#[tokio::test]
async fn bytes_that_are_not_text_do_not_lose_the_event() {
    let daemon = FakeDaemon::start().await;
    let (session, mut updates) = daemon.session().await;
    take_until(&mut updates, is("replay_complete")).await;
    let frame = format!("data: {}\n\n", envelope(1, "a?b"));
    daemon.send(
        frame
            .into_bytes()
            .iter()
            .map(|byte| if *byte == b'?' { 0xff } else { *byte })
            .collect::<Vec<u8>>(),
    );
    let taken = take_until(&mut updates, is("session_update")).await;
    assert_eq!(shown(&taken), "a\u{fffd}b");
    assert_eq!(session.counters().invalid_utf8, 1);
}

#[tokio::test]
async fn the_largest_frame_passes_and_a_larger_one_is_reported_once() {
    let daemon = FakeDaemon::start().await;
    let (session, mut updates) = daemon.session().await;
    let overhead = envelope(1, "").len();
    let largest = "x".repeat(outrigger_daemon::sse::MAX_FRAME - overhead);
    take_until(&mut updates, is("replay_complete")).await;
    daemon.send(format!("id: 1\ndata: {}\n\n", envelope(1, &largest)));
    let taken = take_until(&mut updates, is("session_update")).await;
    assert_eq!(shown(&taken).len(), largest.len());
    daemon.send(format!(
        "id: 2\ndata: {}\n\n",
        envelope(2, &(largest + "y"))
    ));
    daemon.send(format!("id: 3\ndata: {}\n\n", envelope(3, "after")));
    daemon.world().last_id = 3;
    let taken = take_until(&mut updates, is("session_update")).await;
    assert!(
        matches!(taken[0], SessionEvent::Unreadable { id: Some(2), .. }),
        "{:?}",
        taken[0]
    );
    assert_eq!(shown(&taken), "after");
    // It would come again with every stream if the cursor did not pass it.
    daemon.cut();
    take_until(&mut updates, is("replay_complete")).await;
    assert_eq!(session.counters().unreadable, 1);
}

#[tokio::test]
async fn unknown_events_are_delivered_raw_and_counted() {
    let daemon = FakeDaemon::start().await;
    let (session, mut updates) = daemon.session().await;
    daemon.emit("from_the_future", json!({"a": [1]}));
    daemon.emit("mcp_server_added", json!({"b": 2}));
    let taken = take_until(&mut updates, is("mcp_server_added")).await;
    let SessionEvent::Event(event) = taken.iter().find(|it| is("from_the_future")(it)).unwrap()
    else {
        panic!()
    };
    assert_eq!(
        (event.data(), event.body()),
        (r#"{"a":[1]}"#, outrigger_daemon::EventBody::Unknown)
    );
    assert_eq!(session.counters().unknown, 1);
}

/// The clock stands still but for the steps that it is moved by, so the machine's speed does not
/// matter, and the times are those of the published daemon and of our own default.
#[tokio::test]
async fn heartbeats_keep_a_quiet_stream_alive_and_silence_ends_it() {
    const BEAT: Duration = Duration::from_secs(15);
    const TICK: Duration = Duration::from_millis(1);
    let daemon = FakeDaemon::start().await;
    let (session, mut updates) = daemon.session().await;
    let watchdog = SessionSettings::default().watchdog;
    take_until(&mut updates, is("replay_complete")).await;
    let _turn = session.prompt("go").await.unwrap();
    let _stopped = stop_the_clock();
    // A session that hears a heartbeat asks how its turn is doing. At worst it asks because of the
    // one before, which leaves two beats between the two that it heard.
    assert!(2 * BEAT < watchdog);
    let question = format!("GET /session/{SESSION}/turns/prompt-1");
    for _ in 0..12 {
        let asked = daemon.requests(&question).len();
        tokio::time::advance(BEAT).await;
        while_the_clock_stands("a heartbeat to be heard", || {
            daemon.heartbeat();
            daemon.requests(&question).len() > asked
        })
        .await;
    }
    assert_eq!(session.counters().streams, 1);
    // When this is here, every heartbeat is.
    daemon.say("on");
    let taken = take_until(&mut updates, is("session_update")).await;
    assert_eq!(taken.len(), 1, "{taken:?}");
    // Now the daemon is as silent as one whose machine has been unplugged.
    tokio::time::advance(watchdog.checked_sub(TICK).unwrap()).await;
    tokio::task::yield_now().await;
    assert_eq!(updates.try_next(), None);
    tokio::time::advance(2 * TICK).await;
    while_the_clock_stands("the silence to be noticed", || {
        matches!(updates.try_next(), Some(SessionEvent::Disconnected { .. }))
    })
    .await;
    tokio::time::resume();
    daemon.say("back");
    let taken = take_until(&mut updates, is("session_update")).await;
    assert_eq!(shown(&taken), "back");
    assert_eq!(session.counters().streams, 2);
}

/// Stops the runtime's clock. By itself a paused clock jumps ahead when nothing is to be done, also
/// while bytes are on their way; it does not while a blocking task runs, which is until what comes
/// back is dropped.
fn stop_the_clock() -> std::sync::mpsc::Sender<()> {
    let (running, ended) = std::sync::mpsc::channel();
    tokio::task::spawn_blocking(move || ended.recv());
    tokio::time::pause();
    running
}

/// Waits for a condition by the machine's own clock.
async fn while_the_clock_stands(what: &str, mut condition: impl FnMut() -> bool) {
    let before = std::time::Instant::now();
    while !condition() {
        assert!(before.elapsed() < PATIENCE, "waited in vain for {what}");
        std::thread::sleep(Duration::from_millis(1));
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn a_stream_that_opens_and_stays_mute_is_given_up() {
    let daemon = FakeDaemon::start().await;
    daemon.world().mute = true;
    let settings = SessionSettings {
        watchdog: Duration::from_millis(30),
        give_up_after: Duration::from_millis(400),
        ..quick()
    };
    let (_session, mut updates) = Session::open(daemon.client(), &NewSession::default(), settings)
        .await
        .unwrap();
    assert!(matches!(
        ending(&mut updates).await,
        SessionEndReason::Unreachable { .. }
    ));
}

#[tokio::test]
async fn eviction_and_stream_errors_only_cost_the_stream() {
    for kind in ["client_evicted", "stream_error"] {
        let daemon = FakeDaemon::start().await;
        let (session, mut updates) = daemon.session().await;
        take_until(&mut updates, is("replay_complete")).await;
        daemon.send(format!(
            "event: {kind}\ndata: {}\n\n",
            json!({"v": 1, "type": kind, "data": {}})
        ));
        take_until(&mut updates, is("replay_complete")).await;
        daemon.say("on");
        let taken = take_until(&mut updates, is("session_update")).await;
        assert_eq!(
            (shown(&taken).as_str(), session.counters().streams),
            ("on", 2),
            "{kind}"
        );
    }
}

#[tokio::test]
async fn a_daemon_without_room_is_asked_again_after_the_time_it_wants() {
    let daemon = FakeDaemon::start().await;
    let (_session, mut updates) = daemon.session().await;
    take_until(&mut updates, is("replay_complete")).await;
    let route = format!("GET /session/{SESSION}/events");
    let body = json!({"error": "busy", "code": "subscriber_limit_exceeded"});
    daemon.refuse_next(&route, 429, "Retry-After: 1\r\n", &body);
    daemon.refuse_next(&route, 503, "", &json!({"error": "draining"}));
    daemon.refuse_next(&route, 500, "", &json!({"error": "agent", "code": -32603}));
    let before = std::time::Instant::now();
    daemon.cut();
    take_until(&mut updates, is("replay_complete")).await;
    assert!(before.elapsed() >= Duration::from_secs(1));
    assert_eq!(daemon.requests(&route).len(), 5);
}

#[tokio::test]
async fn a_refusal_that_will_not_change_ends_the_session() {
    let cases = [
        (401, json!({"error": "Unauthorized"})),
        (403, json!({"error": "Invalid Host header"})),
        (400, json!({"error": "no", "code": "workspace_mismatch"})),
    ];
    for (status, body) in cases {
        let daemon = FakeDaemon::start().await;
        let (session, mut updates) = daemon.session().await;
        let turn = session.prompt("go").await.unwrap();
        take_until(&mut updates, is("replay_complete")).await;
        daemon.refuse_next(&format!("GET /session/{SESSION}/events"), status, "", &body);
        daemon.cut();
        assert!(
            matches!(ending(&mut updates).await, SessionEndReason::Refused { .. }),
            "{status}"
        );
        assert!(matches!(end_of(turn).await, TurnEnd::Unknown { .. }));
    }
}

#[tokio::test]
async fn a_daemon_that_never_comes_back_is_given_up_and_nothing_hangs() {
    let daemon = FakeDaemon::start().await;
    let settings = SessionSettings {
        give_up_after: Duration::from_millis(100),
        ..quick()
    };
    let (session, mut updates) = Session::open(daemon.client(), &NewSession::default(), settings)
        .await
        .unwrap();
    let turn = session.prompt("go").await.unwrap();
    // The fake daemon takes only streams down that it has.
    take_until(&mut updates, |it| matches!(it, SessionEvent::Connected)).await;
    daemon.go_down().await;
    assert!(matches!(
        ending(&mut updates).await,
        SessionEndReason::Unreachable { .. }
    ));
    assert!(matches!(end_of(turn).await, TurnEnd::Unknown { .. }));
}

/// A daemon that finds its port taken moves to the next one; the state is not bound to a port.
#[tokio::test]
async fn a_session_goes_on_at_another_port() {
    let first = FakeDaemon::start().await;
    let (_session, mut updates) = first.session().await;
    first.say("one ");
    let mut taken = take_until(&mut updates, is("session_update")).await;
    let state = updates.resume_state();
    let second = FakeDaemon::start().await;
    {
        let mut world = second.world();
        world.on_disk = true;
        world.emit_quietly("one ");
        world.emit_quietly("two");
    }
    let client = DaemonClient::new(
        Address::local(second.port),
        Some(Token::new(TOKEN).unwrap()),
    );
    let (_session, mut updates) =
        Session::resume(client, &state, &RestoreSession::default(), quick())
            .await
            .unwrap();
    taken.extend(take_until(&mut updates, |it| matches!(it, SessionEvent::History(_))).await);
    assert_eq!(shown(&taken), "one two");
}

/// The queue is bounded, the reader does not wait, and the consumer still gets everything.
#[tokio::test]
async fn a_consumer_that_falls_behind_gets_the_history() {
    let daemon = FakeDaemon::start().await;
    let settings = SessionSettings {
        buffer_events: 20,
        ..quick()
    };
    let (session, mut updates) = Session::open(daemon.client(), &NewSession::default(), settings)
        .await
        .unwrap();
    let turn = session.prompt("go").await.unwrap();
    let mut expected = String::new();
    for n in 0..200 {
        let word = format!("{n} ");
        daemon.say(&word);
        expected += &word;
    }
    daemon.complete();
    // Nobody takes anything, and yet the turn ends.
    assert!(matches!(end_of(turn).await, TurnEnd::Complete { .. }));
    until("every event", || session.counters().events >= 201).await;
    let taken = take_until(&mut updates, |it| matches!(it, SessionEvent::History(_))).await;
    assert!(taken.len() <= 21);
    let Some(SessionEvent::History(history)) = taken.last() else {
        panic!()
    };
    assert_eq!(history.cause, HistoryCause::FellBehind);
    assert_eq!(shown(&taken), expected);
    daemon.say("on");
    let taken = take_until(&mut updates, is("session_update")).await;
    assert_eq!(shown(&taken), "on");
}

#[tokio::test]
async fn bytes_count_too_but_a_single_large_event_always_fits() {
    let daemon = FakeDaemon::start().await;
    let settings = SessionSettings {
        buffer_bytes: 10_000,
        ..quick()
    };
    let (session, mut updates) = Session::open(daemon.client(), &NewSession::default(), settings)
        .await
        .unwrap();
    take_until(&mut updates, is("replay_complete")).await;
    daemon.say(&"x".repeat(50_000));
    let taken = take_until(&mut updates, is("session_update")).await;
    assert_eq!(shown(&taken).len(), 50_000);
    for _ in 0..5 {
        daemon.say(&"y".repeat(5_000));
    }
    until("every event", || session.counters().events >= 7).await;
    let taken = take_until(&mut updates, |it| matches!(it, SessionEvent::History(_))).await;
    assert_eq!(shown(&taken).len(), 75_000);
}

#[tokio::test]
async fn dropping_the_handles_closes_the_stream() {
    let daemon = FakeDaemon::start().await;
    let (session, updates) = daemon.session().await;
    daemon.listened_to().await;
    let other = session.clone();
    drop(session);
    drop(updates);
    assert_eq!(other.id(), &SessionId::new(SESSION).unwrap());
    drop(other);
    let closed = || {
        // Writing to a stream that nobody reads fails sooner or later.
        daemon.heartbeat();
        daemon.streams_are_gone()
    };
    until("the stream to be closed", closed).await;
}
