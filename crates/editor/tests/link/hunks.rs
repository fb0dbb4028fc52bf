//! Single hunks of a proposal, for editors without a plugin: taken out of the sheet and back in.

use ::editor::buffer::Encoding;
use serde_json::{Value, json};

use crate::companion::EditorCompanion;
use crate::editor::{Editor, edited, range};
use crate::sheets::{propose, save, stock};

const KEEP: &str = "Keep this hunk";

/// The first line of the sheet at which there is an action with this title.
async fn place_of(sheet: &str, editor: &mut Editor<'_>, title: &str) -> u32 {
    for line in 0..5 {
        let params = json!({ "textDocument": { "uri": sheet }, "range": range([line, 0, line, 0]), "context": {} });
        let actions = editor.request("textDocument/codeAction", params).await;
        if actions
            .as_array()
            .unwrap()
            .iter()
            .any(|it| it["title"] == title)
        {
            return line;
        }
    }
    panic!("no {title} anywhere");
}

/// What the sheet says after a command of a code action with this title, as the editor makes it.
async fn acted(
    editor: &mut Editor<'_>,
    sheet: &str,
    text: &str,
    (line, title): (u32, &str),
    encoding: Encoding,
) -> String {
    let params = json!({ "textDocument": { "uri": sheet }, "range": range([line, 0, line, 0]), "context": {} });
    let actions = editor.request("textDocument/codeAction", params).await;
    let action = actions
        .as_array()
        .unwrap()
        .iter()
        .find(|it| it["title"] == title);
    let action = action.unwrap_or_else(|| panic!("no {title} in {actions}"));
    let command = json!({ "command": action["command"]["command"], "arguments": action["command"]["arguments"] });
    let answer = editor.request("workspace/executeCommand", command).await;
    assert_eq!(answer, Value::Null);
    let asked = editor.hear().await;
    assert_eq!(asked["method"], "workspace/applyEdit");
    let changes = asked["params"]["edit"]["changes"].as_object().unwrap();
    let [(document, edits)] = changes.iter().collect::<Vec<_>>()[..] else {
        panic!("several documents: {asked}");
    };
    assert_eq!(document, sheet, "never the user's file");
    let edits = edits.as_array().unwrap();
    assert_eq!(edits.len(), 1);
    let new = edited(text, &edits[0], encoding);
    let document = json!({ "uri": sheet, "version": 2 });
    let change = json!({ "range": edits[0]["range"], "text": edits[0]["newText"] });
    let params = json!({ "textDocument": document, "contentChanges": [change] });
    editor.notify("textDocument/didChange", params).await;
    editor.reply(&asked, json!({ "applied": true })).await;
    new
}

#[tokio::test]
async fn hunks_are_dropped_and_kept_in_the_sheet_only() {
    let cases = [
        ("a\nb\nc\n", "A\nb\nC\n", (0, "Drop this hunk"), "a\nb\nC\n"),
        ("a\nb\nc\n", "A\nb\nC\n", (2, "Drop this hunk"), "A\nb\nc\n"),
        ("a\nb\nc\n", "a\nc\n", (0, "Drop this hunk"), "a\nb\nc\n"),
        ("a\nc\n", "a\nb\nc\n", (1, "Drop this hunk"), "a\nc\n"),
        ("é🙂\nx\n", "ü🙃\nx\n", (0, "Drop this hunk"), "é🙂\nx\n"),
        ("é🙂x\nx\n", "é🙂y\nx\n", (0, "Drop this hunk"), "é🙂x\nx\n"),
        (
            "a\r\nb\r\n",
            "a\r\nB\r\n",
            (1, "Drop this hunk"),
            "a\r\nb\r\n",
        ),
        (
            "a\r\nb\r\nc\r\n",
            "a\r\nc\r\n",
            (0, "Drop this hunk"),
            "a\r\nb\r\nc\r\n",
        ),
        (
            "a\r\nx\r\n",
            "a\nx\r\n",
            (0, "Drop this hunk"),
            "a\r\nx\r\n",
        ),
        ("a\nx\n", "a\r\nx\n", (0, "Drop this hunk"), "a\nx\n"),
        ("a\nb", "a\nB", (1, "Drop this hunk"), "a\nb"),
        ("a\nb\n", "a\nb", (1, "Drop this hunk"), "a\nb\n"),
        (
            "\u{feff}a\n",
            "\u{feff}b\n",
            (0, "Drop this hunk"),
            "\u{feff}a\n",
        ),
    ];
    for encoding in [Encoding::Utf8, Encoding::Utf16] {
        for (original, proposed, at, expected) in cases {
            let companion = EditorCompanion::start();
            let path = companion.file("a.txt", original);
            let mut editor = stock(&companion, encoding).await;
            let (mut agent, sheet) = propose(&companion, &mut editor, "a.txt", proposed).await;
            editor.open(&sheet, proposed).await;
            let what = format!("{original:?} → {proposed:?} {at:?} {encoding:?}");
            let dropped = acted(&mut editor, &sheet, proposed, at, encoding).await;
            assert_eq!(dropped, expected, "{what}");
            let back = (place_of(&sheet, &mut editor, KEEP).await, KEEP);
            let kept = acted(&mut editor, &sheet, &dropped, back, encoding).await;
            assert_eq!(kept, proposed, "{what}");
            let again = acted(&mut editor, &sheet, &kept, at, encoding).await;
            assert_eq!(again, expected, "{what}");
            save(&mut editor, &sheet).await;
            assert_eq!(agent.verdict().await, ("Accepted".into(), expected.into()));
            assert_eq!(std::fs::read_to_string(&path).unwrap(), original);
        }
    }
}
