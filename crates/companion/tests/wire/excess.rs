//! More than is taken: the edit is not lost, it is decided in the agent's terminal.

use companion::Limits;
use serde_json::json;
use testkit::http::Connection;
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

#[tokio::test]
async fn the_slow_bodies_of_one_agent_cost_no_other_its_edit() {
    let limits = Limits {
        body: 200_000,
        bodies: 200_000,
        ..quiet_limits()
    };
    let companion = InProcessCompanion::with(limits);
    let qwen = companion.listener(Agent::Qwen).await;
    let mut gemini = companion.listener(Agent::Gemini).await;
    let mut slow = Vec::new();
    for _ in 0..2 {
        let whole = qwen.http_request("POST").body(" ".repeat(150_000)).bytes();
        let mut connection = Connection::open(companion.port).await;
        connection.send(&whole[..whole.len() - 60_000]).await;
        slow.push(connection);
    }
    // What was sent before these is read before they are answered.
    for _ in 0..20 {
        let ping = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
        assert_eq!(gemini.post(ping).await.status, 200);
    }
    for path in ["/1", "/2", "/3"] {
        gemini.propose(path, &"x".repeat(50_000)).await;
    }
    let pending = companion.proposals().await;
    let standings: Vec<_> = pending.iter().map(|it| &it.standing).collect();
    assert_eq!(standings, [&Standing::Open; 3]);
    drop(slow);
}

/// Bytes of a text that is large for the limits of a test.
const LARGE: usize = 100_000;

#[tokio::test]
async fn the_texts_of_all_proposals_together_have_a_limit() {
    let limits = Limits {
        // Half of it is for requests: there is room for two of these.
        texts: 2 * 250_000,
        ..quiet_limits()
    };
    let companion = InProcessCompanion::with(limits);
    let text = "x".repeat(LARGE);
    let mut qwen = companion.listener(Agent::Qwen).await;
    let mut other = companion.listener(Agent::Qwen).await;
    let mut gemini = companion.listener(Agent::Gemini).await;
    for peer in [&mut qwen, &mut other] {
        let answer = peer.open_diff("/1", &text).await.json();
        assert_eq!(answer["result"], json!({ "content": [] }));
    }
    // A small request for a large file takes as much.
    let large = companion.file("large.txt", &text);
    for (path, text) in [("/2", text.as_str()), (&large, "")] {
        let refused = qwen.open_diff(path, text).await.json();
        assert_eq!(refused["result"]["isError"], true, "{refused}");
        insta::allow_duplicates! {
            insta::assert_snapshot!(text_of(&refused), @"the texts of all pending proposals together take too much memory; decide some of them first; decide this edit in the agent's terminal");
        }
        let answer = gemini.open_diff(path, text).await.json();
        assert_eq!(answer["result"], json!({ "content": [] }));
        let pending = companion.proposals().await;
        let left = pending.last().unwrap();
        assert_eq!((left.path.as_str(), left.texts.bytes()), (path, 0));
        assert!(matches!(left.standing, Standing::TerminalOnly(_)));
    }
    // What is decided makes room.
    companion.decide(1, Decision::Reject).await.unwrap();
    let answer = qwen.open_diff(&large, "").await.json();
    assert_eq!(answer["result"], json!({ "content": [] }));
}

#[tokio::test]
async fn a_file_with_many_names_is_kept_once() {
    let companion = InProcessCompanion::start();
    let file = companion.file("a.txt", "x".repeat(LARGE));
    let root = companion.root();
    std::fs::hard_link(&file, root.join("hard.txt")).unwrap();
    #[cfg(unix)]
    std::os::unix::fs::symlink(&file, root.join("soft.txt")).unwrap();
    let mut qwen = companion.listener(Agent::Qwen).await;
    let names = ["a.txt", "./a.txt", "hard.txt", "soft.txt"];
    for name in names {
        qwen.propose(name, "new").await;
    }
    let pending = companion.proposals().await;
    let originals: Vec<_> = (pending.iter())
        .filter_map(|proposal| proposal.texts.original.text())
        .collect();
    assert_eq!(originals.len(), names.len());
    assert!(originals.iter().all(|it| std::ptr::eq(*it, originals[0])));
}

#[tokio::test]
async fn a_path_that_no_file_can_have_is_refused() {
    let companion = InProcessCompanion::start();
    let longest = format!("/{}", "x".repeat(4095));
    let longer = format!("{longest}x");
    for agent in [Agent::Qwen, Agent::Gemini] {
        let mut peer = companion.listener(agent).await;
        for answer in [
            peer.open_diff(&longer, "new").await,
            peer.close_diff(&longer).await,
        ] {
            insta::allow_duplicates! {
                insta::assert_snapshot!(answer.json()["error"], @r#"{"code":-32602,"message":"filePath is longer than 4096 bytes, and no file has such a path"}"#);
            }
        }
        // Nor is it kept of a request that cannot be read.
        let unreadable = format!(
            r#"{{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{{"name":"openDiff","arguments":{{"filePath":"{longer}","newContent":"\ud800"}}}}}}"#
        );
        let answer = peer.post(&unreadable).await.json();
        assert_eq!(answer["error"]["code"], -32602, "{answer}");
        peer.propose(&longest, "new").await;
    }
    let pending = companion.proposals().await;
    assert!(pending.iter().all(|proposal| proposal.path == longest));
}

#[tokio::test]
async fn long_names_are_cut_and_not_repeated() {
    let companion = InProcessCompanion::start();
    let mut peer = companion.peer(Agent::Qwen);
    let name = "é".repeat(1_000_000);
    let client = json!({ "name": format!("x{name}"), "version": name });
    let hello =
        json!({ "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client });
    let answer = peer.request("initialize", hello).await;
    assert_eq!(answer.status, 200);
    let status = companion.desk.ask(|state| state.status()).await.unwrap();
    let client = &status.sessions[0].client;
    assert_eq!((client.name.len(), client.version.len()), (199, 200));

    let mut peer = companion.listener(Agent::Qwen).await;
    for answer in [
        peer.request(&name, json!({})).await,
        peer.call(&name, json!({})).await,
        peer.request("tools/call", json!({ "name": [name] })).await,
    ] {
        let message = answer.json()["error"]["message"].to_string();
        assert!(message.len() < 1_100, "{} bytes", message.len());
    }
}
