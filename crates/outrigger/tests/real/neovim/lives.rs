//! Neovim and its companion come and go, each in its own way.

use std::fs;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use testkit::{Agent, Household, wait_for};

use super::nvim::Neovim;
use super::{NEW, OLD, household};
use crate::editor::discovery_files;
use crate::{PROGRAM, asks};

#[test]
fn a_companion_that_dies_comes_back_in_an_old_neovim() {
    companion_killed(Agent::Gemini, OLD);
}

#[test]
fn a_companion_that_dies_comes_back_in_a_new_neovim() {
    companion_killed(Agent::Qwen, NEW);
}

#[test]
fn a_pause_outlives_the_companion_in_an_old_neovim() {
    paused(OLD);
}

#[test]
fn a_pause_outlives_the_companion_in_a_new_neovim() {
    paused(NEW);
}

#[test]
fn nothing_outlives_an_old_neovim() {
    neovim_ends(OLD);
}

#[test]
fn nothing_outlives_a_new_neovim() {
    neovim_ends(NEW);
}

/// A new Neovim keeps itself and the companion out of reach of the shell, and suspends nothing but
/// its screen. The old one stops its whole process group.
#[test]
fn an_old_neovim_can_be_suspended() {
    suspended(OLD);
}

#[test]
fn an_old_neovim_says_what_is_wrong() {
    says_what_is_wrong(OLD);
}

#[test]
fn a_new_neovim_says_what_is_wrong() {
    says_what_is_wrong(NEW);
}

fn companion_killed(agent: Agent, which: usize) {
    let Some(house) = household(which) else {
        return;
    };
    house.write("hello.txt", "hello\n");
    let mut neovim = Neovim::start(&house, which, &["hello.txt"]);
    let mut terminal = house.start_connected(agent);
    house.ask_to_create(&mut terminal, "crash.txt", "proposed before the crash\n");
    neovim.wait_for_review("crash.txt");
    // By the time that it asks, it has heard that the diff is open.
    terminal.wait_until("the question", asks);
    let typed = "typed before the crash";
    neovim.keys(&format!("cc{typed}\u{1b}"));
    neovim.wait_for("getline(1)", typed);

    let port = house.status()["port"].clone();
    kill(companion(&house));
    another_companion(&house, &neovim, &port);
    neovim.wait_for_review("crash.txt");
    neovim.wait_for("getline(1)", typed);

    // A planned one is the same, without a word.
    let before = companion(&house);
    neovim.keys(":Outrigger restart\r");
    neovim.wait_until("another companion", |_| {
        companions(&house).iter().any(|it| pid(it) != before)
    });
    another_companion(&house, &neovim, &port);
    neovim.wait_for_review("crash.txt");
    let told = neovim.messages();
    assert_eq!(told.matches("ended unexpectedly").count(), 1, "{told}");
    neovim.wait_for("getline(1)", typed);
    neovim.keys(":w\r");
    house.wait_for_file(&terminal, "crash.txt", format!("{typed}\n"));
    neovim.wait_until_back_in("hello.txt");
}

fn paused(which: usize) {
    let Some(house) = household(which) else {
        return;
    };
    house.write("hello.txt", "hello\n");
    let mut neovim = Neovim::start(&house, which, &["hello.txt"]);
    let is_paused = r#"luaeval('(require("outrigger").status() or {}).paused')"#;
    neovim.wait_for(is_paused, "false");
    neovim.keys(":Outrigger pause\r");
    neovim.wait_for(is_paused, "true");
    let before = companion(&house);
    kill(before);
    neovim.wait_until("another companion", |_| {
        companions(&house).iter().any(|it| pid(it) != before)
    });
    neovim.wait_for(is_paused, "true");
    neovim.keys(":Outrigger resume\r");
    neovim.wait_for(is_paused, "false");
}

fn neovim_ends(which: usize) {
    let Some(house) = household(which) else {
        return;
    };
    house.write("hello.txt", "hello\n");
    let mut first = Neovim::start(&house, which, &["hello.txt"]);
    let mine = companion(&house);

    // Two windows on one folder have one companion, which ends with the last of them.
    let mut second = Neovim::start(&house, which, &["hello.txt"]);
    let editors = || house.status()["editors"].as_array().map_or(0, Vec::len);
    assert_eq!((editors(), companion(&house)), (2, mine));
    second.keys(":qa\r");
    second.terminal.ended();
    wait_for(
        "the first Neovim alone",
        || (editors() == 1).then_some(()),
        || house.status().to_string(),
    );
    assert_eq!(companion(&house), mine);

    assert!(!discovery_files(&house).is_empty());
    first.terminal.kill();
    wait_for(
        "the end of the companion and its files",
        || (discovery_files(&house).is_empty() && companions(&house).is_empty()).then_some(()),
        || format!("{:?}", discovery_files(&house)),
    );
}

fn suspended(which: usize) {
    let Some(house) = household(which) else {
        return;
    };
    house.write("hello.txt", "hello\n");
    let mut neovim = Neovim::start_in_a_shell(&house, which, &["hello.txt"]);
    neovim.wait_for_ready();
    let mine = companion(&house);
    neovim.keys("\u{1a}");
    neovim.wait_until("the suspension", |it| {
        it.terminal.screen().contains("Stopped")
    });
    // Agents are still answered.
    assert_eq!(companion(&house), mine);
    neovim.keys("fg\r");
    neovim.wait_until("the file on the screen", |it| {
        it.terminal.screen().starts_with("hello")
    });
    neovim.keys("Aback\u{1b}");
    neovim.wait_for("getline(1)", "helloback");
    assert_eq!(companion(&house), mine);
}

/// A mistake in the workspace's settings is told, is in the health report and in the status, and is
/// gone when it is mended.
fn a_fault(house: &Household, neovim: &mut Neovim) {
    let faults = "len(luaeval('require\"outrigger\".status().faults'))";
    house.write(".outrigger.toml", "ignore = '*.sql'\n");
    neovim.wait_until("the message", |it| {
        it.terminal.screen().contains("is shared with agents until")
    });
    // A long message may wait for a key.
    neovim.keys("\r");
    neovim.wait_for(faults, "1");
    neovim.command("checkhealth outrigger");
    let report = neovim.text();
    let place = house.path(".outrigger.toml");
    let place = format!(
        "{}:1:10: `ignore` has to be a list of strings",
        place.display()
    );
    assert!(
        report.contains("ERROR") && report.contains(&place),
        "{report}"
    );
    house.write(".outrigger.toml", "");
    neovim.wait_for(faults, "0");
    neovim.keys("\r");
}

fn says_what_is_wrong(which: usize) {
    let Some(house) = household(which) else {
        return;
    };
    house.write("hello.txt", "hello\n");
    let mut neovim = Neovim::start(&house, which, &["hello.txt"]);
    neovim.command("checkhealth outrigger");
    let port = house.status()["port"].to_string();
    let report = neovim.text();
    for part in [
        "OK",
        PROGRAM,
        &format!("port {port}"),
        "no agent is connected",
        house.workspace().to_str().unwrap(),
    ] {
        assert!(report.contains(part), "no {part} in {report}");
    }
    for wrong in ["ERROR", "WARN"] {
        assert!(!report.contains(wrong), "{report}");
    }
    a_fault(&house, &mut neovim);
    if which == NEW {
        neovim.command("checkhealth vim.deprecated");
        let report = neovim.text();
        assert!(report.contains("No deprecated functions"), "{report}");
    }
    neovim.command("helptags ALL");
    neovim.command("help :Outrigger");
    assert_eq!(neovim.eval("expand('%:t')"), "outrigger.txt");
    neovim.command("quit");
    // Nobody has switched on conversations here.
    neovim.keys(":Outrigger chat\r");
    neovim.wait_until("the advice", |it| {
        it.terminal.screen().contains("are switched off")
    });
    drop(neovim);

    // Each of these is told once, and is in the health report.
    let newer = house.temporary().join("newer");
    fs::write(&newer, speaks_another_protocol()).unwrap();
    let newer = format!("vim.g.outrigger_cmd = {{ 'sh', '{}' }}", newer.display());
    let table = [
        (
            newer.as_str(),
            "outrigger 9.9 speaks protocol 2 and not 1",
            "given up",
        ),
        (
            "vim.g.outrigger_cmd = { 'no-such-program', 'lsp' }",
            "there is no program",
            "install it with",
        ),
        (
            "vim.g.outrigger_cmd = { 'false', 'lsp' }",
            "ends again and again",
            "given up",
        ),
        (
            "vim.g.outrigger_focus = 'sometimes'",
            "g:outrigger_focus is not valid",
            "listens on port",
        ),
    ];
    for (setting, told, reported) in table {
        let setting = format!("lua {setting}");
        let arguments = ["--cmd", &setting, "hello.txt"];
        let neovim = Neovim::start_bare(&house, which, &arguments, house.environment());
        neovim.wait_until(told, |it| it.messages().contains(told));
        neovim.wait_until(reported, |it| {
            it.eval("execute('silent! tabonly | silent! checkhealth outrigger')");
            it.text().contains(reported)
        });
        let messages = neovim.messages();
        assert_eq!(messages.matches(told).count(), 1, "{messages}");
    }
}

/// A program of the future, which answers what Neovim asks first.
fn speaks_another_protocol() -> String {
    let offered = json!({ "experimental": { "outrigger": { "version": 2 } } });
    let result =
        json!({ "capabilities": offered, "serverInfo": { "name": "outrigger", "version": "9.9" } });
    let answer = json!({ "jsonrpc": "2.0", "id": 1, "result": result }).to_string();
    let length = answer.len();
    format!("printf 'Content-Length: {length}\\r\\n\\r\\n%s' '{answer}'; exec cat > /dev/null\n")
}

fn kill(pid: i64) {
    let pid = Pid::from_raw(pid.try_into().unwrap()).unwrap();
    kill_process(pid, Signal::KILL).unwrap();
}

/// Everything that the program says about running companions. One that is leaving makes it fail.
fn companions(house: &Household) -> Vec<Value> {
    let done = house.run(&["status", "--json"]);
    let status: Value = serde_json::from_str(&done.stdout).unwrap_or_default();
    status["companions"].as_array().cloned().unwrap_or_default()
}

fn pid(companion: &Value) -> i64 {
    companion["pid"].as_i64().unwrap()
}

/// The process of the one companion.
#[track_caller]
fn companion(house: &Household) -> i64 {
    pid(&house.status())
}

/// Waits until a companion serves the agents on the same port again, with what was pending.
fn another_companion(house: &Household, neovim: &Neovim, port: &Value) {
    wait_for(
        "the same port and proposal again",
        || {
            let all = companions(house);
            let [it] = &all[..] else { return None };
            (it["port"] == *port && it["proposals"] == 1).then_some(())
        },
        || format!("{}\n{neovim}", json!(companions(house))),
    );
}
