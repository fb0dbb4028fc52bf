//! More than is taken: the edit is not lost, it is decided in the agent's terminal.

use companion::Limits;
use serde_json::json;
use testkit::{InProcessCompanion, quiet_limits};
use workbench::{Agent, Decision, Refusal, Standing};

use crate::diffs::text_of;

#[tokio::test]
async fn a_body_over_the_limit_is_answered_in_the_agents_own_way() {
    let limits = Limits {
        body: 1000,
        ..quiet_limits()
    };
    let companion = InProcessCompanion::with(limits);
    let text = "x".repeat(300_000);
    let mut qwen = companion.listener(Agent::Qwen).await;
    let refused = qwen.open_diff("./a.txt", &text).await;
    assert_eq!(refused.status, 200);
    insta::assert_snapshot!(refused.body, @r#"{"jsonrpc":"2.0","error":{"code":-32001,"message":"the request is larger than the limit of 1000 bytes; decide this edit in the agent's terminal, or raise the limit (max-body)"},"id":2}"#);
    assert!(companion.proposals().await.is_empty());
    let other = qwen.request("tools/list", json!({ "cursor": text })).await;
    assert_eq!((other.status, &other.json()["id"]), (200, &json!(3)));
    assert_eq!(other.json()["error"]["code"], -32001);

    let mut gemini = companion.listener(Agent::Gemini).await;
    let answer = gemini.open_diff("./a.txt", &text).await;
    assert_eq!(
        answer.body,
        r#"{"jsonrpc":"2.0","result":{"content":[]},"id":2}"#
    );
    let pending = companion.proposals().await;
    assert_eq!(pending[0].path, "./a.txt");
    assert!(matches!(pending[0].standing, Standing::TerminalOnly(_)));
    let accepted = companion.decide(1, Decision::Accept).await;
    assert!(matches!(accepted, Err(Refusal::TerminalOnly(_))));
    let closed = gemini.close_diff("./a.txt").await;
    assert_eq!(text_of(&closed.json()), "{}");
    qwen.nothing_more(&companion).await;
}

#[tokio::test]
async fn a_text_that_is_no_unicode_does_not_cost_gemini_the_edit() {
    let companion = InProcessCompanion::start();
    let gemini = companion.listener(Agent::Gemini).await;
    // JavaScript can hold half a character, and says it like this.
    let body = r#"{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":"openDiff","arguments":{"filePath":"/x","newContent":"\ud800"}}}"#;
    let answer = gemini.post(body).await;
    assert_eq!(
        answer.body,
        r#"{"jsonrpc":"2.0","result":{"content":[]},"id":4}"#
    );
    let pending = companion.proposals().await;
    assert!(matches!(pending[0].standing, Standing::TerminalOnly(_)));
}

#[tokio::test]
async fn too_many_proposals_of_one_agent_are_left_to_its_terminal() {
    let limits = Limits {
        proposals_per_session: 2,
        ..quiet_limits()
    };
    let companion = InProcessCompanion::with(limits);
    for agent in [Agent::Qwen, Agent::Gemini] {
        let mut peer = companion.listener(agent).await;
        for path in ["/1", "/2", "/1", "/2"] {
            let answer = peer.open_diff(path, "new").await;
            assert_eq!(answer.json()["result"], json!({ "content": [] }));
        }
        let answer = peer.open_diff("/3", "new").await.json();
        match agent {
            Agent::Qwen => assert!(text_of(&answer).contains("too many proposals"), "{answer}"),
            _ => assert_eq!(answer["result"], json!({ "content": [] })),
        }
    }
    assert_eq!(companion.proposals().await.len(), 4);
}
