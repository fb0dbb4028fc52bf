//! Messages that make no sense: each has its answer, and the conversation goes on.

use testkit::InProcessCompanion;
use workbench::Agent;

use crate::refusals::{PING, answers};

#[tokio::test]
async fn messages_that_make_no_sense() {
    let companion = InProcessCompanion::start();
    let qwen = companion.listener(Agent::Qwen).await;
    let ask = |body: &str| qwen.http_request("POST").body(body);
    let rows = vec![
        ("nothing", ask("")),
        ("half a message", ask(r#"{"jsonrpc":"2.0","id":1,"#)),
        (
            "not UTF-8",
            qwen.http_request("POST")
                .body(b"{\"id\":\"\xff\",\"method\":\"ping\"}".as_slice()),
        ),
        ("a number", ask("3")),
        (
            "a method that is a number",
            ask(r#"{"jsonrpc":"2.0","id":1,"method":3}"#),
        ),
        (
            "an unknown method",
            ask(r#"{"jsonrpc":"2.0","id":1,"method":"resources/list"}"#),
        ),
        (
            "a method with odd characters",
            ask(r#"{"jsonrpc":"2.0","id":1,"method":"a\n\"b"}"#),
        ),
        (
            "parameters in a list",
            ask(r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":[1]}"#),
        ),
        (
            "no parameters",
            ask(r#"{"jsonrpc":"2.0","id":1,"method":"tools/call"}"#),
        ),
        (
            "no version to speak",
            ask(r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}"#),
        ),
        (
            "deep nesting",
            ask(&format!(
                r#"{{"id":1,"method":"ping","params":{}{}}}"#,
                "[".repeat(1000),
                "]".repeat(1000)
            )),
        ),
    ];
    insta::assert_snapshot!(answers(&companion, rows).await, @r#"
    nothing
      400 {"jsonrpc":"2.0","error":{"code":-32700,"message":"the body is not a JSON-RPC message: EOF while parsing a value at line 1 column 0"},"id":null}
    half a message
      400 {"jsonrpc":"2.0","error":{"code":-32700,"message":"the body is not a JSON-RPC message: EOF while parsing a value at line 1 column 24"},"id":null}
    not UTF-8
      400 {"jsonrpc":"2.0","error":{"code":-32700,"message":"the body is not a JSON-RPC message: invalid unicode code point at line 1 column 8"},"id":null}
    a number
      400 {"jsonrpc":"2.0","error":{"code":-32700,"message":"the body is not a JSON-RPC message: invalid type: integer `3`, expected struct Message at line 1 column 1"},"id":null}
    a method that is a number
      400 {"jsonrpc":"2.0","error":{"code":-32700,"message":"the body is not a JSON-RPC message: invalid type: integer `3`, expected a string at line 1 column 34"},"id":null}
    an unknown method
      200 {"jsonrpc":"2.0","error":{"code":-32601,"message":"there is no method \"resources/list\""},"id":1}
    a method with odd characters
      200 {"jsonrpc":"2.0","error":{"code":-32601,"message":"there is no method \"a\\n\\\"b\""},"id":1}
    parameters in a list
      200 {"jsonrpc":"2.0","error":{"code":-32602,"message":"wrong parameters: invalid type: integer `1`, expected a string at line 1 column 2"},"id":1}
    no parameters
      200 {"jsonrpc":"2.0","error":{"code":-32602,"message":"wrong parameters: missing field `name` at line 1 column 2"},"id":1}
    no version to speak
      200 {"jsonrpc":"2.0","error":{"code":-32602,"message":"wrong parameters: missing field `protocolVersion` at line 1 column 2"},"id":1}
    deep nesting
      200 {"jsonrpc":"2.0","result":{},"id":1}
    "#);
    assert!(companion.proposals().await.is_empty());
    assert_eq!(qwen.post(PING).await.status, 200, "and it goes on");
}

#[tokio::test]
async fn calls_that_make_no_sense() {
    let companion = InProcessCompanion::start();
    let qwen = companion.listener(Agent::Qwen).await;
    let call = |params: &str| {
        let head = r#"{"jsonrpc":"2.0","id":"c","method":"tools/call","params":"#;
        qwen.http_request("POST").body(format!("{head}{params}}}"))
    };
    let rows = vec![
        ("an unknown tool", call(r#"{"name":"rm","arguments":{}}"#)),
        ("no arguments", call(r#"{"name":"openDiff"}"#)),
        (
            "arguments that are null",
            call(r#"{"name":"openDiff","arguments":null}"#),
        ),
        (
            "a path that is a number",
            call(r#"{"name":"openDiff","arguments":{"filePath":1,"newContent":""}}"#),
        ),
        (
            "a text that is null",
            call(r#"{"name":"openDiff","arguments":{"filePath":"/x","newContent":null}}"#),
        ),
        (
            "closing nothing",
            call(r#"{"name":"closeDiff","arguments":{}}"#),
        ),
        (
            "half a surrogate",
            call(r#"{"name":"openDiff","arguments":{"filePath":"/x","newContent":"\ud800"}}"#),
        ),
    ];
    insta::assert_snapshot!(answers(&companion, rows).await, @r#"
    an unknown tool
      200 {"jsonrpc":"2.0","error":{"code":-32602,"message":"there is no tool \"rm\""},"id":"c"}
    no arguments
      200 {"jsonrpc":"2.0","error":{"code":-32602,"message":"wrong parameters: missing field `filePath` at line 1 column 2"},"id":"c"}
    arguments that are null
      200 {"jsonrpc":"2.0","error":{"code":-32602,"message":"wrong parameters: missing field `filePath` at line 1 column 2"},"id":"c"}
    a path that is a number
      200 {"jsonrpc":"2.0","error":{"code":-32602,"message":"wrong parameters: invalid type: integer `1`, expected a string at line 1 column 13"},"id":"c"}
    a text that is null
      200 {"jsonrpc":"2.0","error":{"code":-32602,"message":"wrong parameters: invalid type: null, expected a string at line 1 column 34"},"id":"c"}
    closing nothing
      200 {"jsonrpc":"2.0","error":{"code":-32602,"message":"wrong parameters: missing field `filePath` at line 1 column 2"},"id":"c"}
    half a surrogate
      200 {"jsonrpc":"2.0","error":{"code":-32602,"message":"wrong parameters: unexpected end of hex escape at line 1 column 38"},"id":"c"}
    "#);
    assert!(companion.proposals().await.is_empty());
    assert_eq!(qwen.post(PING).await.status, 200, "and it goes on");
}

#[tokio::test]
async fn batches_are_answered_one_by_one() {
    let companion = InProcessCompanion::start();
    let qwen = companion.listener(Agent::Qwen).await;
    let ask = |body: &str| qwen.http_request("POST").body(body);
    let list = r#"{"jsonrpc":"2.0","id":2,"method":"nope"}"#;
    let note = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
    let rows = vec![
        (
            "two requests and a notification",
            ask(&format!("[{PING},{note},{list}]")),
        ),
        ("only notifications", ask(&format!("[{note},{note}]"))),
        ("a batch with something else in it", ask("[1]")),
    ];
    insta::assert_snapshot!(answers(&companion, rows).await, @r#"
    two requests and a notification
      200 [{"jsonrpc":"2.0","result":{},"id":1},{"jsonrpc":"2.0","error":{"code":-32601,"message":"there is no method \"nope\""},"id":2}]
    only notifications
      202
    a batch with something else in it
      400 {"jsonrpc":"2.0","error":{"code":-32700,"message":"the body is not a JSON-RPC message: invalid type: integer `1`, expected struct Message at line 1 column 2"},"id":null}
    "#);
}

#[tokio::test]
async fn a_request_in_a_batch_is_never_left_without_an_answer() {
    let companion = InProcessCompanion::start();
    let qwen = companion.listener(Agent::Qwen).await;
    let initialize = r#"{"jsonrpc":"2.0","id":5,"method":"initialize","params":{"protocolVersion":"2025-03-26"}}"#;
    let answer = qwen.post(&format!("[{PING},{initialize}]")).await;
    let status = companion.desk.ask(|state| state.status()).await.unwrap();
    assert_eq!(
        status.sessions.len(),
        1,
        "nobody could use a second session"
    );
    let answers = answer.json();
    let ids: Vec<_> = answers
        .as_array()
        .unwrap()
        .iter()
        .map(|it| it["id"].clone())
        .collect();
    assert_eq!(ids, [1, 5], "{answers}");
}
