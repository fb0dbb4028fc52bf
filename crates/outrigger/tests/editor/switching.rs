//! The person leaves one editor and opens another, while agents are connected.

use std::path::Path;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use testkit::{PlayedAgent, until, uri};

use crate::machine;
use crate::stage::{Stage, files_gone, found_name, start};

#[test]
fn the_next_editor_finds_the_agents_connected() {
    let machine = machine();
    let mut one = Stage::named(&machine, "Neovim");
    let mut agent = one.qwen(&machine);
    let path = machine.write("a.txt", "old\n");
    one.editor.open(Path::new(&path), "old\n");
    one.editor.focus(Path::new(&path));
    agent.hear_until_active(&path);
    let (port, service) = (one.port, machine.served_by());
    assert!(
        one.editor.quit().success(),
        "the editor is not kept from closing"
    );
    // Nothing is shared while nobody is there.
    let heard = agent.hear();
    assert_eq!(
        heard["params"]["workspaceState"]["openFiles"],
        json!([]),
        "{heard}"
    );
    assert!(!machine.discovery_files(port).is_empty());
    assert_eq!(machine.status()["editors"], json!([]));
    agent.open_diff(&path, "new\n");

    let mut two = Stage::named(&machine, "Emacs");
    assert_eq!((two.port, machine.served_by()), (port, service));
    assert_eq!(found_name(&machine, port).as_deref(), Some("Emacs"));
    let proposal = two.editor.show_proposal();
    two.editor.decide(&proposal, json!({ "accepted": true }));
    // It has the same stream as before.
    assert_eq!(agent.hear_verdict()["params"]["content"], "new\n");
}

#[test]
fn nobody_comes() {
    let machine = machine();
    let stage = Stage::set(&machine, &[]);
    let mut agent = stage.qwen(&machine);
    let port = stage.port;
    assert!(stage.editor.quit().success());
    assert!(!machine.discovery_files(port).is_empty());
    files_gone(&machine, port);
    agent.hear_out();
    until("the companion has ended", || {
        machine.served_by().is_none().then_some(())
    });
}

/// What holds for all editors of a service is what the first one asks for.
#[test]
fn an_editor_that_asks_for_something_else_gets_it() {
    let machine = machine();
    let one = Stage::set(&machine, &[]);
    let mut agent = one.qwen(&machine);
    let path = machine.write("a.txt", "old\n");
    agent.open_diff(&path, "new\n");
    let (port, service) = (one.port, machine.served_by());
    assert!(one.editor.quit().success());
    let mut two = start(&machine, &[]);
    two.request(
        "initialize",
        json!({
            "processId": std::process::id(),
            "workspaceFolders": [{ "uri": uri(&machine.workspace()), "name": "w" }],
            "capabilities": { "experimental": { "outrigger": true } },
            "initializationOptions": { "agents": ["qwen"] },
        }),
    );
    two.notify("initialized", json!({}));
    assert_eq!(two.hear("outrigger/ready")["params"]["port"], port);
    assert_ne!(machine.served_by(), service);
    let gemini = |path: &std::path::PathBuf| path.to_string_lossy().contains("gemini-ide-server");
    assert!(!machine.discovery_files(port).iter().any(gemini));
    // The agent comes back in its session, and its proposal is there.
    agent.listen();
    let proposal = two.show_proposal();
    two.decide(&proposal, json!({ "accepted": true }));
    assert_eq!(agent.hear_verdict()["params"]["content"], "new\n");
}

#[test]
fn a_person_who_stops_it_does_not_mean_the_next_editor() {
    let machine = machine();
    let mut stage = Stage::set(&machine, &[]);
    let mut agent = stage.qwen(&machine);
    let port = stage.port;
    let path = machine.write("a.txt", "old\n");
    agent.open_diff(&path, "new\n");
    stage.editor.show_proposal();
    // Nor the decisions that agents wait for.
    stage.editor.notify("outrigger/stop", Value::Null);
    assert!(stage.editor.quit().success());
    assert!(machine.discovery_files(port).is_empty());
    agent.hear_out();
    // It goes on for others.
    let (mut one, mut two) = (Stage::set(&machine, &[]), Stage::named(&machine, "Second"));
    let mut agent = one.qwen(&machine);
    agent.open_diff(&path, "new\n");
    one.editor.show_proposal();
    one.editor.notify("outrigger/stop", Value::Null);
    assert!(one.editor.quit().success());
    assert_eq!(
        two.editor.request("outrigger/status", Value::Null)["pending"],
        1
    );
}

/// Gemini cannot be answered once the companion is gone, unless it comes back at once.
#[test]
fn what_gemini_has_open_is_rejected_by_a_stop_and_not_by_a_restart() {
    for restart in [false, true] {
        let machine = machine();
        let mut stage = Stage::set(&machine, &[]);
        let mut agent = PlayedAgent::connect(stage.port, &machine.gemini_token(stage.port));
        let path = machine.write("a.txt", "old\n");
        agent.open_diff(&path, "new\n");
        stage.editor.show_proposal();
        stage
            .editor
            .notify("outrigger/stop", json!({ "restart": restart }));
        assert!(stage.editor.quit().success());
        if restart {
            agent.hear_out();
            let mut again = Stage::set(&machine, &[]);
            agent.listen();
            let proposal = again.editor.show_proposal();
            again.editor.decide(&proposal, json!({ "accepted": true }));
            assert_eq!(agent.hear_verdict()["params"]["content"], "new\n");
        } else {
            assert_eq!(agent.hear_verdict()["method"], "ide/diffRejected");
        }
    }
}

/// Editors send a signal to what they have started, right after their last words or instead.
#[test]
fn a_signal_does_not_outrun_the_goodbye() {
    let machine = machine();
    let mut stage = Stage::set(&machine, &[]);
    let agent = stage.qwen(&machine);
    let pid = Pid::from_raw(stage.editor.pid().try_into().unwrap()).unwrap();
    kill_process(pid, Signal::HUP).unwrap();
    stage.editor.request("shutdown", Value::Null);
    stage.editor.hang_up();
    assert_eq!(stage.editor.ended().code(), Some(0));
    assert!(!machine.discovery_files(stage.port).is_empty());
    drop(agent);
}

#[test]
fn an_editor_that_just_disappears_is_not_waited_for() {
    let machine = machine();
    let mut stage = Stage::set(&machine, &[]);
    let mut agent = PlayedAgent::connect(stage.port, &machine.qwen_token(stage.port));
    stage.editor.notify("exit", Value::Null);
    assert_eq!(stage.editor.ended().code(), Some(1));
    assert!(machine.discovery_files(stage.port).is_empty());
    agent.hear_out();
}
