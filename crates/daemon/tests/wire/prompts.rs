//! Prompts end exactly once, whatever happens to the stream in between.

use std::time::Duration;

use outrigger_daemon::wire::StopReason;
use outrigger_daemon::{
    DaemonError, DisconnectMode, ErrorCode, HistoryCause, SessionEndReason, SessionEvent, TurnEnd,
};
use proptest::prelude::*;
use serde_json::json;

use crate::fake::{
    FakeDaemon, OnPrompt, SESSION, end_of, ending, http, is, shown, take_until, until,
};
use crate::watching::Opens;

fn complete() -> TurnEnd {
    TurnEnd::Complete {
        stop_reason: StopReason::EndTurn,
    }
}

#[tokio::test]
async fn a_turn_streams_and_ends() {
    let daemon = FakeDaemon::start().await;
    let (session, mut updates) = daemon.session().await;
    let turn = session.prompt("hello").await.unwrap();
    assert_eq!(turn.id().unwrap().as_str(), "prompt-1");
    daemon.say("Hello ");
    daemon.say("there");
    daemon.complete();
    assert_eq!(end_of(turn).await, complete());
    let taken = take_until(&mut updates, is("turn_complete")).await;
    assert_eq!(shown(&taken), "Hello there");
}

#[tokio::test]
async fn the_end_may_come_before_the_answer_to_the_prompt() {
    let daemon = FakeDaemon::start().await;
    let (session, mut updates) = daemon.session().await;
    take_until(&mut updates, is("replay_complete")).await;
    daemon.world().on_prompt = OnPrompt::FinishFirst(vec!["fast".into()]);
    for _ in 0..20 {
        let turn = session.prompt("go").await.unwrap();
        assert_eq!(end_of(turn).await, complete());
    }
    until("every event", || session.counters().events == 41).await;
    let taken: Vec<SessionEvent> = std::iter::from_fn(|| updates.try_next()).collect();
    assert_eq!(shown(&taken), "fast".repeat(20));
}

/// Here the end has certainly been read when the answer comes.
#[tokio::test]
async fn an_end_that_was_read_long_before_the_answer_counts() {
    let daemon = FakeDaemon::start().await;
    let (session, mut updates) = daemon.session().await;
    daemon.emit(
        "turn_complete",
        json!({"sessionId": SESSION, "promptId": "early", "stopReason": "end_turn"}),
    );
    take_until(&mut updates, is("turn_complete")).await;
    let accepted = json!({"promptId": "early"});
    daemon.answer_next(
        &format!("POST /session/{SESSION}/prompt"),
        http(202, "", &accepted.to_string()),
    );
    let turn = session.prompt("go").await.unwrap();
    assert_eq!(end_of(turn).await, complete());
}

#[tokio::test]
async fn a_turn_that_ends_while_there_is_no_stream_ends_by_replay() {
    let daemon = FakeDaemon::start().await;
    let (session, mut updates) = daemon.session().await;
    let turn = session.prompt("go").await.unwrap();
    daemon.say("one ");
    let mut taken = take_until(&mut updates, is("session_update")).await;
    daemon.cut();
    daemon.say("two");
    daemon.complete();
    assert_eq!(end_of(turn).await, complete());
    taken.extend(take_until(&mut updates, is("turn_complete")).await);
    assert_eq!(shown(&taken), "one two");
}

/// The ring has lost the end, and a live history has no record of it: the turns route has.
#[tokio::test]
async fn a_turn_whose_end_no_stream_tells_ends_by_the_record() {
    let daemon = FakeDaemon::start().await;
    let (session, mut updates) = daemon.session().await;
    take_until(&mut updates, is("replay_complete")).await;
    let turn = session.prompt("go").await.unwrap();
    {
        let mut world = daemon.world();
        world.turns.insert(
            "prompt-1".into(),
            json!({"state": "cancelled", "promptId": "prompt-1"}),
        );
        world.prompt = None;
    }
    daemon.cut();
    let cancelled = TurnEnd::Complete {
        stop_reason: StopReason::Cancelled,
    };
    assert_eq!(end_of(turn).await, cancelled);
}

#[tokio::test]
async fn a_turn_that_only_the_record_knows_to_be_over_ends_at_the_second_sign_of_life() {
    let daemon = FakeDaemon::start().await;
    let (session, _updates) = daemon.session().await;
    daemon.listened_to().await;
    let turn = session.prompt("go").await.unwrap();
    let record =
        json!({"state": "error", "promptId": "prompt-1", "error": {"message": "no", "code": "-1"}});
    daemon.world().turns.insert("prompt-1".into(), record);
    daemon.heartbeat();
    until("a question about the turn", || {
        !daemon
            .requests(&format!("GET /session/{SESSION}/turns/prompt-1"))
            .is_empty()
    })
    .await;
    // Two more: the first may come before the record has been taken note of.
    let beating = async {
        loop {
            daemon.heartbeat();
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    let end = tokio::select! {
        end = end_of(turn) => end,
        () = beating => unreachable!(),
    };
    assert_eq!(
        end,
        TurnEnd::Failed {
            message: "no".into(),
            code: Some(ErrorCode::Name("-1".into()))
        }
    );
}

#[tokio::test]
async fn a_turn_that_is_still_running_after_a_reconnect_goes_on() {
    let daemon = FakeDaemon::start().await;
    let (session, mut updates) = daemon.session().await;
    let turn = session.prompt("go").await.unwrap();
    daemon.listened_to().await;
    daemon.cut();
    take_until(&mut updates, |it| {
        matches!(it, SessionEvent::Disconnected { .. })
    })
    .await;
    take_until(&mut updates, is("replay_complete")).await;
    daemon.heartbeat();
    daemon.say("still here");
    daemon.fail("at last");
    assert_eq!(
        end_of(turn).await,
        TurnEnd::Failed {
            message: "at last".into(),
            code: Some(ErrorCode::Number(-32603))
        }
    );
}

#[tokio::test]
async fn a_daemon_that_crashed_tells_how_the_turn_ended() {
    let daemon = FakeDaemon::start().await;
    let (session, mut updates) = daemon.session().await;
    let first = session.prompt("one").await.unwrap();
    daemon.say("done ");
    daemon.complete();
    assert_eq!(end_of(first).await, complete());
    let second = session.prompt("two").await.unwrap();
    daemon.say("half");
    until("every event", || session.counters().events >= 4).await;
    daemon.go_down().await;
    daemon.come_back().await;
    let interrupted = TurnEnd::Interrupted {
        code: Some(ErrorCode::Name("daemon_lost".into())),
    };
    assert_eq!(end_of(second).await, interrupted);
    let taken = take_until(&mut updates, |it| matches!(it, SessionEvent::History(_))).await;
    let Some(SessionEvent::History(history)) = taken.last() else {
        panic!()
    };
    assert_eq!(
        (history.cause, history.prompt_terminals.len()),
        (HistoryCause::Revived, 2)
    );
    assert_eq!(shown(&taken), "done half");
    // And the session can be used: with a new name, because the old one was forgotten.
    let third = session.prompt("three").await.unwrap();
    daemon.listened_to().await;
    daemon.complete();
    assert_eq!(end_of(third).await, complete());
}

#[tokio::test]
async fn a_turn_nobody_remembers_ends_as_unknown() {
    let daemon = FakeDaemon::start().await;
    let (session, _updates) = daemon.session().await;
    let turn = session.prompt("go").await.unwrap();
    daemon.listened_to().await;
    daemon.world().turns.clear();
    daemon.cut();
    assert!(matches!(end_of(turn).await, TurnEnd::Unknown { .. }));
}

#[tokio::test]
async fn when_the_session_ends_so_do_its_turns() {
    for kind in ["session_died", "session_closed"] {
        let daemon = FakeDaemon::start().await;
        let (session, mut updates) = daemon.session().await;
        let turn = session.prompt("go").await.unwrap();
        daemon.emit(kind, json!({"sessionId": SESSION, "reason": "because"}));
        assert!(
            matches!(end_of(turn).await, TurnEnd::Unknown { .. }),
            "{kind}"
        );
        let end = ending(&mut updates).await;
        match end {
            SessionEndReason::Died { reason } | SessionEndReason::Closed { reason, .. } => {
                assert_eq!(reason.as_deref(), Some("because"));
            }
            other => panic!("{other:?}"),
        }
        let error = session.prompt("go").await.unwrap_err();
        assert!(matches!(error, DaemonError::SessionEnded));
    }
}

/// Upstream: "ignores stale `session_died` events from another session".
#[tokio::test]
async fn the_death_of_another_session_is_none_of_ours() {
    let daemon = FakeDaemon::start().await;
    let (session, mut updates) = daemon.session().await;
    daemon.emit(
        "session_died",
        json!({"sessionId": "another", "reason": "killed"}),
    );
    daemon.emit("session_died", json!({"reason": "killed"}));
    daemon.emit("session_died", json!(null));
    daemon.say("alive");
    take_until(&mut updates, is("session_update")).await;
    assert_eq!(session.counters().streams, 1);
}

#[tokio::test]
async fn a_cancelled_turn_ends_once() {
    let daemon = FakeDaemon::start().await;
    let (session, mut updates) = daemon.session().await;
    let turn = session.prompt("go").await.unwrap();
    session.cancel().await.unwrap();
    let cancelled = TurnEnd::Complete {
        stop_reason: StopReason::Cancelled,
    };
    assert_eq!(end_of(turn).await, cancelled);
    session.cancel().await.unwrap();
    let taken = take_until(&mut updates, is("turn_complete")).await;
    assert!(taken.iter().any(is("prompt_cancelled")));
}

/// Background turns have ids that nobody was given, and come after the end of the turn.
#[tokio::test]
async fn a_background_turn_is_shown_and_ends_nothing() {
    let daemon = FakeDaemon::start().await;
    let (session, mut updates) = daemon.session().await;
    let turn = session.prompt("go").await.unwrap();
    daemon.emit("turn_complete", json!({"sessionId": SESSION, "promptId": "s########notification1", "stopReason": "end_turn", "backgroundTurn": {}}));
    daemon.fail("the real end");
    assert!(matches!(end_of(turn).await, TurnEnd::Failed { .. }));
    daemon.say("from the background");
    daemon.emit("permission_request", json!({"requestId": "r", "sessionId": SESSION, "toolCall": {"toolCallId": "t"}, "options": []}));
    daemon.emit("turn_complete", json!({"sessionId": SESSION, "promptId": "s########notification2", "stopReason": "end_turn"}));
    let taken = take_until(&mut updates, is("permission_request")).await;
    assert_eq!(shown(&taken), "from the background");
}

#[tokio::test]
async fn an_unreadable_end_still_ends_the_turn() {
    let daemon = FakeDaemon::start().await;
    let (session, _updates) = daemon.session().await;
    let turn = session.prompt("go").await.unwrap();
    daemon.emit("turn_complete", json!("what?"));
    assert!(matches!(end_of(turn).await, TurnEnd::Unknown { .. }));
}

#[tokio::test]
async fn a_prompt_is_never_sent_twice_unless_it_was_refused_before_it_counted() {
    let daemon = FakeDaemon::start().await;
    let (session, _updates) = daemon.session().await;
    let route = format!("POST /session/{SESSION}/prompt");
    daemon.answer_next(&route, "");
    let error = session.prompt("go").await.unwrap_err();
    assert!(matches!(error, DaemonError::ConnectionLost { .. }) && !error.nothing_was_sent());
    assert_eq!(daemon.requests(&route).len(), 1);
}

#[tokio::test]
async fn a_forgotten_name_is_renewed_once_for_everybody() {
    let daemon = FakeDaemon::start().await;
    let (session, _updates) = daemon.session().await;
    let old = session.client_id().unwrap();
    daemon.world().forget_clients();
    let beats = (0..8).map(|_| {
        let session = session.clone();
        tokio::spawn(async move { session.heartbeat().await.unwrap() })
    });
    for beat in beats.collect::<Vec<_>>() {
        beat.await.unwrap();
    }
    assert_ne!(session.client_id().unwrap(), old);
    let resumes = daemon.requests(&format!("POST /session/{SESSION}/resume"));
    assert_eq!(resumes.len(), 1);
    assert!(!resumes[0].headers.contains_key("x-qwen-client-id"));
}

#[tokio::test]
async fn a_name_that_is_refused_again_is_not_renewed_for_ever() {
    let daemon = FakeDaemon::start().await;
    let (session, _updates) = daemon.session().await;
    let body = json!({"error": "who?", "code": "invalid_client_id"});
    let route = format!("POST /session/{SESSION}/prompt");
    for _ in 0..2 {
        daemon.refuse_next(&route, 400, "", &body);
    }
    assert!(session.prompt("go").await.is_err());
    assert_eq!(daemon.requests(&route).len(), 2);
    assert_eq!(
        daemon
            .requests(&format!("POST /session/{SESSION}/resume"))
            .len(),
        1
    );
}

#[tokio::test]
async fn a_full_queue_is_an_error_that_says_how_long_to_wait() {
    let daemon = FakeDaemon::start().await;
    let (session, _updates) = daemon.session().await;
    let answer = crate::routes::captured("queue.p6-full.http.txt");
    daemon.answer_next(&format!("POST /session/{SESSION}/prompt"), answer);
    let error = session.prompt("go").await.unwrap_err();
    assert_eq!(
        error.reason(),
        Some(outrigger_daemon::ErrorReason::QueueFull)
    );
    assert_eq!(
        error.response().unwrap().retry_after,
        Some(Duration::from_secs(5))
    );
}

#[tokio::test]
async fn leaving_is_explicit() {
    let what = |tail: &str| format!("POST /session/{SESSION}{tail}");
    for (parting, cancels, detaches) in [
        (DisconnectMode::KeepRunning, 0, 0),
        (DisconnectMode::Detach, 0, 1),
        (DisconnectMode::Cancel, 1, 1),
    ] {
        let daemon = FakeDaemon::start().await;
        let (session, mut updates) = daemon.session().await;
        let turn = session.prompt("go").await.unwrap();
        session.leave(parting).await.unwrap();
        assert_eq!(ending(&mut updates).await, SessionEndReason::Left);
        assert!(matches!(end_of(turn).await, TurnEnd::Unknown { .. }));
        let counts = (
            daemon.requests(&what("/cancel")).len(),
            daemon.requests(&what("/detach")).len(),
        );
        assert_eq!(counts, (cancels, detaches), "{parting:?}");
    }
    // An attached session was registered twice, by creating and by loading.
    let daemon = FakeDaemon::start().await;
    let (_first, _) = daemon.session().await;
    let (second, _updates) = daemon.session().await;
    second.leave(DisconnectMode::Detach).await.unwrap();
    second.leave(DisconnectMode::Detach).await.unwrap();
    assert_eq!(daemon.requests(&what("/detach")).len(), 2);
}

/// What happens to the stream during a conversation.
#[derive(Clone, Copy, Debug)]
enum Step {
    Say,
    Turn,
    Cut,
    SessionEndReason,
    Partial,
    Heartbeat,
    Evict,
    Crash,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        4 => Just(Step::Say),
        3 => Just(Step::Turn),
        2 => Just(Step::Cut),
        1 => Just(Step::SessionEndReason),
        1 => Just(Step::Partial),
        1 => Just(Step::Heartbeat),
        1 => Just(Step::Evict),
        1 => Just(Step::Crash),
    ];
    proptest::collection::vec(step, 1..25)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, max_shrink_iters: 40, ..ProptestConfig::default() })]

    /// Whatever happens in whatever order: all text is shown once, all turns end once.
    #[test]
    fn any_order_of_faults_shows_everything_once(steps in steps()) {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
        runtime.block_on(run(steps));
    }
}

async fn run(steps: Vec<Step>) {
    let daemon = FakeDaemon::start().await;
    daemon.world().ring_size = 6;
    let (session, mut updates) = daemon.session().await;
    let mut expected = String::new();
    let mut turns = Vec::new();
    let say = |expected: &mut String, number: usize| {
        let text = format!("<{number}>");
        *expected += &text;
        daemon.say(&text);
    };
    for (number, step) in steps.iter().enumerate() {
        match step {
            Step::Say => say(&mut expected, number),
            Step::Turn => {
                let turn = loop {
                    match session.prompt("go").await {
                        Ok(turn) => break turn,
                        // The daemon has restarted and the reader has not brought the session back yet.
                        Err(error) => assert_eq!(
                            error.reason(),
                            Some(outrigger_daemon::ErrorReason::SessionNotFound),
                            "{error}"
                        ),
                    }
                    tokio::time::sleep(Duration::from_millis(2)).await;
                };
                say(&mut expected, number);
                daemon.complete();
                turns.push(turn);
            }
            Step::Cut => daemon.cut(),
            Step::SessionEndReason => daemon.end_streams(),
            Step::Partial => {
                daemon.send("id: 9999\nevent: session_update\ndata: {\"id\":9999,\"v\":1,\"ty");
                daemon.cut();
            }
            Step::Heartbeat => daemon.heartbeat(),
            Step::Evict => {
                daemon.cut();
                for _ in 0..8 {
                    say(&mut expected, number);
                }
            }
            Step::Crash => {
                daemon.go_down().await;
                daemon.come_back().await;
            }
        }
    }
    for turn in turns {
        assert_eq!(end_of(turn).await, complete());
    }
    // The last word can only be said while the daemon has the session in memory.
    until("the session is back", || daemon.world().alive).await;
    daemon.say("<end>");
    expected += "<end>";
    let mut taken = Vec::new();
    while !shown(&taken).ends_with("<end>") {
        taken.push(crate::fake::next(&mut updates).await);
    }
    assert_eq!(shown(&taken), expected);
    assert!(!taken.iter().any(|it| matches!(
        it,
        SessionEvent::Missing { .. } | SessionEvent::Unreadable { .. }
    )));
}
