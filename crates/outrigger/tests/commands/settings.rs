//! The configuration in force, and who may set what.

use crate::agent::Agent;
use crate::sandbox::{Sandbox, finish};

fn configured(sandbox: &Sandbox, text: &str) {
    let folder = sandbox.home.join(".config/outrigger");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("config.toml"), text).unwrap();
}

#[test]
fn every_value_says_where_it_comes_from() {
    let sandbox = Sandbox::new();
    configured(
        &sandbox,
        "port = 4711\nname = 'File'\nlog = 'debug'\nignore = ['*.a']\n",
    );
    sandbox.file(
        ".outrigger.toml",
        "agents = ['qwen']\nignore = ['*.b']\nport = 1\ncommand = 'rm'\n",
    );
    let mut command = sandbox.command(&["config", "--name", "Flag"]);
    command
        .env("OUTRIGGER_LOG", "trace")
        .env("OUTRIGGER_NAME", "Variable");
    command.env("OUTRIGGER_IGNORE", "*.c");
    let shown = finish(command, b"").good();
    let shown = shown.replace(sandbox.work.parent().unwrap().to_str().unwrap(), "[world]");
    insta::assert_snapshot!(shown, @r#"
    agents = ["qwen"]            [world]/project/.outrigger.toml
    port = 4711                  [world]/home/.config/outrigger/config.toml
    name = "Flag"                flag --name
    log = "trace"                variable OUTRIGGER_LOG
    max-body = 67108864          default
    debounce-ms = 50             default
    open = true                  default
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
    let sandbox = Sandbox::new();
    configured(
        &sandbox,
        "agents = ['qwen']\nmax-body = 2000\nname = 'Configured'\n",
    );
    let served = sandbox.serve(&[]);
    let status = sandbox.status();
    assert_eq!(status["editor"], "Configured");
    let names = sandbox.files(served.port);
    let gemini = |path: &&std::path::PathBuf| path.to_string_lossy().contains("gemini-ide-server");
    assert_eq!(names.iter().find(gemini), None, "switched off");
    let mut agent = Agent::qwen(&sandbox, &served);
    let arguments = serde_json::json!({ "filePath": "/x", "newContent": "x".repeat(3000) });
    let params = serde_json::json!({ "name": "openDiff", "arguments": arguments });
    let answer = agent.request("tools/call", params);
    let message = answer["error"]["message"].as_str().unwrap();
    assert!(message.contains("2000 bytes"), "{message}");
}

#[test]
fn an_agent_that_is_switched_off_is_not_let_in() {
    let sandbox = Sandbox::new();
    let all = sandbox.serve(&[]);
    let token = sandbox.gemini_token(all.port);
    let agent = Agent::connect(all.port, &token);
    drop(all);
    let _only = sandbox.serve(&["--agents", "qwen"]);
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
        let sandbox = Sandbox::new();
        sandbox.file(".outrigger.toml", text);
        let served = sandbox.serve(&["--agents", "qwen"]);
        let names = sandbox.files(served.port);
        let gemini =
            |path: &&std::path::PathBuf| path.to_string_lossy().contains("gemini-ide-server");
        assert_eq!(names.iter().find(gemini), None, "{text}");
        assert_eq!(sandbox.status()["editor"], "Outrigger", "{text}");
    }
}

#[test]
fn an_ignore_file_that_says_nothing_shares_nothing() {
    let sandbox = Sandbox::new();
    std::fs::create_dir(sandbox.work.join(".outriggerignore")).unwrap();
    sandbox.file("a.rs", "");
    let _served = sandbox.serve(&[]);
    let done = sandbox.run(&["focus", "a.rs"]);
    assert!(done.stderr.contains("agents are not told"), "{done:?}");
}
