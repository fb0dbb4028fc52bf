//! `outrigger bridge`: an agent that speaks on stdin and stdout.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};

use serde_json::{Value, json};
use testkit::{Machine, PATIENCE, until};

use crate::machine;

struct Bridge {
    child: Child,
    lines: Receiver<String>,
}

impl Bridge {
    fn start(mut command: Command) -> Bridge {
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        command.stderr(Stdio::null());
        let mut child = command.spawn().unwrap();
        let stdout = BufReader::new(child.stdout.take().unwrap());
        let (send, lines) = channel();
        std::thread::spawn(move || {
            for line in stdout.lines().map_while(Result::ok) {
                let _ = send.send(line);
            }
        });
        Bridge { child, lines }
    }

    /// A bridge whose agent has introduced itself.
    fn connected(machine: &Machine, args: &[&str]) -> Bridge {
        Bridge::introduced(machine.command(&[&["bridge"], args].concat()))
    }

    fn introduced(command: Command) -> Bridge {
        let mut bridge = Bridge::start(command);
        let params = json!({ "protocolVersion": "2025-06-18" });
        bridge.say(&json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params }));
        let welcome = bridge.hear();
        assert_eq!(welcome["id"], 1);
        assert_eq!(welcome["result"]["protocolVersion"], "2025-06-18");
        bridge.say(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
        assert_eq!(bridge.hear()["method"], "ide/contextUpdate");
        bridge
    }

    fn say(&mut self, message: &Value) {
        let line = format!("{message}\n");
        let stdin = self.child.stdin.as_mut().unwrap();
        stdin.write_all(line.as_bytes()).unwrap();
    }

    #[track_caller]
    fn hear(&mut self) -> Value {
        let line = self.lines.recv_timeout(PATIENCE).unwrap();
        serde_json::from_str(&line).unwrap()
    }

    fn open_diff(&mut self, path: &str, text: &str) {
        let arguments = json!({ "filePath": path, "newContent": text });
        let params = json!({ "name": "openDiff", "arguments": arguments });
        self.say(&json!({ "jsonrpc": "2.0", "id": "d", "method": "tools/call", "params": params }));
        let answer = self.hear();
        assert_eq!(
            answer,
            json!({ "jsonrpc": "2.0", "result": { "content": [] }, "id": "d" })
        );
    }

    /// Closes the agent's side and waits for the end.
    fn close(mut self) -> Option<i32> {
        drop(self.child.stdin.take());
        until("the bridge ends", || self.child.try_wait().unwrap()).code()
    }
}

impl Drop for Bridge {
    fn drop(&mut self) {
        // It is gone already in a test that went well.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn a_whole_conversation_on_stdin_and_stdout() {
    let machine = machine();
    let _served = machine.start_companion(&[]);
    let mut bridge = Bridge::connected(&machine, &[]);
    bridge.say(&json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/list" }));
    let tools = bridge.hear();
    let names: Vec<_> = tools["result"]["tools"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| &it["name"])
        .collect();
    assert_eq!(names, ["openDiff", "closeDiff"]);

    let path = machine.write("a.txt", "old");
    machine.run(&["focus", &path, "--line", "1"]).good();
    let context = bridge.hear();
    assert_eq!(
        context["params"]["workspaceState"]["openFiles"][0]["path"],
        path
    );

    bridge.open_diff(&path, "new\n");
    machine.run(&["accept", "1"]).good();
    let expected = json!({ "filePath": path, "content": "new\n" });
    assert_eq!(bridge.hear()["params"], expected);
    bridge.open_diff(&path, "newer\n");
    machine.run(&["reject", "2"]).good();
    assert_eq!(bridge.hear()["method"], "ide/diffRejected");
    assert_eq!(bridge.hear()["method"], "ide/diffClosed");

    assert_eq!(machine.status()["sessions"][0]["agent"], "agent");
    assert_eq!(bridge.close(), Some(0));
    until("the session is gone", || {
        (machine.status()["sessions"] == json!([])).then_some(())
    });
}

#[test]
fn the_way_that_the_discovery_file_names() {
    let machine = machine();
    let served = machine.start_companion(&[]);
    for path in machine.discovery_files(served.port()) {
        let file: Value = serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
        let stdio = &file["stdio"];
        let args = stdio["args"].as_array().unwrap();
        let mut command = Command::new(stdio["command"].as_str().unwrap());
        command.args(args.iter().map(|arg| arg.as_str().unwrap()));
        // Agents hand on little more than these.
        command.env_clear().current_dir(machine.workspace());
        command
            .env("HOME", machine.home())
            .env("PATH", "/usr/bin:/bin");
        assert_eq!(Bridge::introduced(command).close(), Some(0));
    }
}

#[test]
fn it_can_say_which_agent_it_is() {
    let machine = machine();
    let _served = machine.start_companion(&["--agents", "qwen"]);
    let mut bridge = Bridge::connected(&machine, &["--agent", "qwen"]);
    let binary = machine.write("a.bin", b"\xff");
    let arguments = json!({ "filePath": binary, "newContent": "x" });
    let params = json!({ "name": "openDiff", "arguments": arguments });
    bridge.say(&json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": params }));
    assert_eq!(
        bridge.hear()["result"]["isError"],
        true,
        "in Qwen Code's own dialect"
    );
    assert_eq!(bridge.close(), Some(0));
}

#[test]
fn bad_lines_are_answered_and_nothing_breaks() {
    let machine = machine();
    let _served = machine.start_companion(&[]);
    let mut bridge = Bridge::connected(&machine, &[]);
    for (line, code) in [
        ("not json", -32700),
        ("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"nope\"}", -32601),
    ] {
        let stdin = bridge.child.stdin.as_mut().unwrap();
        stdin
            .write_all(format!("\n  \n{line}\r\n").as_bytes())
            .unwrap();
        assert_eq!(bridge.hear()["error"]["code"], code, "{line}");
    }
    assert_eq!(bridge.close(), Some(0));
}

#[test]
fn a_planned_restart_goes_unnoticed() {
    let machine = machine();
    let _served = machine.start_companion(&[]);
    let mut bridge = Bridge::connected(&machine, &[]);
    let path = machine.write("a.txt", "old");
    bridge.open_diff(&path, "new");
    machine.run(&["restart"]).good();
    assert_eq!(
        bridge.hear()["method"],
        "ide/contextUpdate",
        "on the new stream"
    );
    until("it is back", || {
        (machine.run(&["accept", "1"]).code == 0).then_some(())
    });
    assert_eq!(bridge.hear()["params"]["content"], "new");
    bridge.open_diff(&path, "newer");
    assert_eq!(bridge.close(), Some(0));
}

#[test]
fn when_the_companion_is_gone_so_is_the_bridge() {
    let machine = machine();
    let mut served = machine.start_companion(&[]);
    let mut bridge = Bridge::connected(&machine, &[]);
    served.kill();
    let code = until("the bridge ends", || bridge.child.try_wait().unwrap()).code();
    assert_eq!(code, Some(5));
    // The next one clears away what a crash leaves, also outside of the machine's folders.
    drop(machine.start_companion(&[]));
}
