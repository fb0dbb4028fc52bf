//! Files and folders that come, go, or get another name.

use serde_json::json;

use crate::companion::EditorCompanion;
use crate::editor::Editor;

#[tokio::test]
async fn files_are_renamed_and_deleted() {
    let companion = EditorCompanion::start();
    for name in ["a.txt", "b.txt", "c.txt"] {
        companion.file(name, "");
    }
    std::fs::create_dir(companion.path("sub")).unwrap();
    companion.file("sub/d.txt", "");
    let mut editor = Editor::with_plugin(&companion).await;
    for name in ["a.txt", "b.txt", "sub/d.txt"] {
        let uri = editor.uri(name);
        editor.open(&uri, "text\n").await;
        editor
            .notify("textDocument/didFocus", Editor::about(&uri))
            .await;
    }
    editor.transcript();
    let rename = |from: String, to: String| json!({ "files": [{ "oldUri": from, "newUri": to }] });
    std::fs::rename(companion.path("sub"), companion.path("dir")).unwrap();
    let files = rename(editor.uri("sub"), editor.uri("dir"));
    editor.notify("workspace/didRenameFiles", files).await;
    editor.note_context().await;
    std::fs::remove_file(companion.path("b.txt")).unwrap();
    let files = json!({ "files": [{ "uri": editor.uri("b.txt") }] });
    editor.notify("workspace/didDeleteFiles", files).await;
    editor.note_context().await;
    // Editors close the old document and open the new one, before or after they say so.
    std::fs::rename(companion.path("a.txt"), companion.path("e.txt")).unwrap();
    let (a, e) = (editor.uri("a.txt"), editor.uri("e.txt"));
    editor
        .notify("workspace/didRenameFiles", rename(a.clone(), e.clone()))
        .await;
    editor
        .notify("textDocument/didClose", Editor::about(&a))
        .await;
    editor.open(&e, "text\n").await;
    editor.note_context().await;
    editor
        .notify("textDocument/didFocus", Editor::about(&e))
        .await;
    editor.note_context().await;
    insta::assert_snapshot!(editor.transcript(), @r#"
    → workspace/didRenameFiles {"files":[{"newUri":"file:///w/dir","oldUri":"file:///w/sub"}]}
    = *dir/d.txt, b.txt, a.txt
    → workspace/didDeleteFiles {"files":[{"uri":"file:///w/b.txt"}]}
    = *dir/d.txt, a.txt
    → workspace/didRenameFiles {"files":[{"newUri":"file:///w/e.txt","oldUri":"file:///w/a.txt"}]}
    → textDocument/didClose {"textDocument":{"uri":"file:///w/a.txt"}}
    → textDocument/didOpen {"textDocument":{"languageId":"plaintext","text":"text\n","uri":"file:///w/e.txt","version":1}}
    = *dir/d.txt, e.txt
    → textDocument/didFocus {"textDocument":{"uri":"file:///w/e.txt"}}
    = *e.txt, dir/d.txt
    "#);
}

#[tokio::test]
async fn folders_come_and_go() {
    let companion = EditorCompanion::start();
    let mut editor = Editor::with_plugin(&companion).await;
    let second = companion.state().join("second");
    std::fs::create_dir(&second).unwrap();
    let folder =
        |path: &std::path::Path| json!({ "uri": ::editor::uri::from_path(path), "name": "x" });
    let (first, second) = (companion.root(), second);
    for (added, removed) in [
        (vec![folder(&second)], vec![]),
        (vec![folder(&second)], vec![]),
        (vec![], vec![folder(&first)]),
        (vec![json!({ "uri": "untitled:1", "name": "x" })], vec![]),
        (vec![folder(&first)], vec![folder(&second)]),
    ] {
        let event = json!({ "event": { "added": added, "removed": removed } });
        editor
            .notify("workspace/didChangeWorkspaceFolders", event)
            .await;
    }
    editor.settle().await;
    let both = vec![first.clone(), second.clone()];
    assert_eq!(
        *companion.moves.lock().unwrap(),
        [
            both.clone(),
            both,
            vec![second.clone()],
            vec![second],
            vec![first]
        ]
    );
}
