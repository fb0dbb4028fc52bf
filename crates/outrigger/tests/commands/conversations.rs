//! What is set about conversations: which mistakes stop nothing, who is told, and what an agent may
//! do without asking.

use companion::Token;
use serde_json::{Value, json};
use testkit::fake_daemon::{self, FakeDaemon, SESSION};
use testkit::{Companion, Done, Machine, finish};
use web::Client;

use crate::machine;
use crate::playing::{Agent, Daemon};

const URL: &str = "QWEN_IDE_DAEMON_URL";

fn configured(machine: &Machine, text: &str) {
    let folder = machine.home().join(".config/outrigger");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("config.toml"), text).unwrap();
}

/// The program with a variable.
fn with(machine: &Machine, name: &str, value: &str, args: &[&str]) -> std::process::Command {
    let mut command = machine.command(args);
    command.env(name, value);
    command
}

/// Why a page cannot connect.
fn refused(machine: &Machine, port: u16) -> String {
    let key: Token = serde_json::from_value(machine.record()["page"].clone()).unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    let page = Client::new(port, key);
    let nothing = json!({});
    let asked = page.post::<Value>("/api/chat/connect", &nothing);
    runtime.unwrap().block_on(asked).unwrap_err().to_string()
}

#[test]
fn a_mistake_about_the_daemon_stops_no_companion_and_is_said_everywhere() {
    let parts = |origin: &str, what: &str, remedy: &str| [origin, what, remedy].map(str::to_owned);
    let variable = |value: &'static str| Some((URL, value));
    for (variable, file, parts) in [
        (
            variable("http://example.com:4170"),
            "",
            parts(
                "variable QWEN_IDE_DAEMON_URL",
                "not a loopback address",
                "ssh -L",
            ),
        ),
        (
            variable("https://127.0.0.1:4170"),
            "",
            parts(
                "variable QWEN_IDE_DAEMON_URL",
                "asks for TLS",
                "use http://",
            ),
        ),
        (
            None,
            "daemon = true\n",
            parts("config.toml:1:10", "has to be a table", "restart the"),
        ),
        (
            None,
            "[daemon]\nenabled = 'yes'\n",
            parts("config.toml:2:11", "true or false", "restart the"),
        ),
        (
            None,
            "[daemon]\nenabled = true\nmode = 3\nurl = true\n",
            parts("config.toml:4:7", "`url` has to be", "restart the"),
        ),
        (
            variable("http://127.0.0.1:1"),
            "[daemon]\ntoken-file = []\n",
            parts("config.toml:2:14", "the path of a file", "restart the"),
        ),
        (
            None,
            "[daemon]\nenabled = true\nurl = 'nonsense'\n",
            parts("config.toml:3:7", "not an address", "http://127.0.0.1:4170"),
        ),
        (
            None,
            "[daemon]\nenabled = true\nmode = 'yollo'\n",
            parts(
                "config.toml:3:8",
                "no mode \"yollo\"",
                "did you mean `yolo`?",
            ),
        ),
        (
            variable("http://127.0.0.1:1"),
            "[daemon]\ntoken-file = '/dev/null/t'\n",
            parts("config.toml:2:14", "cannot read", "restart the companion"),
        ),
    ] {
        let machine = machine();
        configured(&machine, file);
        let (name, value) = variable.unwrap_or((URL, ""));
        // However quiet it is to be.
        let args = ["serve", "--json", "--quiet", "--log", "off"];
        let served = Companion::start(with(&machine, name, value, &args));
        let status = machine.run(&["status"]).good();
        let config = finish(with(&machine, name, value, &["config"]), b"").good();
        for (where_, said) in [
            ("the terminal", served.printed()),
            ("the status", status),
            ("a program", machine.status()["noConversation"].to_string()),
            ("the page", refused(&machine, served.port())),
            ("the configuration", config),
        ] {
            for part in &parts {
                let said = said.replace("\\\"", "\"");
                assert!(said.contains(part), "{part} on {where_}: {said}");
            }
        }
        // An agent that is started needs no conversations.
        drop(served);
        let run = with(&machine, name, value, &["run", "--no-open", "--", "true"]);
        let run = finish(run, b"");
        assert_eq!(run.code, 0, "{run:?}");
        for part in &parts {
            assert!(run.stderr.contains(part), "{part}: {run:?}");
        }
        // Everything else works.
        let served = Companion::start(with(&machine, name, value, &args));
        let path = machine.write("a.txt", "old\n");
        testkit::PlayedAgent::qwen(&machine, &served).open_diff(&path, "new\n");
        assert_eq!(machine.proposals().len(), 1);
    }
}

#[test]
fn nothing_is_said_of_conversations_that_nobody_wants() {
    let machine = machine();
    configured(&machine, "[daemon]\nurl = 'nonsense'\nmode = 'x'\n");
    let served = machine.start_companion(&[]);
    assert_eq!(served.printed().lines().count(), 1, "{}", served.printed());
    let status = machine.status();
    assert!(status.get("noConversation").is_none(), "{status}");
    let said = refused(&machine, served.port());
    assert!(said.contains("switched off"), "{said}");
}

#[test]
fn what_was_just_typed_is_an_error() {
    let machine = machine();
    for (args, code, part) in [
        (["--daemon-url", "https://127.0.0.1:1"], 6, "use http://"),
        (["--daemon-mode", "autoedit"], 2, "'auto-edit'"),
    ] {
        let done = machine.run(&[&["serve"], &args[..]].concat());
        assert_eq!(done.code, code, "{done:?}");
        assert!(done.stderr.contains(part), "{done:?}");
    }
}

#[test]
fn a_mode_that_does_not_ask_is_warned_about_at_the_start() {
    let machine = machine();
    for (args, file, workspace, said) in [
        (&["--daemon"][..], "", "", None),
        (
            &["--daemon-mode", "auto-edit"],
            "",
            "",
            Some("flag --daemon-mode"),
        ),
        (&["--daemon"], "mode = 'yolo'", "", Some("config.toml:2:8")),
        (&["--daemon-mode", "plan"], "mode = 'yolo'", "", None),
        // A workspace could let an agent write without asking.
        (&["--daemon"], "", "[daemon]\nmode = 'yolo'\n", None),
        // There are no conversations to be warned about.
        (&[], "mode = 'yolo'", "", None),
    ] {
        configured(&machine, &format!("[daemon]\n{file}\n"));
        machine.write(".outrigger.toml", workspace);
        let quiet = ["serve", "--json", "--quiet", "--log", "off"];
        let served = Companion::start(machine.command(&[&quiet, args].concat()));
        let printed = served.printed();
        let warns = printed.contains("reviewed");
        assert_eq!(warns, said.is_some(), "{args:?} {file}: {printed}");
        assert!(printed.contains(said.unwrap_or_default()), "{printed}");
    }
}

/// The mode that a conversation was asked to begin in, and its model.
fn began(daemon: &Daemon) -> (Value, Value) {
    let asked = &daemon.seen("POST /session")[0];
    let or_null = |key: &str| asked.get(key).cloned().unwrap_or_default();
    (or_null("approvalMode"), or_null("modelServiceId"))
}

#[test]
fn a_prompt_begins_in_the_mode_that_asks_unless_the_person_chose_another() {
    let machine = machine();
    let hostile = "[daemon]\nmode = 'yolo'\n";
    machine.write(".outrigger.toml", hostile);
    for (args, file, mode, model, warns) in [
        (&[][..], "", "default", Value::Null, false),
        (&[], "mode = 'auto-edit'", "auto-edit", Value::Null, true),
        (
            &["--mode", "plan"],
            "mode = 'yolo'\nmodel = 'm1'",
            "plan",
            json!("m1"),
            false,
        ),
        (
            &["--mode", "yolo", "--model", "m2"],
            "model = 'm1'",
            "yolo",
            json!("m2"),
            true,
        ),
        // What only a companion would use.
        (&[], "enabled = true", "default", Value::Null, false),
    ] {
        configured(&machine, &format!("[daemon]\n{file}\n"));
        let daemon = Daemon::start(&machine, Agent::Asks);
        let done = daemon.run(&machine, &[&["prompt", "hello"], args].concat(), "n\n");
        assert_eq!(done.code, 0, "{done:?}");
        assert_eq!(began(&daemon), (json!(mode), model), "{args:?} {file}");
        let warned = done.stderr.contains(&format!("Mode {mode}: "));
        assert_eq!(warned, warns, "{args:?} {file}: {done:?}");
        // Before the agent says anything.
        if warns {
            let at = |part: &str| done.stderr.find(part).unwrap();
            assert!(at("Mode ") < at("Writing to a.txt"), "{done:?}");
        }
    }
}

#[test]
fn a_wrong_mode_begins_nothing_and_the_right_ones_are_named() {
    let machine = machine();
    configured(&machine, "[daemon]\nmode = 'auto_edit'\n");
    let daemon = Daemon::start(&machine, Agent::Asks);
    let done = daemon.run(&machine, &["prompt", "hello"], "");
    assert_eq!(done.code, 6, "{done:?}");
    for part in [
        "config.toml:2:8",
        "plan, default, auto-edit, auto, yolo",
        "did you mean `auto-edit`?",
    ] {
        assert!(done.stderr.contains(part), "{part}: {done:?}");
    }
    let done = daemon.run(&machine, &["prompt", "hello", "--mode", "x"], "");
    assert_eq!(done.code, 2, "{done:?}");
    assert!(done.stderr.contains("auto-edit"), "{done:?}");
    assert_eq!(daemon.seen("POST /session"), [] as [Value; 0]);
    // Somebody who looks what is there is told, and sees it.
    let looked = daemon.run(&machine, &["status"], "");
    assert!(looked.stderr.contains("auto_edit"), "{looked:?}");
    assert!(looked.good().contains("0.24.4"));
}

/// Sentences about whose files and credentials an agent uses.
fn says_where(text: &str, machine: &Machine) {
    let folder = machine.workspace();
    for part in [
        folder.to_str().unwrap(),
        "Files, MCP servers, skills and credentials are those of that place",
        "no extension of your editor, no profile of your browser",
        "Services on localhost, SSH keys and cluster credentials are those of that place",
    ] {
        assert!(text.contains(part), "{part} in {text}");
    }
}

#[test]
fn where_the_agent_works_is_said() {
    let machine = machine();
    configured(&machine, "[daemon]\nmode = 'auto'\nmodel = 'm1'\n");
    let daemon = Daemon::start(&machine, Agent::Asks);
    let run = |args: &[&str]| -> Done { daemon.run(&machine, args, "") };
    let status = run(&["status"]).good();
    says_where(&status, &machine);
    for part in ["mode auto, model m1", "Mode auto: a model decides"] {
        assert!(status.contains(part), "{part} in {status}");
    }
    let status = run(&["status", "--json"]).json();
    says_where(&status["locality"].to_string(), &machine);
    assert_eq!(
        (&status["mode"], &status["model"]),
        (&json!("auto"), &json!("m1"))
    );
    let done = run(&["prompt", "hello"]);
    says_where(&done.stderr, &machine);
    assert!(!done.stdout.contains("MCP"), "{done:?}");
    let done = run(&["prompt", "hello", "--json"]);
    says_where(&done.stderr, &machine);
    for line in done.good().lines() {
        serde_json::from_str::<Value>(line).unwrap();
    }
}

/// It takes every request and answers none that says goodbye.
#[test]
fn a_daemon_that_has_stalled_holds_up_no_restart_and_no_end() {
    let machine = machine();
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let folder = machine.workspace();
    let daemon = FakeDaemon::for_conversations(folder.to_str().unwrap());
    let daemon = runtime.block_on(daemon);
    let goodbye = format!("POST /session/{SESSION}/detach");
    daemon.world().stalled.insert(goodbye.clone());
    let url = format!("http://127.0.0.1:{}", daemon.port);
    let mut command = machine.command(&["serve", "--json", "--daemon-url", &url]);
    command.env("QWEN_SERVER_TOKEN", fake_daemon::TOKEN);
    let mut served = Companion::start(command);
    runtime.block_on(daemon.listened_to());
    // The command waits for the new program as long as a person would.
    machine.run(&["restart"]).good();
    assert_eq!(daemon.requests(&goodbye).len(), 1);
    runtime.block_on(fake_daemon::until(
        "a conversation of the new program",
        || {
            daemon
                .requests(&format!("GET /session/{SESSION}/events"))
                .len()
                == 2
        },
    ));
    machine.run(&["stop"]).good();
    assert!(served.ended().success());
    assert_eq!(daemon.requests(&goodbye).len(), 2);
    let left = machine.discovery_files(served.port());
    assert!(left.is_empty(), "{left:?}");
}
