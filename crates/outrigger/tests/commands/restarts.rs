//! Planned and unplanned: a companion that comes back is the one that it was.

use std::fs;
use std::net::TcpListener;
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use serde_json::{Value, json};
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
    let path = machine.write("a.txt", "");
    machine.run(&["focus", &path]).good();
    let mut agent = PlayedAgent::qwen(&machine, &first);
    agent.open_diff(&path, "new");
    let (port, before) = (first.port(), keys(&machine));
    drop(first);
    let second = machine.start_companion(&[]);
    assert_eq!(second.port(), port);
    assert_eq!(machine.status()["files"], json!([]), "long left");
    // Whoever had the port in between may have collected the keys of agents, pages and commands.
    assert_eq!(still_valid(&before, &keys(&machine)), [""; 0]);
    assert_eq!(agent.knock(), 401);
    // So the agent cannot come back, and would not hear what is decided.
    assert_eq!(machine.proposals().len(), 0);
}

#[test]
fn after_a_crash_tokens_outlive_the_run_and_other_keys_do_not() {
    let machine = machine();
    let mut first = machine.start_companion(&[]);
    let _agent = PlayedAgent::qwen(&machine, &first);
    let before = keys(&machine);
    first.kill();
    let second = machine.start_companion(&[]);
    assert_eq!(second.port(), first.port());
    let valid = still_valid(&before, &keys(&machine));
    assert_eq!(valid, ["qwen", "gemini", "agent"]);
}

#[test]
fn long_after_a_crash_no_key_is_valid() {
    let machine = machine();
    let path = machine.write("a.txt", "old");
    let mut first = machine.start_companion(&[]);
    let mut agent = PlayedAgent::qwen(&machine, &first);
    agent.open_diff(&path, "new");
    let before = keys(&machine);
    first.kill();
    let then = SystemTime::now() - Duration::from_mins(2);
    for entry in fs::read_dir(state_folder(&machine)).unwrap() {
        let file = fs::File::options().write(true).open(entry.unwrap().path());
        file.unwrap().set_modified(then).unwrap();
    }
    let second = machine.start_companion(&[]);
    assert_eq!(second.port(), first.port());
    assert_eq!(still_valid(&before, &keys(&machine)), [""; 0]);
    assert_eq!(agent.knock(), 401);
    assert_eq!(machine.proposals().len(), 0);
    // And nothing of it comes back later.
    assert!(!is_written(&machine, "proposal-1.json"));
    drop(second);
}

#[test]
fn a_port_that_somebody_else_has_costs_all_keys() {
    let machine = machine();
    let mut first = machine.start_companion(&[]);
    let _agent = PlayedAgent::qwen(&machine, &first);
    let before = keys(&machine);
    first.kill();
    let stranger = TcpListener::bind(("127.0.0.1", first.port())).unwrap();
    let second = machine.start_companion(&[]);
    assert_ne!(second.port(), first.port());
    assert_eq!(still_valid(&before, &keys(&machine)), [""; 0]);
    drop(stranger);
}

#[test]
fn a_restart_keeps_all_keys_because_nobody_else_could_listen() {
    let machine = machine();
    let served = machine.start_companion(&[]);
    let mut agent = PlayedAgent::qwen(&machine, &served);
    let before = keys(&machine);
    machine.run(&["restart"]).good();
    agent.hear_out();
    agent.listen();
    assert_eq!(keys(&machine), before);
}

/// A child that outlives the companion would keep its port and its lock from the next one.
#[cfg(target_os = "linux")]
#[test]
fn children_of_a_restarted_companion_inherit_nothing() {
    const CLOSED_IN_CHILDREN: u32 = 0o2_000_000;
    let machine = machine();
    let mut served = machine.start_companion(&[]);
    let mut agent = PlayedAgent::qwen(&machine, &served);
    let path = machine.write("a.txt", "old");
    agent.open_diff(&path, "new");
    for _ in 0..2 {
        machine.run(&["restart"]).good();
        agent.hear_out();
        agent.listen();
        agent.hear();
        let folder = format!("/proc/{}/fd", served.pid());
        for entry in fs::read_dir(&folder).unwrap() {
            let name = entry.unwrap().file_name().into_string().unwrap();
            let to = fs::read_link(format!("{folder}/{name}"));
            let info = fs::read_to_string(format!("/proc/{}/fdinfo/{name}", served.pid()));
            let (Ok(to), Ok(info)) = (to, info) else {
                // It was closed just now.
                continue;
            };
            let flags = info.lines().find_map(|line| line.strip_prefix("flags:"));
            let flags = u32::from_str_radix(flags.unwrap().trim(), 8).unwrap();
            // What whoever started the test has left open is not ours.
            let is_ours =
                to.starts_with(machine.home()) || to.to_string_lossy().starts_with("socket:");
            assert!(
                !is_ours || flags & CLOSED_IN_CHILDREN != 0,
                "{name} is {}",
                to.display()
            );
            assert!(
                name != "0" || to.as_os_str() == "/dev/null",
                "{}",
                to.display()
            );
        }
    }
    // The lock is held, and let go at the end.
    assert_eq!(machine.status()["pid"], served.pid());
    served.kill();
    let second = machine.start_companion(&[]);
    assert_eq!(second.port(), served.port());
    assert_eq!(machine.proposals().len(), 1);
}

#[test]
fn state_that_somebody_deletes_is_written_again() {
    let machine = machine();
    let mut first = machine.start_companion(&[]);
    let mut agent = PlayedAgent::qwen(&machine, &first);
    let [a, b] = ["a.txt", "b.txt"].map(|name| machine.write(name, "old"));
    agent.open_diff(&a, "new a");
    agent.open_diff(&b, "new b");
    agent.hang_up();
    until("it is away", || {
        (machine.status()["sessions"][0]["streaming"] == false).then_some(())
    });
    machine.run(&["accept", "1"]).good();
    fs::remove_dir_all(machine.home().join(".local/state/outrigger")).unwrap();
    until("commands find it", || machine.served_by());
    for name in ["sessions.json", "verdict-1.json", "proposal-2.json"] {
        wait_for_journal(&machine, name);
    }
    first.kill();
    let second = machine.start_companion(&[]);
    assert_eq!(second.port(), first.port());
    agent.listen();
    assert_eq!(agent.hear_verdict()["params"]["content"], "new a");
    assert_eq!(machine.proposals().len(), 1);
}

/// The next run must know when this one ended, however long nothing happened before that.
#[test]
fn a_companion_with_agents_gives_signs_of_life() {
    let machine = machine();
    let served = machine.start_companion(&[]);
    let lock = state_folder(&machine).join("lock");
    let long_ago = SystemTime::now() - Duration::from_hours(1);
    let file = fs::File::options().write(true).open(&lock).unwrap();
    file.set_modified(long_ago).unwrap();
    let last = || fs::metadata(&lock).unwrap().modified().unwrap();
    let _agent = PlayedAgent::qwen(&machine, &served);
    until("a sign of life", || (last() > long_ago).then_some(()));
}

/// The name and value of each key of the one companion.
fn keys(machine: &Machine) -> Vec<(String, String)> {
    let record = fs::read(state_folder(machine).join("companion.json")).unwrap();
    let record: Value = serde_json::from_slice(&record).unwrap();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let tokens = record["tokens"].as_array().unwrap().iter();
    let tokens = tokens.map(|pair| (text(&pair[0]), text(&pair[1])));
    let others = ["secret", "page"].map(|name| (name.to_owned(), text(&record[name])));
    tokens.chain(others).collect()
}

/// The names of the keys that are the same.
fn still_valid<'a>(before: &'a [(String, String)], now: &[(String, String)]) -> Vec<&'a str> {
    assert_eq!(before.len(), 5);
    let same = before
        .iter()
        .filter(|(_, key)| now.iter().any(|(_, other)| other == key));
    same.map(|(name, _)| name.as_str()).collect()
}

/// The folder of the one companion.
fn state_folder(machine: &Machine) -> PathBuf {
    let companions = machine.home().join(".local/state/outrigger/companions");
    let folders = fs::read_dir(companions).unwrap();
    let mut folders: Vec<_> = folders.map(|it| it.unwrap().path()).collect();
    assert_eq!(folders.len(), 1, "{folders:?}");
    folders.remove(0)
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
