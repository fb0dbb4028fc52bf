//! `outrigger daemon` against a daemon that plays one turn.

use std::io::{BufRead, BufReader, Read};
use std::net::TcpListener;
use std::process::Stdio;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use testkit::{Machine, finish, until};

use crate::machine;
use crate::playing::{Agent, Daemon, TOKEN};

fn voted(option: &str) -> Value {
    json!({"outcome": {"outcome": "selected", "optionId": option}})
}

#[test]
fn a_turn_with_a_yes_a_no_and_nobody() {
    let machine = machine();
    let cancelled = json!({"outcome": {"outcome": "cancelled"}});
    for (stdin, vote) in [
        ("y\n", voted("once")),
        ("1\n", voted("once")),
        ("what?\n", cancelled.clone()),
        ("", cancelled),
    ] {
        let daemon = Daemon::start(&machine, Agent::Asks);
        let done = daemon.run(&machine, &["prompt", "hello there"], stdin);
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
fn a_hasty_key_grants_nothing_that_lasts() {
    let machine = machine();
    let cancelled = json!({"outcome": {"outcome": "cancelled"}});
    for (stdin, vote) in [
        ("1\n", voted("once")),
        ("y\n", voted("once")),
        ("2\n", cancelled.clone()),
        ("\n", cancelled),
        ("3\n", voted("project")),
        ("4\n", voted("user")),
    ] {
        let daemon = Daemon::start(&machine, Agent::AsksToRun);
        let done = daemon.run(&machine, &["prompt", "clean up"], stdin);
        assert_eq!(
            daemon.seen("POST /session/s/permission/r"),
            [vote],
            "{stdin:?}"
        );
        let asked = done.stderr.split_once("asks: ").unwrap().1;
        let question = asked.rsplit_once(": ").unwrap().0;
        insta::allow_duplicates!(
            insta::assert_snapshot!(question.split("open)").next().unwrap(), @r"
        Shell: rm -r build
          $ rm -r build
          1) Allow
          2) Reject
          and without asking again:
            3) Always Allow in project: rm *
            4) Always Allow for user: rm *
        y for yes this time, a number, or anything else for no (Ctrl-C leaves it
        ")
        );
    }
}

#[test]
fn ctrl_c_at_a_request_leaves_it_open() {
    let machine = machine();
    let daemon = Daemon::start(&machine, Agent::AsksToRun);
    let mut command = daemon.command(&machine, &["prompt", "clean up"]);
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut stderr = BufReader::new(child.stderr.take().unwrap());
    let mut said = Vec::new();
    stderr.read_until(b'(', &mut said).unwrap();
    assert!(String::from_utf8_lossy(&said).contains("1) Allow"));
    kill_process(Pid::from_child(&child), Signal::INT).unwrap();
    let mut rest = String::new();
    stderr.read_to_string(&mut rest).unwrap();
    assert!(
        rest.contains("stays open") && rest.contains("outrigger daemon answer s"),
        "{rest}"
    );
    assert_eq!(child.wait().unwrap().code(), Some(130));
    for (route, times) in [("permission/r", 0), ("cancel", 0), ("detach", 1)] {
        let sent = daemon.seen(&format!("POST /session/s/{route}"));
        assert_eq!(sent.len(), times, "{route}");
    }
}

#[test]
fn nothing_to_answer_is_said() {
    let machine = machine();
    let daemon = Daemon::start(&machine, Agent::Asks);
    for args in [&["answer"][..], &["answer", "s"]] {
        let done = daemon.run(&machine, args, "");
        assert_eq!(done.code, 4, "{done:?}");
        assert!(done.stderr.contains("waits for an answer"), "{done:?}");
    }
}

#[test]
fn events_as_json_with_edits_allowed_and_no_secret() {
    let machine = machine();
    let daemon = Daemon::start(&machine, Agent::Asks);
    let args = ["prompt", "-", "--json", "--yes-to-edits=yes"];
    let done = daemon.run(&machine, &args, "from stdin");
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
    let machine = machine();
    for (agent, interrupts) in [(Agent::GoesOn, 1), (Agent::NeverEnds, 2)] {
        let daemon = Daemon::start(&machine, agent);
        let mut command = daemon.command(&machine, &["prompt", "go on"]);
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
    let machine = machine();
    let daemon = Daemon::start(&machine, Agent::Asks);
    let text = daemon.run(&machine, &["status"], "").good();
    assert!(
        text.contains("0.24.4") && text.contains("2 conversations"),
        "{text}"
    );
    let unwell = Daemon::start(&machine, Agent::NeverEnds);
    let text = unwell.run(&machine, &["status"], "").good();
    assert!(text.contains("unknown conversations"), "{text}");
    let status = daemon.run(&machine, &["status", "--json"], "").json();
    assert_eq!(
        status["workspaces"][0],
        machine.workspace().to_str().unwrap()
    );
    let text = daemon.run(&machine, &["sessions"], "").good();
    assert_eq!(text, "s  busy     A␛[2Jtitle\n");
    let sessions = daemon.run(&machine, &["sessions", "--json"], "").json();
    assert_eq!(sessions[0]["id"], "s");
}

#[test]
fn failures_by_kind() {
    let machine = machine();
    let daemon = Daemon::start(&machine, Agent::Asks);
    let other = crate::machine();
    let closed = TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap()
        .port();
    let nobody = format!("http://127.0.0.1:{closed}");
    let prompt: &[&str] = &["prompt", "x"];
    let cases: [(&Machine, &[&str], i32, &str); 6] = [
        (
            &machine,
            &["status", "--url", &nobody],
            5,
            "no daemon answers",
        ),
        (
            &machine,
            &["prompt", "x", "--url", &nobody],
            5,
            "no daemon answers",
        ),
        (
            &machine,
            &["status", "--url", "http://example.com"],
            6,
            "not a loopback address",
        ),
        (&other, prompt, 6, "not in"),
        (&machine, &["prompt", " "], 4, "nothing to say"),
        (
            &machine,
            &["prompt", "x", "--token-file", "/nonexistent"],
            6,
            "cannot read",
        ),
    ];
    for (machine, args, code, message) in cases {
        let done = daemon.run(machine, args, "");
        assert_eq!(done.code, code, "{args:?}: {done:?}");
        assert!(done.stderr.contains(message), "{args:?}: {done:?}");
        assert!(!done.stderr.contains(TOKEN), "{done:?}");
    }
    let wrong = machine.write("token", "another-token\n");
    let done = finish(
        daemon.command(&machine, &["status", "--token-file", &wrong]),
        b"",
    );
    assert_eq!(done.code, 6, "{done:?}");
    assert!(done.stderr.contains("QWEN_SERVER_TOKEN"), "{done:?}");
    // There is no way to give a token as an argument.
    assert_eq!(
        daemon.run(&machine, &["status", "--token", "x"], "").code,
        2
    );
}
