//! What agents are told about the person's work, and when.

use std::path::Path;
use std::time::Duration;

use companion::Limits;
use companion::desk::{Desk, Event};
use companion::journal::{Journal, Saved};
use testkit::{InProcessCompanion, quiet_limits, soon};
use tokio::time::{Instant, sleep};
use workbench::{Agent, Cursor, Focus, Place, Privacy, Workbench};

#[tokio::test]
async fn the_context_follows_the_person() {
    let companion = InProcessCompanion::start();
    let (a, b) = (companion.file("a.rs", ""), companion.file("b.rs", ""));
    let mut qwen = companion.listener(Agent::Qwen).await;
    companion.focus(&a, (3, 1), None).await;
    qwen.hear().await;
    companion
        .focus(&b, (1, 8), Some("let x = \"é\\\n\";"))
        .await;
    qwen.hear().await;
    let trust = |state: &mut companion::desk::State| {
        state
            .workbench_mut()
            .set_trust(workbench::Holder::COMMANDS, Some(true));
    };
    companion.desk.ask(trust).await.unwrap();
    qwen.hear().await;
    let closed = b.clone();
    let close = move |state: &mut companion::desk::State| {
        state
            .workbench_mut()
            .close(workbench::Holder::COMMANDS, Path::new(&closed));
    };
    companion.desk.ask(close).await.unwrap();
    qwen.hear().await;
    std::fs::remove_file(&a).unwrap();
    qwen.note("(a.rs is deleted on disk)");
    qwen.hear().await;
    insta::assert_snapshot!(qwen.transcript(), @r#"
    ← event: message
      data: {"jsonrpc":"2.0","method":"ide/contextUpdate","params":{"workspaceState":{"openFiles":[{"path":"/w/a.rs","timestamp":[ms],"isActive":true,"cursor":{"line":3,"character":1}}]}}}
    ← event: message
      data: {"jsonrpc":"2.0","method":"ide/contextUpdate","params":{"workspaceState":{"openFiles":[{"path":"/w/b.rs","timestamp":[ms],"isActive":true,"cursor":{"line":1,"character":8},"selectedText":"let x = \"é\\\n\";"},{"path":"/w/a.rs","timestamp":[ms]}]}}}
    ← event: message
      data: {"jsonrpc":"2.0","method":"ide/contextUpdate","params":{"workspaceState":{"openFiles":[{"path":"/w/b.rs","timestamp":[ms],"isActive":true,"cursor":{"line":1,"character":8},"selectedText":"let x = \"é\\\n\";"},{"path":"/w/a.rs","timestamp":[ms]}],"isTrusted":true}}}
    ← event: message
      data: {"jsonrpc":"2.0","method":"ide/contextUpdate","params":{"workspaceState":{"openFiles":[{"path":"/w/a.rs","timestamp":[ms],"isActive":true,"cursor":{"line":3,"character":1}}],"isTrusted":true}}}
    → (a.rs is deleted on disk)
    ← event: message
      data: {"jsonrpc":"2.0","method":"ide/contextUpdate","params":{"workspaceState":{"openFiles":[],"isTrusted":true}}}
    "#);
}

#[tokio::test]
async fn every_stream_begins_with_the_whole_context() {
    let companion = InProcessCompanion::start();
    let path = companion.file("a.rs", "");
    companion.focus(&path, (3, 4), Some("x")).await;
    let mut changed = companion.desk.context();
    let published = changed.wait_for(|published| !published.context.files.is_empty());
    soon("the context", published).await.unwrap();
    let mut gemini = companion.peer(Agent::Gemini);
    gemini.initialize().await;
    for _ in 0..3 {
        gemini.listen().await;
        let transcript = gemini.transcript();
        let last = transcript.lines().last().unwrap();
        assert!(
            last.contains(r#""cursor":{"line":3,"character":4},"selectedText":"x""#),
            "{last}"
        );
    }
}

#[tokio::test]
async fn what_is_private_is_in_no_message() {
    let companion = InProcessCompanion::start();
    let elsewhere = tempfile::tempdir().unwrap();
    let outside = elsewhere.path().join("outside.rs");
    std::fs::write(&outside, "").unwrap();
    std::os::unix::fs::symlink(&outside, companion.path("link.rs")).unwrap();
    let mut qwen = companion.listener(Agent::Qwen).await;
    let held_back = [
        companion.file(".env", ""),
        companion.file("id_rsa", ""),
        outside.to_str().unwrap().to_owned(),
        companion.path("link.rs"),
    ];
    for path in &held_back {
        companion.focus(path, (1, 1), Some("hunter2")).await;
        let shown = companion.file("shown.rs", "");
        companion.focus(&shown, (1, 1), None).await;
    }
    let status = companion.desk.ask(|state| state.status()).await.unwrap();
    assert_eq!(status.held_back.total(), held_back.len());
    qwen.hear_all_contexts(&companion).await;
    let mut again = companion.listener(Agent::Gemini).await;
    again.hear_all_contexts(&companion).await;
    for transcript in [qwen.transcript(), again.transcript()] {
        for secret in ["hunter2", ".env", "id_rsa", "outside.rs", "link.rs"] {
            assert!(!transcript.contains(secret), "{secret}: {transcript}");
        }
    }
}

#[tokio::test]
async fn a_silent_stream_shows_signs_of_life() {
    let limits = Limits {
        keep_alive: Duration::from_millis(5),
        ..quiet_limits()
    };
    let companion = InProcessCompanion::with(limits);
    let mut qwen = companion.peer(Agent::Qwen);
    qwen.initialize().await;
    let mut stream = qwen.stream().await;
    let mut blocks = Vec::new();
    while blocks.len() < 4 {
        blocks.push(stream.block().await.unwrap());
    }
    assert!(blocks[0].starts_with("event: message\ndata: {"));
    assert_eq!(blocks[1..], [":", ":", ":"]);
}

/// A desk with one file open, for tests that own the clock.
fn desk_with(file: &Path) -> Desk {
    let roots = vec![file.parent().unwrap().to_owned()];
    let privacy = Privacy::new(&roots, &[], &[]);
    let limits = Limits::default();
    assert_eq!(limits.debounce, Duration::from_millis(50));
    Desk::start(
        Workbench::new(roots, privacy),
        Saved::default(),
        Journal::none(),
        limits,
        companion::mcp::context_channel().0,
    )
}

async fn move_to(desk: &Desk, file: &Path, line: u32) {
    let focus = Focus {
        place: Place::direct(file.to_owned()),
        cursor: Some(Cursor::new(line, 1)),
        selection: None,
    };
    desk.tell(move |state| state.focus(workbench::Holder::COMMANDS, focus))
        .await;
}

#[tokio::test(start_paused = true)]
async fn contexts_are_sent_while_the_cursor_keeps_moving_and_the_last_one_always() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("a.rs");
    std::fs::write(&file, "").unwrap();
    let desk = desk_with(&file);
    let mut events = desk.events().unwrap();
    // A move every 5 ms for two seconds never leaves a pause as long as the debounce.
    let started = Instant::now();
    for line in 1..=400 {
        move_to(&desk, &file, line).await;
        sleep(Duration::from_millis(5)).await;
    }
    assert_eq!(
        started.elapsed(),
        Duration::from_secs(2),
        "the clock is the test's own"
    );
    let mut during = 0;
    while let Ok(event) = events.try_recv() {
        during += u32::from(event == Event::ContextChanged);
    }
    assert!(
        (30..=41).contains(&during),
        "{during} contexts in two seconds"
    );
    sleep(Duration::from_millis(51)).await;
    let context = desk.context().borrow().context.clone();
    let cursor = context.files[0].active.as_ref().unwrap().cursor;
    assert_eq!(cursor, Some(Cursor::new(400, 1)));
}

#[tokio::test(start_paused = true)]
async fn nothing_is_sent_when_nothing_changed() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("a.rs");
    std::fs::write(&file, "").unwrap();
    let desk = desk_with(&file);
    move_to(&desk, &file, 1).await;
    sleep(Duration::from_secs(1)).await;
    let mut events = desk.events().unwrap();
    let mut context = desk.context();
    context.mark_unchanged();
    for _ in 0..100 {
        move_to(&desk, &file, 1).await;
        sleep(Duration::from_millis(70)).await;
    }
    assert!(!context.has_changed().unwrap());
    assert!(events.try_recv().is_err());
}
