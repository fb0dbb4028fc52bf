//! The program crashes in the middle of a diff, and the editor starts it again.

use std::path::Path;

use serde_json::json;
use testkit::PlayedAgent;

use crate::machine;
use crate::stage::{Stage, crash_companion};

#[test]
fn a_crash_costs_nothing() {
    let machine = machine();
    let mut stage = Stage::set(&machine, &[]);
    let path = machine.write("a.txt", "one\ntwo\n");
    let mut agent = stage.qwen(&machine);
    agent.open_diff(&path, "ONE\ntwo\n");
    let before = stage.editor.show_proposal();
    let token = machine.qwen_token(stage.port);
    crash_companion(&machine);
    assert_eq!(stage.editor.ended().code(), Some(1));

    let mut again = Stage::set(&machine, &[]);
    assert_eq!(again.port, stage.port);
    assert_eq!(machine.qwen_token(again.port), token);
    assert_eq!(again.ready["environment"], stage.ready["environment"]);
    let after = again.editor.show_proposal();
    assert_eq!(after, before);
    // The agent comes back in its session and gets its verdict.
    agent.listen();
    let answer = again
        .editor
        .decide(&after, json!({ "accepted": true, "hunks": [1] }));
    assert_eq!(answer["delivered"], true);
    let verdict = agent.hear_verdict();
    assert_eq!(
        verdict["params"],
        json!({ "filePath": path, "content": "ONE\ntwo\n" })
    );
    assert_eq!(
        again.editor.hear("outrigger/proposal/close")["params"],
        json!({ "id": 1, "outcome": "accepted", "message": "a.txt: accepted" })
    );
}

#[test]
fn a_verdict_that_was_not_heard_survives_the_crash() {
    let machine = machine();
    let mut stage = Stage::set(&machine, &[]);
    let path = machine.write("a.txt", "old\n");
    let mut agent = stage.qwen(&machine);
    agent.open_diff(&path, "new\n");
    let proposal = stage.editor.show_proposal();
    agent.hang_up();
    let decided = stage
        .editor
        .decide(&proposal, json!({ "accepted": true, "text": "mine\n" }));
    assert!(decided.get("delivered").is_some(), "{decided}");
    crash_companion(&machine);
    assert_eq!(stage.editor.ended().code(), Some(1));
    let _again = Stage::set(&machine, &[]);
    agent.listen();
    assert_eq!(agent.hear_verdict()["params"]["content"], "mine\n");
}

/// The process between the editor and the companion is nobody's memory.
#[test]
fn a_crash_of_the_pipe_costs_nothing() {
    let machine = machine();
    let mut stage = Stage::set(&machine, &[]);
    let path = machine.write("a.txt", "old\n");
    let mut agent = stage.qwen(&machine);
    agent.open_diff(&path, "new\n");
    let before = stage.editor.show_proposal();
    stage.editor.crash();
    let mut again = Stage::set(&machine, &[]);
    assert_eq!(again.port, stage.port);
    let after = again.editor.show_proposal();
    assert_eq!(after, before);
    agent.listen();
    again.editor.decide(&after, json!({ "accepted": true }));
    assert_eq!(agent.hear_verdict()["params"]["content"], "new\n");
}

#[test]
fn a_sheet_is_laid_again() {
    let machine = machine();
    let stock = json!({ "window": { "showDocument": { "support": true } } });
    let mut editor = crate::stage::start(&machine, &[]);
    editor.initialize("Kate", &machine.workspace(), std::process::id(), &stock);
    let port = machine.status()["port"]
        .as_u64()
        .unwrap()
        .try_into()
        .unwrap();
    let mut agent = PlayedAgent::connect(port, &machine.qwen_token(port));
    let path = machine.write("a.txt", "old\n");
    agent.open_diff(&path, "new\n");
    let first = editor.hear("window/showDocument")["params"]["uri"].clone();
    crash_companion(&machine);
    assert_eq!(editor.ended().code(), Some(1));
    let mut editor = crate::stage::start(&machine, &[]);
    editor.initialize("Kate", &machine.workspace(), std::process::id(), &stock);
    let again = editor.hear("window/showDocument")["params"]["uri"].clone();
    assert_eq!(again, first);
    let sheet = again
        .as_str()
        .unwrap()
        .strip_prefix("file://")
        .unwrap()
        .to_owned();
    assert!(
        !Path::new(&sheet).starts_with(machine.workspace()),
        "{sheet}"
    );
    assert_eq!(std::fs::read_to_string(&sheet).unwrap(), "new\n");
    std::fs::write(&sheet, "mine\n").unwrap();
    agent.listen();
    editor.notify(
        "textDocument/didSave",
        json!({ "textDocument": { "uri": again } }),
    );
    assert_eq!(agent.hear_verdict()["params"]["content"], "mine\n");
    assert!(editor.quit().success());
    assert!(!Path::new(&sheet).exists());
}
