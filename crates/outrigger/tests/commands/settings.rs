//! The configuration in force, and who may set what.

use testkit::{Machine, PlayedAgent, finish};

use crate::{PROGRAM, machine};

fn configured(machine: &Machine, text: &str) {
    let folder = machine.home().join(".config/outrigger");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("config.toml"), text).unwrap();
}

#[test]
fn every_value_says_where_it_comes_from() {
    let machine = Machine::with_workspace(PROGRAM, "project");
    configured(
        &machine,
        "port = 4711\nname = 'File'\nlog = 'debug'\nignore = ['*.a']\n",
    );
    machine.write(
        ".outrigger.toml",
        "agents = ['qwen']\nignore = ['*.b']\nport = 1\ncommand = 'rm'\n",
    );
    let mut command = machine.command(&["config", "--name", "Flag"]);
    command
        .env("OUTRIGGER_LOG", "trace")
        .env("OUTRIGGER_NAME", "Variable");
    command.env("OUTRIGGER_IGNORE", "*.c");
    let shown = finish(command, b"").good();
    let workspace = machine.workspace();
    let shown = shown.replace(workspace.parent().unwrap().to_str().unwrap(), "[world]");
    insta::assert_snapshot!(shown, @r#"
    agents = ["qwen"]            [world]/project/.outrigger.toml
    port = 4711                  [world]/home/.config/outrigger/config.toml
    name = "Flag"                flag --name
    log = "trace"                variable OUTRIGGER_LOG
    max-body = 67108864          default
    debounce-ms = 50             default
    open = true                  default
    quiet = false                default
    ignore = "*.a"               [world]/home/.config/outrigger/config.toml
    ignore = "*.c"               variable OUTRIGGER_IGNORE
    ignore = "*.b"               [world]/project/.outrigger.toml
    warning: [world]/project/.outrigger.toml: command is not used: a workspace may only narrow what is shared (agents, ignore)
    warning: [world]/project/.outrigger.toml: port is not used: a workspace may only narrow what is shared (agents, ignore)
    daemon.url = "http://127.0.0.1:4170" default
    daemon.token = none          default
    "#);
}

#[test]
fn what_is_set_is_in_force() {
    let machine = machine();
    configured(
        &machine,
        "agents = ['qwen']\nmax-body = 2000\nname = 'Configured'\n",
    );
    let served = machine.start_companion(&[]);
    let status = machine.status();
    assert_eq!(status["editor"], "Configured");
    let names = machine.discovery_files(served.port());
    let gemini = |path: &&std::path::PathBuf| path.to_string_lossy().contains("gemini-ide-server");
    assert_eq!(names.iter().find(gemini), None, "switched off");
    let mut agent = PlayedAgent::qwen(&machine, &served);
    let arguments = serde_json::json!({ "filePath": "/x", "newContent": "x".repeat(3000) });
    let params = serde_json::json!({ "name": "openDiff", "arguments": arguments });
    let answer = agent.request("tools/call", params);
    let message = answer["error"]["message"].as_str().unwrap();
    assert!(message.contains("2000 bytes"), "{message}");
}

#[test]
fn an_agent_that_is_switched_off_is_not_let_in() {
    let machine = machine();
    let all = machine.start_companion(&[]);
    let token = machine.gemini_token(all.port());
    let agent = PlayedAgent::connect(all.port(), &token);
    drop(all);
    let _only = machine.start_companion(&["--agents", "qwen"]);
    assert_eq!(agent.knock(), 401);
}

#[test]
fn a_hostile_workspace_widens_nothing_and_stops_nothing() {
    let hostile = [
        "agents = ['qwen', 'gemini', 'claude']\n",
        "= broken",
        "ignore = ['[']\n",
        "ignore = [1]\n",
        "port = 1\nname = 'x'\nstate-dir = '/'\n",
    ];
    for text in hostile {
        let machine = machine();
        machine.write(".outrigger.toml", text);
        let served = machine.start_companion(&["--agents", "qwen"]);
        let names = machine.discovery_files(served.port());
        let gemini =
            |path: &&std::path::PathBuf| path.to_string_lossy().contains("gemini-ide-server");
        assert_eq!(names.iter().find(gemini), None, "{text}");
        assert_eq!(machine.status()["editor"], "Outrigger", "{text}");
    }
}

#[test]
fn an_ignore_file_that_says_nothing_shares_nothing() {
    let machine = machine();
    std::fs::create_dir(machine.workspace().join(".outriggerignore")).unwrap();
    machine.write("a.rs", "");
    let _served = machine.start_companion(&[]);
    let done = machine.run(&["focus", "a.rs"]);
    assert!(done.stderr.contains("agents are not told"), "{done:?}");
}
