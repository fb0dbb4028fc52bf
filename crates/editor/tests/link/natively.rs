//! Editors with a plugin (level 1): proposals as native diffs.

use serde_json::{Value, json};
use testkit::McpPeer;
use workbench::{Agent, Decision};

use crate::companion::EditorCompanion;
use crate::editor::Editor;

const ORIGINAL: &str = "one\ntwo\nthree\nfour\nfive\n";
const PROPOSED: &str = "ONE\ntwo\nthree\nfour\nFIVE\n";

/// An editor with a plugin that shows the proposal of an agent for `a.txt`.
async fn shown(companion: &EditorCompanion) -> (Editor<'_>, McpPeer, Value) {
    let path = companion.file("a.txt", ORIGINAL);
    let mut agent = companion.listener(Agent::Qwen).await;
    let mut editor = Editor::with_plugin(companion).await;
    agent.propose(&path, PROPOSED).await;
    let asked = editor.hear().await;
    assert_eq!(asked["method"], "outrigger/proposal/open");
    (editor, agent, asked)
}

#[tokio::test]
async fn shown_and_accepted() {
    let companion = EditorCompanion::start();
    let (mut editor, mut agent, asked) = shown(&companion).await;
    editor.reply(&asked, json!({ "opened": true })).await;
    let verdict = json!({ "id": 1, "accepted": true });
    editor.request("outrigger/proposal/verdict", verdict).await;
    let close = editor.hear().await;
    editor.reply(&close, json!({})).await;
    editor.nothing_more().await;
    assert_eq!(agent.verdict().await, ("Accepted".into(), PROPOSED.into()));
    insta::assert_snapshot!(editor.transcript(), @r#"
    ← outrigger/proposal/open #1 {"added":2,"agent":"Qwen Code","dirty":false,"editable":true,"hunks":[{"number":1,"originalEnd":1,"originalStart":0,"proposedEnd":1,"proposedStart":0},{"number":2,"originalEnd":5,"originalStart":4,"proposedEnd":5,"proposedStart":4}],"id":1,"original":"one\ntwo\nthree\nfour\nfive\n","path":"/w/a.txt","proposed":"ONE\ntwo\nthree\nfour\nFIVE\n","removed":2,"revision":1,"session":"[session]","uri":"file:///w/a.txt","who":"Qwen Code"}
    → #1 {"opened":true}
    → outrigger/proposal/verdict #2 {"accepted":true,"id":1}
    ← #2 {"delivered":true,"message":"a.txt: accepted"}
    ← outrigger/proposal/close #2 {"id":1,"message":"a.txt: accepted","outcome":"accepted"}
    → #2 {}
    "#);
    let on_disk = std::fs::read_to_string(companion.path("a.txt")).unwrap();
    assert_eq!(on_disk, ORIGINAL, "the agent writes, not we");
}

#[tokio::test]
async fn every_verdict_reaches_the_agent() {
    let dropped = "one\ntwo\nthree\nfour\nFIVE\n";
    for (verdict, heard) in [
        (json!({ "accepted": true }), ("Accepted", json!(PROPOSED))),
        (
            json!({ "accepted": true, "text": "mine\r\n" }),
            ("Accepted", json!("mine\r\n")),
        ),
        (
            json!({ "accepted": true, "hunks": [2] }),
            ("Accepted", json!(dropped)),
        ),
        (
            json!({ "accepted": true, "hunks": [1, 2] }),
            ("Accepted", json!(PROPOSED)),
        ),
        (
            json!({ "accepted": true, "text": null, "hunks": null }),
            ("Accepted", json!(PROPOSED)),
        ),
        (json!({ "accepted": false }), ("Rejected", Value::Null)),
        (
            json!({ "accepted": false, "text": "mine" }),
            ("Rejected", Value::Null),
        ),
    ] {
        // As a request, and as a notification for plugins that do not care for the answer.
        for request in [true, false] {
            let companion = EditorCompanion::start();
            let (mut editor, mut agent, asked) = shown(&companion).await;
            editor.reply(&asked, json!({ "opened": true })).await;
            let mut params = verdict.clone();
            params["id"] = json!(1);
            if request {
                let answer = editor.request("outrigger/proposal/verdict", params).await;
                assert_eq!(answer["delivered"], true, "{verdict}");
                let said = format!("a.txt: {}", heard.0.to_lowercase());
                assert_eq!(answer["message"], said, "{verdict}");
            } else {
                editor.notify("outrigger/proposal/verdict", params).await;
            }
            let (method, content) = agent.verdict().await;
            assert_eq!((method.as_str(), content), heard.clone(), "{verdict}");
            assert_eq!(editor.hear().await["method"], "outrigger/proposal/close");
            assert!(companion.proposals().await.is_empty());
        }
    }
}

#[tokio::test]
async fn verdicts_that_cannot_be() {
    let companion = EditorCompanion::start();
    let (mut editor, _agent, asked) = shown(&companion).await;
    editor.reply(&asked, json!({ "opened": true })).await;
    editor.transcript();
    for params in [
        json!({ "id": 7, "accepted": true }),
        json!({ "id": 7, "accepted": true, "hunks": [1] }),
        json!({ "id": 1, "accepted": true, "hunks": [3] }),
        json!({ "id": 1, "accepted": true, "text": "" }),
        json!({ "id": 1 }),
        json!({ "id": "1", "accepted": true }),
        json!(null),
    ] {
        editor.request("outrigger/proposal/verdict", params).await;
    }
    let unknown = json!({ "id": 7, "accepted": true });
    editor.notify("outrigger/proposal/verdict", unknown).await;
    editor.hear().await;
    editor.nothing_more().await;
    insta::assert_snapshot!(editor.transcript(), @r#"
    → outrigger/proposal/verdict #2 {"accepted":true,"id":7}
    ← #2 {"code":-32803,"message":"proposal 7 is not open: it was decided, withdrawn or replaced; list the open ones"}
    → outrigger/proposal/verdict #3 {"accepted":true,"hunks":[1],"id":7}
    ← #3 {"code":-32803,"message":"proposal 7 is not open: it was decided, withdrawn or replaced; list the open ones"}
    → outrigger/proposal/verdict #4 {"accepted":true,"hunks":[3],"id":1}
    ← #4 {"code":-32803,"message":"there is no hunk 3; choose from 1 to 2"}
    → outrigger/proposal/verdict #5 {"accepted":true,"id":1,"text":""}
    ← #5 {"code":-32803,"message":"the agent ignores an empty text and would write its whole proposal; reject it, and empty the file yourself"}
    → outrigger/proposal/verdict #6 {"id":1}
    ← #6 {"code":-32602,"message":"wrong parameters: missing field `accepted` at line 1 column 8"}
    → outrigger/proposal/verdict #7 {"accepted":true,"id":"1"}
    ← #7 {"code":-32602,"message":"wrong parameters: invalid type: string \"1\", expected u64 at line 1 column 25"}
    → outrigger/proposal/verdict #8 null
    ← #8 {"code":-32602,"message":"wrong parameters: invalid type: null, expected struct Verdict at line 1 column 4"}
    → outrigger/proposal/verdict {"accepted":true,"id":7}
    ← window/showMessage {"message":"proposal 7 is not open: it was decided, withdrawn or replaced; list the open ones","type":2}
    "#);
    assert_eq!(companion.proposals().await.len(), 1, "it is kept");
}

#[tokio::test]
async fn an_editor_that_cannot_show_it_does_not_cost_the_edit() {
    let companion = EditorCompanion::start();
    let (mut editor, mut agent, asked) = shown(&companion).await;
    let no = json!({ "opened": false, "reason": "another diff is open" });
    editor.reply(&asked, no).await;
    editor.settle().await;
    assert_eq!(companion.proposals().await.len(), 1);
    companion.decide(1, Decision::Accept).await.unwrap();
    editor.nothing_more().await;
    assert_eq!(agent.verdict().await, ("Accepted".into(), PROPOSED.into()));
    insta::assert_snapshot!(editor.transcript(), @r#"
    ← outrigger/proposal/open #1 {"added":2,"agent":"Qwen Code","dirty":false,"editable":true,"hunks":[{"number":1,"originalEnd":1,"originalStart":0,"proposedEnd":1,"proposedStart":0},{"number":2,"originalEnd":5,"originalStart":4,"proposedEnd":5,"proposedStart":4}],"id":1,"original":"one\ntwo\nthree\nfour\nfive\n","path":"/w/a.txt","proposed":"ONE\ntwo\nthree\nfour\nFIVE\n","removed":2,"revision":1,"session":"[session]","uri":"file:///w/a.txt","who":"Qwen Code"}
    → #1 {"opened":false,"reason":"another diff is open"}
    "#);
}

#[tokio::test]
async fn strange_answers_to_open_leave_it_pending() {
    for answer in [
        json!({ "result": null }),
        json!({ "result": "yes" }),
        json!({ "result": { "opened": "yes" } }),
        json!({ "error": { "code": -32601, "message": "no such method" } }),
        json!({ "error": "broken" }),
        json!({}),
    ] {
        let companion = EditorCompanion::start();
        let (mut editor, mut agent, asked) = shown(&companion).await;
        let mut message = answer.clone();
        message["id"] = asked["id"].clone();
        editor.say(&message).await;
        editor.settle().await;
        assert_eq!(companion.proposals().await.len(), 1, "{answer}");
        // It is as if the editor did not have it: the agent need not wait for its text.
        let path = companion.path("a.txt");
        assert_eq!(agent.withdraw(&path).await, PROPOSED);
        editor.nothing_more().await;
    }
}

#[tokio::test]
async fn decided_elsewhere() {
    let companion = EditorCompanion::start();
    let (mut editor, mut agent, asked) = shown(&companion).await;
    editor.reply(&asked, json!({ "opened": true })).await;
    editor.settle().await;
    companion.decide(1, Decision::Reject).await.unwrap();
    let close = editor.hear().await;
    editor.reply(&close, json!({ "text": "too late" })).await;
    let late = json!({ "id": 1, "accepted": true });
    editor.request("outrigger/proposal/verdict", late).await;
    editor.nothing_more().await;
    assert_eq!(agent.verdict().await.0, "Rejected");
    insta::assert_snapshot!(editor.transcript(), @r#"
    ← outrigger/proposal/open #1 {"added":2,"agent":"Qwen Code","dirty":false,"editable":true,"hunks":[{"number":1,"originalEnd":1,"originalStart":0,"proposedEnd":1,"proposedStart":0},{"number":2,"originalEnd":5,"originalStart":4,"proposedEnd":5,"proposedStart":4}],"id":1,"original":"one\ntwo\nthree\nfour\nfive\n","path":"/w/a.txt","proposed":"ONE\ntwo\nthree\nfour\nFIVE\n","removed":2,"revision":1,"session":"[session]","uri":"file:///w/a.txt","who":"Qwen Code"}
    → #1 {"opened":true}
    ← outrigger/proposal/close #2 {"id":1,"message":"a.txt: rejected","outcome":"rejected"}
    → #2 {"text":"too late"}
    → outrigger/proposal/verdict #2 {"accepted":true,"id":1}
    ← #2 {"code":-32803,"message":"proposal 1 is not open: it was decided, withdrawn or replaced; list the open ones"}
    "#);
}

#[tokio::test]
async fn taken_back_with_the_text_that_the_editor_has() {
    let companion = EditorCompanion::start();
    let (mut editor, mut agent, asked) = shown(&companion).await;
    editor.reply(&asked, json!({ "opened": true })).await;
    editor.settle().await;
    let path = companion.path("a.txt");
    let (text, ()) = tokio::join!(agent.withdraw(&path), async {
        let close = editor.hear().await;
        editor.reply(&close, json!({ "text": "typed\n" })).await;
    });
    assert_eq!(text, "typed\n");
    editor.nothing_more().await;
    assert!(companion.proposals().await.is_empty());
    insta::assert_snapshot!(editor.transcript(), @r#"
    ← outrigger/proposal/open #1 {"added":2,"agent":"Qwen Code","dirty":false,"editable":true,"hunks":[{"number":1,"originalEnd":1,"originalStart":0,"proposedEnd":1,"proposedStart":0},{"number":2,"originalEnd":5,"originalStart":4,"proposedEnd":5,"proposedStart":4}],"id":1,"original":"one\ntwo\nthree\nfour\nfive\n","path":"/w/a.txt","proposed":"ONE\ntwo\nthree\nfour\nFIVE\n","removed":2,"revision":1,"session":"[session]","uri":"file:///w/a.txt","who":"Qwen Code"}
    → #1 {"opened":true}
    ← outrigger/proposal/close #2 {"id":1,"message":"a.txt: taken back by its agent","outcome":"withdrawn"}
    → #2 {"text":"typed\n"}
    "#);
}

#[tokio::test]
async fn taken_back_from_an_editor_that_does_not_answer() {
    let companion = EditorCompanion::start();
    let (mut editor, mut agent, asked) = shown(&companion).await;
    editor.reply(&asked, json!({ "opened": true })).await;
    let path = companion.path("a.txt");
    let draft = json!({ "id": 1, "text": "half typed" });
    editor.notify("outrigger/proposal/update", draft).await;
    editor.settle().await;
    assert_eq!(agent.withdraw(&path).await, "half typed");
    let close = editor.hear().await;
    editor.reply(&close, json!({ "text": "too late" })).await;
    editor.nothing_more().await;
    insta::assert_snapshot!(editor.transcript(), @r#"
    ← outrigger/proposal/open #1 {"added":2,"agent":"Qwen Code","dirty":false,"editable":true,"hunks":[{"number":1,"originalEnd":1,"originalStart":0,"proposedEnd":1,"proposedStart":0},{"number":2,"originalEnd":5,"originalStart":4,"proposedEnd":5,"proposedStart":4}],"id":1,"original":"one\ntwo\nthree\nfour\nfive\n","path":"/w/a.txt","proposed":"ONE\ntwo\nthree\nfour\nFIVE\n","removed":2,"revision":1,"session":"[session]","uri":"file:///w/a.txt","who":"Qwen Code"}
    → #1 {"opened":true}
    → outrigger/proposal/update {"id":1,"text":"half typed"}
    ← outrigger/proposal/close #2 {"id":1,"message":"a.txt: taken back by its agent","outcome":"withdrawn"}
    → #2 {"text":"too late"}
    "#);
}

#[tokio::test]
async fn a_second_proposal_for_the_same_file_takes_the_place_of_the_first() {
    let companion = EditorCompanion::start();
    let (mut editor, mut agent, asked) = shown(&companion).await;
    editor.reply(&asked, json!({ "opened": true })).await;
    editor.settle().await;
    agent.propose(&companion.path("a.txt"), "second\n").await;
    let (first, second) = (editor.hear().await, editor.hear().await);
    assert_eq!(first["method"], "outrigger/proposal/close");
    let over = json!({ "id": 1, "outcome": "replaced", "message": "a.txt: replaced by its agent" });
    assert_eq!(first["params"], over);
    assert_eq!(second["method"], "outrigger/proposal/open");
    assert_eq!(second["params"]["id"], 2);
    assert_eq!(second["params"]["proposed"], "second\n");
}

#[tokio::test]
async fn an_agent_that_leaves_takes_its_proposals_along() {
    let companion = EditorCompanion::start();
    let (mut editor, mut agent, asked) = shown(&companion).await;
    editor.reply(&asked, json!({ "opened": true })).await;
    editor.settle().await;
    agent.leave().await;
    let close = editor.hear().await;
    assert_eq!(close["method"], "outrigger/proposal/close");
    let over = json!({ "id": 1, "outcome": "orphaned", "message": "a.txt: left by its agent" });
    assert_eq!(close["params"], over);
    editor
        .status_with(|status| status["agents"] == json!([]))
        .await;
}

#[tokio::test]
async fn what_waits_is_shown_to_an_editor_that_comes_later() {
    let companion = EditorCompanion::start();
    let mut agent = companion.listener(Agent::Gemini).await;
    agent.propose(&companion.path("new.txt"), "new\n").await;
    agent.propose(&companion.path("é ü.txt"), "x").await;
    let mut editor = Editor::with_plugin(&companion).await;
    editor.hear().await;
    editor.hear().await;
    editor.request("outrigger/proposal/list", json!(null)).await;
    editor.nothing_more().await;
    insta::assert_snapshot!(editor.transcript(), @r#"
    ← outrigger/proposal/open #1 {"added":1,"agent":"Gemini CLI","dirty":false,"editable":true,"hunks":[{"number":1,"originalEnd":0,"originalStart":0,"proposedEnd":1,"proposedStart":0}],"id":1,"path":"/w/new.txt","proposed":"new\n","removed":0,"revision":1,"session":"[session]","uri":"file:///w/new.txt","who":"Gemini CLI"}
    ← outrigger/proposal/open #2 {"added":1,"agent":"Gemini CLI","dirty":false,"editable":true,"hunks":[{"number":1,"originalEnd":0,"originalStart":0,"proposedEnd":1,"proposedStart":0}],"id":2,"path":"/w/é ü.txt","proposed":"x","removed":0,"revision":1,"session":"[session]","uri":"file:///w/%C3%A9%20%C3%BC.txt","who":"Gemini CLI"}
    → outrigger/proposal/list #2 null
    ← #2 {"proposals":[{"added":1,"agent":"Gemini CLI","dirty":false,"editable":true,"hunks":[{"number":1,"originalEnd":0,"originalStart":0,"proposedEnd":1,"proposedStart":0}],"id":1,"path":"/w/new.txt","proposed":"new\n","removed":0,"revision":1,"session":"[session]","uri":"file:///w/new.txt","who":"Gemini CLI"},{"added":1,"agent":"Gemini CLI","dirty":false,"editable":true,"hunks":[{"number":1,"originalEnd":0,"originalStart":0,"proposedEnd":1,"proposedStart":0}],"id":2,"path":"/w/é ü.txt","proposed":"x","removed":0,"revision":1,"session":"[session]","uri":"file:///w/%C3%A9%20%C3%BC.txt","who":"Gemini CLI"}]}
    "#);
    insta::assert_snapshot!(editor.status, @r#"{"agents":[{"connected":true,"label":"Gemini CLI","name":"Gemini CLI","presence":"connected"}],"faults":[],"heldBack":0,"paused":false,"pending":2,"short":"1 agent, 2 pending","summary":"Gemini CLI; 2 pending; 0 held back"}"#);
}

#[tokio::test]
async fn the_editor_is_told_whether_the_buffer_has_changes() {
    let companion = EditorCompanion::start();
    let path = companion.file("a.txt", ORIGINAL);
    let mut agent = companion.listener(Agent::Qwen).await;
    let mut editor = Editor::with_plugin(&companion).await;
    let uri = editor.uri("a.txt");
    editor.open(&uri, ORIGINAL).await;
    editor.change(&uri, [0, 0, 0, 0], "x").await;
    editor.settle().await;
    agent.propose(&path, PROPOSED).await;
    assert_eq!(editor.hear().await["params"]["dirty"], true);
    editor
        .notify("textDocument/didSave", Editor::about(&uri))
        .await;
    let list = editor.request("outrigger/proposal/list", json!({})).await;
    assert_eq!(list["proposals"][0]["dirty"], false);
}

#[tokio::test]
async fn an_editor_that_slept_through_it_closes_what_is_over() {
    let companion = EditorCompanion::start();
    let (mut editor, mut agent, asked) = shown(&companion).await;
    editor.reply(&asked, json!({ "opened": true })).await;
    editor.settle().await;
    editor.stop_reading().await;
    companion.decide(1, Decision::Reject).await.unwrap();
    for round in 0..600 {
        let path = companion.path(&format!("{round}.txt"));
        agent.propose(&path, "x").await;
        agent.withdraw(&path).await;
    }
    let close = editor.hear_past_answers().await;
    assert_eq!(close["method"], "outrigger/proposal/close", "{close}");
    assert_eq!(close["params"]["id"], 1);
    let message = close["params"]["message"].as_str().unwrap();
    assert!(message.starts_with("a.txt: "), "{message}");
}

/// The numbers of hunks, and their lines: of the original, then of the other text.
fn lines(hunks: &Value) -> Vec<[u64; 5]> {
    let names = [
        "number",
        "originalStart",
        "originalEnd",
        "proposedStart",
        "proposedEnd",
    ];
    let hunks = hunks.as_array().unwrap().iter();
    hunks
        .map(|hunk| names.map(|name| hunk[name].as_u64().unwrap()))
        .collect()
}

#[tokio::test]
async fn the_hunks_of_a_draft_are_told() {
    let companion = EditorCompanion::start();
    let (mut editor, mut agent, asked) = shown(&companion).await;
    editor.reply(&asked, json!({ "opened": true })).await;
    assert_eq!(asked["params"].get("draftHunks"), None, "nobody has edited");
    let of_the_agent = vec![[1, 0, 1, 0, 1], [2, 4, 5, 4, 5]];
    for (text, hunks) in [
        // The person drops the second hunk, and adds a line.
        (
            "ONE\ntwo\nnew\nthree\nfour\nfive\n",
            vec![[1, 0, 1, 0, 1], [2, 2, 2, 2, 3]],
        ),
        ("one\ntwo\nthree\nfour\nFIVE\n", vec![[1, 4, 5, 4, 5]]),
        (ORIGINAL, vec![]),
        (PROPOSED, of_the_agent.clone()),
        ("", vec![[1, 0, 5, 0, 0]]),
    ] {
        let update = json!({ "id": 1, "text": text });
        let answer = editor.request("outrigger/proposal/update", update).await;
        assert_eq!(lines(&answer["hunks"]), hunks, "{text:?}");
        // It counts as an update like any other.
        let list = editor.request("outrigger/proposal/list", json!({})).await;
        let listed = &list["proposals"][0];
        assert_eq!(listed["proposed"], text);
        if text == PROPOSED {
            assert_eq!(listed.get("draftHunks"), None, "it is the agent's again");
        } else {
            assert_eq!(lines(&listed["draftHunks"]), hunks, "{text:?}");
        }
        assert_eq!(lines(&listed["hunks"]), of_the_agent, "{text:?}");
    }
    // Another editor that comes now shows the draft.
    let draft = json!({ "id": 1, "text": "one\ntwo\nthree\nfour\nFIVE\n" });
    editor.request("outrigger/proposal/update", draft).await;
    let mut other = Editor::with_plugin(&companion).await;
    let shown = other.hear().await;
    assert_eq!(shown["params"]["proposed"], "one\ntwo\nthree\nfour\nFIVE\n");
    assert_eq!(lines(&shown["params"]["draftHunks"]), [[1, 4, 5, 4, 5]]);
    let path = companion.path("a.txt");
    let (text, ()) = tokio::join!(agent.withdraw(&path), async {
        let close = other.hear().await;
        other.reply(&close, json!({})).await;
    });
    assert_eq!(text, "one\ntwo\nthree\nfour\nFIVE\n");
}

#[tokio::test]
async fn updates_that_cannot_be() {
    let companion = EditorCompanion::start();
    let (mut editor, _agent, asked) = shown(&companion).await;
    editor.reply(&asked, json!({ "opened": true })).await;
    editor.transcript();
    for params in [json!({ "id": 7, "text": "x" }), json!({ "id": 1 })] {
        editor.request("outrigger/proposal/update", params).await;
    }
    insta::assert_snapshot!(editor.transcript(), @r#"
    → outrigger/proposal/update #2 {"id":7,"text":"x"}
    ← #2 {"code":-32803,"message":"proposal 7 is not open: it was decided, withdrawn or replaced; list the open ones"}
    → outrigger/proposal/update #3 {"id":1}
    ← #3 {"code":-32602,"message":"wrong parameters: missing field `text` at line 1 column 8"}
    "#);
}

#[tokio::test]
async fn an_edit_that_cannot_be_shown_is_told() {
    let companion = EditorCompanion::start();
    let path = companion.file("a.bin", b"\xff\xfe\x00");
    let mut agent = companion.listener(Agent::Gemini).await;
    let mut editor = Editor::with_plugin(&companion).await;
    agent.propose(&path, "text").await;
    editor.hear().await;
    editor.nothing_more().await;
    insta::assert_snapshot!(editor.transcript(), @r#"← window/showMessage {"message":"Gemini CLI proposes an edit: /w/a.bin is not UTF-8 text; decide this edit in the agent's terminal","type":3}"#);
}

#[tokio::test]
async fn the_editors_log_tells_what_happened_without_texts() {
    let companion = EditorCompanion::start();
    let (mut editor, mut agent, asked) = shown(&companion).await;
    editor.reply(&asked, json!({ "opened": true })).await;
    companion.decide(1, Decision::Reject).await.unwrap();
    editor.hear().await;
    let path = companion.path("b.txt");
    agent.propose(&path, "x").await;
    editor.hear().await;
    agent.withdraw(&path).await;
    editor.hear().await;
    editor.settle().await;
    let proposals: Vec<_> = editor
        .logged
        .iter()
        .filter(|line| line.starts_with("proposal"))
        .collect();
    assert_eq!(
        proposals,
        [
            "proposal 1 is pending",
            "proposal 1 was rejected",
            "proposal 2 is pending",
            "proposal 2 was taken back by its agent",
        ]
    );
}

#[tokio::test]
async fn a_file_that_changes_is_shown_again_with_what_the_person_has_typed() {
    let companion = EditorCompanion::start();
    let (mut editor, mut agent, asked) = shown(&companion).await;
    editor.reply(&asked, json!({ "opened": true })).await;
    editor.settle().await;
    editor.transcript();
    companion.file("a.txt", "one\ntwo!\nthree\nfour\nfive\n");
    let ask = editor.hear().await;
    // The person has dropped a hunk and typed something.
    let typed = "one\ntwo\nthree\nfour, four\nFIVE\n";
    editor.reply(&ask, json!({ "text": typed })).await;
    let again = editor.hear().await;
    editor.reply(&again, json!({ "opened": true })).await;
    // A verdict about what the person saw before does not count.
    let late = json!({ "id": 1, "accepted": true, "revision": 1 });
    editor.request("outrigger/proposal/verdict", late).await;
    let verdict = json!({ "id": 1, "accepted": true });
    editor.request("outrigger/proposal/verdict", verdict).await;
    let accepted = agent.verdict().await;
    let both = "one\ntwo!\nthree\nfour, four\nFIVE\n";
    assert_eq!(accepted, ("Accepted".into(), both.into()));
    editor.settle().await;
    insta::assert_snapshot!(editor.transcript(), @r#"
    ← outrigger/proposal/text #2 {"id":1}
    → #2 {"text":"one\ntwo\nthree\nfour, four\nFIVE\n"}
    ← outrigger/proposal/open #3 {"added":6,"agent":"Qwen Code","dirty":false,"draftHunks":[{"number":1,"originalEnd":5,"originalStart":3,"proposedEnd":5,"proposedStart":3}],"editable":true,"hunks":[{"number":1,"originalEnd":0,"originalStart":0,"proposedEnd":1,"proposedStart":0},{"number":2,"originalEnd":2,"originalStart":2,"proposedEnd":7,"proposedStart":3},{"number":3,"originalEnd":5,"originalStart":4,"proposedEnd":10,"proposedStart":9}],"id":1,"original":"one\ntwo!\nthree\nfour\nfive\n","path":"/w/a.txt","proposed":"one\ntwo!\nthree\nfour, four\nFIVE\n","removed":1,"revision":2,"session":"[session]","stale":"the file has changed since the agent read it; the edit is shown on top of what is there now","uri":"file:///w/a.txt","who":"Qwen Code"}
    → #3 {"opened":true}
    → outrigger/proposal/verdict #2 {"accepted":true,"id":1,"revision":1}
    ← #2 {"code":-32803,"message":"the file has changed since you looked at this proposal, which is shown against the present text now; look at it again, then decide"}
    → outrigger/proposal/verdict #3 {"accepted":true,"id":1}
    ← #3 {"delivered":true,"message":"a.txt: accepted; Qwen Code may read the changed file first, and propose its edit anew"}
    "#);
}

#[tokio::test]
async fn unsaved_changes_are_part_of_what_is_shown() {
    let companion = EditorCompanion::start();
    companion.file("a.txt", ORIGINAL);
    let mut editor = Editor::with_plugin(&companion).await;
    let a = editor.uri("a.txt");
    editor.open(&a, ORIGINAL).await;
    editor.change(&a, [2, 0, 2, 5], "drei").await;
    editor.settle().await;
    let mut agent = companion.listener(Agent::Qwen).await;
    agent.propose(&companion.path("a.txt"), PROPOSED).await;
    let open = editor.hear().await;
    let proposal = &open["params"];
    assert_eq!(proposal["original"], "one\ntwo\ndrei\nfour\nfive\n");
    assert_eq!(proposal["proposed"], "ONE\ntwo\ndrei\nfour\nFIVE\n");
    assert_eq!(
        (&proposal["dirty"], &proposal["revision"]),
        (&json!(true), &json!(2))
    );
    editor.reply(&open, json!({ "opened": true })).await;
    // The person goes on typing in the file.
    editor.change(&a, [2, 4, 2, 4], "!").await;
    let ask = editor.hear().await;
    assert_eq!(ask["method"], "outrigger/proposal/text");
    editor.reply(&ask, json!({})).await;
    let again = editor.hear().await;
    assert_eq!(again["params"]["proposed"], "ONE\ntwo\ndrei!\nfour\nFIVE\n");
    editor.reply(&again, json!({ "opened": true })).await;
    let verdict = json!({ "id": 1, "accepted": true });
    editor.request("outrigger/proposal/verdict", verdict).await;
    let accepted = agent.verdict().await.1;
    assert_eq!(accepted, "ONE\ntwo\ndrei!\nfour\nFIVE\n");
}
