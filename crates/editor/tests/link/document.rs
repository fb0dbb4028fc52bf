//! `docs/editor-protocol.md` against the code: the same names, and examples that really happen.

use std::collections::BTreeSet;

use serde_json::{Value, json};
use testkit::McpPeer;
use workbench::Agent;

use crate::companion::EditorCompanion;
use crate::editor::Editor;

const DOCUMENT: &str = include_str!("../../../../docs/editor-protocol.md");
const ROOT: &str = "/home/me/project";
const SESSION: &str = "f00dfeedf00dfeedf00dfeedf00dfeed";
const PORT: &str = "43219";

const METHODS: &str = include_str!("../../src/wire.rs");
const SOURCES: [&str; 6] = [
    include_str!("../../src/client.rs"),
    include_str!("../../src/handshake.rs"),
    include_str!("../../src/presence.rs"),
    include_str!("../../src/proposals.rs"),
    include_str!("../../src/session.rs"),
    METHODS,
];

/// Every word of a text that begins with one of these and goes on with a letter.
fn names<'a>(text: &'a str, prefixes: &[&str]) -> BTreeSet<&'a str> {
    let is_part = |c: char| c.is_ascii_alphabetic() || "/$".contains(c);
    let words = text.split(|c: char| !is_part(c));
    words
        .map(|word| word.trim_end_matches('/'))
        .filter(|word| prefixes.iter().any(|prefix| word.starts_with(prefix)))
        .collect()
}

#[test]
fn every_method_is_documented_and_no_other() {
    let code = names(METHODS, &["outrigger/"]);
    assert_eq!(names(DOCUMENT, &["outrigger/"]), code);
    // Those of a conversation share one section.
    let (_, conversations) = DOCUMENT
        .split_once("\n## Conversations with a daemon\n")
        .unwrap();
    for name in code {
        let has_section = DOCUMENT.contains(&format!("### `{name}`\n"));
        let is_daemons =
            name.starts_with("outrigger/daemon/") && conversations.contains(&format!("`{name}`"));
        assert!(has_section || is_daemons, "{name} has no section");
    }
}

#[test]
fn every_standard_method_that_is_used_is_documented() {
    let standard = ["textDocument/", "workspace/", "window/", "$/"];
    let known = names(DOCUMENT, &standard);
    for source in SOURCES {
        for name in names(source, &standard) {
            assert!(known.contains(name), "{name} is not documented");
        }
    }
}

/// The messages of the document: whether the editor says it, and the message.
fn examples(root: &str) -> Vec<(bool, Value)> {
    let mut found = Vec::new();
    let mut rest = DOCUMENT;
    while let Some((_, after)) = rest.split_once("\n```json ") {
        let (block, after) = after.split_once("\n```").unwrap();
        let (speaker, text) = block.split_once('\n').unwrap();
        let text = text.replace(ROOT, root);
        let message = serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"));
        found.push((speaker == "editor", message));
        rest = after;
    }
    found
}

/// An example is played as it stands: what the editor says is said, what outrigger says is
/// waited for and compared. What an agent has to do in between is done here.
#[tokio::test]
async fn every_example_happens() {
    let companion = EditorCompanion::start();
    let mut agent = companion.listener(Agent::Qwen).await;
    let mut editor = Editor::new(&companion);
    let root = companion.root();
    let examples = examples(root.to_str().unwrap());
    let ready = examples
        .iter()
        .find(|(_, it)| it["method"] == "outrigger/ready");
    for (index, (of_editor, example)) in examples.iter().enumerate() {
        match (of_editor, example["method"].as_str()) {
            (true, Some("outrigger/proposal/verdict")) => {
                let id = example["params"]["id"].as_u64().unwrap();
                ensure_pending(&companion, &mut agent, &mut editor, id).await;
            }
            (false, Some("outrigger/proposal/open")) => {
                open_as(&mut agent, &example["params"]).await;
            }
            _ => {}
        }
        if *of_editor {
            let mut message = example.clone();
            message["jsonrpc"] = json!("2.0");
            editor.say(&message).await;
            continue;
        }
        let heard = if example.get("method").is_some() {
            hear(&mut editor, example).await
        } else {
            let id = example["id"].as_u64().unwrap();
            editor.answer(id).await
        };
        let heard = normalized(&heard, &agent, &companion);
        assert_eq!(heard, *example, "example {index}");
        if example["id"] == 1 && example.get("method").is_none() {
            editor
                .say(&json!({ "method": "initialized", "params": {} }))
                .await;
            let said = editor.hear().await;
            assert_eq!(normalized(&said, &agent, &companion), ready.unwrap().1);
        }
    }
    let context = editor.context().await;
    assert_eq!(context, r#"*a.txt:2:4 "two""#, "after the examples");
}

/// The message of the link that an example shows.
async fn hear(editor: &mut Editor<'_>, example: &Value) -> Value {
    match example["method"].as_str().unwrap() {
        // It came when everything began, and was compared then.
        "outrigger/ready" => example.clone(),
        "outrigger/status" => {
            let wanted = example["params"].clone();
            editor.status_with(|status| *status == wanted).await;
            example.clone()
        }
        method => loop {
            let heard = editor.hear().await;
            if heard["method"] == method && heard["params"]["id"] == example["params"]["id"] {
                break heard;
            }
        },
    }
}

/// The agent proposes what the example shows.
async fn open_as(agent: &mut McpPeer, params: &Value) {
    let path = params["path"].as_str().unwrap();
    std::fs::write(path, params["original"].as_str().unwrap()).unwrap();
    agent
        .propose(path, params["proposed"].as_str().unwrap())
        .await;
}

/// Proposals of the agent until the one with this number is pending and shown.
async fn ensure_pending(
    companion: &EditorCompanion,
    agent: &mut McpPeer,
    editor: &mut Editor<'_>,
    id: u64,
) {
    while !companion
        .proposals()
        .await
        .iter()
        .any(|it| it.id.get() == id)
    {
        let path = companion.file(&format!("{id}.txt"), "one\ntwo\nthree\n");
        agent.propose(&path, "ONE\ntwo\nTHREE\n").await;
        let shown = hear(
            editor,
            &json!({ "method": "outrigger/proposal/open", "params": { "id": id } }),
        )
        .await;
        editor.reply(&shown, json!({ "opened": true })).await;
    }
}

/// A message as the document would write it.
fn normalized(message: &Value, agent: &McpPeer, companion: &EditorCompanion) -> Value {
    let text = message
        .to_string()
        .replace(&agent.session, SESSION)
        .replace(&companion.port.to_string(), PORT);
    let mut message: Value = serde_json::from_str(&text).unwrap();
    message.as_object_mut().unwrap().remove("jsonrpc");
    if let Some(version) = message.pointer_mut("/result/serverInfo/version") {
        *version = json!("1.0.0");
    }
    message
}
