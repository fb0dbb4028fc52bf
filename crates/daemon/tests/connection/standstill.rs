//! A consumer that takes nothing for a minute, and then everything.

use std::time::Duration;

use outrigger_daemon::connection::{ConnectOptions, IdeEvent};
use outrigger_daemon::wire::SessionUpdate;
use outrigger_daemon::{SessionSettings, TurnEnd};

use crate::fake::{FakeDaemon, SESSION, until};
use crate::person::{connected_as, daemon, next, options, permission};

const MINUTE: Duration = Duration::from_mins(1);

/// What the consumer has in front of it after these events.
fn show(screen: &mut String, event: &IdeEvent) {
    match event {
        IdeEvent::Update {
            update: SessionUpdate::AgentMessage(chunk),
            ..
        } => screen.push_str(chunk.text()),
        IdeEvent::HistoryLoaded { events, .. } => {
            screen.clear();
            for event in events {
                show(screen, event);
            }
        }
        _ => {}
    }
}

/// Settings that wait as long as those of the program do.
fn patient(daemon: &FakeDaemon) -> ConnectOptions {
    let mut options = options(daemon);
    options.settings.give_up_after = SessionSettings::default().give_up_after;
    options
}

/// Stops the clock and moves it by a minute, which is longer than a silent stream is trusted.
async fn a_minute_passes() {
    tokio::time::pause();
    tokio::time::advance(MINUTE).await;
    tokio::time::resume();
}

#[tokio::test]
async fn nothing_is_lost_or_shown_twice() {
    for (pieces, size) in [(30, 10), (40, 1 << 20)] {
        let daemon = daemon().await;
        let (connection, mut events) = connected_as(&daemon, patient(&daemon)).await;
        let turn = connection.send_prompt("go").await.unwrap();
        let mut expected = String::new();
        daemon.emit("permission_request", permission("r-1"));
        // When this is here, there is nothing left to read.
        until("the request", || connection.pending().len() == 1).await;
        let route = format!("GET /session/{SESSION}/events");
        let streams = daemon.requests(&route).len();
        a_minute_passes().await;
        // The stream was silent for too long, so there is another one.
        until("another stream", || daemon.requests(&route).len() > streams).await;
        for n in 0..pieces {
            let piece = format!("{n}:{} ", "x".repeat(size));
            daemon.say(&piece);
            expected.push_str(&piece);
        }
        daemon.complete();
        assert!(matches!(turn.end().await, TurnEnd::Complete { .. }));
        assert!(connection.is_connected());
        // Now everything.
        let (mut screen, mut asked, mut ended) = (String::new(), 0, 0);
        while ended == 0 || asked == 0 || screen.len() < expected.len() {
            let event = next(&mut events).await;
            show(&mut screen, &event);
            match &event {
                IdeEvent::RequestOpened(_) => asked += 1,
                IdeEvent::TurnEnded {
                    prompt: Some(_), ..
                } => {
                    // The end of a turn does not come before its text.
                    assert!(screen == expected, "{} of {}", screen.len(), expected.len());
                    ended += 1;
                }
                _ => {}
            }
        }
        assert!(screen == expected, "{} of {}", screen.len(), expected.len());
        assert_eq!(asked, 1);
        assert_eq!(ended, 1);
        // And it goes on.
        daemon.say("on");
        while !screen.ends_with("on") {
            show(&mut screen, &next(&mut events).await);
        }
        assert_eq!(screen.len(), expected.len() + 2);
    }
}
