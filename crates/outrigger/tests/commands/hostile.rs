//! Text of others on the person's terminal: whatever a workspace, an agent, an editor or a daemon
//! puts into a name, it controls nothing and forges no line.
//!
//! One string has everything in it that terminals obey. Each test puts it wherever foreign text comes
//! in, and looks at all that the program prints.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use serde_json::{Value, json};
use testkit::fake_daemon::{self, FakeDaemon, stand};
use testkit::{Done, Machine, PlayedAgent, ScriptedEditor, finish, until, uri};
use tokio::runtime::Runtime;

use crate::{PROGRAM, machine};

/// A title of the window, a cleared screen, a line of ours, C1 controls, directions, separators,
/// and what nobody sees. It fits into the name of a file.
const HOSTILE: &str = "x\u{1b}]0;owned\u{7}\u{1b}[2J\r\noutrigger: FORGED\u{9b}31m\u{202e}gnp\u{2066}\u{2028}outrigger: FORGED\u{85}\u{200b}\u{7f}\u{8}%s";

/// What the program has printed, with where it was printed.
#[derive(Default)]
struct Printed(Vec<(String, String)>);

impl Printed {
    fn add(&mut self, what: &str, text: &str) {
        self.0.push((what.to_owned(), text.to_owned()));
    }

    fn done(&mut self, what: &str, done: &Done) {
        self.add(&format!("{what}: stdout"), &done.stdout);
        self.add(&format!("{what}: stderr"), &done.stderr);
    }

    /// Runs commands of the program to their end.
    fn run(&mut self, machine: &Machine, commands: &[&[&str]]) {
        for args in commands {
            self.done(&format!("{args:?}"), &machine.run(args));
        }
    }

    /// Nothing in it steers a terminal, and no line in it is forged. `least` of the texts hold the
    /// hostile string, or the test would look at nothing.
    #[track_caller]
    fn check(&self, least: usize) {
        let mut wrong = Vec::new();
        for (what, text) in &self.0 {
            if text.contains(steers) || text.lines().any(is_forged) {
                wrong.push(format!("{what}: {text:?}"));
            }
        }
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
        let holds = self.0.iter().filter(|(_, text)| text.contains("FORGED"));
        let holds: Vec<_> = holds.map(|(what, _)| what).collect();
        assert!(holds.len() >= least, "{}: {holds:#?}", holds.len());
    }
}

/// What a terminal obeys, and what nobody sees.
fn steers(c: char) -> bool {
    let is_hidden = matches!(c, '\u{200b}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    c != '\n' && (c.is_control() || is_hidden)
}

fn is_forged(line: &str) -> bool {
    line.trim_start()
        .replace(':', "")
        .starts_with("outrigger FORGED")
}

/// A companion that tells its terminal what happens, with everything in its log.
struct Serving {
    child: Child,
    said: PathBuf,
}

impl Serving {
    fn start(machine: &Machine) -> Serving {
        let said = machine.home().join("said");
        let file = File::create(&said).unwrap();
        let mut command = machine.command(&["serve", "--no-open", "--log", "trace"]);
        command
            .stdin(Stdio::null())
            .stdout(file.try_clone().unwrap())
            .stderr(file);
        let child = command.spawn().unwrap();
        let serving = Serving { child, said };
        serving.wait_for("lists what they want to change");
        serving
    }

    #[track_caller]
    fn wait_for(&self, words: &str) {
        until(words, || self.said().contains(words).then_some(()));
    }

    fn said(&self) -> String {
        std::fs::read_to_string(&self.said).unwrap()
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The string as TOML writes it.
fn in_toml() -> String {
    let code = |c: char| format!("\\U{:08X}", c as u32);
    format!("\"{}\"", HOSTILE.chars().map(code).collect::<String>())
}

fn port(machine: &Machine) -> u16 {
    machine.status()["port"]
        .as_u64()
        .unwrap()
        .try_into()
        .unwrap()
}

/// An agent behind the bridge that has such a name.
fn over_the_bridge(machine: &Machine, printed: &mut Printed) {
    let client = json!({ "name": HOSTILE, "version": HOSTILE });
    let params = json!({ "protocolVersion": "2025-06-18", "clientInfo": client });
    let messages = [
        json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params }),
        json!({ "jsonrpc": "2.0", "id": HOSTILE, "method": HOSTILE }),
    ];
    let input = messages.map(|message| message.to_string()).join("\n") + "\n";
    let done = machine.run_with(&["bridge"], input);
    printed.add("bridge: stderr", &done.stderr);
    // A peer reads this, and no terminal; what JSON does not escape stays.
    assert!(
        !done.stdout.contains(['\u{1b}', '\u{7}', '\r', '\u{8}']),
        "{done:?}"
    );
    assert!(!done.stdout.lines().any(is_forged), "{done:?}");
}

#[test]
fn a_workspace_and_its_agents() {
    // Agents separate folders by colons, and are told of none that has one.
    let machine = Machine::with_workspace(PROGRAM, &HOSTILE.replace(':', ""));
    let mut printed = Printed::default();
    let toml = in_toml();
    machine.write(
        ".outrigger.toml",
        format!("{toml} = {toml}\nport = {toml}\nignore = [{toml}, '*.log']\n"),
    );
    machine.write(".qwenignore", format!("{HOSTILE}\n[{HOSTILE}\n"));
    // What another program has left where agents look.
    let discovery = machine.home().join(".qwen/ide");
    std::fs::create_dir_all(&discovery).unwrap();
    let left = json!({ "port": HOSTILE, "workspacePath": HOSTILE, "ideName": HOSTILE, "authToken": HOSTILE });
    std::fs::write(discovery.join(format!("{HOSTILE}.lock")), left.to_string()).unwrap();
    std::fs::write(discovery.join("4711.lock"), HOSTILE).unwrap();

    let serving = Serving::start(&machine);
    let port = port(&machine);
    let mut agent = PlayedAgent::connect(port, &machine.qwen_token(port));
    let file = machine.write(HOSTILE, "old\n");
    agent.open_diff(&file, "new\n");
    agent.open_diff(&format!("{file}2"), "new\n");
    agent.open_diff(&format!("{file}3"), "new\n");
    serving.wait_for("proposal 3");
    over_the_bridge(&machine, &mut printed);
    let mut editor = ScriptedEditor::start(machine.command(&["lsp", "--log", "trace"]));
    editor.begin(HOSTILE, &machine.workspace(), std::process::id());
    editor.open(Path::new(&file), "old\n");
    editor.focus(Path::new(&file));
    let refused = editor.decide(&json!({ "id": 99 }), json!({ "accepted": true }));
    printed.add(
        "an error in an editor",
        refused["message"].as_str().unwrap(),
    );
    printed.run(
        &machine,
        &[
            &["status"],
            &["status", "--json"],
            &["proposals"],
            &["proposals", "--json"],
            &["show"],
            &["show", "1"],
            &["show", "1", "--json"],
            &["show", "99"],
            &["accept"],
            &["accept", "--agent", HOSTILE],
            &["accept", "1", "--content-from", HOSTILE, "--json"],
            &["accept", "2", "--content-from", "missing\u{1b}[2J"],
            &["reject", "2"],
            &["reject", "--all"],
            &["reject", "--all", "--yes", "--json"],
            &["focus", HOSTILE],
            &["focus", HOSTILE, "--line", "99"],
            &["focus", &format!("{HOSTILE}:1"), "--line", "2"],
            &["focus", "/outside/\u{1b}[2J\noutrigger: FORGED"],
            &["config"],
            &["config", "--json"],
            &["config", "--name", HOSTILE, "--ignore", HOSTILE],
            &["env"],
            &["env", "--shell", "fish"],
            &["env", "--shell", "json"],
            &["url"],
            &["url", "--json"],
            // Somebody serves this folder already.
            &["serve", "--no-open", "--name", HOSTILE, "--json"],
            &["serve", "--no-open"],
            &["run", "--no-open", "--", HOSTILE],
            &["run", "--no-open", "--", "true"],
        ],
    );
    let closed = editor.hear("outrigger/proposal/close");
    let closed = closed["params"]["message"].as_str().unwrap();
    printed.add("a proposal that is over, in an editor", closed);
    printed.add("the log of lsp", &editor.log());
    drop(editor);
    printed.run(&machine, &[&["stop"]]);
    serving.wait_for("rejected");
    printed.add("serve", &serving.said());
    printed.check(20);
}

#[test]
fn an_editor_without_a_plugin() {
    let machine = Machine::with_workspace(PROGRAM, &HOSTILE.replace(':', ""));
    let mut printed = Printed::default();
    let mut editor = ScriptedEditor::start(machine.command(&["lsp"]));
    editor.initialize(
        HOSTILE,
        &machine.workspace(),
        std::process::id(),
        &json!({}),
    );
    let port = port(&machine);
    let mut agent = PlayedAgent::connect(port, &machine.qwen_token(port));
    agent.open_diff(&machine.write(HOSTILE, "old\n"), "new\n");
    let asked = editor.hear("window/showMessageRequest");
    let question = asked["params"]["message"].as_str().unwrap();
    assert!(!question.contains('\n'), "{question}");
    printed.add("a question", question);
    machine.write(".outrigger.toml", format!("ignore = {}", in_toml()));
    let told = editor.hear("window/showMessage");
    printed.add("a fault", told["params"]["message"].as_str().unwrap());
    let logged = editor.hear("window/logMessage");
    printed.add(
        "a line of the log",
        logged["params"]["message"].as_str().unwrap(),
    );
    printed.check(2);
}

#[test]
fn what_is_typed_and_what_variables_hold() {
    let machine = machine();
    let mut printed = Printed::default();
    let flag = format!("--{HOSTILE}");
    let missing = format!("/dev/null/{HOSTILE}");
    let served = machine.start_companion(&[]);
    let mut agent = PlayedAgent::qwen(&machine, &served);
    agent.open_diff(&machine.write("a.txt", "old\n"), "new\n");
    printed.run(
        &machine,
        &[
            &[HOSTILE],
            &[&flag],
            &["status", &flag],
            &["status", HOSTILE],
            &["show", HOSTILE],
            &["accept", "1", "--hunks", HOSTILE],
            &["accept", "1", "--hunks", &format!("1-{HOSTILE}")],
            &["accept", &missing, "--all"],
            &["focus", "a.txt", "--line", HOSTILE],
            &["proposals", "--color", HOSTILE],
            &["env", "--shell", HOSTILE],
            &["bridge", "--agent", HOSTILE],
            &["completions", HOSTILE],
            &["man", HOSTILE],
            &["man", "--dir", &format!("/dev/null/{HOSTILE}")],
            &["-C", &missing, "status"],
            &["-C", &missing, "proposals"],
            &["-C", &missing, "config"],
            &["--state-dir", &missing, "status"],
            &["--state-dir", &missing, "serve", "--json"],
            &["serve", &missing],
            &["serve", "--port", HOSTILE],
            &["serve", "--log", HOSTILE],
            &["serve", "--agents", HOSTILE],
            &["serve", "--daemon-url", HOSTILE],
            &["serve", "--parent", HOSTILE],
            &["lsp", "--record", &missing],
            &["lsp", "--log", HOSTILE],
            &["run", &flag],
            &["run", "--", &missing],
            &["daemon", HOSTILE],
            &["daemon", "--url", HOSTILE, "status"],
            &["daemon", "--token-file", &missing, "status"],
            &["daemon", "prompt", "hello", "--session", HOSTILE],
            &["daemon", "prompt", "hello", "--mode", HOSTILE],
            &["serve", "--daemon-mode", HOSTILE],
            &["daemon", "answer", HOSTILE],
        ],
    );
    for name in [
        "OUTRIGGER_PORT",
        "OUTRIGGER_LOG",
        "OUTRIGGER_AGENTS",
        "OUTRIGGER_IGNORE",
        "OUTRIGGER_NAME",
        "OUTRIGGER_STATE_DIR",
        "OUTRIGGER_OPEN",
        "OUTRIGGER_MAX_BODY",
        "OUTRIGGER_DAEMON",
        "QWEN_IDE_DAEMON_URL",
        "XDG_STATE_HOME",
        "XDG_CONFIG_HOME",
        "HOME",
        "TMPDIR",
    ] {
        for args in [
            &["config"][..],
            &["config", "--json"],
            &["status"],
            &["daemon", "status"],
        ] {
            let mut command = machine.command(args);
            command.env(name, HOSTILE);
            printed.done(&format!("{name} {args:?}"), &finish(command, ""));
        }
    }
    printed.check(40);
}

#[test]
fn what_files_hold() {
    let machine = machine();
    let mut printed = Printed::default();
    let toml = in_toml();
    let folder = machine.home().join(".config/outrigger");
    std::fs::create_dir_all(&folder).unwrap();
    let commands: &[&[&str]] = &[
        &["config"],
        &["config", "--json"],
        &["status"],
        &["run", "--no-open", "--", "true"],
        &["daemon", "status"],
        &["lsp"],
    ];
    for (own, workspace) in [
        (format!("{toml} = 1"), format!("{toml} = 1")),
        (format!("log = {toml}"), format!("agents = [{toml}]")),
        (format!("agents = [{toml}]"), format!("agents = {toml}")),
        (format!("ignore = {toml}"), format!("[{toml}]\n{toml} = 1")),
        (
            format!("[daemon]\nurl = {toml}"),
            format!("ignore = [\"[\", {toml}]"),
        ),
        (
            format!("[daemon]\nenabled = true\nmode = {toml}\n{toml} = 1"),
            String::new(),
        ),
        (
            format!("[daemon]\nenabled = true\nurl = {toml}\nmodel = {toml}"),
            String::new(),
        ),
        (
            format!("[daemon]\ntoken-file = {toml}"),
            format!("= {HOSTILE}"),
        ),
        (format!("x = {HOSTILE}"), HOSTILE.to_owned()),
        (
            format!("[{toml}]\n{toml} = {toml}"),
            format!("ignore = '''[{HOSTILE}"),
        ),
    ] {
        std::fs::write(folder.join("config.toml"), own).unwrap();
        machine.write(".outrigger.toml", workspace);
        printed.run(&machine, commands);
    }
    printed.check(12);
}

/// A daemon that answers with the hostile string wherever it has words.
fn daemon(runtime: &Runtime, machine: &Machine) -> FakeDaemon {
    let folder = machine.workspace().to_str().unwrap().to_owned();
    let daemon = runtime.block_on(FakeDaemon::for_conversations(&folder));
    let mut capabilities = fake_daemon::capabilities(&folder);
    capabilities["qwenCodeVersion"] = HOSTILE.into();
    capabilities["policy"] = json!({ "permission": HOSTILE });
    capabilities["workspaces"] = json!([{ "cwd": folder }, { "cwd": HOSTILE }]);
    stand(&daemon, "GET /capabilities", 200, &capabilities);
    daemon
}

fn daemon_command(daemon: &FakeDaemon, machine: &Machine, args: &[&str]) -> Command {
    let mut command = machine.command(&[&["daemon"], args].concat());
    command.env("QWEN_SERVER_TOKEN", fake_daemon::TOKEN);
    command.env(
        "QWEN_IDE_DAEMON_URL",
        format!("http://127.0.0.1:{}", daemon.port),
    );
    command
}

/// Sends an event of the running turn.
fn update(daemon: &FakeDaemon, update: &Value) {
    let data = json!({ "sessionId": fake_daemon::SESSION, "update": update });
    daemon.emit("session_update", data);
}

#[test]
fn a_daemon_and_its_agent() {
    let machine = machine();
    let runtime = Runtime::new().unwrap();
    let _entered = runtime.enter();
    let daemon = daemon(&runtime, &machine);
    let mut printed = Printed::default();
    let route = format!("/workspace/{}/sessions", encoded(&machine.workspace()));
    let listed = json!({ "sessions": [
        { "sessionId": "a", "displayName": HOSTILE },
        { "sessionId": HOSTILE, "displayName": "b" },
        { "sessionId": "w1", "displayName": HOSTILE, "pendingInteractions": [{}] },
        { "sessionId": "w2", "pendingInteractions": [{}] },
    ] });
    stand(&daemon, &format!("GET {route}"), 200, &listed);
    what_is_there(&daemon, &machine);
    for args in [
        &["status"][..],
        &["status", "--json"],
        &["sessions"],
        &["sessions", "--json"],
        &["answer"],
        &["runtime"],
        &["runtime", "--json"],
        &["files"],
        &["files", "--json"],
        &["read", HOSTILE],
        &["files", HOSTILE],
    ] {
        let done = finish(daemon_command(&daemon, &machine, args), "");
        printed.done(&format!("{args:?}"), &done);
    }
    for args in [&["prompt", "hello"][..], &["prompt", "hello", "--json"]] {
        printed.done(&format!("{args:?}"), &a_turn(&daemon, &machine, args));
    }
    // What the daemon says when it refuses.
    let refusal = json!({ "error": HOSTILE, "code": HOSTILE, "message": HOSTILE });
    for (what, args) in [("GET /capabilities", "status"), ("POST /session", "prompt")] {
        daemon.refuse_next(what, 400, "Content-Type: application/json\r\n", &refusal);
        let args = [args, "hello"];
        let args = if args[0] == "prompt" {
            &args[..]
        } else {
            &args[..1]
        };
        printed.done(what, &finish(daemon_command(&daemon, &machine, args), ""));
    }
    printed.check(15);
}

/// Everything that a daemon can say about what an agent has there, in hostile words.
fn what_is_there(daemon: &FakeDaemon, machine: &Machine) {
    let error = json!({ "kind": HOSTILE, "error": HOSTILE, "errorKind": HOSTILE, "hint": HOSTILE });
    let named = json!({
        "name": HOSTILE, "kind": HOSTILE, "status": HOSTILE, "error": HOSTILE, "hint": HOSTILE,
        "level": HOSTILE, "transport": HOSTILE, "mcpStatus": HOSTILE, "present": true,
        "modelId": HOSTILE,
    });
    let runtime = json!({ "kind": "runtime", "value": HOSTILE });
    let answer = json!({
        "cells": [named, runtime], "servers": [named], "skills": [named], "tools": [named],
        "current": { "modelId": HOSTILE }, "approvalMode": HOSTILE,
        "providers": [{ "models": [named] }], "errors": [error],
    });
    let folder = encoded(&machine.workspace());
    for part in ["preflight", "env", "providers", "mcp", "skills", "tools"] {
        let route = format!("GET /workspaces/{folder}/{part}");
        stand(daemon, &route, 200, &answer);
    }
    let name = HOSTILE.replace('/', "");
    let listing = json!({ "path": ".", "entries": [{ "name": name, "kind": "file" }] });
    let route = format!("GET /workspaces/{folder}/list");
    stand(daemon, &route, 200, &listing);
}

/// The path of a folder as a segment of a route.
fn encoded(folder: &Path) -> String {
    uri(folder)
        .trim_start_matches("file://")
        .replace('/', "%2F")
}

/// A turn in which the agent does everything that is shown, with hostile words, and fails.
fn a_turn(daemon: &FakeDaemon, machine: &Machine, args: &[&str]) -> Done {
    let prompts = || {
        daemon
            .requests(&format!("POST /session/{}/prompt", fake_daemon::SESSION))
            .len()
    };
    let before = prompts();
    fake_daemon::takes_votes(daemon, "r");
    fake_daemon::takes_votes(daemon, "q");
    let command = daemon_command(daemon, machine, args);
    let running = std::thread::spawn(move || finish(command, "n\n1\n1\n"));
    until("the prompt", || (prompts() > before).then_some(()));
    // The answer itself is the agent's, and its lines are too.
    daemon.say(&HOSTILE.replace(['\n', '\r'], " "));
    let tool = json!({ "sessionUpdate": "tool_call", "toolCallId": "t", "title": HOSTILE, "status": "in_progress" });
    update(daemon, &tool);
    let done = json!({ "sessionUpdate": "tool_call_update", "toolCallId": "t", "status": HOSTILE });
    update(daemon, &done);
    let plan =
        json!({ "sessionUpdate": "plan", "entries": [{ "content": HOSTILE, "status": HOSTILE }] });
    update(daemon, &plan);
    let mut asked = fake_daemon::permission("r");
    asked["toolCall"]["title"] = HOSTILE.into();
    asked["toolCall"]["rawInput"] = json!({ "command": HOSTILE });
    asked["toolCall"]["content"] =
        json!([{ "type": "diff", "path": HOSTILE, "oldText": HOSTILE, "newText": HOSTILE }]);
    asked["options"][1]["name"] = HOSTILE.into();
    daemon.emit("permission_request", asked);
    until("the vote", || {
        (!fake_daemon::votes(daemon, "r").is_empty()).then_some(())
    });
    fake_daemon::resolve(daemon, "r", "cancel", HOSTILE);
    let mut question = fake_daemon::question("q");
    let questions = &mut question["toolCall"]["rawInput"]["questions"];
    questions[0]["question"] = HOSTILE.into();
    questions[0]["options"] = json!([{ "label": HOSTILE, "description": HOSTILE }]);
    daemon.emit("permission_request", question);
    until("the answer", || {
        (!fake_daemon::votes(daemon, "q").is_empty()).then_some(())
    });
    fake_daemon::resolve(daemon, "q", "proceed_once", HOSTILE);
    daemon.fail(HOSTILE);
    let done = running.join().unwrap();
    let mut world = daemon.world();
    world.requests.clear();
    world.alive = false;
    done
}
