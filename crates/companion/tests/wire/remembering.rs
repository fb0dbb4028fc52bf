//! A companion that is started again takes up where the last one stopped.

use std::path::Path;

use serde_json::json;
use testkit::InProcessCompanion;
use workbench::{Agent, Decision};

use crate::diffs::text_of;

/// A companion that keeps a journal in `folder`. Agents that `before` knew are let in.
fn started(folder: &Path, before: Option<&InProcessCompanion>) -> InProcessCompanion {
    let builder = InProcessCompanion::builder().journal(folder);
    match before {
        Some(before) => builder.tokens(before.tokens()).start(),
        None => builder.start(),
    }
}

/// The journal as a crash at this moment would leave it.
async fn crash(companion: &InProcessCompanion, journal: &Path) -> tempfile::TempDir {
    let persist = |state: &mut companion::desk::State| state.persist(false);
    let receipt = companion.desk.ask(persist).await.unwrap();
    receipt.written().await.unwrap();
    let copy = tempfile::tempdir().unwrap();
    for entry in std::fs::read_dir(journal).unwrap() {
        let entry = entry.unwrap();
        std::fs::copy(entry.path(), copy.path().join(entry.file_name())).unwrap();
    }
    copy
}

#[tokio::test]
async fn a_session_goes_on_and_its_open_proposal_is_decided() {
    let journal = tempfile::tempdir().unwrap();
    let first = started(journal.path(), None);
    let path = first.file("a.txt", "\u{feff}old\r\nlines\r\n");
    let mut qwen = first.listener(Agent::Qwen).await;
    qwen.open_diff(&path, "\u{feff}new\r\nlines").await;
    let left = crash(&first, journal.path()).await;

    let second = started(left.path(), Some(&first));
    let mut qwen = qwen.moved_to(second.port);
    qwen.note("(the companion crashed and was started again)");
    qwen.listen().await;
    let pending = second.proposals().await;
    let before = first.proposals().await;
    assert_eq!(pending.len(), 1);
    assert_eq!(pending[0].id, before[0].id);
    assert_eq!(pending[0].texts.original, before[0].texts.original);
    assert_eq!(pending[0].texts.proposed, "\u{feff}new\r\nlines");
    second.decide(1, Decision::Accept).await.unwrap();
    qwen.hear().await;
    qwen.nothing_more(&second).await;
    insta::assert_snapshot!(qwen.transcript(), @r#"
    → POST tools/call {"arguments":{"filePath":"/w/a.txt","newContent":"[BOM]new\r\nlines"},"name":"openDiff"}
    ← 200 application/json
      {"jsonrpc":"2.0","result":{"content":[]},"id":2}
    → (the companion crashed and was started again)
    → GET
    ← 200 text/event-stream
    ← event: message
      data: {"jsonrpc":"2.0","method":"ide/contextUpdate","params":{"workspaceState":{"openFiles":[]}}}
    ← event: message
      data: {"jsonrpc":"2.0","method":"ide/diffAccepted","params":{"filePath":"/w/a.txt","content":"[BOM]new\r\nlines"}}
    "#);
}

#[tokio::test]
async fn an_undelivered_verdict_is_still_delivered_once() {
    for (decision, methods) in [
        (Decision::Accept, &["ide/diffAccepted"][..]),
        (Decision::Reject, &["ide/diffRejected", "ide/diffClosed"]),
    ] {
        let journal = tempfile::tempdir().unwrap();
        let first = started(journal.path(), None);
        let path = first.path("a.txt");
        let mut gemini = first.listener(Agent::Gemini).await;
        gemini.open_diff(&path, "new\r\n").await;
        gemini.hang_up();
        first
            .until("it is gone", |status| !status.sessions[0].streaming)
            .await;
        first.decide(1, decision).await.unwrap();
        let left = crash(&first, journal.path()).await;

        let second = started(left.path(), Some(&first));
        assert!(second.proposals().await.is_empty(), "it is decided");
        let mut gemini = gemini.moved_to(second.port);
        gemini.listen_for_anything().await;
        for method in methods {
            let heard = gemini.hear().await;
            assert_eq!(heard["method"], *method);
            assert_eq!(heard["params"]["filePath"], path);
        }
        gemini.nothing_more(&second).await;
        second
            .until("it left", |status| status.sessions[0].undelivered == 0)
            .await;
        let left = crash(&second, left.path()).await;

        let third = started(left.path(), Some(&first));
        let mut gemini = gemini.moved_to(third.port);
        gemini.listen().await;
        gemini.nothing_more(&third).await;
    }
}

#[tokio::test]
async fn a_delivered_verdict_is_not_delivered_again() {
    let journal = tempfile::tempdir().unwrap();
    let first = started(journal.path(), None);
    let mut qwen = first.listener(Agent::Qwen).await;
    qwen.open_diff(&first.path("a.txt"), "new").await;
    first.decide(1, Decision::Accept).await.unwrap();
    qwen.hear().await;
    first
        .until("it left", |status| status.sessions[0].undelivered == 0)
        .await;
    qwen.nothing_more(&first).await;
    let left = crash(&first, journal.path()).await;

    let second = started(left.path(), Some(&first));
    let mut qwen = qwen.moved_to(second.port);
    qwen.listen().await;
    qwen.nothing_more(&second).await;
}

#[tokio::test]
async fn what_was_taken_back_or_replaced_or_orphaned_does_not_return() {
    let journal = tempfile::tempdir().unwrap();
    let first = started(journal.path(), None);
    let mut stays = first.listener(Agent::Qwen).await;
    let mut leaves = first.listener(Agent::Gemini).await;
    stays.open_diff("/taken/back", "1").await;
    stays.open_diff("/replaced", "2").await;
    stays.open_diff("/replaced", "3").await;
    stays.close_diff("/taken/back").await;
    leaves.open_diff("/orphaned", "4").await;
    leaves.send(&leaves.http_request("DELETE")).await;
    let left = crash(&first, journal.path()).await;

    let second = started(left.path(), Some(&first));
    let pending = second.proposals().await;
    let pending: Vec<_> = pending.iter().map(|it| (it.id.get(), &*it.path)).collect();
    assert_eq!(pending, [(3, "/replaced")]);
    let mut leaves = leaves.moved_to(second.port);
    let answer = leaves.request("ping", json!({})).await;
    assert_eq!(answer.status, 404);
}

#[tokio::test]
async fn a_proposal_that_only_the_terminal_decides_stays_one() {
    let journal = tempfile::tempdir().unwrap();
    let first = started(journal.path(), None);
    let path = first.file("a.bin", b"\xff\xfe");
    let mut gemini = first.listener(Agent::Gemini).await;
    gemini.open_diff(&path, "new").await;
    let before = first.proposals().await[0].standing.clone();
    let left = crash(&first, journal.path()).await;

    let second = started(left.path(), Some(&first));
    assert_eq!(second.proposals().await[0].standing, before);
    let mut gemini = gemini.moved_to(second.port);
    let answer = gemini.close_diff(&path).await;
    assert_eq!(text_of(&answer.json()), "{}");
}

#[tokio::test]
async fn numbers_are_not_used_again() {
    let journal = tempfile::tempdir().unwrap();
    let first = started(journal.path(), None);
    let mut qwen = first.listener(Agent::Qwen).await;
    for id in 1..=3 {
        qwen.open_diff("/x", "new").await;
        first.decide(id, Decision::Accept).await.unwrap();
        qwen.hear().await;
    }
    first
        .until("all left", |status| status.sessions[0].undelivered == 0)
        .await;
    qwen.nothing_more(&first).await;
    let left = crash(&first, journal.path()).await;

    let second = started(left.path(), Some(&first));
    let mut qwen = qwen.moved_to(second.port);
    qwen.listen().await;
    qwen.open_diff("/x", "new").await;
    let id = second.proposals().await[0].id.get();
    assert!(id > 3, "a script that is late would decide {id}");
}
