//! Where the person is: documents, focus, selections.

use serde_json::{Value, json};
use workbench::Agent;

use crate::companion::EditorCompanion;
use crate::editor::{Editor, place, range};

fn selection(uri: &str, ranges: &[[u32; 4]]) -> Value {
    let selections = ranges
        .iter()
        .map(|[l1, c1, l2, c2]| json!({ "anchor": place(*l1, *c1), "active": place(*l2, *c2) }));
    json!({ "textDocument": { "uri": uri }, "selections": selections.collect::<Vec<_>>() })
}

#[tokio::test]
async fn a_plugin_says_where_the_person_is() {
    let companion = EditorCompanion::start();
    for name in ["a.txt", "b.txt"] {
        companion.file(name, "on disk\n");
    }
    let mut agent = companion.listener(Agent::Qwen).await;
    let mut editor = Editor::with_plugin(&companion).await;
    let (a, b) = (editor.uri("a.txt"), editor.uri("b.txt"));
    editor.open(&a, "one\ntwo\nthree\n").await;
    editor.open(&b, "B\n").await;
    editor.note_context().await;
    editor
        .notify("textDocument/didFocus", Editor::about(&a))
        .await;
    editor.note_context().await;
    editor.change(&a, [1, 0, 1, 3], "zwei 🙂").await;
    editor.note_context().await;
    let several = selection(&a, &[[1, 7, 1, 5], [0, 0, 0, 2], [2, 1, 2, 1]]);
    editor.notify("outrigger/selectionChanged", several).await;
    editor.note_context().await;
    editor
        .notify("textDocument/didFocus", Editor::about(&b))
        .await;
    editor.note_context().await;
    let cursor = selection(&b, &[[0, 1, 0, 1]]);
    editor.notify("outrigger/selectionChanged", cursor).await;
    editor.note_context().await;
    editor
        .notify("textDocument/didClose", Editor::about(&b))
        .await;
    editor.note_context().await;
    editor.nothing_more().await;
    insta::assert_snapshot!(editor.transcript(), @r#"
    → textDocument/didOpen {"textDocument":{"languageId":"plaintext","text":"one\ntwo\nthree\n","uri":"file:///w/a.txt","version":1}}
    → textDocument/didOpen {"textDocument":{"languageId":"plaintext","text":"B\n","uri":"file:///w/b.txt","version":1}}
    = b.txt, a.txt
    → textDocument/didFocus {"textDocument":{"uri":"file:///w/a.txt"}}
    = *a.txt, b.txt
    → textDocument/didChange {"contentChanges":[{"range":{"end":{"character":3,"line":1},"start":{"character":0,"line":1}},"text":"zwei 🙂"}],"textDocument":{"uri":"file:///w/a.txt","version":2}}
    = *a.txt, b.txt
    → outrigger/selectionChanged {"selections":[{"active":{"character":5,"line":1},"anchor":{"character":7,"line":1}},{"active":{"character":2,"line":0},"anchor":{"character":0,"line":0}},{"active":{"character":1,"line":2},"anchor":{"character":1,"line":2}}],"textDocument":{"uri":"file:///w/a.txt"}}
    = *a.txt:2:6 "🙂\non", b.txt
    → textDocument/didFocus {"textDocument":{"uri":"file:///w/b.txt"}}
    = *b.txt, a.txt
    → outrigger/selectionChanged {"selections":[{"active":{"character":1,"line":0},"anchor":{"character":1,"line":0}}],"textDocument":{"uri":"file:///w/b.txt"}}
    = *b.txt:1:2, a.txt
    → textDocument/didClose {"textDocument":{"uri":"file:///w/b.txt"}}
    = *a.txt:2:6
    "#);
    // And the agent is told so.
    loop {
        let heard = agent.hear().await;
        let first = &heard["params"]["workspaceState"]["openFiles"][0];
        if first["path"] == companion.path("a.txt") && first["isActive"] == true {
            break;
        }
    }
}

#[tokio::test]
async fn paused_agents_see_nothing() {
    let companion = EditorCompanion::start();
    companion.file("a.txt", "");
    let mut agent = companion.listener(Agent::Gemini).await;
    let mut editor = Editor::with_plugin(&companion).await;
    let uri = editor.uri("a.txt");
    editor.open(&uri, "").await;
    let files = |heard: &Value| {
        heard["params"]["workspaceState"]["openFiles"]
            .as_array()
            .map(Vec::len)
    };
    while files(&agent.hear().await) != Some(1) {}
    editor
        .request("outrigger/pause", json!({ "paused": true }))
        .await;
    let empty = agent.hear().await;
    assert!(matches!(files(&empty), None | Some(0)), "{empty}");
    editor.status_with(|status| status["paused"] == true).await;
    editor
        .notify("outrigger/pause", json!({ "paused": false }))
        .await;
    while files(&agent.hear().await) != Some(1) {}
    editor.status_with(|status| status["paused"] == false).await;
    editor
        .request("outrigger/pause", json!({ "paused": "yes" }))
        .await;
    editor.request("outrigger/status", json!(null)).await;
    insta::assert_snapshot!(editor.transcript(), @r#"
    → textDocument/didOpen {"textDocument":{"languageId":"plaintext","text":"","uri":"file:///w/a.txt","version":1}}
    → outrigger/pause #2 {"paused":true}
    ← #2 null
    → outrigger/pause {"paused":false}
    → outrigger/pause #3 {"paused":"yes"}
    ← #3 {"code":-32602,"message":"wrong parameters: invalid type: string \"yes\", expected a boolean at line 1 column 15"}
    → outrigger/status #4 null
    ← #4 {"agents":[{"connected":true,"label":"Gemini CLI","name":"Gemini CLI","presence":"connected"}],"faults":[],"heldBack":0,"paused":false,"pending":0,"short":"1 agent","summary":"Gemini CLI; 0 pending; 0 held back"}
    "#);
}

#[tokio::test]
async fn a_pause_is_told_even_when_nothing_is_open() {
    let companion = EditorCompanion::start();
    let mut editor = Editor::with_plugin(&companion).await;
    editor
        .request("outrigger/pause", json!({ "paused": true }))
        .await;
    editor.status_with(|status| status["paused"] == true).await;
}

#[tokio::test]
async fn positions_are_counted_as_agreed() {
    // What is selected in "aé🙂b" from the emoji to the end, and where the cursor is then.
    for (offered, start, end) in [
        (json!(["utf-16"]), 2, 4),
        (json!(["utf-8", "utf-16"]), 3, 7),
        (json!(["utf-16", "utf-8"]), 3, 7),
        (json!([]), 2, 4),
        (json!(["utf-32"]), 2, 4),
    ] {
        let companion = EditorCompanion::start();
        companion.file("a.txt", "");
        let capabilities = json!({
            "general": { "positionEncodings": offered },
            "experimental": { "outrigger": true },
        });
        let mut editor = Editor::started(&companion, "x", &capabilities).await;
        let uri = editor.uri("a.txt");
        editor.open(&uri, "first\naé🙂b\n").await;
        let selected = selection(&uri, &[[1, start, 1, end]]);
        editor.notify("outrigger/selectionChanged", selected).await;
        assert_eq!(editor.context().await, r#"*a.txt:2:5 "🙂""#, "{offered}");
        editor.change(&uri, [1, start, 1, end], "Ü").await;
        let selected = selection(&uri, &[[1, 0, 1, 99]]);
        editor.notify("outrigger/selectionChanged", selected).await;
        assert_eq!(editor.context().await, r#"*a.txt:2:5 "aéÜb""#, "{offered}");
    }
}

#[tokio::test]
async fn a_message_without_a_place_does_not_move_the_cursor() {
    let companion = EditorCompanion::start();
    companion.file("a.txt", "");
    let mut editor = Editor::with_plugin(&companion).await;
    let uri = editor.uri("a.txt");
    editor.open(&uri, "one\ntwo\n").await;
    let selected = selection(&uri, &[[1, 0, 1, 3]]);
    editor.notify("outrigger/selectionChanged", selected).await;
    // The window lost the focus and got it back.
    editor
        .notify("textDocument/didFocus", Editor::about(&uri))
        .await;
    assert_eq!(editor.context().await, r#"*a.txt:2:4 "two""#);
}

#[tokio::test]
async fn what_is_no_file_is_not_told() {
    let companion = EditorCompanion::start();
    companion.file("a.txt", "");
    companion.file(".env", "");
    let mut editor = Editor::with_plugin(&companion).await;
    let a = editor.uri("a.txt");
    editor.open(&a, "").await;
    editor
        .notify("textDocument/didFocus", Editor::about(&a))
        .await;
    for uri in [
        "untitled:Untitled-1",
        "oil:///w/",
        "git:/a.txt",
        "",
        "file://other/a.txt",
    ] {
        editor.open(uri, "text").await;
        editor
            .notify("textDocument/didFocus", Editor::about(uri))
            .await;
        editor.change(uri, [0, 0, 0, 0], "x").await;
        let selected = selection(uri, &[[0, 0, 0, 1]]);
        editor.notify("outrigger/selectionChanged", selected).await;
        editor
            .request(
                "textDocument/hover",
                json!({ "textDocument": { "uri": uri }, "position": place(0, 0) }),
            )
            .await;
        assert_eq!(editor.context().await, "*a.txt", "{uri:?}");
    }
    // A secret is open, but it is not for agents, and nothing else is in front then.
    let secret = editor.uri(".env");
    editor.open(&secret, "").await;
    editor
        .notify("textDocument/didFocus", Editor::about(&secret))
        .await;
    assert_eq!(editor.context().await, "a.txt");
    editor.status_with(|status| status["heldBack"] == 1).await;
}

#[tokio::test]
async fn the_person_is_told_once_what_closes_a_folder_and_when_it_is_mended() {
    let companion = EditorCompanion::start();
    let plugin = json!({ "experimental": { "outrigger": true } });
    for capabilities in [&plugin, &json!({})] {
        let mut editor = Editor::started(&companion, "E", capabilities).await;
        companion.set_fault(Some("no list")).await;
        assert_eq!(
            editor.hear().await["params"],
            told(
                2,
                "nothing of /w is shared with agents until this is mended: /w/.outrigger.toml:1:10: no list",
                &companion
            )
        );
        if capabilities == &plugin {
            editor
                .status_with(|status| status["faults"] != json!([]))
                .await;
        }
        let status = editor.request("outrigger/status", json!(null)).await;
        let root = companion.root();
        let file = root.join(".outrigger.toml");
        let fault = json!({ "source": file, "line": 1, "column": 10, "message": "no list", "folder": root });
        assert_eq!(status["faults"], json!([fault]));
        assert_eq!(status["short"], "no agent, closed");
        let summary = status["summary"].as_str().unwrap();
        assert!(
            summary.ends_with(".outrigger.toml:1:10: no list"),
            "{summary}"
        );

        // Another editor is told too; this one hears nothing twice.
        let mut other = Editor::new(&companion);
        other.initialize("Other", capabilities).await;
        while other.hear().await["method"] != "window/showMessage" {}
        let document = editor.uri("a.txt");
        editor.open(&document, "text").await;
        editor.nothing_more().await;

        companion.set_fault(None).await;
        assert_eq!(
            editor.hear().await["params"],
            told(
                3,
                "/w/.outrigger.toml is mended; agents are told again what is open",
                &companion
            )
        );
    }
}

/// A message to the person, with the path of the workspace.
fn told(kind: u8, message: &str, companion: &EditorCompanion) -> Value {
    let root = companion.root();
    json!({ "type": kind, "message": message.replace("/w", root.to_str().unwrap()) })
}

#[tokio::test]
async fn the_places_that_a_plugin_asks_about_are_not_where_the_person_is() {
    let companion = EditorCompanion::start();
    companion.file("a.txt", "");
    companion.file("b.txt", "");
    let mut editor = Editor::with_plugin(&companion).await;
    let (a, b) = (editor.uri("a.txt"), editor.uri("b.txt"));
    editor.open(&a, "").await;
    editor.open(&b, "").await;
    editor
        .notify("textDocument/didFocus", Editor::about(&a))
        .await;
    editor.change(&b, [0, 0, 0, 0], "x").await;
    editor
        .notify("textDocument/didSave", Editor::about(&b))
        .await;
    for method in [
        "textDocument/hover",
        "textDocument/documentHighlight",
        "textDocument/codeAction",
    ] {
        let asked = json!({ "textDocument": { "uri": b }, "position": place(0, 0), "range": range([0, 0, 0, 1]) });
        editor.request(method, asked).await;
    }
    assert_eq!(editor.context().await, "*a.txt, b.txt");
}
