//! Editors without a plugin (level 0), each as its own client behaves.
//!
//! What the clients send and understand was read in their sources: who asks for code actions
//! with the selection, who only highlights, who can show a document, who cannot.

use serde_json::{Value, json};
use testkit::McpPeer;
use workbench::{Agent, Decision};

use crate::companion::EditorCompanion;
use crate::editor::{Editor, place, range};

const ORIGINAL: &str = "one\ntwo\nthree\n";
const PROPOSED: &str = "ONE\ntwo\nthree\n";

/// A stock client.
struct Stock {
    name: &'static str,
    /// The encodings that it offers.
    encodings: &'static [&'static str],
    /// Whether it can be asked to show a document.
    shows: bool,
}

impl Stock {
    async fn start<'a>(&self, companion: &'a EditorCompanion) -> Editor<'a> {
        for name in ["a.txt", "b.txt"] {
            companion.file(name, ORIGINAL);
        }
        let capabilities = json!({
            "general": { "positionEncodings": self.encodings },
            "window": { "showDocument": { "support": self.shows }, "showMessage": {} },
            "workspace": { "applyEdit": true },
        });
        Editor::started(companion, self.name, &capabilities).await
    }
}

/// Asks for code actions, with the selection.
async fn code_actions(editor: &mut Editor<'_>, uri: &str, at: [u32; 4]) -> Value {
    let params = json!({
        "textDocument": { "uri": uri },
        "range": range(at),
        "context": { "diagnostics": [] },
    });
    editor.request("textDocument/codeAction", params).await
}

/// Asks what to highlight at the cursor, or what to say about it.
async fn ask_at(editor: &mut Editor<'_>, what: &str, uri: &str, at: (u32, u32)) {
    let params = json!({ "textDocument": { "uri": uri }, "position": place(at.0, at.1) });
    editor.request(what, params).await;
}

/// An agent proposes a change of `a.txt`; what the editor is asked then, and the sheet.
async fn propose(
    companion: &EditorCompanion,
    editor: &mut Editor<'_>,
) -> (McpPeer, Vec<Value>, String) {
    propose_merged(companion, editor, PROPOSED).await
}

/// The same for a file that the editor has changed and not saved; the sheet has both changes.
async fn propose_merged(
    companion: &EditorCompanion,
    editor: &mut Editor<'_>,
    merged: &str,
) -> (McpPeer, Vec<Value>, String) {
    let mut agent = companion.listener(Agent::Gemini).await;
    agent.propose(&companion.path("a.txt"), PROPOSED).await;
    let mut asked = vec![editor.hear().await];
    while asked.last().unwrap()["method"] != "window/showMessageRequest" {
        asked.push(editor.hear().await);
    }
    let sheet = companion.state().join("reviews/1/a.txt");
    assert_eq!(std::fs::read_to_string(&sheet).unwrap(), merged);
    (agent, asked, ::editor::uri::from_path(&sheet))
}

#[tokio::test]
async fn helix() {
    let companion = EditorCompanion::start();
    let helix = Stock {
        name: "helix",
        encodings: &["utf-8", "utf-32", "utf-16"],
        shows: true,
    };
    let mut editor = helix.start(&companion).await;
    let (a, b) = (editor.uri("a.txt"), editor.uri("b.txt"));
    editor.open(&a, ORIGINAL).await;
    editor.note_context().await;
    editor.open(&b, ORIGINAL).await;
    editor.note_context().await;
    // The gutter asks for the selection by itself.
    code_actions(&mut editor, &a, [1, 0, 1, 3]).await;
    editor.note_context().await;
    let (mut agent, asked, sheet) = propose(&companion, &mut editor).await;
    editor.reply(&asked[0], json!({ "success": true })).await;
    editor.open(&sheet, PROPOSED).await;
    code_actions(&mut editor, &sheet, [0, 0, 0, 1]).await;
    editor.note_context().await;
    let saved = Editor::about(&sheet);
    editor.notify("textDocument/didSave", saved.clone()).await;
    editor.hear().await;
    editor.reply(&asked[1], json!({ "title": "Reject" })).await;
    editor.notify("textDocument/didClose", saved).await;
    editor.note_context().await;
    editor.nothing_more().await;
    assert_eq!(agent.verdict().await, ("Accepted".into(), PROPOSED.into()));
    insta::assert_snapshot!(editor.transcript(), @r#"
    → textDocument/didOpen {"textDocument":{"languageId":"plaintext","text":"one\ntwo\nthree\n","uri":"file:///w/a.txt","version":1}}
    = *a.txt
    → textDocument/didOpen {"textDocument":{"languageId":"plaintext","text":"one\ntwo\nthree\n","uri":"file:///w/b.txt","version":1}}
    = *b.txt, a.txt
    → textDocument/codeAction #2 {"context":{"diagnostics":[]},"range":{"end":{"character":3,"line":1},"start":{"character":0,"line":1}},"textDocument":{"uri":"file:///w/a.txt"}}
    ← #2 []
    = *a.txt:2:4 "two", b.txt
    ← window/showDocument #1 {"takeFocus":false,"uri":"file:///state/reviews/1/a.txt"}
    ← window/showMessageRequest #2 {"actions":[{"title":"Accept"},{"title":"Reject"},{"title":"Later"}],"message":"Gemini CLI wants to change /w/a.txt (1 hunk).","type":3}
    → #1 {"success":true}
    → textDocument/didOpen {"textDocument":{"languageId":"plaintext","text":"ONE\ntwo\nthree\n","uri":"file:///state/reviews/1/a.txt","version":1}}
    → textDocument/codeAction #3 {"context":{"diagnostics":[]},"range":{"end":{"character":1,"line":0},"start":{"character":0,"line":0}},"textDocument":{"uri":"file:///state/reviews/1/a.txt"}}
    ← #3 [{"command":{"arguments":[1],"command":"outrigger.accept","title":"Accept all"},"kind":"quickfix","title":"Accept all"},{"command":{"arguments":[1],"command":"outrigger.reject","title":"Reject"},"kind":"quickfix","title":"Reject"},{"command":{"arguments":[1,0],"command":"outrigger.dropHunk","title":"Drop this hunk"},"kind":"quickfix","title":"Drop this hunk"}]
    = *a.txt:2:4 "two", b.txt
    → textDocument/didSave {"textDocument":{"uri":"file:///state/reviews/1/a.txt"}}
    ← $/cancelRequest {"id":2}
    → #2 {"title":"Reject"}
    → textDocument/didClose {"textDocument":{"uri":"file:///state/reviews/1/a.txt"}}
    = *a.txt:2:4 "two", b.txt
    "#);
}

#[tokio::test]
async fn zed() {
    let companion = EditorCompanion::start();
    let zed = Stock {
        name: "Zed",
        encodings: &["utf-16"],
        shows: false,
    };
    let mut editor = zed.start(&companion).await;
    let a = editor.uri("a.txt");
    editor.open(&a, ORIGINAL).await;
    ask_at(&mut editor, "textDocument/documentHighlight", &a, (1, 3)).await;
    code_actions(&mut editor, &a, [1, 0, 1, 3]).await;
    editor.note_context().await;
    editor.change(&a, [2, 0, 2, 5], "drei").await;
    editor.note_context().await;
    let (mut agent, asked, _) = propose_merged(&companion, &mut editor, "ONE\ntwo\ndrei\n").await;
    editor.reply(&asked[0], json!({ "title": "Accept" })).await;
    editor.nothing_more().await;
    let verdict = agent.verdict().await;
    assert_eq!(verdict, ("Accepted".into(), "ONE\ntwo\ndrei\n".into()));
    insta::assert_snapshot!(editor.transcript(), @r#"
    → textDocument/didOpen {"textDocument":{"languageId":"plaintext","text":"one\ntwo\nthree\n","uri":"file:///w/a.txt","version":1}}
    → textDocument/documentHighlight #2 {"position":{"character":3,"line":1},"textDocument":{"uri":"file:///w/a.txt"}}
    ← #2 null
    → textDocument/codeAction #3 {"context":{"diagnostics":[]},"range":{"end":{"character":3,"line":1},"start":{"character":0,"line":1}},"textDocument":{"uri":"file:///w/a.txt"}}
    ← #3 []
    = *a.txt:2:4 "two"
    → textDocument/didChange {"contentChanges":[{"range":{"end":{"character":5,"line":2},"start":{"character":0,"line":2}},"text":"drei"}],"textDocument":{"uri":"file:///w/a.txt","version":2}}
    = *a.txt:3:5
    ← window/showMessageRequest #1 {"actions":[{"title":"Accept"},{"title":"Reject"},{"title":"Later"}],"message":"Gemini CLI wants to change /w/a.txt (1 hunk). Note: the file has changed since the agent read it; the edit is shown on top of what is there now. The file has changes that are not saved. The proposal is in /state/reviews/1/a.txt.","type":3}
    → #1 {"title":"Accept"}
    "#);
}

#[tokio::test]
async fn sublime() {
    let companion = EditorCompanion::start();
    let sublime = Stock {
        name: "Sublime Text LSP",
        encodings: &["utf-16"],
        shows: true,
    };
    let mut editor = sublime.start(&companion).await;
    let a = editor.uri("a.txt");
    editor.open(&a, ORIGINAL).await;
    // Both are sent for a selection, whichever timer is first.
    code_actions(&mut editor, &a, [0, 1, 1, 2]).await;
    ask_at(&mut editor, "textDocument/documentHighlight", &a, (1, 2)).await;
    editor.note_context().await;
    ask_at(&mut editor, "textDocument/documentHighlight", &a, (2, 0)).await;
    code_actions(&mut editor, &a, [2, 0, 2, 0]).await;
    editor.note_context().await;
    let (mut agent, asked, sheet) = propose(&companion, &mut editor).await;
    editor.reply(&asked[0], json!({ "success": true })).await;
    editor.open(&sheet, PROPOSED).await;
    editor.reply(&asked[1], json!({ "title": "Later" })).await;
    let actions = code_actions(&mut editor, &sheet, [2, 0, 2, 0]).await;
    let reject = json!({ "command": actions[1]["command"]["command"], "arguments": actions[1]["command"]["arguments"] });
    editor.request("workspace/executeCommand", reject).await;
    editor.nothing_more().await;
    assert_eq!(agent.verdict().await.0, "Rejected");
    insta::assert_snapshot!(editor.transcript(), @r#"
    → textDocument/didOpen {"textDocument":{"languageId":"plaintext","text":"one\ntwo\nthree\n","uri":"file:///w/a.txt","version":1}}
    → textDocument/codeAction #2 {"context":{"diagnostics":[]},"range":{"end":{"character":2,"line":1},"start":{"character":1,"line":0}},"textDocument":{"uri":"file:///w/a.txt"}}
    ← #2 []
    → textDocument/documentHighlight #3 {"position":{"character":2,"line":1},"textDocument":{"uri":"file:///w/a.txt"}}
    ← #3 null
    = *a.txt:2:3 "ne\ntw"
    → textDocument/documentHighlight #4 {"position":{"character":0,"line":2},"textDocument":{"uri":"file:///w/a.txt"}}
    ← #4 null
    → textDocument/codeAction #5 {"context":{"diagnostics":[]},"range":{"end":{"character":0,"line":2},"start":{"character":0,"line":2}},"textDocument":{"uri":"file:///w/a.txt"}}
    ← #5 []
    = *a.txt:3:1
    ← window/showDocument #1 {"takeFocus":false,"uri":"file:///state/reviews/1/a.txt"}
    ← window/showMessageRequest #2 {"actions":[{"title":"Accept"},{"title":"Reject"},{"title":"Later"}],"message":"Gemini CLI wants to change /w/a.txt (1 hunk).","type":3}
    → #1 {"success":true}
    → textDocument/didOpen {"textDocument":{"languageId":"plaintext","text":"ONE\ntwo\nthree\n","uri":"file:///state/reviews/1/a.txt","version":1}}
    → #2 {"title":"Later"}
    → textDocument/codeAction #6 {"context":{"diagnostics":[]},"range":{"end":{"character":0,"line":2},"start":{"character":0,"line":2}},"textDocument":{"uri":"file:///state/reviews/1/a.txt"}}
    ← #6 [{"command":{"arguments":[1],"command":"outrigger.accept","title":"Accept all"},"kind":"quickfix","title":"Accept all"},{"command":{"arguments":[1],"command":"outrigger.reject","title":"Reject"},"kind":"quickfix","title":"Reject"}]
    → workspace/executeCommand #7 {"arguments":[1],"command":"outrigger.reject"}
    ← #7 {"delivered":true,"message":"a.txt: rejected"}
    "#);
}

#[tokio::test]
async fn eglot() {
    let companion = EditorCompanion::start();
    let eglot = Stock {
        name: "Eglot",
        encodings: &["utf-32", "utf-8", "utf-16"],
        shows: true,
    };
    let mut editor = eglot.start(&companion).await;
    let a = editor.uri("a.txt");
    editor.open(&a, ORIGINAL).await;
    ask_at(&mut editor, "textDocument/documentHighlight", &a, (2, 1)).await;
    editor.note_context().await;
    let (mut agent, asked, _) = propose(&companion, &mut editor).await;
    editor.reply(&asked[0], json!({ "success": true })).await;
    editor.reply(&asked[1], json!({ "title": "Reject" })).await;
    editor.nothing_more().await;
    assert_eq!(agent.verdict().await.0, "Rejected");
    insta::assert_snapshot!(editor.transcript(), @r#"
    → textDocument/didOpen {"textDocument":{"languageId":"plaintext","text":"one\ntwo\nthree\n","uri":"file:///w/a.txt","version":1}}
    → textDocument/documentHighlight #2 {"position":{"character":1,"line":2},"textDocument":{"uri":"file:///w/a.txt"}}
    ← #2 null
    = *a.txt:3:2
    ← window/showDocument #1 {"takeFocus":false,"uri":"file:///state/reviews/1/a.txt"}
    ← window/showMessageRequest #2 {"actions":[{"title":"Accept"},{"title":"Reject"},{"title":"Later"}],"message":"Gemini CLI wants to change /w/a.txt (1 hunk).","type":3}
    → #1 {"success":true}
    → #2 {"title":"Reject"}
    "#);
}

#[tokio::test]
async fn kakoune() {
    let companion = EditorCompanion::start();
    let kakoune = Stock {
        name: "kakoune-lsp",
        encodings: &["utf-8", "utf-16"],
        shows: false,
    };
    let mut editor = kakoune.start(&companion).await;
    let a = editor.uri("a.txt");
    editor.open(&a, ORIGINAL).await;
    ask_at(&mut editor, "textDocument/documentHighlight", &a, (0, 2)).await;
    editor.note_context().await;
    // Questions wait in a queue until the person looks, and somebody else was faster.
    let (mut agent, asked, _) = propose(&companion, &mut editor).await;
    companion.decide(1, Decision::Accept).await.unwrap();
    editor.hear().await;
    editor.reply(&asked[0], json!({ "title": "Reject" })).await;
    editor.nothing_more().await;
    assert_eq!(agent.verdict().await, ("Accepted".into(), PROPOSED.into()));
    insta::assert_snapshot!(editor.transcript(), @r#"
    → textDocument/didOpen {"textDocument":{"languageId":"plaintext","text":"one\ntwo\nthree\n","uri":"file:///w/a.txt","version":1}}
    → textDocument/documentHighlight #2 {"position":{"character":2,"line":0},"textDocument":{"uri":"file:///w/a.txt"}}
    ← #2 null
    = *a.txt:1:3
    ← window/showMessageRequest #1 {"actions":[{"title":"Accept"},{"title":"Reject"},{"title":"Later"}],"message":"Gemini CLI wants to change /w/a.txt (1 hunk). The proposal is in /state/reviews/1/a.txt.","type":3}
    ← $/cancelRequest {"id":1}
    → #1 {"title":"Reject"}
    "#);
}

#[tokio::test]
async fn vim() {
    let companion = EditorCompanion::start();
    let vim = Stock {
        name: "Vim",
        encodings: &["utf-32", "utf-16", "utf-8"],
        shows: false,
    };
    let mut editor = vim.start(&companion).await;
    let (a, b) = (editor.uri("a.txt"), editor.uri("b.txt"));
    editor.open(&a, ORIGINAL).await;
    editor.open(&b, ORIGINAL).await;
    // Nothing comes by itself: the last document that was edited, saved or asked about is it.
    editor.change(&a, [2, 5, 2, 5], "!").await;
    editor.note_context().await;
    editor
        .notify("textDocument/didSave", Editor::about(&b))
        .await;
    editor.note_context().await;
    ask_at(&mut editor, "textDocument/hover", &a, (1, 1)).await;
    editor.note_context().await;
    // The question is dismissed, and the sheet opened by hand.
    let (mut agent, asked, sheet) =
        propose_merged(&companion, &mut editor, "ONE\ntwo\nthree!\n").await;
    editor.reply(&asked[0], json!(null)).await;
    editor.open(&sheet, "ONE\ntwo\nthree!\n").await;
    editor.change(&sheet, [1, 0, 1, 3], "TWO").await;
    editor.note_context().await;
    editor
        .notify("textDocument/didSave", Editor::about(&sheet))
        .await;
    editor.nothing_more().await;
    let verdict = agent.verdict().await;
    assert_eq!(verdict, ("Accepted".into(), "ONE\nTWO\nthree!\n".into()));
    insta::assert_snapshot!(editor.transcript(), @r#"
    → textDocument/didOpen {"textDocument":{"languageId":"plaintext","text":"one\ntwo\nthree\n","uri":"file:///w/a.txt","version":1}}
    → textDocument/didOpen {"textDocument":{"languageId":"plaintext","text":"one\ntwo\nthree\n","uri":"file:///w/b.txt","version":1}}
    → textDocument/didChange {"contentChanges":[{"range":{"end":{"character":5,"line":2},"start":{"character":5,"line":2}},"text":"!"}],"textDocument":{"uri":"file:///w/a.txt","version":2}}
    = *a.txt:3:7, b.txt
    → textDocument/didSave {"textDocument":{"uri":"file:///w/b.txt"}}
    = *b.txt, a.txt
    → textDocument/hover #2 {"position":{"character":1,"line":1},"textDocument":{"uri":"file:///w/a.txt"}}
    ← #2 null
    = *a.txt:2:2, b.txt
    ← window/showMessageRequest #1 {"actions":[{"title":"Accept"},{"title":"Reject"},{"title":"Later"}],"message":"Gemini CLI wants to change /w/a.txt (1 hunk). Note: the file has changed since the agent read it; the edit is shown on top of what is there now. The file has changes that are not saved. The proposal is in /state/reviews/1/a.txt.","type":3}
    → #1 null
    → textDocument/didOpen {"textDocument":{"languageId":"plaintext","text":"ONE\ntwo\nthree!\n","uri":"file:///state/reviews/1/a.txt","version":1}}
    → textDocument/didChange {"contentChanges":[{"range":{"end":{"character":3,"line":1},"start":{"character":0,"line":1}},"text":"TWO"}],"textDocument":{"uri":"file:///state/reviews/1/a.txt","version":3}}
    = *a.txt:2:2, b.txt
    → textDocument/didSave {"textDocument":{"uri":"file:///state/reviews/1/a.txt"}}
    "#);
}

/// Kate 22.12 says that there is no such method, and its person is told where else to decide.
#[tokio::test]
async fn kate_that_knows_no_questions() {
    let companion = EditorCompanion::start();
    let kate = Stock {
        name: "Kate",
        encodings: &["utf-16"],
        shows: false,
    };
    let mut editor = kate.start(&companion).await;
    let (_agent, asked, _) = propose(&companion, &mut editor).await;
    let unknown = json!({ "code": -32601, "message": "window/showMessageRequest" });
    let answer = json!({ "jsonrpc": "2.0", "id": asked[0]["id"], "error": unknown });
    editor.say(&answer).await;
    let told = editor.hear().await;
    assert_eq!(told["method"], "window/showMessage");
    let message = told["params"]["message"].as_str().unwrap();
    assert!(message.contains("`outrigger accept 1`"), "{message}");
}

#[tokio::test]
async fn kate() {
    let companion = EditorCompanion::start();
    let kate = Stock {
        name: "Kate",
        encodings: &["utf-16"],
        shows: true,
    };
    let mut editor = kate.start(&companion).await;
    let a = editor.uri("a.txt");
    editor.open(&a, ORIGINAL).await;
    ask_at(&mut editor, "textDocument/hover", &a, (1, 2)).await;
    editor.note_context().await;
    let (mut agent, asked, sheet) = propose(&companion, &mut editor).await;
    editor.reply(&asked[0], json!({ "success": true })).await;
    editor.open(&sheet, PROPOSED).await;
    let actions = code_actions(&mut editor, &sheet, [0, 0, 0, 0]).await;
    let accept = json!({ "command": actions[0]["command"]["command"], "arguments": actions[0]["command"]["arguments"] });
    editor.request("workspace/executeCommand", accept).await;
    editor.hear().await;
    editor.nothing_more().await;
    assert_eq!(agent.verdict().await, ("Accepted".into(), PROPOSED.into()));
    insta::assert_snapshot!(editor.transcript(), @r#"
    → textDocument/didOpen {"textDocument":{"languageId":"plaintext","text":"one\ntwo\nthree\n","uri":"file:///w/a.txt","version":1}}
    → textDocument/hover #2 {"position":{"character":2,"line":1},"textDocument":{"uri":"file:///w/a.txt"}}
    ← #2 null
    = *a.txt:2:3
    ← window/showDocument #1 {"takeFocus":false,"uri":"file:///state/reviews/1/a.txt"}
    ← window/showMessageRequest #2 {"actions":[{"title":"Accept"},{"title":"Reject"},{"title":"Later"}],"message":"Gemini CLI wants to change /w/a.txt (1 hunk).","type":3}
    → #1 {"success":true}
    → textDocument/didOpen {"textDocument":{"languageId":"plaintext","text":"ONE\ntwo\nthree\n","uri":"file:///state/reviews/1/a.txt","version":1}}
    → textDocument/codeAction #3 {"context":{"diagnostics":[]},"range":{"end":{"character":0,"line":0},"start":{"character":0,"line":0}},"textDocument":{"uri":"file:///state/reviews/1/a.txt"}}
    ← #3 [{"command":{"arguments":[1],"command":"outrigger.accept","title":"Accept all"},"kind":"quickfix","title":"Accept all"},{"command":{"arguments":[1],"command":"outrigger.reject","title":"Reject"},"kind":"quickfix","title":"Reject"},{"command":{"arguments":[1,0],"command":"outrigger.dropHunk","title":"Drop this hunk"},"kind":"quickfix","title":"Drop this hunk"}]
    → workspace/executeCommand #4 {"arguments":[1],"command":"outrigger.accept"}
    ← #4 {"delivered":true,"message":"a.txt: accepted"}
    ← $/cancelRequest {"id":2}
    "#);
}
