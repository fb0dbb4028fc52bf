//! From `initialize` to the end.

use ::editor::{EditorInfo, Options, SessionEnd, uri};
use serde_json::{Value, json};
use workbench::Agent;

use crate::companion::EditorCompanion;
use crate::editor::Editor;

#[tokio::test]
async fn an_editor_with_a_plugin_begins_and_leaves() {
    let companion = EditorCompanion::start();
    let _agent = companion.listener(Agent::Qwen).await;
    let mut editor = Editor::new(&companion);
    let capabilities = json!({
        "general": { "positionEncodings": ["utf-8", "utf-16"] },
        "experimental": { "outrigger": {} },
    });
    editor.initialize("Neovim", &capabilities).await;
    editor.hear().await;
    editor.request("shutdown", json!(null)).await;
    editor.notify("exit", json!(null)).await;
    insta::assert_snapshot!(editor.transcript(), @r#"
    → initialize #1 {"capabilities":{"experimental":{"outrigger":{}},"general":{"positionEncodings":["utf-8","utf-16"]}},"clientInfo":{"name":"Neovim","version":"1.0"},"processId":1,"workspaceFolders":[{"name":"w","uri":"file:///w"}]}
    ← #1 {"capabilities":{"experimental":{"outrigger":{"version":1}},"positionEncoding":"utf-8","textDocumentSync":{"change":2,"openClose":true,"save":{"includeText":false}},"workspace":{"fileOperations":{"didDelete":{"filters":[{"pattern":{"glob":"**"},"scheme":"file"}]},"didRename":{"filters":[{"pattern":{"glob":"**"},"scheme":"file"}]}},"workspaceFolders":{"changeNotifications":true,"supported":true}}},"serverInfo":{"name":"outrigger","version":"0.1.0"}}
    → initialized {}
    ← outrigger/ready {"environment":{"QWEN_CODE_IDE_SERVER_PORT":"[port]","QWEN_CODE_IDE_WORKSPACE_PATH":"/w"},"port":[port]}
    → shutdown #2 null
    ← #2 null
    → exit null
    "#);
    insta::assert_snapshot!(editor.status, @r#"{"agents":[{"connected":true,"label":"Qwen Code","name":"Qwen Code","presence":"connected"}],"faults":[],"heldBack":0,"paused":false,"pending":0,"short":"1 agent","summary":"Qwen Code; 0 pending; 0 held back"}"#);
    assert_eq!(editor.left().await, SessionEnd::Clean);
}

#[tokio::test]
async fn the_tokens_are_not_sent_to_an_editor_that_has_no_use_for_them() {
    let companion = EditorCompanion::start();
    let mut editor = Editor::new(&companion);
    editor.initialize("Helix", &json!({})).await;
    editor.nothing_more().await;
}

#[tokio::test]
async fn an_editor_without_a_plugin_is_offered_what_tells_us_where_the_person_is() {
    let companion = EditorCompanion::start();
    let mut editor = Editor::new(&companion);
    let offered = editor.initialize("Helix", &json!({})).await;
    let offered = &offered["capabilities"];
    assert_eq!(offered["hoverProvider"], true);
    assert_eq!(offered["documentHighlightProvider"], true);
    assert!(offered["codeActionProvider"].is_object());
    let commands = offered["executeCommandProvider"]["commands"].as_array();
    assert_eq!(commands.map(Vec::len), Some(4));
}

#[tokio::test]
async fn an_end_without_a_goodbye() {
    let companion = EditorCompanion::start();
    for ready in [false, true] {
        let mut editor = Editor::new(&companion);
        if ready {
            editor.initialize("x", &json!({})).await;
        }
        assert_eq!(editor.left().await, SessionEnd::Abrupt);
    }
    let mut editor = Editor::new(&companion);
    editor.notify("exit", json!(null)).await;
    assert_eq!(editor.left().await, SessionEnd::Abrupt);
}

#[tokio::test]
async fn what_editors_say_of_themselves() {
    let companion = EditorCompanion::start();
    let root = companion.root();
    let folder = uri::from_path(&root);
    let roots = vec![root.clone()];
    let hello = |roots: &[std::path::PathBuf]| EditorInfo {
        process: None,
        folders: roots.to_vec(),
        name: None,
        options: Options::default(),
    };
    let options = Options {
        agents: Some(vec!["qwen".into()]),
        ignore: vec!["*.log".into()],
        trusted: Some(false),
        ..Options::default()
    };
    for (params, expected) in [
        (json!({}), hello(&[])),
        (
            json!({ "processId": null, "rootUri": null, "rootPath": null, "workspaceFolders": null }),
            hello(&[]),
        ),
        (json!({ "rootUri": folder }), hello(&roots)),
        (json!({ "rootPath": root }), hello(&roots)),
        (
            json!({ "rootPath": "relative", "rootUri": "oil:///x" }),
            hello(&[]),
        ),
        (
            json!({ "workspaceFolders": [{ "uri": folder }, { "uri": format!("{folder}/") }], "rootUri": folder, "rootPath": root }),
            hello(&roots),
        ),
        (
            json!({ "processId": 7, "clientInfo": { "name": "Kate" } }),
            EditorInfo {
                process: Some(7),
                name: Some("Kate".into()),
                ..hello(&[])
            },
        ),
        (json!({ "clientInfo": { "name": " " } }), hello(&[])),
        (json!({ "initializationOptions": null }), hello(&[])),
        (json!({ "initializationOptions": {} }), hello(&[])),
        // An empty table of Lua is a list.
        (
            json!({ "initializationOptions": [], "capabilities": { "window": [] } }),
            hello(&[]),
        ),
        (
            json!({ "capabilities": { "window": null, "workspace": null, "general": null, "experimental": null } }),
            hello(&[]),
        ),
        (
            json!({ "initializationOptions": { "agents": null, "trusted": null, "unknown": 1 } }),
            hello(&[]),
        ),
        (
            json!({ "initializationOptions": { "agents": ["qwen"], "ignore": ["*.log"], "trusted": false } }),
            EditorInfo {
                options,
                ..hello(&[])
            },
        ),
    ] {
        let mut editor = Editor::new(&companion);
        let answer = editor.request("initialize", params.clone()).await;
        assert_eq!(
            answer["serverInfo"]["name"], "outrigger",
            "{params} {answer}"
        );
        let said = companion.editors.lock().unwrap().pop();
        assert_eq!(said, Some(expected), "{params}");
    }
}

#[tokio::test]
async fn beginnings_that_fail_can_be_tried_again() {
    let companion = EditorCompanion::start();
    let mut editor = Editor::new(&companion);
    for params in [
        json!({ "initializationOptions": { "ignore": "*.log" } }),
        json!({ "initializationOptions": { "trusted": "yes" } }),
        json!({ "initializationOptions": "all" }),
        json!({ "processId": -1 }),
        json!("hello"),
        json!({ "clientInfo": { "name": "unlucky" } }),
    ] {
        editor.request("initialize", params).await;
    }
    insta::assert_snapshot!(editor.transcript(), @r#"
    → initialize #1 {"initializationOptions":{"ignore":"*.log"}}
    ← #1 {"code":-32602,"message":"wrong initializationOptions: invalid type: string \"*.log\", expected a sequence"}
    → initialize #2 {"initializationOptions":{"trusted":"yes"}}
    ← #2 {"code":-32602,"message":"wrong initializationOptions: invalid type: string \"yes\", expected a boolean"}
    → initialize #3 {"initializationOptions":"all"}
    ← #3 {"code":-32602,"message":"wrong initializationOptions: invalid type: string \"all\", expected struct Options"}
    → initialize #4 {"processId":-1}
    ← #4 {"code":-32602,"message":"wrong parameters: invalid value: integer `-1`, expected u32 at line 1 column 15"}
    → initialize #5 "hello"
    ← #5 {"code":-32602,"message":"wrong parameters: invalid type: string \"hello\", expected struct Initialize at line 1 column 7"}
    → initialize #6 {"clientInfo":{"name":"unlucky"}}
    ← #6 {"code":-32803,"message":"there is no room"}
    "#);
    assert_eq!(companion.editors.lock().unwrap().len(), 0);
    let answer = editor.request("initialize", json!({})).await;
    assert_eq!(answer["serverInfo"]["name"], "outrigger");
}

#[tokio::test]
async fn out_of_turn() {
    let companion = EditorCompanion::start();
    let mut editor = Editor::new(&companion);
    let hover = |uri: &str| json!({ "textDocument": { "uri": uri }, "position": { "line": 0, "character": 0 } });
    let uri = editor.uri("a.txt");
    editor.request("textDocument/hover", hover(&uri)).await;
    editor.request("shutdown", Value::Null).await;
    editor.open(&uri, "text").await;
    editor.request("initialize", json!({})).await;
    editor.transcript();
    editor.request("initialize", json!({})).await;
    editor.request("outrigger/no/such/method", json!({})).await;
    editor.request("textDocument/completion", hover(&uri)).await;
    editor.notify("outrigger/no/such/method", json!({})).await;
    editor.notify("$/setTrace", json!({ "value": "off" })).await;
    editor.request("shutdown", Value::Null).await;
    editor.request("shutdown", Value::Null).await;
    editor.request("textDocument/hover", hover(&uri)).await;
    editor.request("initialize", json!({})).await;
    insta::assert_snapshot!(editor.transcript(), @r#"
    → initialize #4 {}
    ← #4 {"code":-32600,"message":"already initialized"}
    → outrigger/no/such/method #5 {}
    ← #5 {"code":-32601,"message":"there is no method \"outrigger/no/such/method\""}
    → textDocument/completion #6 {"position":{"character":0,"line":0},"textDocument":{"uri":"file:///w/a.txt"}}
    ← #6 {"code":-32601,"message":"there is no method \"textDocument/completion\""}
    → outrigger/no/such/method {}
    → $/setTrace {"value":"off"}
    → shutdown #7 null
    ← #7 null
    → shutdown #8 null
    ← #8 {"code":-32600,"message":"already shut down"}
    → textDocument/hover #9 {"position":{"character":0,"line":0},"textDocument":{"uri":"file:///w/a.txt"}}
    ← #9 {"code":-32600,"message":"already shut down"}
    → initialize #10 {}
    ← #10 {"code":-32600,"message":"already initialized"}
    "#);
    assert_eq!(companion.editors.lock().unwrap().len(), 1);
    assert_eq!(editor.left().await, SessionEnd::Clean);
}
