//! The conversation in editors, with and without a plugin.

use serde_json::{Value, json};
use testkit::{Call, wait_for};

use super::scene::{editor, page};
use crate::household;

#[test]
fn an_editor_holds_the_same_conversation() {
    let Some(house) = household() else {
        return;
    };
    let daemon = house.start_daemon_with_agent();
    let mut editor = editor(&house, &daemon);
    editor.begin("Scripted", &house.workspace(), std::process::id());
    editor.request("outrigger/daemon/follow", json!({ "follow": true }));
    editor.hear("outrigger/daemon/all");
    let live = editor.take("a connection", |message| {
        message["params"]["status"]["connection"]["state"] == "live"
    });
    let locality = live["params"]["status"]["place"]["locality"].to_string();
    assert!(
        locality.contains("Files, MCP servers, skills and credentials are those of that place"),
        "{live}"
    );
    house.model.on("HELLO-PLEASE", vec![]);
    let sent = editor.request("outrigger/daemon/prompt", json!({ "text": "HELLO-PLEASE" }));
    assert_eq!(sent, Value::Null);
    editor.take("the answer", |message| {
        let params = &message["params"];
        let text = params["text"].as_str().or(params["entry"]["text"].as_str());
        text.is_some_and(|text| text.contains("HELLO-PLEASE") && text.contains("DONE"))
    });

    // An edit is shown as a diff that can only be taken or left.
    let path = house.path("made.txt");
    house
        .model
        .on("WRITE-PLEASE", vec![vec![Call::write(&path, "made\n")]]);
    editor.request("outrigger/daemon/prompt", json!({ "text": "WRITE-PLEASE" }));
    let proposal = editor.show_proposal();
    assert_eq!(proposal["editable"], false);
    editor.decide(&proposal, json!({ "accepted": true }));
    wait_for(
        "the file",
        || (house.read("made.txt")? == b"made\n").then_some(()),
        || editor.log(),
    );
    let unknown = editor.request("outrigger/daemon/dance", json!({}));
    assert_eq!(unknown["code"], -32601);
}

#[test]
fn an_editor_without_a_plugin_is_asked_with_buttons() {
    let Some(house) = household() else {
        return;
    };
    let daemon = house.start_daemon_with_agent();
    let mut editor = editor(&house, &daemon);
    editor.initialize("Stock", &house.workspace(), std::process::id(), &json!({}));
    wait_for("the companion", || house.served_by(), || editor.log());
    let client = page(&house);
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    let runtime = runtime.unwrap();
    wait_for(
        "a connection",
        || {
            let snapshot: Value = runtime.block_on(client.get("/api/chat")).unwrap();
            (snapshot["status"]["connection"]["state"] == "live").then_some(())
        },
        || editor.log(),
    );
    house
        .model
        .on("SHELL-PLEASE", vec![vec![Call::shell("touch ran")]]);
    let prompt = json!({ "text": "SHELL-PLEASE" });
    let sent: Value = runtime
        .block_on(client.post("/api/chat/prompt", &prompt))
        .unwrap();
    assert_eq!(sent, Value::Null);
    let question = editor.hear("window/showMessageRequest");
    let message = question["params"]["message"].as_str().unwrap();
    assert!(message.contains("touch ran"), "{message}");
    let first = question["params"]["actions"][0].clone();
    editor.reply(&question, first);
    wait_for(
        "the command",
        || house.path("ran").exists().then_some(()),
        || editor.log(),
    );
}
