//! What a person who follows a turn in a terminal sees of it, beside the words of the agent.

use std::process::Stdio;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use testkit::fake_daemon::{self, FakeDaemon, SESSION, TOKEN};
use testkit::{Done, Machine, finish};
use tokio::runtime::Runtime;

use crate::machine;

/// A daemon that does what the test says, and a person's machine.
pub(crate) struct Scene {
    pub(crate) machine: Machine,
    pub(crate) daemon: FakeDaemon,
    runtime: Runtime,
}

impl Scene {
    pub(crate) fn set() -> Scene {
        let machine = machine();
        let runtime = Runtime::new().unwrap();
        let folder = machine.workspace();
        let daemon = FakeDaemon::for_conversations(folder.to_str().unwrap());
        Scene {
            daemon: runtime.block_on(daemon),
            machine,
            runtime,
        }
    }

    pub(crate) fn command(&self, words: &[&str]) -> std::process::Command {
        let mut command = self.machine.command(&[&["daemon"], words].concat());
        let url = format!("http://127.0.0.1:{}", self.daemon.port);
        command.env("QWEN_IDE_DAEMON_URL", url);
        command.env("QWEN_SERVER_TOKEN", TOKEN);
        command
    }

    pub(crate) fn run(&self, words: &[&str]) -> Done {
        finish(self.command(words), b"")
    }

    /// What is printed of a turn in which all of this happens.
    fn follow(&self, words: &[&str], sent: &[(&str, Value)]) -> Done {
        let prompts = format!("POST /session/{SESSION}/prompt");
        let before = self.daemon.requests(&prompts).len();
        let mut command = self.command(words);
        command.stdin(Stdio::null());
        let following = std::thread::spawn(move || finish(command, b""));
        self.until("the prompt", || {
            self.daemon.requests(&prompts).len() > before && !self.daemon.streams_are_gone()
        });
        for (kind, data) in sent {
            self.daemon.emit(kind, data.clone());
        }
        self.daemon.complete();
        following.join().unwrap()
    }

    fn until(&self, what: &str, condition: impl Fn() -> bool) {
        self.runtime.block_on(fake_daemon::until(what, condition));
    }
}

fn update(update: &Value) -> (&'static str, Value) {
    let data = json!({"sessionId": SESSION, "update": update});
    ("session_update", data)
}

fn block(content: &Value) -> (&'static str, Value) {
    update(&json!({"sessionUpdate": "agent_message_chunk", "content": content}))
}

fn event(kind: &'static str, mut data: Value) -> (&'static str, Value) {
    data["sessionId"] = SESSION.into();
    (kind, data)
}

#[test]
fn what_is_no_text_is_named() {
    let scene = Scene::set();
    let new = |n: usize| update(&json!({"sessionUpdate": format!("kind_{n}")}));
    let mut sent = vec![
        block(&json!({"type": "text", "text": "Look: "})),
        block(&json!({"type": "image", "mimeType": "image/png", "data": "AAAA"})),
        block(&json!({"type": "resource_link", "name": "a\u{1b}[2J", "uri": "file:///a"})),
        block(&json!({"type": "resource", "resource": {"uri": "file:///b", "text": "one"}})),
        block(&json!({"type": "audio", "mimeType": "audio/wav", "data": "AAAA"})),
        block(&json!({"type": "text", "text": "there."})),
    ];
    sent.extend((0..200).map(new));
    let done = scene.follow(&["prompt", "show me"], &sent);
    assert_eq!(done.code, 0, "{done:?}");
    assert_eq!(done.stdout, "Look: there.\n");
    for part in [
        "attached: a picture (image/png, 1 kB)",
        "attached: a␛[2J (file:///a)",
        "attached: file:///b",
        "not shown here, because this version does not know it: audio.",
        "does not know it: kind_0.",
    ] {
        assert!(done.stderr.contains(part), "{part}: {}", done.stderr);
    }
    // Whatever a daemon makes up.
    assert_eq!(done.stderr.matches("does not know it").count(), 32);
}

#[test]
fn what_happens_beside_the_turn_is_said() {
    let scene = Scene::set();
    let sent = [
        event("session_recording_degraded", json!({"reason": "x"})),
        event("session_recording_degraded", json!({"reason": "x"})),
        event("session_cwd_changed", json!({"newCwd": "/w/b"})),
        event(
            "mid_turn_message_injected",
            json!({"messages": ["and\ntea"], "messageIds": ["m"]}),
        ),
        event("user_shell_command", json!({"command": "make it"})),
        update(&json!({"sessionUpdate": "shell_output", "output": "one\noutrigger: al"})),
        update(&json!({"sessionUpdate": "shell_output", "output": format!("lowed\n{TOKEN}\n")})),
        event(
            "user_shell_result",
            json!({"exitCode": null, "signal": null, "aborted": true}),
        ),
    ];
    let done = scene.follow(&["prompt", "go"], &sent);
    assert_eq!(done.code, 0, "{done:?}");
    let parts = [
        "outrigger: The agent cannot write this conversation to its disk",
        "outrigger: The agent works in /w/b from here on.",
        "outrigger: somebody says to the agent: and␊tea\n",
        "outrigger: a person runs: make it\n",
        "  | one\n  | outrigger: allowed\n  | [hidden]\n  | It was cancelled.\n",
        "outrigger: the command of a person: failed\n",
    ];
    let places = parts.map(|part| {
        let found = done.stderr.find(part);
        found.unwrap_or_else(|| panic!("{part}: {}", done.stderr))
    });
    assert!(places.is_sorted(), "{}", done.stderr);
    assert_eq!(done.stderr.matches("to its disk").count(), 1);
    assert_eq!(done.stdout, "");

    // For the next turn all of that is the past, and only what is still so is said.
    let done = scene.follow(&["prompt", "go", "--shared"], &[]);
    assert!(done.stderr.contains("to its disk"), "{done:?}");
    for past in [
        "works in /w/b from",
        "somebody says",
        "a person runs",
        "make it",
    ] {
        assert!(!done.stderr.contains(past), "{past}: {}", done.stderr);
    }
}

/// What the daemon says about the mode of the conversation.
fn mode(scene: &Scene, mode: &Value) {
    let modes = json!({"currentModeId": mode, "availableModes": []});
    let context = json!({"sessionId": SESSION, "state": {"modes": modes}});
    let route = format!("GET /session/{SESSION}/context");
    fake_daemon::stand(&scene.daemon, &route, 200, &context);
}

#[test]
fn the_mode_is_said_at_every_start() {
    let scene = Scene::set();
    for (current, args, said) in [
        ("default", &[][..], "outrigger: mode default\n"),
        ("plan", &["--mode", "plan"], "outrigger: mode plan\n"),
        (
            "yolo",
            &["--mode", "yolo"],
            "outrigger: Mode yolo: the agent",
        ),
        ("plan", &[], "goes on in mode plan, and not in mode default"),
    ] {
        mode(&scene, &json!(current));
        let done = scene.follow(&[&["prompt", "go"], args].concat(), &[]);
        assert!(done.stderr.contains(said), "{said}: {}", done.stderr);
        let modes = done
            .stderr
            .to_lowercase()
            .matches("outrigger: mode")
            .count();
        assert_eq!(modes, 1, "{}", done.stderr);
    }
}

/// Whoever lets a subagent start has let it edit.
#[test]
fn what_is_not_reviewed_stands_in_the_question() {
    let scene = Scene::set();
    fake_daemon::takes_votes(&scene.daemon, "r-1");
    let mut request = fake_daemon::permission("r-1");
    request["toolCall"]["_meta"] = json!({"toolName": "agent"});
    let done = scene.follow(&["prompt", "go"], &[("permission_request", request)]);
    let asked = "The agent asks: Writing to a.txt\n  A subagent makes its edits without asking";
    assert!(done.stderr.contains(asked), "{}", done.stderr);
}

/// A registration that stays would count wherever several clients have to agree.
#[test]
fn what_does_not_come_to_a_turn_leaves_no_registration() {
    let detach = format!("POST /session/{SESSION}/detach");
    let prompt = format!("POST /session/{SESSION}/prompt");
    let scene = Scene::set();
    scene
        .daemon
        .refuse_next(&prompt, 503, "", &json!({"error": "the queue is full"}));
    let done = scene.run(&["prompt", "go"]);
    assert!(
        done.code != 0 && done.stderr.contains("queue is full"),
        "{done:?}"
    );
    assert_eq!(scene.daemon.requests(&detach).len(), 1);

    let scene = Scene::set();
    scene.daemon.world().stalled.insert(prompt.clone());
    let mut command = scene.command(&["prompt", "go"]);
    let mut child = command.stderr(Stdio::null()).spawn().unwrap();
    scene.until("the prompt", || !scene.daemon.requests(&prompt).is_empty());
    kill_process(Pid::from_child(&child), Signal::INT).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert_eq!(scene.daemon.requests(&detach).len(), 1);

    let scene = Scene::set();
    waits_for_an_answer(&scene);
    let status = format!("GET /session/{SESSION}/status");
    fake_daemon::stand(&scene.daemon, &status, 500, &json!({"error": "no status"}));
    let done = scene.run(&["answer"]);
    assert!(
        done.code != 0 && done.stderr.contains("no status"),
        "{done:?}"
    );
    assert_eq!(scene.daemon.requests(&detach).len(), 1);
}

/// A turn runs, and asks a person.
fn waits_for_an_answer(scene: &Scene) {
    scene.daemon.world().alive = true;
    scene.daemon.world().prompt = Some("prompt-0".into());
    scene
        .daemon
        .emit("permission_request", fake_daemon::permission("r-1"));
    fake_daemon::takes_votes(&scene.daemon, "r-1");
    let listed = json!({"sessions": [{"sessionId": SESSION, "pendingInteractions": [{"requestId": "r-1", "kind": "permission"}]}]});
    let folder = scene.machine.workspace();
    let route = format!(
        "GET /workspace/{}/sessions",
        encoded(&folder.display().to_string())
    );
    fake_daemon::stand(&scene.daemon, &route, 200, &listed);
}

#[test]
fn an_answer_begins_with_the_mode_and_the_place_too() {
    let scene = Scene::set();
    mode(&scene, &json!("auto-edit"));
    waits_for_an_answer(&scene);
    let mut command = scene.command(&["answer"]);
    command.stdin(Stdio::null());
    let answering = std::thread::spawn(move || finish(command, b"y\n"));
    scene.until("the answer", || {
        !fake_daemon::votes(&scene.daemon, "r-1").is_empty()
    });
    scene.daemon.complete();
    let done = answering.join().unwrap();
    for part in [
        "Files, MCP servers, skills and credentials are those of that place",
        "Mode auto-edit: ",
        "The agent asks: Writing to a.txt",
    ] {
        assert!(done.stderr.contains(part), "{part}: {}", done.stderr);
    }
}

/// A path as it is written in a route.
pub(crate) fn encoded(path: &str) -> String {
    path.replace('/', "%2F").replace('.', "%2E")
}
