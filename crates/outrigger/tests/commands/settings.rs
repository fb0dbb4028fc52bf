//! The configuration in force, and who may set what.

use serde_json::json;
use testkit::{Machine, PlayedAgent, finish, until};

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
        "port = 4711\nname = 'File'\nlog = 'debug'\nignore = ['*.a']\n[daemon]\nmode = 'plan'\nmodel = 'm1'\n",
    );
    machine.write(
        ".outrigger.toml",
        "agents = ['qwen']\nignore = ['*.b']\nport = 1\ncommand = 'rm'\n",
    );
    let args = ["config", "--name", "Flag", "--daemon-mode", "auto-edit"];
    let mut command = machine.command(&args);
    command
        .env("OUTRIGGER_LOG", "trace")
        .env("OUTRIGGER_NAME", "Variable");
    command.env("OUTRIGGER_IGNORE", "*.c");
    command.env("QWEN_IDE_DAEMON_URL", "http://127.0.0.1:4711");
    let shown = finish(command, b"").good();
    let workspace = machine.workspace();
    let shown = shown.replace(workspace.parent().unwrap().to_str().unwrap(), "[world]");
    insta::assert_snapshot!(shown, @r#"
    agents = ["qwen"]            [world]/project/.outrigger.toml:1:10
    port = 4711                  [world]/home/.config/outrigger/config.toml:1:8
    name = "Flag"                flag --name
    log = "trace"                variable OUTRIGGER_LOG
    max-body = 67108864          default
    debounce-ms = 50             default
    open = true                  default
    quiet = false                default
    state-dir = "[world]/home/.local/state" default
    daemon.enabled = true        flag --daemon-mode
    daemon.url = "http://127.0.0.1:4711" variable QWEN_IDE_DAEMON_URL
    daemon.token = "none"        default
    daemon.mode = "auto-edit"    flag --daemon-mode
    daemon.model = "m1"          [world]/home/.config/outrigger/config.toml:7:9
    ignore = "*.a"               [world]/home/.config/outrigger/config.toml:4:11
    ignore = "*.c"               variable OUTRIGGER_IGNORE
    ignore = "*.b"               [world]/project/.outrigger.toml:2:11
    warning: [world]/project/.outrigger.toml:3:1: `port` is not used: a workspace may only narrow what is shared (agents, ignore)
    warning: [world]/project/.outrigger.toml:4:1: there is no setting `command`
    warning: conversations start in a mode that does not ask about everything (flag --daemon-mode). Mode auto-edit: the agent changes files without asking, so its edits are not reviewed. It also fetches web pages and starts subagents without asking. It asks before it runs commands, but for those that only read, and for `sed -i`.
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
fn who_may_connect_follows_the_file() {
    let machine = machine();
    configured(&machine, "agents = 'qwen'\n");
    let served = machine.start_companion(&[]);
    let port = served.port();
    assert_eq!(machine.discovery_files(port).len(), 0, "nobody is let in");
    let status = machine.status();
    assert_eq!(status["faults"][0]["line"], 1, "{status}");
    assert!(status["faults"][0].get("folder").is_none(), "{status}");

    configured(&machine, "agents = ['gemini', 'qwen']\n");
    let is_there = |name: &str| {
        let files = machine.discovery_files(port);
        files
            .iter()
            .any(|file| file.to_string_lossy().contains(name))
    };
    until("agents find it", || {
        (is_there("gemini-ide-server") && is_there(".lock")).then_some(())
    });
    let path = machine.write("a.rs", "");
    machine.run(&["focus", &path]).good();
    let mut gemini = PlayedAgent::gemini(&machine, &served);
    gemini.hear_until_active(&path);
    let mut qwen = PlayedAgent::qwen(&machine, &served);
    qwen.hear_until_active(&path);

    configured(&machine, "agents = ['qwen']\n");
    // Its stream ends, and it does not come in again.
    gemini.hear_out();
    assert_eq!(gemini.knock(), 401);
    until("nobody finds it", || {
        (!is_there("gemini-ide-server")).then_some(())
    });
    assert_eq!(qwen.knock(), 200);
    let sessions = machine.sessions();
    assert_eq!(sessions.len(), 1, "{sessions:?}");
}

#[test]
fn names_that_nobody_knows_let_nobody_in() {
    let machine = machine();
    let mut command = machine.command(&["serve", "--json"]);
    command.env("OUTRIGGER_AGENTS", "claude");
    let served = testkit::Companion::start(command);
    assert_eq!(machine.discovery_files(served.port()).len(), 0);
    let shown = machine.run(&["status"]).good();
    let fault = "nothing is shared with agents until this is mended: variable OUTRIGGER_AGENTS: there is no agent \"claude\"";
    assert!(shown.contains(fault), "{shown}");
}

#[test]
fn a_configuration_that_was_named_has_to_exist() {
    let machine = machine();
    let file = machine.home().join("mine.toml");
    let mut command = machine.command(&["serve", "--json"]);
    command.env("OUTRIGGER_CONFIG", &file);
    let _served = testkit::Companion::start(command);
    let fault = &machine.status()["faults"][0];
    assert_eq!(fault["source"], file.to_str().unwrap(), "{fault}");
    std::fs::write(&file, "").unwrap();
    until("it is mended", || {
        (machine.status()["faults"] == json!([])).then_some(())
    });
}

#[test]
fn what_is_no_unicode_in_a_variable_hides_nothing_by_mistake() {
    use std::os::unix::ffi::OsStrExt as _;

    let machine = machine();
    let mut command = machine.command(&["serve", "--json"]);
    command.env("OUTRIGGER_IGNORE", std::ffi::OsStr::from_bytes(b"\xff.sql"));
    let _served = testkit::Companion::start(command);
    let fault = &machine.status()["faults"][0];
    assert_eq!(fault["source"], "variable OUTRIGGER_IGNORE", "{fault}");
}

#[test]
fn the_configuration_explains_itself_to_programs() {
    let machine = Machine::with_workspace(PROGRAM, "project");
    configured(
        &machine,
        "debounce-ms = 20\nprot = 1\nignore = ['*.a', '*.b']\n[daemon]\nenabled = true\ntoken = 'abcdef'\nmode = 'plan'\n",
    );
    machine.write(".outriggerignore", "# notes\n\n*.md\n");
    machine.write(".outrigger.toml", "ignore = 'x'\n");
    let shown = machine.run(&["config", "--json", "--no-open"]).good();
    assert!(!shown.contains("abcdef"), "{shown}");
    let workspace = machine.workspace();
    let shown = shown.replace(workspace.parent().unwrap().to_str().unwrap(), "[world]");
    let shown: serde_json::Value = serde_json::from_str(&shown).unwrap();
    let file = "[world]/home/.config/outrigger/config.toml";
    let values = &shown["values"];
    for (name, value, origin) in [
        ("agents", json!(["qwen", "gemini"]), "default"),
        ("port", json!(null), "default"),
        ("debounce-ms", json!(20), &format!("{file}:1:15")),
        ("max-body", json!(67_108_864), "default"),
        ("open", json!(false), "flag --no-open"),
        ("daemon.enabled", json!(true), &format!("{file}:5:11")),
        ("daemon.url", json!("http://127.0.0.1:4170"), "default"),
        ("daemon.token", json!("set"), &format!("{file}:6:9")),
        ("daemon.mode", json!("plan"), &format!("{file}:7:8")),
        ("daemon.model", json!("the daemon's own"), "default"),
    ] {
        let expected = json!({ "value": value, "origin": origin });
        assert_eq!(values[name], expected, "{name}");
    }
    assert_eq!(
        shown["ignore"],
        json!([
            { "source": file, "folder": null, "patterns": ["*.a", "*.b"] },
            {
                "source": "[world]/project/.outriggerignore",
                "folder": "[world]/project",
                "patterns": ["*.md"],
            },
        ])
    );
    let fault = json!({
        "source": "[world]/project/.outrigger.toml",
        "line": 1,
        "column": 10,
        "message": "`ignore` has to be a list of strings",
        "folder": "[world]/project",
    });
    assert_eq!(shown["faults"], json!([fault]));
    let warning = format!("{file}:2:1: there is no setting `prot`; did you mean `port`?");
    assert_eq!(shown["warnings"], json!([warning]));
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

#[cfg(target_os = "linux")]
#[test]
fn what_never_ends_or_never_begins_is_not_read_for_settings() {
    type Make = fn(&std::path::Path);
    let hostile: [(Make, &str); 2] = [
        // It says that it is empty, and has megabytes.
        (
            |at| std::os::unix::fs::symlink("/proc/kallsyms", at).unwrap(),
            "it is larger than 1 MiB",
        ),
        (
            |at| {
                let made = std::process::Command::new("mkfifo").arg(at).status();
                assert!(made.unwrap().success());
            },
            "it is not a regular file",
        ),
    ];
    for name in [".outriggerignore", ".outrigger.toml"] {
        for (make, why) in hostile {
            let machine = machine();
            let file = machine.workspace().join(name);
            make(&file);
            machine.write("a.rs", "");
            let _served = machine.start_companion(&[]);
            let said = machine.status()["faults"][0]["message"].to_string();
            assert!(said.contains(why), "{name}: {said}");
            let done = machine.run(&["focus", "a.rs"]);
            assert!(done.stderr.contains("agents are not told"), "{done:?}");
            std::fs::remove_file(&file).unwrap();
            until("the folder is open", || {
                (machine.status()["faults"] == json!([])).then_some(())
            });
        }
    }
}
