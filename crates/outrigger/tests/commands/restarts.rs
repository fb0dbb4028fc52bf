//! Planned and unplanned: a companion that comes back is the one that it was.

use std::fs;
use std::path::PathBuf;

use serde_json::json;

use crate::agent::Agent;
use crate::sandbox::{Sandbox, until};

#[test]
fn after_a_crash_the_next_one_takes_up_everything() {
    let sandbox = Sandbox::new();
    let path = sandbox.file("a.txt", "\u{feff}old\r\n");
    let mut first = sandbox.serve(&[]);
    let mut agent = Agent::gemini(&sandbox, &first);
    agent.open_diff(&path, "\u{feff}new\r\n");
    let tokens = [
        sandbox.qwen_token(first.port),
        sandbox.gemini_token(first.port),
    ];
    let left = sandbox.files(first.port);
    wait_for_journal(&sandbox, "proposal-1.json");
    first.crash();
    agent.hang_up();
    assert_eq!(sandbox.files(first.port), left, "a crash cleans nothing");
    assert_eq!(sandbox.run(&["proposals"]).code, 3);

    let second = sandbox.serve(&[]);
    assert_eq!(second.port, first.port);
    let now = [
        sandbox.qwen_token(first.port),
        sandbox.gemini_token(first.port),
    ];
    assert_eq!(now, tokens);
    let dead = format!("-{}-", first.pid());
    let stale = |path: &&PathBuf| path.to_string_lossy().contains(&dead);
    let files = sandbox.files(first.port);
    assert_eq!(files.iter().find(stale), None, "a name of the dead is left");
    assert!(
        !sandbox
            .home
            .join(format!(".qwen/ide/{}-{}.lock", first.pid(), first.port))
            .exists()
    );

    agent.listen();
    let pending = sandbox.run(&["proposals", "--json"]).json();
    assert_eq!(pending[0]["id"], 1);
    sandbox.run(&["accept", "1"]).good();
    let heard = agent.hear_verdict();
    assert_eq!(
        heard["params"],
        json!({ "filePath": path, "content": "\u{feff}new\r\n" })
    );
    drop(second);
    assert!(sandbox.files(first.port).is_empty());
}

#[test]
fn a_verdict_that_a_crash_kept_from_the_agent_arrives_once() {
    let sandbox = Sandbox::new();
    let path = sandbox.file("a.txt", "old");
    let mut first = sandbox.serve(&[]);
    let mut agent = Agent::qwen(&sandbox, &first);
    agent.open_diff(&path, "new");
    agent.hang_up();
    until("it is away", || {
        (sandbox.status()["sessions"][0]["streaming"] == false).then_some(())
    });
    let accepted = sandbox.run(&["accept", "1"]);
    assert!(accepted.stderr.contains("away"), "{accepted:?}");
    wait_for_journal(&sandbox, "verdict-1.json");
    first.crash();

    let mut second = sandbox.serve(&[]);
    agent.listen();
    assert_eq!(agent.hear_verdict()["params"]["content"], "new");
    until("it is crossed off", || {
        (!is_written(&sandbox, "verdict-1.json")).then_some(())
    });
    second.crash();
    let _third = sandbox.serve(&[]);
    agent.listen();
    let shown = sandbox.file("b.txt", "");
    sandbox.run(&["focus", &shown]).good();
    assert!(!agent.hear_until_active(&shown).contains("diffAccepted"));
}

#[test]
fn what_a_crash_leaves_is_removed_by_the_next_companion_of_any_folder() {
    let sandbox = Sandbox::new();
    let mut crashed = sandbox.serve(&[]);
    let foreign = sandbox
        .home
        .join(format!(".qwen/ide/1{}.lock", crashed.port));
    let text = format!(
        r#"{{"port":1,"authToken":"other","workspacePath":"/","ppid":{}}}"#,
        crashed.pid()
    );
    fs::write(&foreign, &text).unwrap();
    crashed.crash();
    assert!(!sandbox.files(crashed.port).is_empty());
    let other = sandbox.tmp.join("elsewhere");
    fs::create_dir(&other).unwrap();
    let served = sandbox.serve(&[other.to_str().unwrap()]);
    let left = sandbox.files(crashed.port);
    assert!(left.is_empty(), "{left:?}");
    assert_eq!(fs::read_to_string(&foreign).unwrap(), text, "not ours");
    assert!(!sandbox.files(served.port).is_empty());
}

#[test]
fn a_clean_end_is_a_fresh_start_on_the_same_port() {
    let sandbox = Sandbox::new();
    let first = sandbox.serve(&[]);
    let (port, token) = (first.port, sandbox.qwen_token(first.port));
    let path = sandbox.file("a.txt", "");
    sandbox.run(&["focus", &path]).good();
    drop(first);
    let second = sandbox.serve(&[]);
    assert_eq!((second.port, sandbox.qwen_token(port)), (port, token));
    assert_eq!(sandbox.status()["files"], json!([]), "long left");
}

#[test]
fn a_planned_restart_goes_unnoticed() {
    let sandbox = Sandbox::new();
    let path = sandbox.file("a.txt", "old");
    let served = sandbox.serve(&[]);
    let mut agent = Agent::qwen(&sandbox, &served);
    agent.open_diff(&path, "new");
    sandbox
        .run_with(
            &["focus", &path, "--line", "7", "--selection-from", "-"],
            b"old",
        )
        .good();
    agent.hear_until_active(&path);
    let before = sandbox.status();
    let files: Vec<_> = sandbox.files(served.port);
    for round in 0..3 {
        sandbox.run(&["restart"]).good();
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
    let after = until("commands find it", || {
        let status = sandbox.status();
        status.is_object().then_some(status)
    });
    for field in ["pid", "port", "roots", "proposals", "files"] {
        assert_eq!(after[field], before[field], "{field}");
    }
    assert_eq!(after["sessions"][0]["id"], agent.session());
    assert_eq!(sandbox.files(served.port), files);
    sandbox.run(&["accept", "1"]).good();
    assert_eq!(agent.hear_verdict()["params"]["content"], "new");
    assert_eq!(
        served.ready_line().lines().count(),
        1,
        "it was ready all the time"
    );
}

#[test]
fn requests_during_a_restart_wait_and_are_answered() {
    let sandbox = Sandbox::new();
    let served = sandbox.serve(&[]);
    let mut agent = Agent::qwen(&sandbox, &served);
    sandbox.run(&["restart"]).good();
    for _ in 0..50 {
        assert_eq!(agent.knock(), 200);
    }
    agent.hear_out();
    agent.listen();
    agent.hear();
}

/// What is written down is written soon, not at once.
fn wait_for_journal(sandbox: &Sandbox, name: &str) {
    until(name, || is_written(sandbox, name).then_some(()));
}

/// Whether a companion of this sandbox has written a file of this name for the next run.
fn is_written(sandbox: &Sandbox, name: &str) -> bool {
    let companions = sandbox.home.join(".local/state/outrigger/companions");
    let folders = fs::read_dir(&companions).into_iter().flatten().flatten();
    folders.map(|it| it.path().join(name)).any(|it| it.exists())
}
