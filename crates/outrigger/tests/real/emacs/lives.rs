//! Emacs and its companion come and go, each in its own way.

use testkit::{Agent, Clients, Household, wait_for};

use super::driver::{ACCEPT, CTRL_X, Emacs, command_line};
use crate::editor::{discovery_files, nothing_is_left};
use crate::story::{self, Orphan};
use crate::{asks, household};

#[test]
fn emacs_starts_the_companion_again_and_keeps_the_diff() {
    let Some(house) = household() else {
        return;
    };
    let mut emacs = Emacs::start(&house, &["hello.txt"]);
    let mut terminal = house.start_connected(Agent::Qwen);
    house.ask_to_create(&mut terminal, "crash.txt", "as the agent wants it\n");
    emacs.wait_until("the diff", |screen| {
        screen.contains("+as the agent wants it")
    });
    emacs.command("outrigger-show");
    emacs.keys("e\x0btyped before the crash");
    emacs.wait_until("the edit", |screen| {
        screen.contains("+typed before the crash")
    });
    terminal.wait_until("the question", asks);
    story::another_companion(&house, &emacs);
    emacs.wait_until("the news", |screen| screen.contains("is started again"));
    house.wait_for_proposal(&terminal, Agent::Qwen, "crash.txt");
    // It is shown by a companion that runs, and not before.
    emacs.wait_until("the proposal in the mode line", |screen| {
        screen.contains("!1")
    });
    emacs.keys(ACCEPT);
    house.wait_for_file(&terminal, "crash.txt", "typed before the crash\n");
    emacs.wait_for_no_diff();
}

#[test]
fn nothing_is_left_of_an_emacs_that_was_killed() {
    let Some(house) = household() else {
        return;
    };
    let mut emacs = Emacs::start(&house, &["hello.txt"]);
    let mut terminal = house.start_connected(Agent::Gemini);
    let orphan = Orphan::propose(&house, &mut terminal);
    emacs.wait_until("the diff", |screen| {
        screen.contains(Orphan::TEXT.trim_end())
    });
    assert!(!discovery_files(&house).is_empty());
    emacs.terminal.kill();
    orphan.decide_in(&house, &mut terminal);
    nothing_is_left(&house);
}

#[test]
fn an_emacs_that_sleeps_misses_nothing() {
    let Some(house) = household() else {
        return;
    };
    let shell = ["bash", "--norc", "-i"].map(str::to_owned);
    let mut environment = house.environment();
    environment.push(("PS1".into(), "$ ".into()));
    let mut emacs = Emacs::launch(&house, &shell, environment);
    emacs.wait_until("a prompt", |screen| screen.contains('$'));
    let typed = command_line(&house, &["hello.txt"]).join("' '");
    emacs.keys(&format!("'{typed}'\r"));
    emacs.wait_for_ready();
    let mut terminal = house.start_connected(Agent::Gemini);
    emacs.keys("\x1a");
    emacs.wait_until("the shell", |screen| screen.contains("Stopped"));
    let mark = house.ask_to_create(&mut terminal, "asleep.txt", "asked for while it slept\n");
    house.wait_for_proposal(&terminal, Agent::Gemini, "asleep.txt");
    emacs.keys("fg\r");
    emacs.wait_until("the diff", |screen| {
        screen.contains("+asked for while it slept")
    });
    emacs.command("outrigger-accept");
    house.wait_for_file(&terminal, "asleep.txt", "asked for while it slept\n");
    house.wait_until_done(&terminal, &mark);
}

#[test]
fn two_emacsen_share_a_folder() {
    let Some(house) = household() else {
        return;
    };
    let mut first = Emacs::start(&house, &["hello.txt"]);
    let before = (house.status()["port"].clone(), house.served_by());
    let second = Emacs::start(&house, &["hello.txt"]);
    let editors = || house.status()["editors"].as_array().map_or(0, Vec::len);
    assert_eq!(editors(), 2);
    first.terminal.kill();
    wait_for(
        "the second one alone",
        || (editors() == 1).then_some(()),
        || second.to_string(),
    );
    assert_eq!((house.status()["port"].clone(), house.served_by()), before);
    house.start_connected(Agent::Qwen).quit();
}

#[test]
fn a_daemon_shows_proposals_to_whoever_comes() {
    let Some(house) = household() else {
        return;
    };
    house.write("hello.txt", "first line\n");
    let mut command = command_line(&house, &[]);
    command[1] = "--fg-daemon".into();
    command.push("--eval=(find-file-noselect \"hello.txt\")".into());
    let mut daemon = Emacs::launch(&house, &command, house.environment());
    wait_for("a companion", || house.served_by(), || daemon.to_string());
    let mut terminal = house.start_connected(Agent::Qwen);
    let mark = house.ask_to_create(&mut terminal, "daemon.txt", "seen by whoever comes\n");
    house.wait_for_proposal(&terminal, Agent::Qwen, "daemon.txt");
    let come = || {
        let client = ["emacsclient", "-nw", "hello.txt"].map(str::to_owned);
        Emacs::launch(&house, &client, house.environment())
    };
    let first = come();
    first.wait_until("the diff", |screen| {
        screen.contains("+seen by whoever comes")
    });
    // Emacs listens to the terminal that came last until a key is pressed in another one.
    let mut second = come();
    second.wait_until("the diff", |screen| {
        screen.contains("+seen by whoever comes")
    });
    second.wait_until_it_listens();
    second.command("outrigger-accept");
    house.wait_for_file(&terminal, "daemon.txt", "seen by whoever comes\n");
    house.wait_until_done(&terminal, &mark);
    first.wait_for_no_diff();
    second.wait_for_no_diff();
    terminal.quit();
    second.command("kill-emacs");
    daemon.terminal.ended();
    nothing_is_left(&house);
}

#[test]
fn emacs_without_the_program_says_so_once() {
    let Some(clients) = Clients::find() else {
        return;
    };
    let house = Household::new("/no/such/outrigger", &clients);
    let command = command_line(&house, &["hello.txt", "other.txt"]);
    let mut emacs = Emacs::launch(&house, &command, house.environment());
    emacs.wait_until("the advice", |screen| screen.contains("cargo install"));
    emacs.visit("third.txt");
    emacs.command("outrigger-health");
    emacs.wait_until("the report", |screen| {
        screen.contains("FIX  there is no program /no/such/outrigger")
    });
    emacs.keys(&format!("{CTRL_X}b*Warnings*\r{CTRL_X}1"));
    emacs.wait_until("the warnings", |screen| {
        screen.contains("*Warnings*") && !screen.contains("FIX")
    });
    assert_eq!(
        emacs.terminal.screen().matches("cargo install").count(),
        1,
        "{emacs}"
    );
}
