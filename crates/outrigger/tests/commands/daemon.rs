//! `outrigger daemon` against a daemon that plays one turn.

use std::io::Read;
use std::net::TcpListener;
use std::process::Stdio;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::playing::{Agent, Daemon, TOKEN};
use crate::sandbox::{Sandbox, finish, until};

fn voted(option: &str) -> Value {
    json!({"outcome": {"outcome": "selected", "optionId": option}})
}

#[test]
fn a_turn_with_a_yes_a_no_and_nobody() {
    let sandbox = Sandbox::new();
    let cancelled = json!({"outcome": {"outcome": "cancelled"}});
    for (stdin, vote) in [
        ("y\n", voted("once")),
        ("1\n", voted("once")),
        ("what?\n", cancelled.clone()),
        ("", cancelled),
    ] {
        let daemon = Daemon::start(&sandbox, Agent::Asks);
        let done = daemon.run(&sandbox, &["prompt", "hello there"], stdin);
        assert_eq!(done.code, 0, "{done:?}");
        assert_eq!(done.stdout, "Hello ␛[2Jdone\n", "{done:?}");
        assert!(
            done.stderr.contains("+new line")
                && done.stderr.contains("Writing to a.txt: completed"),
            "{done:?}"
        );
        assert_eq!(
            daemon.seen("POST /session/s/permission/r"),
            [vote],
            "{stdin:?}"
        );
        assert_eq!(
            daemon.seen("POST /session/s/prompt")[0]["prompt"][0]["text"],
            "hello there"
        );
        assert_eq!(daemon.seen("POST /session")[0]["approvalMode"], "default");
        assert_eq!(daemon.seen("POST /session/s/detach").len(), 1);
    }
}

#[test]
fn events_as_json_with_edits_allowed_and_no_secret() {
    let sandbox = Sandbox::new();
    let daemon = Daemon::start(&sandbox, Agent::Asks);
    let args = ["prompt", "-", "--json", "--yes-to-edits=yes"];
    let done = daemon.run(&sandbox, &args, "from stdin");
    assert_eq!(daemon.seen("POST /session/s/permission/r"), [voted("once")]);
    assert_eq!(
        daemon.seen("POST /session/s/prompt")[0]["prompt"][0]["text"],
        "from stdin"
    );
    let events: Vec<Value> = done
        .good()
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let kinds: Vec<&str> = events
        .iter()
        .map(|it| it["event"].as_str().unwrap())
        .collect();
    for kind in ["connected", "said", "asked", "closed", "tool", "turnEnded"] {
        assert!(kinds.contains(&kind), "{kinds:?}");
    }
    let text = serde_json::to_string(&events).unwrap();
    for secret in [TOKEN, "client_1", &daemon.port.to_string()] {
        assert!(!text.contains(secret), "{secret} in {text}");
    }
}

#[test]
fn the_first_interrupt_cancels_the_turn_and_the_second_leaves() {
    let sandbox = Sandbox::new();
    for (agent, interrupts) in [(Agent::GoesOn, 1), (Agent::NeverEnds, 2)] {
        let daemon = Daemon::start(&sandbox, agent);
        let mut command = daemon.command(&sandbox, &["prompt", "go on"]);
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null());
        let mut child = command.spawn().unwrap();
        // It has said something, so the turn is running.
        let mut first = [0; 5];
        child
            .stdout
            .as_mut()
            .unwrap()
            .read_exact(&mut first)
            .unwrap();
        for _ in 0..interrupts {
            assert_eq!(child.try_wait().unwrap(), None);
            kill_process(Pid::from_child(&child), Signal::INT).unwrap();
            // Two signals at once would count as one.
            until("the cancel", || {
                (daemon.seen("POST /session/s/cancel").len() == 1).then_some(())
            });
        }
        let code = until("its end", || child.try_wait().unwrap()).code();
        assert_eq!(code, Some(130));
    }
}

#[test]
fn status_and_conversations() {
    let sandbox = Sandbox::new();
    let daemon = Daemon::start(&sandbox, Agent::Asks);
    let text = daemon.run(&sandbox, &["status"], "").good();
    assert!(
        text.contains("0.24.4") && text.contains("2 conversations"),
        "{text}"
    );
    let unwell = Daemon::start(&sandbox, Agent::NeverEnds);
    let text = unwell.run(&sandbox, &["status"], "").good();
    assert!(text.contains("unknown conversations"), "{text}");
    let status = daemon.run(&sandbox, &["status", "--json"], "").json();
    assert_eq!(status["workspaces"][0], sandbox.work.to_str().unwrap());
    let text = daemon.run(&sandbox, &["sessions"], "").good();
    assert_eq!(text, "s  busy     A␛[2Jtitle\n");
    let sessions = daemon.run(&sandbox, &["sessions", "--json"], "").json();
    assert_eq!(sessions[0]["id"], "s");
}

#[test]
fn failures_by_kind() {
    let sandbox = Sandbox::new();
    let daemon = Daemon::start(&sandbox, Agent::Asks);
    let other = Sandbox::new();
    let closed = TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap()
        .port();
    let nobody = format!("http://127.0.0.1:{closed}");
    let prompt: &[&str] = &["prompt", "x"];
    let cases: [(&Sandbox, &[&str], i32, &str); 6] = [
        (
            &sandbox,
            &["status", "--url", &nobody],
            5,
            "no daemon answers",
        ),
        (
            &sandbox,
            &["prompt", "x", "--url", &nobody],
            5,
            "no daemon answers",
        ),
        (
            &sandbox,
            &["status", "--url", "http://example.com"],
            6,
            "not a loopback address",
        ),
        (&other, prompt, 6, "not in"),
        (&sandbox, &["prompt", " "], 4, "nothing to say"),
        (
            &sandbox,
            &["prompt", "x", "--token-file", "/nonexistent"],
            6,
            "cannot read",
        ),
    ];
    for (sandbox, args, code, message) in cases {
        let done = daemon.run(sandbox, args, "");
        assert_eq!(done.code, code, "{args:?}: {done:?}");
        assert!(done.stderr.contains(message), "{args:?}: {done:?}");
        assert!(!done.stderr.contains(TOKEN), "{done:?}");
    }
    let wrong = sandbox.file("token", "another-token\n");
    let done = finish(
        daemon.command(&sandbox, &["status", "--token-file", &wrong]),
        b"",
    );
    assert_eq!(done.code, 6, "{done:?}");
    assert!(done.stderr.contains("QWEN_SERVER_TOKEN"), "{done:?}");
    // There is no way to give a token as an argument.
    assert_eq!(
        daemon.run(&sandbox, &["status", "--token", "x"], "").code,
        2
    );
}
