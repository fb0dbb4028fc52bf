//! One service per folder: whoever comes later joins whoever came first.

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::thread;

use serde_json::{Value, json};
use testkit::{Machine, PlayedAgent, ScriptedEditor, until, uri};

use crate::machine;
use crate::stage::{Stage, crash_companion, found_name, somebody, start};

/// The settings and capabilities of an editor with a plugin, in the workspace.
pub(crate) fn hello(machine: &Machine, name: &str, options: Value) -> Value {
    let mut hello = json!({
        "processId": std::process::id(),
        "clientInfo": { "name": name },
        "workspaceFolders": [{ "uri": uri(&machine.workspace()), "name": "w" }],
        "capabilities": { "experimental": { "outrigger": true } },
    });
    hello["initializationOptions"] = options;
    hello
}

/// What agents see, as `outrigger status` lists it.
fn shared(machine: &Machine) -> Vec<String> {
    let status = machine.status();
    let files = status["files"].as_array().unwrap().iter();
    let name = |file: &Value| {
        let path = Path::new(file["path"].as_str().unwrap());
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        let mark = if file["active"] == true { "*" } else { "" };
        format!("{name}{mark}")
    };
    files.map(name).collect()
}

#[track_caller]
fn shared_is(machine: &Machine, expected: &[&str]) {
    until(&format!("agents see {expected:?}"), || {
        (shared(machine) == expected).then_some(())
    });
}

#[test]
fn an_editor_that_comes_later_shows_every_agent_and_every_proposal() {
    let machine = machine();
    let served = machine.start_companion(&[]);
    let mut agent = PlayedAgent::qwen(&machine, &served);
    for name in ["a.txt", "b.txt"] {
        let path = machine.write(name, "old\n");
        agent.open_diff(&path, "new\n");
    }
    let mut stage = Stage::set(&machine, &[]);
    assert_eq!(stage.port, served.port());
    let status = stage.editor.request("outrigger/status", Value::Null);
    assert_eq!(status["pending"], 2);
    assert_eq!(status["agents"][0]["connected"], true);
    let first = stage.editor.show_proposal();
    stage.editor.show_proposal();
    // The commands and the API say the same.
    assert_eq!(machine.proposals().len(), 2);
    let status = machine.status();
    assert_eq!(status["pid"], served.pid());
    assert_eq!(status["sessions"].as_array().unwrap().len(), 1);
    assert_eq!(status["editor"], "My Editor");
    let editors = json!([{ "name": "My Editor", "pid": std::process::id() }]);
    assert_eq!(status["editors"], editors);
    let shown = machine.run(&["status"]).good();
    let line = format!("  editors: My Editor (process {})\n", std::process::id());
    assert!(shown.contains(&line), "{shown}");
    // Agents find it under the editor's name, and below the editor's process.
    assert_eq!(
        found_name(&machine, stage.port).as_deref(),
        Some("My Editor")
    );
    let name = format!(
        "gemini-ide-server-{}-{}.json",
        std::process::id(),
        stage.port
    );
    let found = || {
        machine
            .discovery_files(stage.port)
            .iter()
            .any(|path| path.ends_with(&name))
    };
    assert!(found());
    stage.editor.decide(&first, json!({ "accepted": true }));
    assert_eq!(agent.hear_verdict()["params"]["content"], "new\n");

    let port = stage.port;
    assert!(stage.editor.quit().success());
    assert_eq!(found_name(&machine, port).as_deref(), Some("Outrigger"));
    assert_eq!(machine.status()["editors"], json!([]));
    assert_eq!(
        machine.proposals().len(),
        1,
        "it goes on without the editor"
    );
}

#[test]
fn the_service_stays_for_those_who_have_joined_however_the_first_one_leaves() {
    for way in ["goodbye", "silence", "crash", "death"] {
        let machine = machine();
        let mut process = somebody();
        let mut one = Stage::for_process(&machine, &[], process.id());
        let mut two = Stage::named(&machine, "Second");
        assert_eq!(one.port, two.port, "{way}");
        let mut agent = one.qwen(&machine);
        let path = machine.write("a.txt", "old\n");
        agent.open_diff(&path, "new\n");
        let seen = one.editor.show_proposal();
        let proposal = two.editor.show_proposal();
        assert_eq!(seen, proposal, "{way}");
        match way {
            "goodbye" => {
                one.editor.request("shutdown", Value::Null);
                one.editor.notify("exit", Value::Null);
                assert_eq!(one.editor.ended().code(), Some(0));
            }
            "silence" => one.editor.hang_up(),
            "crash" => one.editor.crash(),
            _ => process.kill().unwrap(),
        }
        one.editor.ended();
        until("only the second one is in it", || {
            let editors = machine.status()["editors"].clone();
            (editors.as_array()?.len() == 1 && editors[0]["name"] == "Second").then_some(())
        });
        // The agent has the same stream as before.
        two.editor.decide(&proposal, json!({ "accepted": true }));
        assert_eq!(agent.hear_verdict()["params"]["content"], "new\n", "{way}");
        let _ = process.kill();
        process.wait().unwrap();
    }
}

#[test]
fn a_killed_service_is_started_again_by_whichever_editor_comes_first() {
    let machine = machine();
    let (mut one, mut two) = (Stage::set(&machine, &[]), Stage::named(&machine, "Second"));
    let mut agent = one.qwen(&machine);
    let path = machine.write("a.txt", "old\n");
    agent.open_diff(&path, "new\n");
    let before = one.editor.show_proposal();
    let token = machine.qwen_token(one.port);
    crash_companion(&machine);
    // What the plugins' rule for restarting asks for.
    assert_eq!(one.editor.ended().code(), Some(1));
    assert_eq!(two.editor.ended().code(), Some(1));
    let (mut second, mut first) = (Stage::named(&machine, "Second"), Stage::set(&machine, &[]));
    assert_eq!((first.port, second.port), (one.port, one.port));
    assert_eq!(machine.qwen_token(one.port), token);
    assert_eq!(first.editor.show_proposal(), before);
    let proposal = second.editor.show_proposal();
    agent.listen();
    second.editor.decide(&proposal, json!({ "accepted": true }));
    assert_eq!(agent.hear_verdict()["params"]["content"], "new\n");
    first.editor.hear("outrigger/proposal/close");
}

#[test]
fn those_who_start_at_once_are_in_one_service() {
    let machine = machine();
    let stages: Vec<Stage> = thread::scope(|scope| {
        let all: Vec<_> = (0..6)
            .map(|at| {
                let machine = &machine;
                scope.spawn(move || Stage::named(machine, &format!("Editor {at}")))
            })
            .collect();
        all.into_iter().map(|one| one.join().unwrap()).collect()
    });
    let status = machine.status();
    assert_eq!(status["editors"].as_array().unwrap().len(), stages.len());
    assert!(stages.iter().all(|stage| status["port"] == stage.port));
}

#[test]
fn a_file_that_two_editors_have_open_stays_open_when_one_closes_it() {
    let machine = machine();
    let [a, b] = ["a.txt", "b.txt"].map(|name| machine.write(name, "text\n"));
    let (a, b) = (Path::new(&a), Path::new(&b));
    let (mut one, mut two) = (Stage::set(&machine, &[]), Stage::named(&machine, "Second"));
    let close = |path: &Path| json!({ "textDocument": { "uri": uri(path) } });
    one.editor.open(a, "text\n");
    one.editor.focus(a);
    shared_is(&machine, &["a.txt*"]);
    two.editor.open(a, "text\n");
    two.editor.open(b, "text\n");
    two.editor.focus(b);
    shared_is(&machine, &["b.txt*", "a.txt"]);
    // Whoever reported last is where the person is.
    one.editor.select(a, (0, 0), (0, 4));
    shared_is(&machine, &["a.txt*", "b.txt"]);
    one.editor.notify("textDocument/didClose", close(a));
    two.editor.focus(b);
    shared_is(&machine, &["b.txt*", "a.txt"]);
    two.editor.notify("textDocument/didClose", close(a));
    shared_is(&machine, &["b.txt*"]);
    one.editor.open(b, "text\n");
    one.editor.open(a, "text\n");
    shared_is(&machine, &["b.txt*", "a.txt"]);
    assert!(two.editor.quit().success());
    shared_is(&machine, &["b.txt*", "a.txt"]);
    one.editor.notify("textDocument/didClose", close(b));
    one.editor.focus(a);
    shared_is(&machine, &["a.txt*"]);
}

#[test]
fn what_a_joined_editor_ignores_is_held_back_while_it_is_there() {
    let machine = machine();
    let [log, text] = ["a.log", "a.txt"].map(|name| machine.write(name, ""));
    let mut one = Stage::set(&machine, &[]);
    for path in [&log, &text] {
        one.editor.open(Path::new(path), "");
        one.editor.focus(Path::new(path));
    }
    shared_is(&machine, &["a.txt*", "a.log"]);
    let mut two = start(&machine, &[]);
    // A negated pattern takes back nothing that somebody else ignores.
    two.request(
        "initialize",
        hello(&machine, "Second", json!({ "ignore": ["*.log", "!.env"] })),
    );
    two.notify("initialized", json!({}));
    shared_is(&machine, &["a.txt*"]);
    let secret = machine.write(".env", "");
    one.editor.open(Path::new(&secret), "");
    until("the secret is held back", || {
        (machine.status()["heldBack"]["secret"] == 1).then_some(())
    });
    assert!(two.quit().success());
    shared_is(&machine, &["a.txt*", "a.log"]);
}

/// A companion that runs has the variables of whoever started it.
#[test]
fn what_the_variables_of_a_joined_editor_hide_is_held_back_too() {
    let machine = machine();
    let [log, text] = ["a.log", "a.txt"].map(|name| machine.write(name, ""));
    let mut one = Stage::set(&machine, &[]);
    for path in [&log, &text] {
        one.editor.open(Path::new(path), "");
        one.editor.focus(Path::new(path));
    }
    shared_is(&machine, &["a.txt*", "a.log"]);
    let mut command = machine.command(&["lsp"]);
    command.env("OUTRIGGER_IGNORE", "*.log, !*");
    let mut two = ScriptedEditor::start(command);
    two.request("initialize", hello(&machine, "Second", json!({})));
    two.notify("initialized", json!({}));
    shared_is(&machine, &["a.txt*"]);
    assert!(two.quit().success());
    shared_is(&machine, &["a.txt*", "a.log"]);
}

#[test]
fn a_pattern_that_cannot_be_used_closes_all_folders_while_its_editor_is_there() {
    for joins in [false, true] {
        let machine = machine();
        let _served = joins.then(|| machine.start_companion(&[]));
        let mut editor = start(&machine, &[]);
        editor.request(
            "initialize",
            hello(&machine, "E", json!({ "ignore": ["a{b"] })),
        );
        editor.notify("initialized", json!({}));
        let told = editor.hear("window/showMessage");
        let message = told["params"]["message"].as_str().unwrap();
        assert!(message.contains("nothing is shared"), "{message}");
        assert!(message.contains("a{b"), "{message}");
        let faults = machine.status()["faults"].clone();
        assert_eq!(faults.as_array().unwrap().len(), 1, "{faults}");
        assert_eq!(faults[0]["source"], "settings of the editor");
        assert!(editor.quit().success());
        if joins {
            until("it is open again", || {
                (machine.status()["faults"] == json!([])).then_some(())
            });
        }
    }
}

#[test]
fn each_editor_brings_its_folders_and_takes_them_along() {
    let machine = machine();
    let served = machine.start_companion(&[]);
    let below = machine.path("below");
    let beside = machine.temporary().join("beside");
    for folder in [&below, &beside] {
        fs::create_dir(folder).unwrap();
    }
    let roots_are = |expected: &[&Path]| {
        until(&format!("it serves {expected:?}"), || {
            (machine.status()["roots"] == json!(expected)).then_some(())
        });
    };
    let work = machine.workspace();
    let mut editor = start(&machine, &[]);
    let ready = editor.begin("Below", &below, std::process::id());
    assert_eq!(ready["port"], served.port());
    roots_are(&[&work, &below]);
    let folder = |path: &Path| json!({ "uri": uri(path), "name": "x" });
    let event = json!({ "added": [folder(&beside)], "removed": [folder(&below), folder(&work)] });
    editor.notify(
        "workspace/didChangeWorkspaceFolders",
        json!({ "event": event }),
    );
    roots_are(&[&work, &beside]);
    assert!(editor.quit().success());
    roots_are(&[&work]);
}

#[test]
fn trust_takes_all_editors_that_say_something() {
    let machine = machine();
    let mut one = start(&machine, &[]);
    one.request(
        "initialize",
        hello(&machine, "One", json!({ "trusted": true })),
    );
    one.notify("initialized", json!({}));
    let port = one.hear("outrigger/ready")["params"]["port"]
        .as_u64()
        .unwrap();
    let port = port.try_into().unwrap();
    let mut agent = PlayedAgent::connect(port, &machine.qwen_token(port));
    let path = machine.write("a.txt", "");
    one.open(Path::new(&path), "");
    one.focus(Path::new(&path));
    let heard = agent.hear_until_active(&path);
    assert!(heard.contains(r#""isTrusted":true"#), "{heard}");
    let mut two = start(&machine, &[]);
    two.request(
        "initialize",
        hello(&machine, "Two", json!({ "trusted": false })),
    );
    two.notify("initialized", json!({}));
    let mut hear_trust = |expected: &str| {
        while !agent.hear().to_string().contains(expected) {}
    };
    hear_trust(r#""isTrusted":false"#);
    two.quit();
    hear_trust(r#""isTrusted":true"#);
}

#[test]
fn an_editor_is_told_what_it_cannot_have() {
    let machine = machine();
    let _served = machine.start_companion(&["--name", "Base"]);
    let mut editor = start(&machine, &[]);
    let options = json!({ "agents": ["gemini"], "daemon": true });
    editor.request("initialize", hello(&machine, "E", options));
    editor.notify("initialized", json!({}));
    for part in [
        "started by Base and lets in Qwen Code and Gemini CLI",
        "started by Base without a conversation",
    ] {
        let told = editor.take(part, |message| {
            let text = message["params"]["message"].as_str().unwrap_or_default();
            message["method"] == "window/logMessage" && text.contains(part)
        });
        assert!(told.to_string().contains("`outrigger stop`"), "{told}");
    }
}

#[test]
fn an_editor_that_finds_no_seat_is_told_the_reason() {
    let machine = machine();
    let served = machine.start_companion(&[]);
    let record = machine.record();
    let ask = format!(
        "GET /api/editor HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nAuthorization: Bearer {}\r\n\
         Connection: upgrade\r\nUpgrade: outrigger-lsp\r\n\r\n",
        served.port(),
        record["secret"].as_str().unwrap()
    );
    // Editors that have come in and say nothing.
    let seated: Vec<_> = (0..64)
        .map(|_| {
            let mut pipe = TcpStream::connect(("127.0.0.1", served.port())).unwrap();
            pipe.write_all(ask.as_bytes()).unwrap();
            let mut status = [0; 12];
            pipe.read_exact(&mut status).unwrap();
            assert_eq!(&status, b"HTTP/1.1 101");
            pipe
        })
        .collect();
    let mut editor = start(&machine, &[]);
    let refused = editor.request("initialize", hello(&machine, "E", json!({})));
    let why = refused["message"].as_str().unwrap_or_default();
    assert!(
        why.contains("64 editors are in this companion"),
        "{refused}"
    );
    assert!(!why.contains("ending"), "{refused}");
    drop(seated);
}

#[test]
fn another_version_is_not_joined_and_the_log_says_so() {
    let machine = machine();
    let served = machine.start_companion(&[]);
    let companions = machine.home().join(".local/state/outrigger/companions");
    let folder = fs::read_dir(companions)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .find(|path| path.is_dir());
    let record = folder.unwrap().join("companion.json");
    let text = fs::read_to_string(&record).unwrap();
    let version = format!("\"version\": {:?}", env!("CARGO_PKG_VERSION"));
    assert!(text.contains(&version), "{text}");
    fs::write(&record, text.replace(&version, "\"version\": \"0.0.0\"")).unwrap();
    let stage = Stage::set(&machine, &[]);
    assert_ne!(stage.port, served.port());
    until("the log says so", || {
        let log = stage.editor.log();
        (log.contains("version 0.0.0") && log.contains("outrigger stop")).then_some(())
    });
}
