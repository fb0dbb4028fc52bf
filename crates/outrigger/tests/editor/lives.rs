//! From the editor's hello to its end.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};
use testkit::{PlayedAgent, until, uri};

use crate::machine;
use crate::stage::{Stage, files_gone, somebody, start};

#[test]
fn it_is_found_under_the_editors_own_name_and_process() {
    let machine = machine();
    let stage = Stage::set(&machine, &[]);
    let files = machine.discovery_files(stage.port);
    assert!(!files.is_empty());
    for path in &files {
        let file: Value = serde_json::from_slice(&fs::read(path).unwrap()).unwrap();
        let info = json!({ "name": "my-editor", "displayName": "My Editor" });
        assert_eq!(file["ideInfo"], info, "{}", path.display());
        assert_eq!(file["ppid"], std::process::id());
        assert_eq!(file["workspacePath"], machine.workspace().to_str().unwrap());
    }
    let environment = &stage.ready["environment"];
    let port = stage.port.to_string();
    assert_eq!(environment["QWEN_CODE_IDE_SERVER_PORT"], port.as_str());
    assert_eq!(environment["GEMINI_CLI_IDE_SERVER_PORT"], port.as_str());
    assert_eq!(machine.status()["editor"], "My Editor");
}

#[test]
fn nothing_is_there_before_the_editor_says_hello() {
    let machine = machine();
    let mut editor = start(&machine, &[]);
    let early = editor.request("outrigger/status", Value::Null);
    assert_eq!(early["code"], -32002);
    let none = json!({ "companions": [] });
    assert_eq!(machine.run(&["status", "--json"]).json(), none);
    editor.notify("exit", Value::Null);
    assert_eq!(editor.ended().code(), Some(1));
}

#[test]
fn every_way_out_takes_the_files_away() {
    for (way, code) in [
        ("goodbye", Some(0)),
        ("exit", Some(1)),
        ("silence", Some(1)),
        ("stop", Some(1)),
        ("death", Some(1)),
    ] {
        let machine = machine();
        let mut process = somebody();
        let mut stage = Stage::for_process(&machine, &[], process.id());
        // Where an agent is connected, a companion stays for a while after a goodbye.
        let mut agent = (way != "goodbye").then(|| stage.qwen(&machine));
        assert!(!machine.discovery_files(stage.port).is_empty());
        match way {
            "goodbye" => {
                stage.editor.request("shutdown", Value::Null);
                stage.editor.notify("exit", Value::Null);
            }
            "exit" => stage.editor.notify("exit", Value::Null),
            "silence" => stage.editor.hang_up(),
            "stop" => drop(machine.run(&["stop"]).good()),
            // The editor is killed, but whoever holds the other end of the pipe is not.
            _ => process.kill().unwrap(),
        }
        assert_eq!(stage.editor.ended().code(), code, "{way}");
        assert!(machine.discovery_files(stage.port).is_empty(), "{way}");
        // The agent's stream has a clean end.
        if let Some(agent) = &mut agent {
            agent.hear_out();
        }
        let none = json!({ "companions": [] });
        assert_eq!(machine.run(&["status", "--json"]).json(), none, "{way}");
        let _ = process.kill();
        process.wait().unwrap();
    }
}

#[test]
fn a_goodbye_in_one_breath_is_answered() {
    let machine = machine();
    let mut stage = Stage::set(&machine, &[]);
    let mut breath = Vec::new();
    for message in [
        json!({ "jsonrpc": "2.0", "id": 77, "method": "shutdown" }),
        json!({ "jsonrpc": "2.0", "method": "exit" }),
    ] {
        let content = message.to_string();
        breath.extend(format!("Content-Length: {}\r\n\r\n{content}", content.len()).bytes());
    }
    stage.editor.say_bytes(&breath);
    stage.editor.hang_up();
    let answer = stage
        .editor
        .take("the answer", |message| message["id"] == 77);
    assert_eq!(answer["result"], Value::Null);
    assert_eq!(stage.editor.ended().code(), Some(0));
    files_gone(&machine, stage.port);
}

#[test]
fn an_editor_of_another_machine_is_not_waited_for() {
    let machine = machine();
    // A process id that exists only where the editor runs.
    let mut stage = Stage::for_process(&machine, &[], 0x3fff_ffff);
    stage.qwen(&machine).hear();
    stage.editor.hang_up();
    stage.editor.ended();
    files_gone(&machine, stage.port);
}

#[test]
fn other_folders_change_what_agents_find() {
    let machine = machine();
    let second = machine.temporary().join("second");
    fs::create_dir(&second).unwrap();
    let mut stage = Stage::set(&machine, &[]);
    let folder = |path: &Path| json!({ "uri": uri(path), "name": "x" });
    let found = |expected: &str| {
        let lock = machine
            .home()
            .join(format!(".qwen/ide/{}.lock", stage.port));
        until("the folders in the discovery file", || {
            let file: Value = serde_json::from_slice(&fs::read(&lock).ok()?).ok()?;
            (file["workspacePath"] == expected).then_some(())
        });
    };
    let first = machine.workspace();
    let (one, two) = (first.to_str().unwrap(), second.to_str().unwrap());
    let event = json!({ "event": { "added": [folder(&second)], "removed": [] } });
    stage
        .editor
        .notify("workspace/didChangeWorkspaceFolders", event);
    found(&format!("{one}:{two}"));
    let event = json!({ "event": { "added": [], "removed": [folder(&first)] } });
    stage
        .editor
        .notify("workspace/didChangeWorkspaceFolders", event);
    found(two);
}

#[test]
fn only_the_agents_of_the_editors_settings_are_let_in() {
    let machine = machine();
    let mut editor = start(&machine, &[]);
    let answer = editor.request(
        "initialize",
        json!({
            "processId": std::process::id(),
            "workspaceFolders": [{ "uri": uri(&machine.workspace()), "name": "w" }],
            "capabilities": { "experimental": { "outrigger": true } },
            "initializationOptions": { "agents": ["gemini"], "ignore": ["*.log"], "trusted": true },
        }),
    );
    assert_eq!(answer["serverInfo"]["name"], "outrigger");
    editor.notify("initialized", json!({}));
    let ready = editor.hear("outrigger/ready");
    let port = ready["params"]["port"]
        .as_u64()
        .unwrap()
        .try_into()
        .unwrap();
    assert!(
        !machine
            .home()
            .join(format!(".qwen/ide/{port}.lock"))
            .exists()
    );
    let mut agent = PlayedAgent::connect(port, &machine.gemini_token(port));
    for name in ["a.log", "a.txt"] {
        let path = machine.write(name, "");
        editor.open(Path::new(&path), "");
        editor.focus(Path::new(&path));
    }
    let heard = agent.hear_until_active(machine.workspace().join("a.txt").to_str().unwrap());
    assert!(!heard.contains("a.log"), "{heard}");
    assert!(heard.contains(r#""isTrusted":true"#), "{heard}");
}

#[test]
fn an_editor_that_names_only_unknown_agents_lets_nobody_in_and_is_told() {
    let machine = machine();
    let mut editor = start(&machine, &[]);
    editor.request(
        "initialize",
        json!({
            "processId": std::process::id(),
            "workspaceFolders": [{ "uri": uri(&machine.workspace()), "name": "w" }],
            "capabilities": { "experimental": { "outrigger": true } },
            "initializationOptions": { "agents": ["claude"] },
        }),
    );
    editor.notify("initialized", json!({}));
    let ready = editor.hear("outrigger/ready");
    let port = ready["params"]["port"].as_u64().unwrap();
    assert_eq!(machine.discovery_files(port.try_into().unwrap()).len(), 0);
    let told = editor.hear("window/showMessage");
    assert_eq!(
        told["params"]["message"],
        "nothing is shared with agents until this is mended: settings of the editor: there is no \
         agent \"claude\"; known are \"qwen\" and \"gemini\""
    );
}
