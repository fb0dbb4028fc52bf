//! Where a consumer goes on after it has crashed: nothing is lost, and at most the event that it was
//! working on comes twice.

use outrigger_daemon::wire::{RestoreSession, SessionId};
use outrigger_daemon::{ResumeState, Session, SessionEvent, SessionEvents};

use crate::fake::{FakeDaemon, SESSION, end_of, next, quick, shown, until};
use crate::watching::Opens;

/// What an event says.
fn word(event: &SessionEvent) -> String {
    shown(std::slice::from_ref(event))
}

async fn resumed(daemon: &FakeDaemon, place: &ResumeState) -> (Session, SessionEvents) {
    let restore = RestoreSession::default();
    let resume = Session::resume(daemon.client(), place, &restore, quick());
    resume.await.unwrap()
}

/// Goes on from a place, as another process would, until everything was said.
async fn go_on(daemon: &FakeDaemon, place: &ResumeState, last: &str) -> String {
    let saved = serde_json::to_string(place).unwrap();
    let place = serde_json::from_str(&saved).unwrap();
    let (_session, mut events) = resumed(daemon, &place).await;
    let mut taken = Vec::new();
    while !shown(&taken).ends_with(last) {
        taken.push(next(&mut events).await);
    }
    shown(&taken)
}

/// Whoever saves the place while they work on an event gets that event again.
#[tokio::test]
async fn a_crash_anywhere_loses_nothing() {
    const WORDS: usize = 12;
    let words: Vec<String> = (0..WORDS).map(|n| format!("<{n}>")).collect();
    for crash in 0..=WORDS {
        let daemon = FakeDaemon::start().await;
        let (session, mut events) = daemon.session().await;
        for word in &words {
            daemon.say(word);
        }
        // The reader has all of it, whatever the consumer has taken.
        until("every event", || session.counters().events > WORDS as u64).await;
        let mut handled = Vec::new();
        while handled.len() < crash {
            let word = word(&next(&mut events).await);
            if !word.is_empty() {
                handled.push(word);
            }
        }
        let working = session.resume_state();
        let between = events.resume_state();
        drop((session, events));
        // The last one was perhaps not dealt with, so it comes again; none before it does.
        let again = go_on(&daemon, &working, words.last().unwrap()).await;
        let expected = words[crash.saturating_sub(1)..].concat();
        assert_eq!(again, expected, "working, {crash}");
        if crash < WORDS {
            // It was dealt with: it does not come again.
            let after = go_on(&daemon, &between, words.last().unwrap()).await;
            assert_eq!(after, words[crash..].concat(), "between, {crash}");
        }
    }
}

/// A history is an event too: who crashes with it in hand gets it again.
#[tokio::test]
async fn a_history_that_was_not_dealt_with_comes_again() {
    let daemon = FakeDaemon::start().await;
    daemon.world().alive = true;
    daemon.say("before ");
    let id = SessionId::new(SESSION).unwrap();
    let restore = RestoreSession::default();
    let load = Session::load(daemon.client(), &id, &restore, quick());
    let (session, mut events) = load.await.unwrap();
    let never_taken = session.resume_state();
    assert!(matches!(next(&mut events).await, SessionEvent::History(_)));
    let in_hand = session.resume_state();
    drop((session, events));
    for place in [never_taken, in_hand] {
        let (_session, mut events) = resumed(&daemon, &place).await;
        let first = next(&mut events).await;
        assert_eq!(word(&first), "before ", "{first:?}");
    }
}

/// The end of a turn does not wait for room that a consumer would have to make.
#[tokio::test]
async fn a_turn_ends_for_everybody_who_waits_although_nothing_is_taken() {
    let daemon = FakeDaemon::start().await;
    let (session, events) = daemon.session().await;
    let turn = session.prompt("go").await.unwrap();
    let large = "x".repeat(1 << 20);
    for _ in 0..20 {
        daemon.say(&large);
    }
    daemon.complete();
    let (one, other) = (turn.clone(), turn);
    assert_eq!(end_of(one).await, end_of(other).await);
    drop(events);
}
