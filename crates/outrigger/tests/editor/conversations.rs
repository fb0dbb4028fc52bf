//! What editors say about conversations with a daemon, and what they are told.

use serde_json::{Value, json};
use testkit::{Machine, ScriptedEditor, until};

use crate::machine;
use crate::sharing::hello;
use crate::stage::start;

/// Where no daemon ever is.
const NOBODY: &str = "http://127.0.0.1:9";

/// An editor that has begun with this option `daemon`.
fn begun(machine: &Machine, name: &str, daemon: &Value) -> ScriptedEditor {
    let editor = ScriptedEditor::start(machine.command(&["lsp"]));
    begin(editor, machine, name, daemon)
}

fn begin(
    mut editor: ScriptedEditor,
    machine: &Machine,
    name: &str,
    daemon: &Value,
) -> ScriptedEditor {
    let hello = hello(machine, name, json!({ "daemon": daemon }));
    let answer = editor.request("initialize", hello);
    assert_eq!(answer["serverInfo"]["name"], "outrigger", "{answer}");
    editor.notify("initialized", json!({}));
    editor.hear("outrigger/ready");
    editor
}

/// What its log says with these words in it.
#[track_caller]
fn logged(editor: &mut ScriptedEditor, part: &str) -> String {
    let said = editor.take(part, |message| {
        let text = message["params"]["message"].as_str().unwrap_or_default();
        message["method"] == "window/logMessage" && text.contains(part)
    });
    said["params"]["message"].as_str().unwrap().to_owned()
}

/// What its log has said until now, as far as nobody has asked for it.
fn rest_of_log(editor: &mut ScriptedEditor) -> Vec<String> {
    // It answers in order.
    editor.request("outrigger/status", Value::Null);
    let mut said = Vec::new();
    while let Some(message) = editor.heard_before("window/logMessage") {
        said.push(message["params"]["message"].as_str().unwrap().to_owned());
    }
    said
}

/// Why there is no conversation, or nothing if there is one.
fn refused(editor: &mut ScriptedEditor) -> Option<String> {
    let answer = editor.request("outrigger/daemon/disconnect", Value::Null);
    answer["message"].as_str().map(str::to_owned)
}

#[test]
fn a_mistake_about_the_daemon_stops_no_companion() {
    for (daemon, parts) in [
        (
            json!({ "url": "http://example.com" }),
            ["settings of the editor", "not a loopback address", "ssh -L"],
        ),
        (
            json!({ "enabled": true, "mode": "autoedit" }),
            ["settings of the editor", "plan, default", "`auto-edit`"],
        ),
        (
            json!({ "enabled": true, "tokenFile": "token" }),
            ["settings of the editor", "`daemon.tokenFile`", "absolute"],
        ),
        (
            json!({ "enabled": true, "token": "hunter2" }),
            [
                "settings of the editor",
                "`daemon.token` is not taken",
                "`daemon.tokenFile`",
            ],
        ),
    ] {
        let machine = machine();
        let trace = machine.temporary().join("trace.jsonl");
        let editor = start(&machine, &["--record", trace.to_str().unwrap()]);
        let mut editor = begin(editor, &machine, "E", &daemon);
        let told = logged(&mut editor, "no conversations with a daemon");
        let why = refused(&mut editor).unwrap();
        let status = machine.run(&["status"]).good();
        for said in [&told, &why, &status] {
            for part in parts {
                assert!(said.contains(part), "{part} in {said}");
            }
        }
        assert_eq!(
            rest_of_log(&mut editor),
            [""; 0],
            "it is said once: {daemon}"
        );
        let log = editor.log();
        assert!(editor.quit().success());
        let everything = std::fs::read_to_string(trace).unwrap() + &log + &status + &why;
        assert!(!everything.contains("hunter2"), "{everything}");
    }
}

#[test]
fn a_bad_variable_stops_no_editor() {
    let machine = machine();
    let mut command = machine.command(&["lsp"]);
    command.env("QWEN_IDE_DAEMON_URL", "https://127.0.0.1:4170");
    let mut editor = begin(ScriptedEditor::start(command), &machine, "E", &json!(null));
    let told = logged(&mut editor, "variable QWEN_IDE_DAEMON_URL");
    assert!(told.contains("use http://"), "{told}");
    // Whoever reads the log of the program finds it there, too.
    until("the log says so", || {
        editor.log().contains("asks for TLS").then_some(())
    });
    let status = editor.request("outrigger/status", Value::Null);
    assert_eq!(status["pending"], 0, "{status}");
}

#[test]
fn what_is_no_option_is_named_and_the_rest_is_used() {
    let machine = machine();
    let daemon = json!({ "enabled": true, "url": NOBODY, "tokenfile": "/t" });
    let mut editor = begun(&machine, "E", &daemon);
    let told = logged(&mut editor, "`daemon.tokenfile`");
    assert!(told.contains("known are enabled, url, tokenFile"), "{told}");
    assert_eq!(refused(&mut editor), None);
}

#[test]
fn an_option_that_cannot_be_understood_switches_nothing_on() {
    let machine = machine();
    let mut editor = begun(&machine, "E", &json!("yes"));
    logged(&mut editor, "`daemon` has to be true, false or an object");
    assert!(refused(&mut editor).unwrap().contains("switched off"));
}

#[test]
fn an_editor_chooses_the_mode_and_is_warned() {
    let machine = machine();
    let daemon = json!({ "url": NOBODY, "mode": "auto-edit" });
    let mut editor = begun(&machine, "E", &daemon);
    let told = logged(&mut editor, "Mode auto-edit: ");
    assert!(told.contains("its edits are not reviewed"), "{told}");
    assert_eq!(refused(&mut editor), None);
    // Whoever joins is warned as well.
    let mut other = begun(&machine, "Other", &json!(null));
    logged(&mut other, "its edits are not reviewed");
    // The mode that asks needs no warning.
    let machine = crate::machine();
    let mut editor = begun(&machine, "E", &json!({ "url": NOBODY, "mode": "default" }));
    assert_eq!(rest_of_log(&mut editor), [""; 0]);
}

#[test]
fn an_editor_that_joins_is_told_what_is_different() {
    let machine = machine();
    let args = [
        "--name",
        "Base",
        "--daemon-url",
        NOBODY,
        "--daemon-mode",
        "plan",
    ];
    let _served = machine.start_companion(&args);
    for (daemon, expected) in [
        (json!(null), None),
        (json!(true), None),
        (json!({ "url": NOBODY, "mode": "plan" }), None),
        (
            json!(false),
            Some("started by Base with a conversation with a daemon; "),
        ),
        (
            json!({ "url": "http://127.0.0.1:10", "mode": "yolo", "model": "m", "tokenFile": "/t" }),
            Some(
                "started by Base for conversations with mode plan, not yolo, \
                 the daemon's own model, not m, another daemon, a token from elsewhere; ",
            ),
        ),
    ] {
        let mut editor = begun(&machine, "E", &daemon);
        match expected {
            None => assert_eq!(rest_of_log(&mut editor), [""; 0], "{daemon}"),
            Some(part) => {
                let told = logged(&mut editor, part);
                assert!(told.contains("`outrigger stop`"), "{told}");
            }
        }
        assert!(editor.quit().success());
    }
    // What is wrong in its options is told, and is not the companion's matter.
    let mut editor = begun(&machine, "E", &json!({ "token": "x" }));
    logged(&mut editor, "`daemon.token` is not taken");
    assert_eq!(refused(&mut editor), None);
}

/// The companion waits for an editor that asks for the same.
#[test]
fn an_editor_with_other_options_gets_its_own_companion() {
    let machine = machine();
    let mut one = begun(&machine, "One", &json!({ "url": NOBODY }));
    let connect = testkit::PlayedAgent::connect;
    let port = machine.status()["port"]
        .as_u64()
        .unwrap()
        .try_into()
        .unwrap();
    let _agent = connect(port, &machine.qwen_token(port));
    assert_eq!(refused(&mut one), None);
    let service = machine.served_by();
    assert!(one.quit().success());
    let mut two = begun(&machine, "Two", &json!({ "url": NOBODY }));
    assert_eq!(machine.served_by(), service);
    assert_eq!(refused(&mut two), None);
    assert!(two.quit().success());
    let mut three = begun(&machine, "Three", &json!(false));
    assert_ne!(machine.served_by(), service);
    assert!(refused(&mut three).unwrap().contains("switched off"));
}
