//! Proposals of one agent, from the question to the answer.

use serde_json::json;
use testkit::InProcessCompanion;
use workbench::{Agent, Decision, Refusal};

#[tokio::test]
async fn accepted_as_it_is() {
    let companion = InProcessCompanion::start();
    let path = companion.file("a.txt", "old\n");
    let mut qwen = companion.listener(Agent::Qwen).await;
    qwen.open_diff(&path, "new\n").await;
    let answered = companion.decide(1, Decision::Accept).await.unwrap();
    assert_eq!((answered.agent, answered.streaming), (Agent::Qwen, true));
    qwen.hear().await;
    qwen.nothing_more(&companion).await;
    insta::assert_snapshot!(qwen.transcript(), @r#"
    → POST tools/call {"arguments":{"filePath":"/w/a.txt","newContent":"new\n"},"name":"openDiff"}
    ← 200 application/json
      {"jsonrpc":"2.0","result":{"content":[]},"id":2}
    ← event: message
      data: {"jsonrpc":"2.0","method":"ide/diffAccepted","params":{"filePath":"/w/a.txt","content":"new\n"}}
    "#);
    assert_eq!(
        std::fs::read_to_string(path).unwrap(),
        "old\n",
        "the agent writes, not we"
    );
}

#[tokio::test]
async fn accepted_with_another_text() {
    let companion = InProcessCompanion::start();
    let path = companion.path("new.txt");
    let mut gemini = companion.listener(Agent::Gemini).await;
    gemini.open_diff(&path, "one\n").await;
    let edited = Decision::AcceptText("\u{feff}two\r\n\u{1}\u{2028}\"\\".into());
    companion.decide(1, edited).await.unwrap();
    let heard = gemini.hear().await;
    assert_eq!(
        heard["params"]["content"],
        "\u{feff}two\r\n\u{1}\u{2028}\"\\"
    );
    gemini.nothing_more(&companion).await;
    insta::assert_snapshot!(gemini.transcript(), @r#"
    → POST tools/call {"arguments":{"filePath":"/w/new.txt","newContent":"one\n"},"name":"openDiff"}
    ← 200 application/json
      {"jsonrpc":"2.0","result":{"content":[]},"id":2}
    ← event: message
      data: {"jsonrpc":"2.0","method":"ide/diffAccepted","params":{"filePath":"/w/new.txt","content":"[BOM]two\r\n\u0001[LS]\"\\"}}
    "#);
}

#[tokio::test]
async fn rejected_in_the_new_and_in_the_old_word() {
    let companion = InProcessCompanion::start();
    let path = companion.path("a.txt");
    let mut gemini = companion.listener(Agent::Gemini).await;
    gemini.open_diff(&path, "new\n").await;
    companion.decide(1, Decision::Reject).await.unwrap();
    gemini.hear().await;
    gemini.hear().await;
    gemini.nothing_more(&companion).await;
    insta::assert_snapshot!(gemini.transcript(), @r#"
    → POST tools/call {"arguments":{"filePath":"/w/a.txt","newContent":"new\n"},"name":"openDiff"}
    ← 200 application/json
      {"jsonrpc":"2.0","result":{"content":[]},"id":2}
    ← event: message
      data: {"jsonrpc":"2.0","method":"ide/diffRejected","params":{"filePath":"/w/a.txt"}}
    ← event: message
      data: {"jsonrpc":"2.0","method":"ide/diffClosed","params":{"filePath":"/w/a.txt"}}
    "#);
}

#[tokio::test]
async fn taken_back_by_the_agent() {
    let companion = InProcessCompanion::start();
    let path = companion.path("a.txt");
    let mut qwen = companion.listener(Agent::Qwen).await;
    qwen.open_diff(&path, "a \"new\"\ntext").await;
    let suppressed = json!({ "filePath": path, "suppressNotification": true });
    qwen.call("closeDiff", suppressed).await;
    qwen.close_diff(&path).await;
    qwen.close_diff("/never/opened").await;
    assert_eq!(companion.decide(1, Decision::Accept).await, Err(unknown(1)));
    qwen.nothing_more(&companion).await;
    insta::assert_snapshot!(qwen.transcript(), @r#"
    → POST tools/call {"arguments":{"filePath":"/w/a.txt","newContent":"a \"new\"\ntext"},"name":"openDiff"}
    ← 200 application/json
      {"jsonrpc":"2.0","result":{"content":[]},"id":2}
    → POST tools/call {"arguments":{"filePath":"/w/a.txt","suppressNotification":true},"name":"closeDiff"}
    ← 200 application/json
      {"jsonrpc":"2.0","result":{"content":[{"type":"text","text":"{\"content\":\"a \\\"new\\\"\\ntext\"}"}]},"id":3}
    → POST tools/call {"arguments":{"filePath":"/w/a.txt"},"name":"closeDiff"}
    ← 200 application/json
      {"jsonrpc":"2.0","result":{"content":[{"type":"text","text":"{}"}]},"id":4}
    → POST tools/call {"arguments":{"filePath":"/never/opened"},"name":"closeDiff"}
    ← 200 application/json
      {"jsonrpc":"2.0","result":{"content":[{"type":"text","text":"{}"}]},"id":5}
    "#);
}

#[tokio::test]
async fn taken_back_with_what_the_person_made_of_it() {
    let companion = InProcessCompanion::start();
    let path = companion.path("a.txt");
    let mut gemini = companion.listener(Agent::Gemini).await;
    gemini.open_diff(&path, "proposal").await;
    let id = companion.proposals().await[0].id;
    let draft = move |state: &mut companion::desk::State| state.set_draft(id, 1, "draft");
    companion.desk.ask(draft).await.unwrap().unwrap();
    let answer = gemini.close_diff(&path).await;
    assert_eq!(text_of(&answer.json()), r#"{"content":"draft"}"#);
}

#[tokio::test]
async fn the_second_proposal_for_a_path_replaces_the_first() {
    let companion = InProcessCompanion::start();
    let path = companion.path("a.txt");
    let mut qwen = companion.listener(Agent::Qwen).await;
    qwen.open_diff(&path, "first").await;
    qwen.open_diff(&path, "second").await;
    let pending = companion.proposals().await;
    assert_eq!(pending.len(), 1);
    assert_eq!(pending[0].texts.proposed, "second");
    assert_eq!(companion.decide(1, Decision::Accept).await, Err(unknown(1)));
    companion.decide(2, Decision::Accept).await.unwrap();
    qwen.hear().await;
    qwen.nothing_more(&companion).await;
    insta::assert_snapshot!(qwen.transcript(), @r#"
    → POST tools/call {"arguments":{"filePath":"/w/a.txt","newContent":"first"},"name":"openDiff"}
    ← 200 application/json
      {"jsonrpc":"2.0","result":{"content":[]},"id":2}
    → POST tools/call {"arguments":{"filePath":"/w/a.txt","newContent":"second"},"name":"openDiff"}
    ← 200 application/json
      {"jsonrpc":"2.0","result":{"content":[]},"id":3}
    ← event: message
      data: {"jsonrpc":"2.0","method":"ide/diffAccepted","params":{"filePath":"/w/a.txt","content":"second"}}
    "#);
}

#[tokio::test]
async fn several_paths_are_pending_side_by_side() {
    let companion = InProcessCompanion::start();
    let mut gemini = companion.listener(Agent::Gemini).await;
    for name in ["a", "b", "c"] {
        gemini.open_diff(&companion.path(name), name).await;
    }
    for (id, name) in [(2, "b"), (3, "c"), (1, "a")] {
        companion.decide(id, Decision::Accept).await.unwrap();
        let heard = gemini.hear().await;
        assert_eq!(heard["params"]["filePath"], companion.path(name));
        assert_eq!(heard["params"]["content"], name);
    }
}

#[tokio::test]
async fn an_empty_text_is_refused_because_agents_would_write_their_own() {
    let companion = InProcessCompanion::start();
    let path = companion.file("a.txt", "old");
    for (n, agent) in [(1, Agent::Qwen), (3, Agent::Gemini)] {
        let mut peer = companion.listener(agent).await;
        peer.open_diff(&path, "new").await;
        let emptied = companion
            .decide(n, Decision::AcceptText(String::new()))
            .await;
        assert_eq!(emptied, Err(Refusal::EmptyText));
        companion.decide(n, Decision::Reject).await.unwrap();
        assert_eq!(peer.hear().await["method"], "ide/diffRejected");
        // A proposal that is itself empty can be accepted: the agent writes what it proposed.
        peer.open_diff(&path, "").await;
        companion.decide(n + 1, Decision::Accept).await.unwrap();
        assert_eq!(peer.hear().await["method"], "ide/diffClosed");
        let accepted = peer.hear().await;
        assert_eq!(
            accepted["params"],
            json!({ "filePath": path, "content": "" })
        );
    }
}

#[tokio::test]
async fn the_path_comes_back_byte_for_byte() {
    let companion = InProcessCompanion::start();
    let mut qwen = companion.listener(Agent::Qwen).await;
    let paths = [
        "relative.txt",
        "./dot/../dot.txt",
        "/no//such///folder/./x",
        "C:\\windows\\x.txt",
        "/é/e\u{301}/漢/🙂",
        "/tab\tnewline\nquote\"",
        " ",
        "\0",
        "/with/trailing/",
    ];
    for (n, path) in (1..).zip(paths) {
        let answer = qwen.open_diff(path, "x").await;
        assert_eq!(
            answer.json()["result"],
            json!({ "content": [] }),
            "{path:?}"
        );
        companion.decide(n, Decision::Accept).await.unwrap();
        assert_eq!(qwen.hear().await["params"]["filePath"], path);
    }
}

fn unknown(id: u64) -> Refusal {
    Refusal::Unknown(workbench::ProposalId::new(id))
}

pub(crate) fn text_of(answer: &serde_json::Value) -> &str {
    let block = &answer["result"]["content"][0];
    assert_eq!(block["type"], "text");
    block["text"].as_str().unwrap()
}
