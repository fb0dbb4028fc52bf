//! The snapshot of a page: `GET /api/live`.

use std::ffi::OsStr;
use std::path::Path;

use serde_json::{Value, json};
use testkit::soon;
use workbench::{Agent, Focus, Place};

use crate::companion::CompanionWithPage;

/// Requests the snapshot until it passes the check.
async fn live_when(
    companion: &CompanionWithPage,
    what: &str,
    check: impl Fn(&Value) -> bool,
) -> Value {
    soon(what, async {
        loop {
            let live = companion.page().get("/api/live").await.json();
            if check(&live) {
                return live;
            }
        }
    })
    .await
}

/// The log as `kind agent path`.
fn log(live: &Value) -> Vec<String> {
    let word = |entry: &Value, name: &str| entry[name].as_str().unwrap_or("-").to_owned();
    let entries = live["log"].as_array().unwrap().iter();
    entries
        .map(|entry| {
            let path = word(entry, "path");
            let name = path.rsplit('/').next().unwrap();
            format!("{} {} {name}", word(entry, "kind"), word(entry, "agent"))
        })
        .collect()
}

#[tokio::test]
async fn a_page_sees_what_agents_see_and_what_they_do_not() {
    let companion = CompanionWithPage::start();
    let shown = companion.file("shown.txt", "");
    let secret = companion.file(".env", "");
    let ignored = companion.file("x.log", "");
    for path in [&secret, &ignored, &shown] {
        companion.focus(path, (7, 1), Some("this")).await;
    }
    let live = live_when(&companion, "the context", |live| {
        live["context"]["files"] != json!([])
    })
    .await;
    let context = &live["context"];
    assert_eq!(context["paused"], false);
    assert_eq!(
        context["files"],
        json!([{ "path": shown, "active": true, "line": 7, "column": 1, "selection": "this" }])
    );
    assert_eq!(
        context["heldBack"],
        json!([
            { "path": ignored, "reason": "your ignore patterns match it" },
            { "path": secret, "reason": "it looks like a file that holds secrets" },
        ])
    );
    assert!(context["bytes"].as_u64().unwrap() > 0);
    assert!(context["at"].as_u64().unwrap() > 0);

    companion
        .desk
        .ask(|state| state.set_paused(true))
        .await
        .unwrap();
    let live = live_when(&companion, "the pause", |live| {
        live["context"]["files"] == json!([])
    })
    .await;
    assert_eq!(live["context"]["paused"], true);
}

#[cfg(unix)]
#[tokio::test]
async fn a_path_that_is_not_unicode_is_shown_with_a_replacement_character() {
    use std::os::unix::ffi::OsStrExt;

    let companion = CompanionWithPage::start();
    let mut stream = companion.page().listen().await;
    let path = Path::new(&companion.path("")).join(OsStr::from_bytes(b"\xff.txt"));
    std::fs::write(&path, "").unwrap();
    let focus = Focus {
        place: Place::direct(path),
        cursor: None,
        selection: None,
    };
    let focused = companion
        .desk
        .ask(|state| state.focus(workbench::Holder::COMMANDS, focus));
    focused.await.unwrap();
    let shown = companion.path("\u{fffd}.txt");
    let live = live_when(&companion, "the file", |live| {
        live["context"]["files"] != json!([])
    })
    .await;
    assert_eq!(live["context"]["files"][0]["path"], shown);
    assert_eq!(live["status"]["files"][0]["path"], shown);
    let context = stream.next_of("context").await.data;
    assert_eq!(context["files"][0]["path"], shown);
}

#[tokio::test]
async fn what_is_held_back_is_announced_even_if_agents_see_the_same() {
    let companion = CompanionWithPage::start();
    let mut stream = companion.page().listen().await;
    let secret = companion.file("id_rsa", "");
    companion.focus(&secret, (1, 1), None).await;
    let context = stream.next_of("context").await.data;
    assert_eq!(context["files"], json!([]));
    assert_eq!(context["heldBack"][0]["path"], secret);
}

#[tokio::test]
async fn the_log_says_what_happened() {
    let companion = CompanionWithPage::start();
    let path = companion.file("a.txt", "old\n");
    companion.focus(&path, (1, 1), None).await;
    live_when(&companion, "the context", |live| {
        live["context"]["files"] != json!([])
    })
    .await;
    let mut agent = companion.listener(Agent::Qwen).await;
    agent.propose(&path, "1\n").await;
    agent.propose(&path, "2\n").await;
    companion
        .page()
        .post("/api/proposals/2/accept", &json!({ "content": "3\n" }))
        .await
        .json();
    agent.propose(&companion.path("b.txt"), "4\n").await;
    let session = agent.session.clone();
    agent.leave().await;
    let live = companion.page().get("/api/live").await.json();
    assert_eq!(
        log(&live),
        [
            "connected qwen -",
            "context qwen -",
            "proposed qwen a.txt",
            "replaced qwen a.txt",
            "proposed qwen a.txt",
            "accepted qwen a.txt",
            "proposed qwen b.txt",
            "disconnected qwen -",
            "orphaned qwen b.txt",
        ]
    );
    let log = live["log"].as_array().unwrap();
    let numbers = log.iter().map(|entry| entry["number"].as_u64().unwrap());
    assert!(numbers.eq(1..=9));
    assert!(log.iter().all(|entry| entry["session"] == *session));
    assert_eq!((&log[1]["files"], &log[1]["times"]), (&json!(1), &json!(1)));
    assert!(log[1]["bytes"].as_u64().unwrap() > 0);
}

#[tokio::test]
async fn moving_about_in_a_file_is_one_entry() {
    let companion = CompanionWithPage::start();
    let _agent = companion.listener(Agent::Gemini).await;
    let mut stream = companion.page().listen().await;
    let path = companion.file("a.txt", "");
    let mut entries = Vec::new();
    for line in 1..=3 {
        companion.focus(&path, (line, 1), None).await;
        let entry = loop {
            let entry = stream.next_of("log").await.data;
            if entry["kind"] == "context" {
                break entry;
            }
        };
        entries.push((entry["number"].clone(), entry["times"].as_u64().unwrap()));
    }
    let number = entries[0].0.clone();
    let times = entries.iter().map(|(_, times)| *times);
    assert_eq!(times.collect::<Vec<_>>(), [1, 2, 3]);
    assert!(entries.iter().all(|(seq, _)| *seq == number));
}

#[tokio::test]
async fn a_page_shows_how_to_start_an_agent() {
    let companion = CompanionWithPage::start();
    let live = companion.page().get("/api/live").await.json();
    let root = companion.path("");
    let root = root.trim_end_matches('/');
    assert_eq!(
        live["hints"],
        json!({
            "commands": [
                { "agent": "qwen", "command": format!("cd {root} && outrigger run -- qwen") },
                { "agent": "gemini", "command": format!("cd {root} && outrigger run -- gemini") },
            ],
            "problems": ["a problem"],
        })
    );
    assert_eq!(live["status"]["sessions"], json!([]));
}

#[tokio::test]
async fn a_delivered_verdict_is_not_counted_as_undelivered() {
    let companion = CompanionWithPage::start();
    let mut stream = companion.page().listen().await;
    let mut agent = companion.listener(Agent::Qwen).await;
    agent.propose(&companion.path("a.txt"), "new\n").await;
    stream.next_of("opened").await;
    companion
        .page()
        .post("/api/proposals/1/reject", &json!({}))
        .await
        .json();
    stream.next_of("closed").await;
    live_when(&companion, "the decision is delivered", |live| {
        live["status"]["sessions"][0]["undelivered"] == 0
    })
    .await;
}
