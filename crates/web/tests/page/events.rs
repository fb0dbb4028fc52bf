//! The event stream of pages.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::middleware::map_response;
use axum::response::Response;
use bytes::Bytes;
use companion::{Ending, Limits};
use http_body_util::BodyExt;
use serde_json::json;
use testkit::{McpPeer, quiet_limits};
use workbench::Agent;

use crate::api_client::{ApiEvent, ApiStream};
use crate::companion::CompanionWithPage;

/// More changes than the feed keeps.
const FORGOTTEN: usize = 4200;

/// Puts drafts: each is one change.
async fn change_draft(companion: &CompanionWithPage, times: usize) {
    for n in 0..times {
        let draft = json!({ "content": format!("draft {n}") });
        companion
            .page()
            .put("/api/proposals/1/draft", &draft)
            .await
            .json();
    }
}

/// Records the frames of all bodies on their way from the router to a connection.
#[derive(Clone, Default)]
struct FrameRecorder(Arc<Mutex<Vec<Bytes>>>);

impl FrameRecorder {
    fn wrap(&self, router: Router) -> Router {
        let recorder = self.clone();
        router.layer(map_response(move |response: Response| {
            let recorder = recorder.clone();
            async move {
                response.map(|body| {
                    Body::new(body.map_frame(move |frame| {
                        recorder.0.lock().unwrap().extend(frame.data_ref().cloned());
                        frame
                    }))
                })
            }
        }))
    }

    /// The frames with the event of this id.
    fn of_event(&self, id: &str) -> Vec<Bytes> {
        let start = format!("id: {id}\n");
        let frames = self.0.lock().unwrap();
        let found = frames
            .iter()
            .filter(|frame| frame.starts_with(start.as_bytes()));
        found.cloned().collect()
    }
}

/// A companion with an agent and its first proposal.
async fn with_a_proposal() -> (CompanionWithPage, McpPeer) {
    // A context for every move of the cursor, so that there are many changes in a short time.
    let limits = Limits {
        debounce: Duration::ZERO,
        ..quiet_limits()
    };
    let companion = CompanionWithPage::with(limits);
    let mut agent = companion.listener(Agent::Qwen).await;
    agent.propose(&companion.path("a.txt"), "new\n").await;
    (companion, agent)
}

/// The number that an id ends with.
fn number(id: &str) -> u64 {
    id.split_once(':').unwrap().1.parse().unwrap()
}

/// Reads until all changes so far were received, and returns the id of the last one.
async fn read_all(companion: &CompanionWithPage, stream: &mut ApiStream) -> String {
    let draft = json!({ "content": "a mark" });
    companion
        .page()
        .put("/api/proposals/1/draft", &draft)
        .await
        .json();
    stream.next_of("changed").await.id
}

#[tokio::test]
async fn what_closes_a_folder_is_in_the_status_and_an_event() {
    let companion = CompanionWithPage::start();
    let mut stream = companion.page().listen().await;
    let snapshot = stream.next_of("snapshot").await.data;
    assert_eq!(snapshot["status"]["faults"], json!([]));
    let path = companion.file("a.txt", "");
    companion.focus(&path, (1, 1), Some("selected")).await;
    let shown = stream.next_of("context").await.data;
    assert_eq!(shown["files"][0]["path"], path);

    companion.set_fault(Some("no list")).await;
    let root = companion.root();
    let fault = json!({
        "source": root.join(".outrigger.toml"),
        "line": 1,
        "column": 10,
        "message": "no list",
        "folder": root,
    });
    assert_eq!(stream.next_of("faults").await.data, json!([fault]));
    let closed = stream.next_of("context").await.data;
    assert_eq!(closed["files"], json!([]));
    assert_eq!(closed["heldBack"][0]["path"], path);
    let reason = "nothing of its folder is shared until a fault in the settings is mended";
    assert_eq!(closed["heldBack"][0]["reason"], reason);
    let status = companion.page().get("/api/status").await.json();
    assert_eq!(status["faults"], json!([fault]));
    assert_eq!(status["heldBack"]["closed"], 1);

    companion.set_fault(None).await;
    assert_eq!(stream.next_of("faults").await.data, json!([]));
    assert_eq!(
        stream.next_of("context").await.data["files"][0]["path"],
        path
    );
}

#[tokio::test]
async fn a_page_that_knows_nothing_gets_a_snapshot() {
    let (companion, _agent) = with_a_proposal().await;
    let mut stream = companion.page().listen().await;
    let first = stream.next().await.unwrap();
    assert_eq!(first.kind, "snapshot");
    assert_eq!(first.data["proposals"][0]["id"], 1);
    let live = companion.page().get("/api/live").await.json();
    assert_eq!(first.data, live, "the same as one can ask for");
    let instance = live["instance"].as_str().unwrap();
    assert_eq!(first.id, format!("{instance}:{}", live["number"]));
}

#[tokio::test]
async fn every_page_receives_every_change() {
    let companion = CompanionWithPage::start();
    let mut streams = [
        companion.page().listen().await,
        companion.page().listen().await,
    ];
    let mut agent = companion.listener(Agent::Gemini).await;
    let path = companion.file("a.txt", "old\n");
    agent.propose(&path, "new\n").await;
    let draft = json!({ "content": "newer\n" });
    let drafted = companion.page().put("/api/proposals/1/draft", &draft).await;
    assert_eq!(drafted.status, 200);
    companion
        .command()
        .post("/api/proposals/1/reject", &json!({}))
        .await
        .json();
    companion.focus(&path, (3, 1), Some("old")).await;
    for stream in &mut streams {
        let sessions = stream.next_of("sessions").await.data;
        assert_eq!(sessions[0]["agent"], "gemini");
        let opened = stream.next_of("opened").await.data;
        assert_eq!((&opened["id"], &opened["hunks"]), (&json!(1), &json!(1)));
        assert_eq!(opened["path"], path);
        let changed = stream.next_of("changed").await.data;
        assert_eq!(changed, json!({ "id": 1 }));
        let closed = stream.next_of("closed").await.data;
        assert_eq!(closed, json!({ "id": 1, "why": "rejected" }));
        let context = stream.next_of("context").await.data;
        assert_eq!(
            context["files"][0],
            json!({ "path": path, "active": true, "line": 3, "column": 1, "selection": "old" })
        );
        let log = stream.next_of("log").await.data;
        assert_eq!(log["kind"], "context");
    }
}

#[tokio::test]
async fn a_page_hears_which_editors_are_there() {
    let companion = CompanionWithPage::start();
    let mut stream = companion.page().listen().await;
    let status = stream.next_of("snapshot").await.data["status"].clone();
    assert_eq!(status["editor"], "Outrigger");
    assert_eq!(status["editors"], json!([{ "name": "Neovim", "pid": 7 }]));
    companion.front.publish_editors(front::Editors {
        name: "Emacs".into(),
        joined: vec![front::JoinedEditor {
            name: "Emacs".into(),
            process: None,
        }],
    });
    let editors = stream.next_of("editors").await.data;
    assert_eq!(
        editors,
        json!({ "editor": "Emacs", "editors": [{ "name": "Emacs" }] })
    );
}

#[tokio::test]
async fn a_change_is_encoded_once_for_all_pages() {
    const PAGES: usize = 5;
    let recorder = FrameRecorder::default();
    let wrapping = recorder.clone();
    let companion = CompanionWithPage::wrapped(quiet_limits(), move |router| wrapping.wrap(router));
    let mut streams = Vec::new();
    for _ in 0..PAGES {
        let mut stream = companion.page().listen().await;
        stream.next_of("snapshot").await;
        streams.push(stream);
    }
    let mut agent = companion.listener(Agent::Qwen).await;
    agent.propose(&companion.path("a.txt"), "new\n").await;
    for kind in ["sessions", "opened", "log"] {
        let mut ids = Vec::new();
        for stream in &mut streams {
            ids.push(stream.next_of(kind).await.id);
        }
        assert!(ids.iter().all(|id| *id == ids[0]), "{kind}: {ids:?}");
        let frames = recorder.of_event(&ids[0]);
        assert_eq!(frames.len(), PAGES, "{kind}");
        // The recorder holds all frames, so no two of them can have the same memory by chance.
        let first = frames[0].as_ptr();
        let is_shared = |frame: &Bytes| frame.as_ptr() == first;
        assert!(frames.iter().all(is_shared), "{kind} was encoded again");
    }
}

#[tokio::test]
async fn a_page_that_reconnects_soon_resumes() {
    let (companion, _agent) = with_a_proposal().await;
    let mut stream = companion.page().listen().await;
    let seen = read_all(&companion, &mut stream).await;
    drop(stream);
    change_draft(&companion, 3).await;
    let back = companion.page().with("last-event-id", &seen);
    let mut stream = back.listen().await;
    for expected in 1..=3 {
        let event = stream.next().await.unwrap();
        assert_eq!(event.kind, "changed");
        assert_eq!(number(&event.id), number(&seen) + expected);
    }
}

#[tokio::test]
async fn a_page_that_reconnects_late_gets_a_snapshot() {
    let (companion, _agent) = with_a_proposal().await;
    let mut stream = companion.page().listen().await;
    let seen = read_all(&companion, &mut stream).await;
    change_draft(&companion, FORGOTTEN).await;
    let back = companion.page().with("last-event-id", &seen);
    let mut back = back.listen().await;
    let first = back.next().await.unwrap();
    assert_eq!(first.kind, "snapshot");
    assert!(number(&first.id) >= number(&seen) + FORGOTTEN as u64);
    // From there on it receives every change.
    change_draft(&companion, 1).await;
    let next = back.next_of("changed").await;
    assert_eq!(number(&next.id), number(&first.id) + 1);
}

#[tokio::test]
async fn the_last_event_tells_how_the_companion_ends() {
    let retry = Duration::from_secs(1);
    for (how, why) in [
        (Ending::Exit, "stopped"),
        (Ending::Restart { retry }, "restarting"),
    ] {
        let (companion, _agent) = with_a_proposal().await;
        let mut stream = companion.page().listen().await;
        read_all(&companion, &mut stream).await;
        companion.end(how).await;
        let last = stream.next().await.unwrap();
        let expected = ApiEvent {
            id: String::new(),
            kind: "ending".into(),
            data: json!({ "why": why }),
        };
        assert_eq!(last, expected);
        assert_eq!(stream.next().await, None, "a clean end");
    }
}

#[tokio::test]
async fn after_a_restart_every_page_gets_a_snapshot() {
    let (companion, _agent) = with_a_proposal().await;
    let mut stream = companion.page().listen().await;
    let seen = read_all(&companion, &mut stream).await;
    companion.end(Ending::Exit).await;

    let (companion, _agent) = with_a_proposal().await;
    for odd in [
        seen.as_str(),
        "",
        "x",
        ":1",
        "x:1",
        "0:99999999999999999999",
    ] {
        let mut stream = companion.page().with("last-event-id", odd).listen().await;
        assert_eq!(stream.next().await.unwrap().kind, "snapshot", "{odd}");
    }
}

#[tokio::test]
async fn a_page_that_does_not_read_delays_no_other_and_catches_up_with_one_snapshot() {
    let (companion, _agent) = with_a_proposal().await;
    let path = companion.file("a.txt", "");
    let mut stalled = companion.page().listen_at("/api/events", Some(4096)).await;
    let mut other = companion.page().listen().await;
    other.next_of("snapshot").await;
    // Far more than the sockets and all buffers on the way hold.
    let selection = "x".repeat(16_000);
    let lines = 1200;
    for line in 1..=lines {
        companion.focus(&path, (line, 1), Some(&selection)).await;
        let heard = loop {
            let context = other.next_of("context").await.data;
            if context["files"][0]["line"] == line {
                break context;
            }
        };
        assert_eq!(heard["files"][0]["path"], path);
    }
    let mut heard = 0;
    loop {
        let event = stalled.next().await.unwrap();
        heard += 1;
        if event.kind == "snapshot" && heard > 1 {
            break;
        }
        let newest = &event.data["files"][0]["line"];
        assert_ne!(newest, &json!(lines), "nothing was left out");
    }
    change_draft(&companion, 1).await;
    stalled.next_of("changed").await;
}

#[tokio::test]
async fn one_stream_too_many_ends_the_oldest() {
    let (companion, _agent) = with_a_proposal().await;
    let mut streams = Vec::new();
    for _ in 0..33 {
        let mut stream = companion.page().listen().await;
        stream.next_of("snapshot").await;
        streams.push(stream);
    }
    while streams[0].next().await.is_some() {}
    // A slot that was released can be taken again.
    drop(streams.remove(5));
    change_draft(&companion, 1).await;
    for stream in &mut streams[1..] {
        stream.next_of("changed").await;
    }
}
