//! How sessions and streams end.

use std::time::Duration;

use companion::desk::Event;
use companion::{Ending, Limits};
use testkit::http::StreamEnd;
use testkit::{InProcessCompanion, quiet_limits, soon};
use workbench::{Agent, Decision, Outcome, ProposalId};

#[tokio::test]
async fn a_session_that_says_goodbye_is_gone_with_all_it_asked_for() {
    let companion = InProcessCompanion::start();
    let path = companion.path("a.txt");
    let mut qwen = companion.listener(Agent::Qwen).await;
    qwen.open_diff(&path, "new").await;
    let mut events = companion.events();
    qwen.note("DELETE");
    let answer = qwen.send(&qwen.http_request("DELETE")).await;
    qwen.note_back(&answer.status.to_string());
    assert_eq!(qwen.hear_out().await, StreamEnd::Clean);
    let orphaned = Event::Closed(ProposalId::new(1), Outcome::Orphaned);
    soon("the proposal is closed", async {
        while events.recv().await.unwrap() != orphaned {}
    })
    .await;
    assert!(companion.proposals().await.is_empty());
    for method in ["POST", "GET", "DELETE"] {
        let ping = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
        let answer = qwen.send(&qwen.http_request(method).body(ping)).await;
        assert_eq!(answer.status, 404, "{method}");
    }
    insta::assert_snapshot!(qwen.transcript(), @r#"
    → POST tools/call {"arguments":{"filePath":"/w/a.txt","newContent":"new"},"name":"openDiff"}
    ← 200 application/json
      {"jsonrpc":"2.0","result":{"content":[]},"id":2}
    → DELETE
    ← 200
    ← (clean end)
    "#);
}

#[tokio::test]
async fn a_session_that_stays_away_is_ended_in_the_end() {
    let limits = Limits {
        grace: Duration::from_secs(1),
        memory: Duration::from_secs(2),
        ..quiet_limits()
    };
    let companion = InProcessCompanion::with(limits);
    let mut gone = companion.listener(Agent::Qwen).await;
    let mut here = companion.listener(Agent::Gemini).await;
    gone.open_diff(&companion.path("a.txt"), "new").await;
    let mut events = companion.events();
    gone.hang_up();
    let orphaned = Event::Closed(ProposalId::new(1), Outcome::Orphaned);
    soon("the proposal is closed", async {
        while events.recv().await.unwrap() != orphaned {}
    })
    .await;
    companion
        .until("one is left", |status| {
            let left: Vec<_> = status.sessions.iter().map(|it| it.agent).collect();
            left == [Agent::Gemini]
        })
        .await;
    here.nothing_more(&companion).await;
}

#[tokio::test]
async fn a_planned_restart_is_announced_and_ends_streams_cleanly() {
    let companion = InProcessCompanion::start();
    let mut qwen = companion.listener(Agent::Qwen).await;
    let retry = Duration::from_secs(8);
    companion.end(Ending::Restart { retry }).await;
    assert_eq!(qwen.hear_out().await, StreamEnd::Clean);
    insta::assert_snapshot!(qwen.transcript(), @r#"
    ← retry: 8000
    ← (clean end)
    "#);
}

#[tokio::test]
async fn an_exit_ends_streams_cleanly_and_asks_nobody_to_come_back() {
    let companion = InProcessCompanion::start();
    let mut qwen = companion.listener(Agent::Qwen).await;
    let mut waiting = companion.peer(Agent::Gemini);
    waiting.initialize().await;
    let path = companion.path("a.txt");
    let mut answer = waiting.open_diff_streaming(&path, "new").await;
    companion.end(Ending::Exit).await;
    assert_eq!(qwen.hear_out().await, StreamEnd::Clean);
    assert!(!qwen.transcript().contains("retry"));
    let (blocks, end) = answer.rest().await;
    assert_eq!((blocks.len(), end), (1, StreamEnd::Clean), "{blocks:?}");
}

#[tokio::test]
async fn a_verdict_decided_before_the_end_still_leaves() {
    let companion = InProcessCompanion::start();
    let path = companion.path("a.txt");
    let mut qwen = companion.listener(Agent::Qwen).await;
    qwen.open_diff(&path, "new").await;
    companion.decide(1, Decision::Accept).await.unwrap();
    let retry = Duration::from_secs(1);
    companion.end(Ending::Restart { retry }).await;
    assert_eq!(qwen.hear().await["method"], "ide/diffAccepted");
    assert_eq!(qwen.hear_out().await, StreamEnd::Clean);
}

#[tokio::test]
async fn too_many_streams_of_one_session_end_the_oldest() {
    let limits = Limits {
        streams_per_session: 2,
        ..quiet_limits()
    };
    let companion = InProcessCompanion::with(limits);
    let mut qwen = companion.listener(Agent::Qwen).await;
    let _second = qwen.stream().await;
    let mut third = qwen.stream().await;
    third.block().await.unwrap();
    assert_eq!(qwen.hear_out().await, StreamEnd::Clean);
    companion
        .until("two are left", |status| status.sessions[0].streaming)
        .await;
}
