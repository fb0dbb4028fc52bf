//! A verdict goes to the session that asked, exactly once, whatever becomes of its streams.

use testkit::http::{StreamEnd, message};
use testkit::{InProcessCompanion, indent};
use workbench::{Agent, Decision};

use crate::diffs::text_of;

#[tokio::test]
async fn decided_while_nobody_listens_it_comes_on_the_next_stream_and_not_again() {
    let companion = InProcessCompanion::start();
    let path = companion.path("a.txt");
    let mut gemini = companion.listener(Agent::Gemini).await;
    gemini.open_diff(&path, "new").await;
    gemini.hang_up();
    companion
        .until("the stream is gone", |status| !status.sessions[0].streaming)
        .await;
    let answered = companion.decide(1, Decision::Accept).await.unwrap();
    assert!(!answered.streaming);
    gemini.listen_for_anything().await;
    gemini.hear().await;
    gemini.hear().await;
    gemini.nothing_more(&companion).await;
    insta::assert_snapshot!(gemini.transcript(), @r#"
    → POST tools/call {"arguments":{"filePath":"/w/a.txt","newContent":"new"},"name":"openDiff"}
    ← 200 application/json
      {"jsonrpc":"2.0","result":{"content":[]},"id":2}
    → (gone)
    → GET
    ← 200 text/event-stream
    ← event: message
      data: {"jsonrpc":"2.0","method":"ide/diffAccepted","params":{"filePath":"/w/a.txt","content":"new"}}
    ← event: message
      data: {"jsonrpc":"2.0","method":"ide/contextUpdate","params":{"workspaceState":{"openFiles":[]}}}
    "#);
    gemini.hang_up();
    gemini.listen().await;
    gemini.nothing_more(&companion).await;
    companion
        .until("nothing waits", |status| {
            status.sessions[0].undelivered == 0
        })
        .await;
}

#[tokio::test]
async fn a_session_without_a_stream_hears_on_the_answer_to_its_question() {
    let companion = InProcessCompanion::start();
    let path = companion.path("a.txt");
    let mut gemini = companion.peer(Agent::Gemini);
    gemini.initialize().await;
    gemini.forget();
    for (id, decision) in [(1, Decision::Accept), (2, Decision::Reject)] {
        let mut answer = gemini.open_diff_streaming(&path, "new").await;
        let result = answer.block().await.unwrap();
        companion.decide(id, decision).await.unwrap();
        let (blocks, end) = answer.rest().await;
        for block in std::iter::once(&result).chain(&blocks) {
            gemini.note_back(&indent(block));
        }
        assert_eq!(end, StreamEnd::Clean);
    }
    gemini.listen().await;
    gemini.nothing_more(&companion).await;
    insta::assert_snapshot!(gemini.transcript(), @r#"
    → POST tools/call {"arguments":{"filePath":"/w/a.txt","newContent":"new"},"name":"openDiff"}
    ← event: message
      data: {"jsonrpc":"2.0","result":{"content":[]},"id":2}
    ← event: message
      data: {"jsonrpc":"2.0","method":"ide/diffAccepted","params":{"filePath":"/w/a.txt","content":"new"}}
    → POST tools/call {"arguments":{"filePath":"/w/a.txt","newContent":"new"},"name":"openDiff"}
    ← event: message
      data: {"jsonrpc":"2.0","result":{"content":[]},"id":3}
    ← event: message
      data: {"jsonrpc":"2.0","method":"ide/diffRejected","params":{"filePath":"/w/a.txt"}}
    ← event: message
      data: {"jsonrpc":"2.0","method":"ide/diffClosed","params":{"filePath":"/w/a.txt"}}
    → GET
    ← 200 text/event-stream
    ← event: message
      data: {"jsonrpc":"2.0","method":"ide/contextUpdate","params":{"workspaceState":{"openFiles":[]}}}
    "#);
}

#[tokio::test]
async fn a_stream_opened_later_takes_over_from_the_answer() {
    let companion = InProcessCompanion::start();
    let path = companion.path("a.txt");
    let mut qwen = companion.peer(Agent::Qwen);
    qwen.initialize().await;
    let mut answer = qwen.open_diff_streaming(&path, "new").await;
    qwen.listen().await;
    companion.decide(1, Decision::Accept).await.unwrap();
    assert_eq!(qwen.hear().await["method"], "ide/diffAccepted");
    let (blocks, end) = answer.rest().await;
    let messages: Vec<_> = blocks.iter().filter_map(|block| message(block)).collect();
    assert_eq!(
        (messages.len(), end),
        (1, StreamEnd::Clean),
        "only the result: {messages:?}"
    );
    qwen.nothing_more(&companion).await;
}

#[tokio::test]
async fn an_answer_that_died_loses_no_verdict() {
    let companion = InProcessCompanion::start();
    let path = companion.path("a.txt");
    let mut qwen = companion.peer(Agent::Qwen);
    qwen.initialize().await;
    let answer = qwen.open_diff_streaming(&path, "new").await;
    companion.lose(answer).await;
    companion.decide(1, Decision::Accept).await.unwrap();
    qwen.listen_for_anything().await;
    let heard = [qwen.hear().await, qwen.hear().await];
    let accepted = heard.iter().filter(|it| it["method"] == "ide/diffAccepted");
    assert_eq!(accepted.count(), 1);
}

#[tokio::test]
async fn an_agent_that_takes_only_json_gets_json_and_the_verdict_later() {
    let companion = InProcessCompanion::start();
    let path = companion.path("a.txt");
    let mut qwen = companion.peer(Agent::Qwen);
    qwen.initialize().await;
    let body = serde_json::json!({
        "jsonrpc": "2.0", "id": 9, "method": "tools/call",
        "params": { "name": "openDiff", "arguments": { "filePath": path, "newContent": "x" } },
    });
    let ask = qwen
        .http_request("POST")
        .header("accept", "application/json");
    let answer = qwen.send(&ask.body(body.to_string())).await;
    assert_eq!(answer.header("content-type"), Some("application/json"));
    assert_eq!(
        answer.body,
        r#"{"jsonrpc":"2.0","result":{"content":[]},"id":9}"#
    );
    companion.decide(1, Decision::Accept).await.unwrap();
    qwen.listen_for_anything().await;
    let heard = [qwen.hear().await, qwen.hear().await];
    assert!(heard.iter().any(|it| it["method"] == "ide/diffAccepted"));
}

#[tokio::test]
async fn two_sessions_with_the_same_path_hear_only_their_own() {
    let companion = InProcessCompanion::start();
    let path = companion.file("a.txt", "old");
    let mut qwen = companion.listener(Agent::Qwen).await;
    let mut gemini = companion.listener(Agent::Gemini).await;
    let mut second = companion.listener(Agent::Gemini).await;
    qwen.open_diff(&path, "qwen's").await;
    gemini.open_diff(&path, "gemini's").await;
    second.open_diff(&path, "the second one's").await;
    assert_eq!(companion.proposals().await.len(), 3);
    companion.decide(2, Decision::Accept).await.unwrap();
    companion.decide(1, Decision::Reject).await.unwrap();
    assert_eq!(gemini.hear().await["params"]["content"], "gemini's");
    assert_eq!(qwen.hear().await["method"], "ide/diffRejected");
    assert_eq!(qwen.hear().await["method"], "ide/diffClosed");
    for peer in [&mut qwen, &mut gemini, &mut second] {
        peer.nothing_more(&companion).await;
    }
    let answer = second.close_diff(&path).await;
    assert_eq!(text_of(&answer.json()), r#"{"content":"the second one's"}"#);
}

#[tokio::test]
async fn the_newest_of_several_streams_carries_the_verdict() {
    let companion = InProcessCompanion::start();
    let path = companion.path("a.txt");
    let mut qwen = companion.listener(Agent::Qwen).await;
    let mut newer = qwen.stream().await;
    newer.block().await.unwrap();
    qwen.open_diff(&path, "new").await;
    companion.decide(1, Decision::Accept).await.unwrap();
    let heard = message(&newer.block().await.unwrap()).unwrap();
    assert_eq!(heard["method"], "ide/diffAccepted");
    qwen.nothing_more(&companion).await;
}

#[tokio::test]
async fn one_decided_just_before_the_agent_takes_it_back_is_told_once() {
    let companion = InProcessCompanion::start();
    let path = companion.path("a.txt");
    let mut gemini = companion.peer(Agent::Gemini);
    gemini.initialize().await;
    let answer = gemini.open_diff_streaming(&path, "new").await;
    companion.lose(answer).await;
    let edited = Decision::AcceptText("edited".into());
    companion.decide(1, edited).await.unwrap();
    // The terminal's "yes" came before the verdict: what the person accepted is what it gets.
    let answer = gemini.close_diff(&path).await;
    assert_eq!(text_of(&answer.json()), r#"{"content":"edited"}"#);
    gemini.listen().await;
    gemini.nothing_more(&companion).await;
}

#[tokio::test]
async fn an_old_verdict_does_not_decide_the_next_proposal_for_the_path() {
    let companion = InProcessCompanion::start();
    let path = companion.path("a.txt");
    let mut gemini = companion.listener(Agent::Gemini).await;
    gemini.open_diff(&path, "first").await;
    gemini.hang_up();
    companion
        .until("it is gone", |status| !status.sessions[0].streaming)
        .await;
    companion.decide(1, Decision::Accept).await.unwrap();
    let mut answer = gemini.open_diff_streaming(&path, "second").await;
    answer.block().await.unwrap();
    gemini.listen().await;
    gemini.nothing_more(&companion).await;
    companion.decide(2, Decision::Reject).await.unwrap();
    assert_eq!(gemini.hear().await["method"], "ide/diffRejected");
    let (blocks, _) = answer.rest().await;
    assert_eq!(blocks, Vec::<String>::new(), "nothing but the result");
}
