//! Messages that no editor should send: each has a defined answer, and nothing is lost.

use serde_json::{Value, json};
use workbench::Agent;

use crate::companion::EditorCompanion;
use crate::editor::{Editor, place, range};

#[tokio::test]
async fn content_that_is_no_message() {
    let companion = EditorCompanion::start();
    let mut editor = Editor::with_plugin(&companion).await;
    for (content, code) in [
        (&b""[..], -32700),
        (b"nonsense", -32700),
        (b"[]", -32700),
        (
            b"[{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"shutdown\"}]",
            -32700,
        ),
        (b"{\"jsonrpc\":\"2.0\"}", -32600),
        (b"{\"id\":5,\"method\":7}", -32600),
        (b"{\"id\":\"5\",\"result\":1}", -32600),
        (b"{\"method\":\"x\"", -32700),
        (b"\xff\xfe{}", -32700),
        (b"{\"method\":\"\xff\"}", -32700),
        (b"{\"method\":\"x\"} {\"method\":\"x\"}", -32700),
        (b"{\"method\":\"a\",\"method\":\"b\"}", -32700),
    ] {
        editor.say_bytes(content).await;
        let answer = editor.hear_odd().await;
        let said = String::from_utf8_lossy(content);
        assert_eq!(answer["error"]["code"], code, "{said}: {answer}");
    }
    // A batch of brackets must not exhaust the stack.
    editor.say_bytes("[".repeat(1 << 20).as_bytes()).await;
    assert_eq!(editor.hear_odd().await["error"]["code"], -32700);
    let deep = format!("{{\"method\":\"x\",\"params\":{}", "[".repeat(1 << 20));
    editor.say_bytes(deep.as_bytes()).await;
    assert_eq!(editor.hear_odd().await["error"]["code"], -32700);
    editor.nothing_more().await;
}

#[tokio::test]
async fn answers_to_nothing_are_passed_over() {
    let companion = EditorCompanion::start();
    let mut editor = Editor::with_plugin(&companion).await;
    for answer in [
        json!({ "id": 99, "result": { "opened": true } }),
        json!({ "id": 0, "result": null }),
        json!({ "id": 18_446_744_073_709_551_615_u64, "error": {} }),
        json!({ "id": 1, "result": 1 }),
    ] {
        editor.say(&answer).await;
    }
    editor.nothing_more().await;
}

#[tokio::test]
async fn parameters_that_cannot_be_read_are_ignored_in_notifications() {
    let companion = EditorCompanion::start();
    companion.file("a.txt", "");
    let mut agent = companion.listener(Agent::Qwen).await;
    let mut editor = Editor::with_plugin(&companion).await;
    let uri = editor.uri("a.txt");
    editor.open(&uri, "one\ntwo\n").await;
    editor
        .notify("textDocument/didFocus", Editor::about(&uri))
        .await;
    agent.propose(&companion.path("a.txt"), "x").await;
    editor.hear().await;
    let wrong = [
        json!(null),
        json!([]),
        json!("text"),
        json!({}),
        json!({ "textDocument": null }),
        json!({ "textDocument": { "uri": 7 } }),
        json!({ "textDocument": { "uri": uri }, "selections": 1 }),
        json!({ "textDocument": { "uri": uri }, "selections": [{ "anchor": place(0, 0) }] }),
        json!({ "files": [{ "uri": 1 }] }),
        json!({ "event": {} }),
        json!({ "id": -1 }),
    ];
    for method in [
        "textDocument/didOpen",
        "textDocument/didClose",
        "textDocument/didSave",
        "textDocument/didFocus",
        "outrigger/selectionChanged",
        "outrigger/diagnosticsChanged",
        "outrigger/proposal/update",
        "workspace/didRenameFiles",
        "workspace/didDeleteFiles",
        "workspace/didChangeWorkspaceFolders",
    ] {
        for params in &wrong {
            let fits = params["textDocument"]["uri"].is_string()
                && method.starts_with("textDocument/")
                && method != "textDocument/didOpen";
            if !fits {
                editor.notify(method, params.clone()).await;
            }
        }
    }
    assert_eq!(editor.context().await, "*a.txt");
    editor.nothing_more().await;
    // A pause that did not happen is worth a message.
    editor.notify("outrigger/pause", json!({})).await;
    assert_eq!(editor.hear().await["method"], "window/showMessage");
    assert_eq!(companion.proposals().await.len(), 1);
}

#[tokio::test]
async fn positions_outside_the_text_mean_its_nearest_end() {
    let companion = EditorCompanion::start();
    companion.file("a.txt", "");
    for (at, selected, cursor) in [
        ([0, 0, 99, 0], "one\ntwo\n", "3:1"),
        ([0, 1, 0, 99], "ne", "1:4"),
        ([9, 9, 0, 2], "e\ntwo\n", "1:3"),
        ([2_147_483_647, 2_147_483_647, 0, 0], "one\ntwo\n", "1:1"),
        ([0, 0, u32::MAX, u32::MAX], "one\ntwo\n", "3:1"),
    ] {
        let mut editor = Editor::with_plugin(&companion).await;
        let uri = editor.uri("a.txt");
        editor.open(&uri, "one\ntwo\n").await;
        let [l1, c1, l2, c2] = at;
        let selection = json!({ "anchor": place(l1, c1), "active": place(l2, c2) });
        let params = json!({ "textDocument": { "uri": uri }, "selections": [selection] });
        editor.notify("outrigger/selectionChanged", params).await;
        let expected = format!("*a.txt:{cursor} {selected:?}");
        assert_eq!(editor.context().await, expected, "{at:?}");
    }
}

/// A change that cannot be read leaves us with a text that the editor does not have. What is
/// told to agents after that must not be cut from it.
#[tokio::test]
async fn a_change_that_cannot_be_read_makes_the_text_unknown() {
    let unreadable = [
        r#"{"range":{"start":{"line":0,"character":0},"end":{"line":0,"character":3}},"text":"\ud83d"}"#,
        r#"{"range":{"start":{"line":0,"character":0},"end":{"line":0,"character":3}},"text":"\udc00x"}"#,
        r#"{"range":{"start":{"line":-1,"character":0},"end":{"line":0,"character":3}},"text":"x"}"#,
        r#"{"range":{"start":{"line":0,"character":0},"end":{"line":4294967296,"character":3}},"text":"x"}"#,
        r#"{"range":{"start":{"line":0,"character":0}},"text":"x"}"#,
    ];
    for change in unreadable {
        let companion = EditorCompanion::start();
        companion.file("a.txt", "");
        let mut editor = Editor::with_plugin(&companion).await;
        let uri = editor.uri("a.txt");
        editor.open(&uri, "one\ntwo\n").await;
        let message = format!(
            r#"{{"jsonrpc":"2.0","method":"textDocument/didChange","params":{{"textDocument":{{"uri":"{uri}","version":2}},"contentChanges":[{change}]}}}}"#
        );
        editor.say_bytes(message.as_bytes()).await;
        let selection = json!({ "anchor": place(0, 0), "active": place(0, 3) });
        let selected = json!({ "textDocument": { "uri": uri }, "selections": [selection] });
        editor
            .notify("outrigger/selectionChanged", selected.clone())
            .await;
        let context = editor.context().await;
        assert!(context.starts_with("*a.txt"), "{change}: {context}");
        assert!(!context.contains("one"), "{change}: {context}");
        // A whole text makes it known again.
        let whole = json!({ "textDocument": { "uri": uri, "version": 3 }, "contentChanges": [{ "text": "new\n" }] });
        editor.notify("textDocument/didChange", whole).await;
        editor.notify("outrigger/selectionChanged", selected).await;
        assert_eq!(editor.context().await, r#"*a.txt:1:4 "new""#, "{change}");
    }
}

#[tokio::test]
async fn a_document_that_is_no_unicode_is_open_without_a_text() {
    let companion = EditorCompanion::start();
    companion.file("a.txt", "");
    let mut editor = Editor::with_plugin(&companion).await;
    let uri = editor.uri("a.txt");
    let open = format!(
        r#"{{"jsonrpc":"2.0","method":"textDocument/didOpen","params":{{"textDocument":{{"uri":"{uri}","languageId":"x","version":1,"text":"a\ud800b"}}}}}}"#
    );
    editor.say_bytes(open.as_bytes()).await;
    editor
        .notify("textDocument/didFocus", Editor::about(&uri))
        .await;
    assert_eq!(editor.context().await, "*a.txt");
    let at = json!({ "textDocument": { "uri": uri }, "range": range([0, 0, 0, 3]), "context": {} });
    assert_eq!(
        editor.request("textDocument/codeAction", at).await,
        json!([])
    );
}

#[tokio::test]
async fn an_editor_that_never_answers_costs_little() {
    let companion = EditorCompanion::start();
    let mut agent = companion.listener(Agent::Qwen).await;
    let mut editor = Editor::with_plugin(&companion).await;
    for round in 0..1_500 {
        agent
            .propose(&companion.path("a.txt"), &round.to_string())
            .await;
        let opened = editor.hear().await;
        if round > 0 {
            // The one before was replaced.
            assert_eq!(opened["method"], "outrigger/proposal/close");
            assert_eq!(editor.hear().await["method"], "outrigger/proposal/open");
        }
    }
    assert_eq!(companion.proposals().await.len(), 1);
    // Very late answers are answers to nothing.
    for id in 1..100 {
        let late = json!({ "jsonrpc": "2.0", "id": id, "result": { "opened": false } });
        editor.say(&late).await;
    }
    let list = editor.request("outrigger/proposal/list", Value::Null).await;
    assert_eq!(list["proposals"].as_array().unwrap().len(), 1);
}

#[tokio::test]
async fn a_flood_is_taken_in_as_fast_as_it_is_read() {
    let companion = EditorCompanion::start();
    companion.file("a.txt", "");
    let mut agent = companion.listener(Agent::Qwen).await;
    let mut editor = Editor::with_plugin(&companion).await;
    let uri = editor.uri("a.txt");
    editor.open(&uri, "").await;
    editor.transcript();
    agent.propose(&companion.path("a.txt"), "x").await;
    editor.hear().await;
    for round in 0..3_000_u32 {
        let typed = json!({ "jsonrpc": "2.0", "method": "textDocument/didChange", "params": {
            "textDocument": { "uri": uri, "version": round },
            "contentChanges": [{ "range": range([0, round, 0, round]), "text": "x" }],
        } });
        editor.say(&typed).await;
        let selection = json!({ "anchor": place(0, 0), "active": place(0, round + 1) });
        let selected = json!({ "jsonrpc": "2.0", "method": "outrigger/selectionChanged", "params": {
            "textDocument": { "uri": uri }, "selections": [selection],
        } });
        editor.say(&selected).await;
    }
    let context = editor.context().await;
    assert!(context.starts_with("*a.txt:1:3001 \"xxx"), "{context:.40}");
    assert_eq!(companion.proposals().await.len(), 1);
}
