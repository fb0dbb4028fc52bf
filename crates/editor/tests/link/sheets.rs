//! Proposals as documents, for editors without a plugin.

use std::os::unix::fs::PermissionsExt;

use ::editor::buffer::Encoding;
use ::editor::uri;
use serde_json::json;
use testkit::McpPeer;
use workbench::{Agent, Decision};

use crate::companion::EditorCompanion;
use crate::editor::{Editor, range};

/// An editor that can do everything but has no plugin.
pub(crate) async fn stock(companion: &EditorCompanion, encoding: Encoding) -> Editor<'_> {
    let capabilities = json!({
        "general": { "positionEncodings": [encoding.name()] },
        "window": { "showDocument": { "support": true } },
        "workspace": { "applyEdit": true },
    });
    Editor::started(companion, "x", &capabilities).await
}

/// An agent proposes a text for a file; the URI of its sheet.
pub(crate) async fn propose(
    companion: &EditorCompanion,
    editor: &mut Editor<'_>,
    name: &str,
    text: &str,
) -> (McpPeer, String) {
    let mut agent = companion.listener(Agent::Qwen).await;
    agent.propose(&companion.path(name), text).await;
    let show = editor.hear().await;
    assert_eq!(show["method"], "window/showDocument");
    assert_eq!(editor.hear().await["method"], "window/showMessageRequest");
    let sheet = show["params"]["uri"].as_str().unwrap().to_owned();
    (agent, sheet)
}

pub(crate) async fn save(editor: &mut Editor<'_>, sheet: &str) {
    editor
        .notify("textDocument/didSave", Editor::about(sheet))
        .await;
}

#[tokio::test]
async fn a_sheet_is_known_however_the_editor_spells_it() {
    // A client may leave characters as they are that we write as escapes, and the other way.
    for name in ["a+b@c (1).txt", "é~ü.txt", "50%.txt", "a:b,c;d=e&f!$'.txt"] {
        let companion = EditorCompanion::start();
        companion.file("open.txt", "");
        let mut editor = stock(&companion, Encoding::Utf16).await;
        let open = editor.uri("open.txt");
        editor.open(&open, "").await;
        let (mut agent, sheet) = propose(&companion, &mut editor, name, "x\n").await;
        let folder = sheet.rsplit_once('/').unwrap().0;
        let name = name.replace('%', "%25").replace(' ', "%20");
        let name = name.replace('~', "%7e").replace('é', "%c3%a9");
        let spelled = format!("{folder}/{name}");
        editor.open(&spelled, "x\n").await;
        editor.change(&spelled, [0, 0, 0, 1], "y").await;
        assert_eq!(editor.context().await, "*open.txt", "{spelled}");
        save(&mut editor, &spelled).await;
        editor.settle().await;
        assert!(
            companion.proposals().await.is_empty(),
            "{spelled} not accepted"
        );
        assert_eq!(agent.verdict().await, ("Accepted".into(), "y\n".into()));
    }
}

#[tokio::test]
async fn a_sheet_is_known_when_its_folder_is_reached_through_a_link() {
    let companion = EditorCompanion::start_linked();
    companion.file("open.txt", "");
    let mut editor = stock(&companion, Encoding::Utf16).await;
    let open = editor.uri("open.txt");
    editor.open(&open, "").await;
    let (mut agent, sheet) = propose(&companion, &mut editor, "new.txt", "x\n").await;
    // Kakoune and others know files by their real names.
    let real = uri::to_path(&sheet).unwrap().canonicalize().unwrap();
    let real = uri::from_path(&real);
    assert_ne!(real, sheet);
    editor.open(&real, "x\n").await;
    assert_eq!(editor.context().await, "*open.txt");
    save(&mut editor, &real).await;
    assert_eq!(agent.verdict().await, ("Accepted".into(), "x\n".into()));
}

#[tokio::test]
async fn a_sheet_never_becomes_context_not_even_when_it_is_over() {
    let companion = EditorCompanion::start();
    companion.file("open.txt", "");
    let mut editor = stock(&companion, Encoding::Utf16).await;
    let open = editor.uri("open.txt");
    editor.open(&open, "").await;
    let (_agent, sheet) = propose(&companion, &mut editor, "new.txt", "x\n").await;
    for over in [false, true] {
        if over {
            companion.decide(2, Decision::Reject).await.unwrap();
            assert_eq!(editor.hear().await["method"], "$/cancelRequest");
        }
        editor.open(&sheet, "x\n").await;
        editor.change(&sheet, [0, 0, 0, 0], "y").await;
        editor
            .notify("textDocument/didFocus", Editor::about(&sheet))
            .await;
        let at = json!({ "textDocument": { "uri": sheet }, "range": range([0, 0, 0, 1]), "context": {} });
        editor.request("textDocument/codeAction", at).await;
        save(&mut editor, &sheet).await;
        if !over {
            // Saving it has accepted it; what follows is about a sheet that is over.
            assert_eq!(editor.hear().await["method"], "$/cancelRequest");
            let (_, _again) = propose(&companion, &mut editor, "new.txt", "x\n").await;
        }
        assert_eq!(editor.context().await, "*open.txt", "over: {over}");
        let held = editor.request("outrigger/status", json!({})).await;
        assert_eq!(held["heldBack"], 0, "over: {over}");
    }
}

#[tokio::test]
async fn taken_back_with_what_the_sheet_says() {
    let companion = EditorCompanion::start();
    let mut editor = stock(&companion, Encoding::Utf16).await;
    let (mut agent, sheet) = propose(&companion, &mut editor, "new.txt", "x\n").await;
    editor.open(&sheet, "x\n").await;
    editor.change(&sheet, [0, 0, 0, 1], "mine").await;
    editor.settle().await;
    let path = companion.path("new.txt");
    assert_eq!(agent.withdraw(&path).await, "mine\n");
    assert_eq!(editor.hear().await["method"], "$/cancelRequest");
    editor.nothing_more().await;
}

#[tokio::test]
async fn sheets_are_private_and_go() {
    let companion = EditorCompanion::start();
    let mut editor = stock(&companion, Encoding::Utf16).await;
    let (_agent, sheet) = propose(&companion, &mut editor, "new.txt", "x\n").await;
    let file = uri::to_path(&sheet).unwrap();
    let mode = std::fs::metadata(&file).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let folder = std::fs::metadata(file.parent().unwrap()).unwrap();
    assert_eq!(folder.permissions().mode() & 0o777, 0o700);
    companion.decide(1, Decision::Accept).await.unwrap();
    editor.hear().await;
    assert!(!file.exists());
    let (_agent, sheet) = propose(&companion, &mut editor, "new.txt", "x\n").await;
    let file = uri::to_path(&sheet).unwrap();
    assert!(file.exists());
    editor.left().await;
    assert!(!file.exists(), "it goes with the editor");
    assert_eq!(
        companion.proposals().await.len(),
        1,
        "the proposal does not"
    );
}

#[tokio::test]
async fn a_byte_order_mark_that_the_editor_hides_is_not_lost() {
    let companion = EditorCompanion::start();
    let (original, proposed) = ("\u{feff}old\r\n", "\u{feff}new\r\n");
    companion.file("a.txt", original);
    let mut editor = stock(&companion, Encoding::Utf16).await;
    let (mut agent, sheet) = propose(&companion, &mut editor, "a.txt", proposed).await;
    // Editors keep it apart from the text, write it again when they save, and do not tell.
    editor.open(&sheet, "new\r\n").await;
    save(&mut editor, &sheet).await;
    assert_eq!(agent.verdict().await, ("Accepted".into(), proposed.into()));
}

#[tokio::test]
async fn several_sheets_are_decided_one_by_one() {
    let companion = EditorCompanion::start();
    let mut editor = stock(&companion, Encoding::Utf16).await;
    let (mut qwen, first) = propose(&companion, &mut editor, "same.txt", "first\n").await;
    let (mut other, second) = propose(&companion, &mut editor, "same.txt", "second\n").await;
    assert_ne!(first, second);
    for sheet in [&first, &second] {
        editor.open(sheet, "text of the editor\n").await;
    }
    save(&mut editor, &second).await;
    let verdict = other.verdict().await;
    assert_eq!(verdict, ("Accepted".into(), "text of the editor\n".into()));
    let reject = json!({ "command": "outrigger.reject", "arguments": [1] });
    editor.request("workspace/executeCommand", reject).await;
    assert_eq!(qwen.verdict().await.0, "Rejected");
}

#[tokio::test]
async fn the_question_says_what_matters() {
    let companion = EditorCompanion::start();
    companion.file("a.txt", "1\n2\n3\n4\n5\n6\n7\n8\n9\n");
    let mut editor = stock(&companion, Encoding::Utf16).await;
    let a = editor.uri("a.txt");
    editor.open(&a, "1\n").await;
    editor.change(&a, [0, 0, 0, 0], "x").await;
    editor.settle().await;
    editor.transcript();
    for (name, text) in [
        ("new.txt", "x"),
        ("a.txt", "1\n2\n3\n4\nfive\n6\n7\n8\n9\n"),
        ("./a.txt", "1\ntwo\n3\n4\n5\n6\n7\neight\n9\n"),
        (".hidden", "x"),
        ("folder/", "x"),
        ("a\nb.txt", "x"),
    ] {
        propose(&companion, &mut editor, name, text).await;
    }
    insta::assert_snapshot!(editor.transcript(), @r#"
    ← window/showDocument #1 {"takeFocus":false,"uri":"file:///state/reviews/1/new.txt"}
    ← window/showMessageRequest #2 {"actions":[{"title":"Accept"},{"title":"Reject"},{"title":"Later"}],"message":"Qwen Code wants to change /w/new.txt (a new file).","type":3}
    ← window/showDocument #3 {"takeFocus":false,"uri":"file:///state/reviews/2/a.txt"}
    ← window/showMessageRequest #4 {"actions":[{"title":"Accept"},{"title":"Reject"},{"title":"Later"}],"message":"Qwen Code wants to change /w/a.txt (2 hunks). Note: the file has changed since the agent read it; the edit is shown on top of what is there now; one place is in conflict. The file has changes that are not saved.","type":3}
    ← window/showDocument #5 {"takeFocus":false,"uri":"file:///state/reviews/3/a.txt"}
    ← window/showMessageRequest #6 {"actions":[{"title":"Accept"},{"title":"Reject"},{"title":"Later"}],"message":"Qwen Code wants to change /w/./a.txt (2 hunks). Note: the file has changed since the agent read it; the edit is shown on top of what is there now; one place is in conflict. The file has changes that are not saved.","type":3}
    ← window/showDocument #7 {"takeFocus":false,"uri":"file:///state/reviews/4/proposal"}
    ← window/showMessageRequest #8 {"actions":[{"title":"Accept"},{"title":"Reject"},{"title":"Later"}],"message":"Qwen Code wants to change /w/.hidden (a new file).","type":3}
    ← window/showDocument #9 {"takeFocus":false,"uri":"file:///state/reviews/5/folder"}
    ← window/showMessageRequest #10 {"actions":[{"title":"Accept"},{"title":"Reject"},{"title":"Later"}],"message":"Qwen Code wants to change /w/folder/ (a new file).","type":3}
    ← window/showDocument #11 {"takeFocus":false,"uri":"file:///state/reviews/6/a%0Ab.txt"}
    ← window/showMessageRequest #12 {"actions":[{"title":"Accept"},{"title":"Reject"},{"title":"Later"}],"message":"Qwen Code wants to change /w/a␊b.txt (a new file).","type":3}
    "#);
}

#[tokio::test]
async fn commands_that_cannot_be() {
    let companion = EditorCompanion::start();
    let mut editor = stock(&companion, Encoding::Utf16).await;
    let (_agent, sheet) = propose(&companion, &mut editor, "new.txt", "x\n").await;
    editor.transcript();
    for (command, arguments) in [
        ("outrigger.accept", json!([7])),
        ("outrigger.accept", json!([])),
        ("outrigger.accept", json!(["1"])),
        ("outrigger.dropHunk", json!([1, 0])),
        ("outrigger.explode", json!([1])),
    ] {
        let params = json!({ "command": command, "arguments": arguments });
        editor.request("workspace/executeCommand", params).await;
    }
    editor.open(&sheet, "x\n").await;
    for arguments in [
        json!([1, 99]),
        json!([1]),
        json!([1, -1]),
        json!([1, 5_000_000_000_u64]),
    ] {
        let params = json!({ "command": "outrigger.dropHunk", "arguments": arguments });
        editor.request("workspace/executeCommand", params).await;
    }
    editor.nothing_more().await;
    insta::assert_snapshot!(editor.transcript(), @r#"
    → workspace/executeCommand #2 {"arguments":[7],"command":"outrigger.accept"}
    ← #2 {"code":-32803,"message":"proposal 7 is not open: it was decided, withdrawn or replaced; list the open ones"}
    → workspace/executeCommand #3 {"arguments":[],"command":"outrigger.accept"}
    ← #3 {"code":-32602,"message":"the command's arguments are wrong"}
    → workspace/executeCommand #4 {"arguments":["1"],"command":"outrigger.accept"}
    ← #4 {"code":-32602,"message":"the command's arguments are wrong"}
    → workspace/executeCommand #5 {"arguments":[1,0],"command":"outrigger.dropHunk"}
    ← #5 {"code":-32803,"message":"the proposal is not open as a document"}
    → workspace/executeCommand #6 {"arguments":[1],"command":"outrigger.explode"}
    ← #6 {"code":-32602,"message":"there is no command \"outrigger.explode\""}
    → textDocument/didOpen {"textDocument":{"languageId":"plaintext","text":"x\n","uri":"file:///state/reviews/1/new.txt","version":1}}
    → workspace/executeCommand #7 {"arguments":[1,99],"command":"outrigger.dropHunk"}
    ← #7 {"code":-32803,"message":"there is no hunk here"}
    → workspace/executeCommand #8 {"arguments":[1],"command":"outrigger.dropHunk"}
    ← #8 {"code":-32602,"message":"the command's arguments are wrong"}
    → workspace/executeCommand #9 {"arguments":[1,-1],"command":"outrigger.dropHunk"}
    ← #9 {"code":-32602,"message":"the command's arguments are wrong"}
    → workspace/executeCommand #10 {"arguments":[1,5000000000],"command":"outrigger.dropHunk"}
    ← #10 {"code":-32602,"message":"the command's arguments are wrong"}
    "#);
    assert_eq!(companion.proposals().await.len(), 1);
}

#[tokio::test]
async fn a_sheet_with_a_change_that_cannot_be_read_is_taken_from_disk() {
    let companion = EditorCompanion::start();
    let mut editor = stock(&companion, Encoding::Utf16).await;
    let (mut agent, sheet) = propose(&companion, &mut editor, "new.txt", "x\n").await;
    editor.open(&sheet, "x\n").await;
    let change = format!(
        r#"{{"jsonrpc":"2.0","method":"textDocument/didChange","params":{{"textDocument":{{"uri":"{sheet}","version":2}},"contentChanges":[{{"text":"\ud83d"}}]}}}}"#
    );
    editor.say_bytes(change.as_bytes()).await;
    std::fs::write(uri::to_path(&sheet).unwrap(), "as it was saved\n").unwrap();
    save(&mut editor, &sheet).await;
    let verdict = agent.verdict().await;
    assert_eq!(verdict, ("Accepted".into(), "as it was saved\n".into()));
}

#[tokio::test]
async fn a_sheet_that_is_no_text_any_more_is_not_accepted_as_something_else() {
    let companion = EditorCompanion::start();
    let capabilities = json!({});
    let mut editor = Editor::started(&companion, "x", &capabilities).await;
    let mut agent = companion.listener(Agent::Qwen).await;
    agent.propose(&companion.path("new.txt"), "x\n").await;
    let question = editor.hear().await;
    let sheet = companion.state().join("reviews/1/new.txt");
    std::fs::write(&sheet, b"saved as Latin-1: \xe4\n").unwrap();
    editor.reply(&question, json!({ "title": "Accept" })).await;
    let told = editor.hear().await;
    assert_eq!(told["method"], "window/showMessage", "{told}");
    assert_eq!(companion.proposals().await.len(), 1);
}

/// A sheet that the editor still shows with the text from before is not accepted.
#[tokio::test]
async fn a_sheet_gets_the_present_text_before_it_is_accepted() {
    let companion = EditorCompanion::start();
    companion.file("a.txt", "one\ntwo\nthree\n");
    let mut editor = stock(&companion, Encoding::Utf16).await;
    let proposed = "one\ntwo\nTHREE\n";
    let (mut agent, sheet) = propose(&companion, &mut editor, "a.txt", proposed).await;
    editor.open(&sheet, proposed).await;
    editor.settle().await;
    companion.file("a.txt", "ONE\ntwo\nthree\n");
    let merged = "ONE\ntwo\nTHREE\n";
    let mut edit = None;
    while edit.is_none() {
        let heard = editor.hear().await;
        edit = (heard["method"] == "workspace/applyEdit").then_some(heard);
    }
    // The editor has not changed the document yet.
    save(&mut editor, &sheet).await;
    let refused = editor.hear().await;
    assert_eq!(refused["method"], "window/showMessage", "{refused}");
    editor
        .reply(&edit.unwrap(), json!({ "applied": true }))
        .await;
    editor.change(&sheet, [0, 0, 0, 3], "ONE").await;
    save(&mut editor, &sheet).await;
    assert_eq!(agent.verdict().await, ("Accepted".into(), merged.into()));
}

/// The next edit that the editor is asked to make.
async fn hear_edit(editor: &mut Editor<'_>) -> serde_json::Value {
    loop {
        let heard = editor.hear().await;
        if heard["method"] == "workspace/applyEdit" {
            return heard;
        }
    }
}

/// The person types while a new text is under way, so the editor does not take it over.
#[tokio::test]
async fn a_sheet_that_did_not_get_the_new_text_gets_it_again() {
    let companion = EditorCompanion::start();
    companion.file("a.txt", "one\ntwo\nthree\n");
    let mut editor = stock(&companion, Encoding::Utf16).await;
    let proposed = "one\ntwo\nTHREE\n";
    let (mut agent, sheet) = propose(&companion, &mut editor, "a.txt", proposed).await;
    editor.open(&sheet, proposed).await;
    editor.settle().await;
    companion.file("a.txt", "ONE\ntwo\nthree\n");
    let edit = hear_edit(&mut editor).await;
    editor.change(&sheet, [3, 0, 3, 0], "four\n").await;
    editor.reply(&edit, json!({ "applied": false })).await;

    save(&mut editor, &sheet).await;
    let refused = editor.hear().await;
    assert_eq!(refused["method"], "window/showMessage", "{refused}");
    let edit = hear_edit(&mut editor).await;
    let changes = edit["params"]["edit"]["changes"].as_object().unwrap();
    let change = &changes.values().next().unwrap()[0];
    assert_eq!(change["newText"], "ONE", "{edit}");
    editor.reply(&edit, json!({ "applied": true })).await;
    editor.change(&sheet, [0, 0, 0, 3], "ONE").await;
    save(&mut editor, &sheet).await;
    let merged = "ONE\ntwo\nTHREE\nfour\n";
    assert_eq!(agent.verdict().await, ("Accepted".into(), merged.into()));
}
