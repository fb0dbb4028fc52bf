//! How a client connects.

use serde_json::json;
use testkit::InProcessCompanion;
use testkit::http::Request;
use workbench::Agent;

#[tokio::test]
async fn a_client_connects_as_the_published_ones_do() {
    let companion = InProcessCompanion::start();
    let mut qwen = companion.peer(Agent::Qwen);
    qwen.initialize().await;
    qwen.listen().await;
    qwen.request("tools/list", json!({})).await;
    qwen.request("ping", json!({})).await;
    insta::assert_snapshot!(qwen.transcript(), @r#"
    → POST initialize {"capabilities":{},"clientInfo":{"name":"streamable-http-client","version":"1.0.0"},"protocolVersion":"2025-11-25"}
    ← 200 application/json, session [session]
      {"jsonrpc":"2.0","result":{"capabilities":{"tools":{}},"protocolVersion":"2025-11-25","serverInfo":{"name":"outrigger","title":"Outrigger","version":"[version]"}},"id":1}
    → POST notifications/initialized
    ← 202
    → GET
    ← 200 text/event-stream
    ← event: message
      data: {"jsonrpc":"2.0","method":"ide/contextUpdate","params":{"workspaceState":{"openFiles":[]}}}
    → POST tools/list {}
    ← 200 application/json
      {"jsonrpc":"2.0","result":{"tools":[{"description":"Shows the person a proposed new text of a file. Returns at once; the decision follows as ide/diffAccepted or ide/diffRejected.","inputSchema":{"properties":{"filePath":{"description":"Absolute path of the file.","type":"string"},"newContent":{"description":"The whole proposed text.","type":"string"}},"required":["filePath","newContent"],"type":"object"},"name":"openDiff"},{"description":"Takes a proposal back and returns its current text as JSON.","inputSchema":{"properties":{"filePath":{"description":"The path given to openDiff.","type":"string"},"suppressNotification":{"description":"Accepted for compatibility; closing never notifies.","type":"boolean"}},"required":["filePath"],"type":"object"},"name":"closeDiff"}]},"id":2}
    → POST ping {}
    ← 200 application/json
      {"jsonrpc":"2.0","result":{},"id":3}
    "#);
}

#[tokio::test]
async fn the_head_of_a_stream_says_no_more_than_it_must() {
    let companion = InProcessCompanion::start();
    let qwen = companion.listener(Agent::Qwen).await;
    let stream = qwen.stream().await;
    let mut names: Vec<_> = stream
        .headers
        .iter()
        .map(|(name, _)| name.as_str())
        .collect();
    names.sort_unstable();
    assert_eq!(
        names,
        [
            "cache-control",
            "content-type",
            "date",
            "mcp-session-id",
            "transfer-encoding"
        ]
    );
}

#[tokio::test]
async fn the_answer_names_the_version_that_was_asked_for_and_never_a_newer_one() {
    let companion = InProcessCompanion::start();
    for (asked, answered) in [
        ("2024-10-07", "2024-10-07"),
        ("2024-11-05", "2024-11-05"),
        ("2025-03-26", "2025-03-26"),
        ("2025-06-18", "2025-06-18"),
        ("2025-11-25", "2025-11-25"),
        ("2026-07-28", "2025-11-25"),
    ] {
        let mut gemini = companion.peer(Agent::Gemini);
        let params = json!({ "protocolVersion": asked, "capabilities": {} });
        let answer = gemini.request("initialize", params).await;
        assert_eq!(answer.json()["result"]["protocolVersion"], answered);
    }
}

#[tokio::test]
async fn every_address_and_header_of_a_real_client_is_let_in() {
    let companion = InProcessCompanion::start();
    let qwen = companion.listener(Agent::Qwen).await;
    let port = companion.port;
    let own = format!("http://127.0.0.1:{port}");
    let table: [(&str, &str); 9] = [
        ("host", &format!("localhost:{port}")),
        ("host", &format!("host.docker.internal:{port}")),
        ("origin", &own),
        ("mcp-protocol-version", "2025-03-26"),
        ("mcp-protocol-version", "2025-11-25"),
        ("sec-fetch-mode", "cors"),
        ("accept-encoding", "gzip, deflate"),
        ("accept", "application/json"),
        ("accept", ""),
    ];
    for (name, value) in table {
        let ping = r#"{"jsonrpc":"2.0","id":"p","method":"ping"}"#;
        let answer = qwen
            .send(&qwen.http_request("POST").body(ping).header(name, value))
            .await;
        let expected = (200, r#"{"jsonrpc":"2.0","result":{},"id":"p"}"#);
        assert_eq!(
            (answer.status, answer.body.as_str()),
            expected,
            "{name}: {value}"
        );
    }
}

#[tokio::test]
async fn one_connection_carries_many_requests() {
    let companion = InProcessCompanion::start();
    let qwen = companion.listener(Agent::Qwen).await;
    let mut connection = testkit::http::Connection::open(companion.port).await;
    let ping: Request = qwen
        .http_request("POST")
        .body(r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#);
    for _ in 0..3 {
        assert_eq!(connection.request(&ping).await.status, 200);
    }
}

#[tokio::test]
async fn notifications_and_answers_get_202_and_nothing_else() {
    let companion = InProcessCompanion::start();
    let qwen = companion.listener(Agent::Qwen).await;
    for body in [
        r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}"#,
        r#"{"jsonrpc":"2.0","method":"no/such/notification","params":[1]}"#,
        r#"{"jsonrpc":"2.0","id":7,"result":{}}"#,
        r#"{"jsonrpc":"2.0","id":7,"error":{"code":1,"message":"x"}}"#,
    ] {
        let answer = qwen.post(body).await;
        assert_eq!((answer.status, answer.body.as_str()), (202, ""), "{body}");
    }
}
