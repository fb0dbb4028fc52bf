//! What the board shows after each kind of event, and what followers see of it.

use daemon::sanitiser::{AppTool, HostPath, Speaker, TurnResult};

use super::*;

fn board() -> Board {
    Board::new(Limits::default(), Some("elm".into()))
}

fn connected() -> AppEvent {
    AppEvent::Connected {
        daemon_version: Some("0.24.4".into()),
        workspace: HostPath {
            daemon_path: "/w".into(),
            line: None,
        },
    }
}

fn said(text: &str) -> AppEvent {
    AppEvent::Said {
        speaker: Speaker::Agent,
        text: text.into(),
    }
}

fn asked(request: &str) -> AppEvent {
    AppEvent::Asked {
        request: request.into(),
        title: "Run it?".into(),
        tool: AppTool::default(),
        options: Vec::new(),
        questions: None,
        background: false,
    }
}

fn queue(prompt: &str, state: &str) -> AppEvent {
    AppEvent::Queue {
        prompt: prompt.into(),
        text: Some("later".into()),
        state: state.into(),
    }
}

fn ended(prompt: &str, background: bool) -> AppEvent {
    AppEvent::TurnEnded {
        prompt: Some(prompt.into()),
        how: TurnResult::Complete,
        why: None,
        background,
    }
}

/// How things stand, without what is empty.
fn standing(board: &Board) -> String {
    let status = serde_json::to_value(board.snapshot().status).unwrap();
    let fields = status.as_object().unwrap().iter().filter(|(_, value)| {
        !value.is_null() && **value != serde_json::json!([]) && **value != serde_json::json!(false)
    });
    let fields: Vec<_> = fields
        .map(|(name, value)| format!("{name}={value}"))
        .collect();
    fields.join(" ")
}

#[test]
fn every_event_shows_in_how_things_stand() {
    let board = board();
    let mut shown = Vec::new();
    let over = AppEvent::StartOver {
        events: vec![AppEvent::Titled {
            title: "Tea".into(),
        }],
        busy: true,
        incomplete: false,
    };
    for event in [
        connected(),
        over,
        AppEvent::CaughtUp,
        ended("p0", false),
        queue("p1", "running"),
        queue("p2", "queued"),
        ended("p9", true),
        ended("p1", false),
        queue("p2", "running"),
        ended("p2", false),
        AppEvent::ModelChanged { model: "m".into() },
        AppEvent::ModeChanged {
            mode: "plan".into(),
        },
        AppEvent::Usage { used: 1, size: 10 },
        AppEvent::Commands {
            commands: vec![("init".into(), None)],
        },
        AppEvent::Suggestion { text: "go".into() },
        AppEvent::Interrupted,
        AppEvent::Restored,
        AppEvent::CaughtUp,
        AppEvent::Disconnected {
            reason: "unreachable",
            can_reconnect: true,
        },
        connected(),
    ] {
        board.hear(&event, None);
        shown.push(standing(&board));
    }
    insta::assert_snapshot!(shown.join("\n"));
}

#[test]
fn requests_wait_until_somebody_answered() {
    let board = board();
    board.hear(&asked("r1"), None);
    board.hear(&asked("r2"), None);
    board.hear(
        &AppEvent::VoteCounted {
            request: "r2".into(),
            received: Some(1),
            needed: Some(2),
        },
        None,
    );
    // Asked again after a reconnect.
    board.hear(&asked("r1"), Some(7));
    let requests = board.snapshot().requests;
    let seen: Vec<_> = (requests.iter())
        .map(|it| (it.request.as_str(), it.proposal, it.votes))
        .collect();
    assert_eq!(seen, [("r2", None, Some((1, 2))), ("r1", Some(7), None)]);
    board.hear(
        &AppEvent::Closed {
            request: "r1".into(),
            by_me: false,
        },
        None,
    );
    board.hear(
        &AppEvent::Declined {
            request: "r2".into(),
        },
        None,
    );
    assert!(board.snapshot().requests.is_empty());
}

#[tokio::test]
async fn a_follower_sees_everything_and_then_each_change() {
    let board = board();
    board.hear(&said("one"), None);
    let mut follower = board.follow(None);
    let Step::All(all) = follower.next().await else {
        panic!("it begins with everything");
    };
    assert_eq!((all.seq, all.entries.len()), (1, 1));
    board.hear(&said(" two"), None);
    board.hear(&asked("r"), None);
    let mut seen = Vec::new();
    for _ in 0..2 {
        let Step::One(change) = follower.next().await else {
            panic!("nothing was missed");
        };
        seen.push(serde_json::to_string(&change).unwrap());
    }
    insta::assert_snapshot!(seen.join("\n"), @r#"
    {"seq":2,"change":"append","id":1,"text":" two"}
    {"seq":3,"change":"requests","requests":[{"request":"r","title":"Run it?","tool":{"id":""},"options":[],"background":false}]}
    "#);
    // Somebody who was away goes on where they were.
    let mut back = board.follow(Some(2));
    assert!(matches!(back.next().await, Step::One(change) if change.seq == 3));
}

#[tokio::test]
async fn who_is_too_far_behind_sees_everything_again() {
    let board = board();
    let mut follower = board.follow(Some(0));
    for _ in 0..=KEPT {
        board.hear(&said("x"), None);
    }
    let Step::All(all) = follower.next().await else {
        panic!("the first changes are not kept");
    };
    assert_eq!(all.seq, KEPT as u64 + 1);
    board.hear(&said("y"), None);
    assert!(matches!(follower.next().await, Step::One(..)));
    // Of another run, which had got further.
    let mut stranger = board.follow(Some(1_000_000));
    assert!(matches!(stranger.next().await, Step::All(_)));
}
