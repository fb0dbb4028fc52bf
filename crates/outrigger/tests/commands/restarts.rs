//! Planned and unplanned: a companion that comes back is the one that it was.

use std::fs;
use std::path::PathBuf;

use serde_json::json;
use testkit::{Machine, PlayedAgent, until};

use crate::machine;

#[test]
fn after_a_crash_the_next_one_takes_up_everything() {
    let machine = machine();
    let path = machine.write("a.txt", "\u{feff}old\r\n");
    let mut first = machine.start_companion(&[]);
    let mut agent = PlayedAgent::gemini(&machine, &first);
    agent.open_diff(&path, "\u{feff}new\r\n");
    let tokens = [
        machine.qwen_token(first.port()),
        machine.gemini_token(first.port()),
    ];
    let left = machine.discovery_files(first.port());
    wait_for_journal(&machine, "proposal-1.json");
    first.kill();
    agent.hang_up();
    assert_eq!(
        machine.discovery_files(first.port()),
        left,
        "a crash cleans nothing"
    );
    assert_eq!(machine.run(&["proposals"]).code, 3);

    let second = machine.start_companion(&[]);
    assert_eq!(second.port(), first.port());
    let now = [
        machine.qwen_token(first.port()),
        machine.gemini_token(first.port()),
    ];
    assert_eq!(now, tokens);
    let dead = format!("-{}-", first.pid());
    let stale = |path: &&PathBuf| path.to_string_lossy().contains(&dead);
    let files = machine.discovery_files(first.port());
    assert_eq!(files.iter().find(stale), None, "a name of the dead is left");
    assert!(
        !machine
            .home()
            .join(format!(".qwen/ide/{}-{}.lock", first.pid(), first.port()))
            .exists()
    );

    agent.listen();
    let pending = machine.run(&["proposals", "--json"]).json();
    assert_eq!(pending[0]["id"], 1);
    machine.run(&["accept", "1"]).good();
    let heard = agent.hear_verdict();
    assert_eq!(
        heard["params"],
        json!({ "filePath": path, "content": "\u{feff}new\r\n" })
    );
    drop(second);
    assert!(machine.discovery_files(first.port()).is_empty());
}

#[test]
fn a_verdict_that_a_crash_kept_from_the_agent_arrives_once() {
    let machine = machine();
    let path = machine.write("a.txt", "old");
    let mut first = machine.start_companion(&[]);
    let mut agent = PlayedAgent::qwen(&machine, &first);
    agent.open_diff(&path, "new");
    agent.hang_up();
    until("it is away", || {
        (machine.status()["sessions"][0]["streaming"] == false).then_some(())
    });
    let accepted = machine.run(&["accept", "1"]);
    assert!(accepted.stderr.contains("away"), "{accepted:?}");
    wait_for_journal(&machine, "verdict-1.json");
    first.kill();

    let mut second = machine.start_companion(&[]);
    agent.listen();
    assert_eq!(agent.hear_verdict()["params"]["content"], "new");
    until("it is crossed off", || {
        (!is_written(&machine, "verdict-1.json")).then_some(())
    });
    second.kill();
    let _third = machine.start_companion(&[]);
    agent.listen();
    let shown = machine.write("b.txt", "");
    machine.run(&["focus", &shown]).good();
    assert!(!agent.hear_until_active(&shown).contains("diffAccepted"));
}

#[test]
fn what_a_crash_leaves_is_removed_by_the_next_companion_of_any_folder() {
    let machine = machine();
    let mut crashed = machine.start_companion(&[]);
    let foreign = machine
        .home()
        .join(format!(".qwen/ide/1{}.lock", crashed.port()));
    let text = format!(
        r#"{{"port":1,"authToken":"other","workspacePath":"/","ppid":{}}}"#,
        crashed.pid()
    );
    fs::write(&foreign, &text).unwrap();
    crashed.kill();
    assert!(!machine.discovery_files(crashed.port()).is_empty());
    let other = machine.temporary().join("elsewhere");
    fs::create_dir(&other).unwrap();
    let served = machine.start_companion(&[other.to_str().unwrap()]);
    let left = machine.discovery_files(crashed.port());
    assert!(left.is_empty(), "{left:?}");
    assert_eq!(fs::read_to_string(&foreign).unwrap(), text, "not ours");
    assert!(!machine.discovery_files(served.port()).is_empty());
}

#[test]
fn a_clean_end_is_a_fresh_start_on_the_same_port() {
    let machine = machine();
    let first = machine.start_companion(&[]);
    let (port, token) = (first.port(), machine.qwen_token(first.port()));
    let path = machine.write("a.txt", "");
    machine.run(&["focus", &path]).good();
    drop(first);
    let second = machine.start_companion(&[]);
    assert_eq!((second.port(), machine.qwen_token(port)), (port, token));
    assert_eq!(machine.status()["files"], json!([]), "long left");
}

#[test]
fn a_planned_restart_goes_unnoticed() {
    let machine = machine();
    let path = machine.write("a.txt", "old\n".repeat(7));
    let served = machine.start_companion(&[]);
    let mut agent = PlayedAgent::qwen(&machine, &served);
    agent.open_diff(&path, "new");
    machine
        .run_with(
            &["focus", &path, "--line", "7", "--selection-from", "-"],
            b"old",
        )
        .good();
    agent.hear_until_active(&path);
    let before = machine.status();
    let files: Vec<_> = machine.discovery_files(served.port());
    for round in 0..3 {
        machine.run(&["restart"]).good();
        let last = agent.hear_out().pop().unwrap_or_default();
        let retry = last
            .strip_prefix("retry: ")
            .and_then(|delay| delay.parse::<u64>().ok());
        assert!(
            retry.is_some_and(|delay| delay > 0),
            "round {round}: {last}"
        );
        // Nobody ever finds the port closed.
        agent.listen();
        let context = agent.hear();
        let first = &context["params"]["workspaceState"]["openFiles"][0];
        assert_eq!(first["path"], path);
        assert_eq!(first["cursor"]["line"], 7);
        assert_eq!(first["selectedText"], "old");
    }
    until("commands find it", || machine.served_by());
    let after = machine.status();
    for field in ["pid", "port", "roots", "proposals", "files"] {
        assert_eq!(after[field], before[field], "{field}");
    }
    assert_eq!(after["sessions"][0]["id"], agent.session());
    assert_eq!(machine.discovery_files(served.port()), files);
    machine.run(&["accept", "1"]).good();
    assert_eq!(agent.hear_verdict()["params"]["content"], "new");
    assert_eq!(
        served.ready_line().lines().count(),
        1,
        "it was ready all the time"
    );
}

#[test]
fn requests_during_a_restart_wait_and_are_answered() {
    let machine = machine();
    let served = machine.start_companion(&[]);
    let mut agent = PlayedAgent::qwen(&machine, &served);
    machine.run(&["restart"]).good();
    for _ in 0..50 {
        assert_eq!(agent.knock(), 200);
    }
    agent.hear_out();
    agent.listen();
    agent.hear();
}

/// What is written down is written soon, not at once.
fn wait_for_journal(machine: &Machine, name: &str) {
    until(name, || is_written(machine, name).then_some(()));
}

/// Whether a companion of this machine has written a file of this name for the next run.
fn is_written(machine: &Machine, name: &str) -> bool {
    let companions = machine.home().join(".local/state/outrigger/companions");
    let folders = fs::read_dir(&companions).into_iter().flatten().flatten();
    folders.map(|it| it.path().join(name)).any(|it| it.exists())
}
