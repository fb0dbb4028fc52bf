//! Who is not let in, and what they are told.

use std::fmt::Write as _;

use testkit::InProcessCompanion;
use testkit::http::{Connection, Request, Response};
use workbench::Agent;

pub(crate) const PING: &str = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;

/// Asks every row and writes down the answers.
pub(crate) async fn answers(companion: &InProcessCompanion, rows: Vec<(&str, Request)>) -> String {
    let mut text = String::new();
    for (name, ask) in rows {
        let answer = Connection::open(companion.port).await.request(&ask).await;
        let _ = writeln!(text, "{name}\n  {}", shown(&answer, companion));
    }
    text
}

fn shown(answer: &Response, companion: &InProcessCompanion) -> String {
    let body = answer.body.replace(&companion.port.to_string(), "[port]");
    format!("{} {body}", answer.status).trim_end().to_owned()
}

#[tokio::test]
async fn strangers_are_turned_away_before_anything_is_read() {
    let companion = InProcessCompanion::start();
    let qwen = companion.listener(Agent::Qwen).await;
    let gemini = companion.token(Agent::Gemini).to_owned();
    let port = companion.port;
    let ask = || qwen.http_request("POST").body(PING);
    let rows = vec![
        ("no token", ask().header("authorization", "")),
        ("a wrong token", ask().header("authorization", "Bearer x")),
        ("another scheme", ask().header("authorization", "Basic x")),
        (
            "the token of another agent's session",
            ask().header("authorization", &format!("Bearer {gemini}")),
        ),
        (
            "a foreign page",
            ask().header("origin", "https://evil.example"),
        ),
        ("a page without origin", ask().header("origin", "null")),
        (
            "a rebound name",
            ask().header("host", &format!("evil.example:{port}")),
        ),
        ("no port", ask().header("host", "127.0.0.1")),
        ("another port", ask().header("host", "127.0.0.1:1")),
        (
            "a foreign page with a wrong token",
            ask()
                .header("origin", "https://evil.example")
                .header("authorization", "Bearer x"),
        ),
        (
            "a wrong host with a foreign page",
            ask()
                .header("origin", "https://evil.example")
                .header("host", "x:1"),
        ),
    ];
    insta::assert_snapshot!(answers(&companion, rows).await, @r#"
    no token
      401 {"error":"missing or wrong bearer token; read it from the discovery file of this port"}
    a wrong token
      401 {"error":"missing or wrong bearer token; read it from the discovery file of this port"}
    another scheme
      401 {"error":"missing or wrong bearer token; read it from the discovery file of this port"}
    the token of another agent's session
      404 {"error":{"code":-32600,"message":"there is no such session; initialize again"},"id":null,"jsonrpc":"2.0"}
    a foreign page
      403 {"error":"requests from other origins are denied"}
    a page without origin
      403 {"error":"requests from other origins are denied"}
    a rebound name
      403 {"error":"invalid Host header"}
    no port
      403 {"error":"invalid Host header"}
    another port
      403 {"error":"invalid Host header"}
    a foreign page with a wrong token
      403 {"error":"requests from other origins are denied"}
    a wrong host with a foreign page
      403 {"error":"invalid Host header"}
    "#);
}

#[tokio::test]
async fn a_body_is_not_waited_for_when_the_token_is_wrong() {
    let companion = InProcessCompanion::start();
    let qwen = companion.peer(Agent::Qwen);
    let mut connection = Connection::open(companion.port).await;
    let ask = qwen
        .http_request("POST")
        .header("authorization", "Bearer x");
    let head = String::from_utf8(ask.bytes()).unwrap();
    let head = head.replace("content-length: 0", "content-length: 1000000");
    connection.send(head.as_bytes()).await;
    assert_eq!(connection.response().await.status, 401);
}

#[tokio::test]
async fn requests_without_a_session_of_their_own() {
    let companion = InProcessCompanion::start();
    let qwen = companion.listener(Agent::Qwen).await;
    let known = |method: &str| qwen.http_request(method).body(PING);
    let unknown = |method: &str| known(method).header("mcp-session-id", "0123");
    let none = |method: &str| known(method).header("mcp-session-id", "");
    let rows = vec![
        ("POST, unknown session", unknown("POST")),
        ("GET, unknown session", unknown("GET")),
        ("DELETE, unknown session", unknown("DELETE")),
        ("POST, no session", none("POST")),
        ("GET, no session", none("GET")),
        ("DELETE, no session", none("DELETE")),
        ("PUT", known("PUT").header("content-length", "0")),
        (
            "GET that wants JSON",
            known("GET").header("accept", "application/json"),
        ),
        (
            "an unknown MCP version",
            known("POST").header("mcp-protocol-version", "2030-01-01"),
        ),
        (
            "an empty MCP version",
            known("POST").header("mcp-protocol-version", " "),
        ),
        (
            "a batch without a session",
            none("POST").body(format!("[{PING}]")),
        ),
    ];
    insta::assert_snapshot!(answers(&companion, rows).await, @r#"
    POST, unknown session
      404 {"error":{"code":-32600,"message":"there is no such session; initialize again"},"id":null,"jsonrpc":"2.0"}
    GET, unknown session
      404 {"error":{"code":-32600,"message":"there is no such session; initialize again"},"id":null,"jsonrpc":"2.0"}
    DELETE, unknown session
      404 {"error":{"code":-32600,"message":"there is no such session; initialize again"},"id":null,"jsonrpc":"2.0"}
    POST, no session
      400 {"error":{"code":-32600,"message":"the request names no session; initialize first"},"id":null,"jsonrpc":"2.0"}
    GET, no session
      400 {"error":{"code":-32600,"message":"the request names no session; initialize first"},"id":null,"jsonrpc":"2.0"}
    DELETE, no session
      400 {"error":{"code":-32600,"message":"the request names no session; initialize first"},"id":null,"jsonrpc":"2.0"}
    PUT
      405 {"error":{"code":-32600,"message":"use POST, GET or DELETE"},"id":null,"jsonrpc":"2.0"}
    GET that wants JSON
      406 {"error":{"code":-32600,"message":"this is an event stream; accept text/event-stream"},"id":null,"jsonrpc":"2.0"}
    an unknown MCP version
      400 {"error":{"code":-32600,"message":"this MCP version is not spoken here"},"id":null,"jsonrpc":"2.0"}
    an empty MCP version
      400 {"error":{"code":-32600,"message":"this MCP version is not spoken here"},"id":null,"jsonrpc":"2.0"}
    a batch without a session
      400 {"error":{"code":-32600,"message":"a batch needs a session; initialize first"},"id":null,"jsonrpc":"2.0"}
    "#);
}
