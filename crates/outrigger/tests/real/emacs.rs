//! The Emacs package in a real Emacs, with real agents.

use std::cell::Cell;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;
use testkit::{Agent, Call, Clients, Household, Terminal, run_to_end, wait_for};

use crate::editor::discovery_files;
use crate::{PROGRAM, asks};

/// Control and X, and what a terminal sends for Meta and X.
const CTRL_X: &str = "\x18";
const META_X: &str = "\x1bx";
const ACCEPT: &str = "\x03\x03";
const REJECT: &str = "\x03\x0b";

#[test]
fn emacs_decides_for_qwen() {
    decide_in_emacs(Agent::Qwen);
}

#[test]
fn emacs_decides_for_gemini() {
    decide_in_emacs(Agent::Gemini);
}

/// One start of the agent for all, because the start is what takes the time.
fn decide_in_emacs(agent: Agent) {
    let Some(clients) = Clients::find() else {
        return;
    };
    let house = Household::new(PROGRAM, &clients);
    house.write("hello.txt", "first line\nsecond line\nthird line\n");
    let mut emacs = start(&house, &["hello.txt"]);
    let mut terminal = house.start_connected(agent);
    emacs.wait_until("the agent in the mode line", |screen| {
        screen.contains("Outr1")
    });
    region_outlives_the_step_into_a_shell(&house, &mut emacs, &mut terminal);
    accept_without_leaving_the_shell(&house, &mut emacs, &mut terminal);
    accept_edited_with_odd_bytes(&house, &mut emacs, &mut terminal);
    accept_one_hunk(&house, &mut emacs, &mut terminal, "k");
    accept_one_hunk(&house, &mut emacs, &mut terminal, "Ena");
    quitting_ediff_decides_nothing(&house, &mut emacs, &mut terminal);
    nothing_is_taken_from_the_minibuffer(&house, &mut emacs, &mut terminal);
    file_changed_on_disk(&house, &mut emacs, &mut terminal, agent);
    unsaved_changes(&house, &mut emacs, &mut terminal);
    answer_in_the_terminal(&house, &mut emacs, &mut terminal, agent);
    reject(&house, &mut emacs, &mut terminal);
    health(&house, &mut emacs);
    terminal.quit();
    command(&mut emacs, "kill-emacs");
    emacs.ended();
    nothing_is_left(&house);
}

/// Edits first, so that what is selected shows whether the texts are still the same.
fn region_outlives_the_step_into_a_shell(
    house: &Household,
    emacs: &mut Terminal,
    terminal: &mut Terminal,
) {
    emacs.type_keys("\x1b<typed 🙂 and not saved\r\x0b\x0b\x1b>");
    emacs.wait_until("the edits", |screen| {
        screen.contains("and not saved") && !screen.contains("first line")
    });
    // The mark, and everything up to it.
    emacs.type_keys("\x00\x1b<");
    let text = "typed 🙂 and not saved\nsecond line\nthird line\n";
    selected(house, emacs, text);
    command(emacs, "shell");
    emacs.wait_until("a shell", |screen| screen.contains("*shell*"));
    emacs.type_keys("echo port=$QWEN_CODE_IDE_SERVER_PORT.\r");
    let port = format!("port={}.", house.status()["port"]);
    emacs.wait_until("the environment", |screen| screen.contains(&port));
    selected(house, emacs, text);

    let mark = house.ask(terminal, vec![]);
    house.wait_until_done(terminal, &mark);
    let request = &house.model.requests_containing(&mark)[0].to_string();
    for line in text.lines() {
        assert!(request.contains(line), "no {line} in {request}");
    }
}

fn accept_without_leaving_the_shell(
    house: &Household,
    emacs: &mut Terminal,
    terminal: &mut Terminal,
) {
    let text = "line one\nline two\n";
    let mark = house.ask(
        terminal,
        vec![vec![Call::write(house.path("new.txt"), text)]],
    );
    emacs.wait_until("the diff", |screen| screen.contains("+line two"));
    emacs.type_keys("echo still-$((1+1))-here\r");
    emacs.wait_until("the shell", |screen| screen.contains("still-2-here"));
    assert_eq!(house.read("new.txt"), None, "written before the decision");
    command(emacs, "outrigger-show");
    emacs.type_keys(ACCEPT);
    house.wait_for_file(terminal, "new.txt", text);
    house.wait_until_done(terminal, &mark);
    put_away(emacs);
    // Back in the shell, as if nothing had been.
    emacs.type_keys("echo back-$((1+1))-again\r");
    emacs.wait_until("the shell", |screen| screen.contains("back-2-again"));
}

fn accept_edited_with_odd_bytes(house: &Household, emacs: &mut Terminal, terminal: &mut Terminal) {
    house.write("odd.txt", "\u{feff}first\r\nold words\r\nlast");
    visit(emacs, "odd.txt");
    let path = house.path("odd.txt");
    let turns = vec![
        vec![Call::read(&path)],
        vec![Call::edit(&path, "old words", "new words")],
    ];
    let mark = house.ask(terminal, turns);
    emacs.wait_until("the diff", |screen| screen.contains("+new words"));
    command(emacs, "outrigger-show");
    emacs.type_keys("e\x1b<\x0e\x0bother words");
    emacs.wait_until("the edit in the diff", |screen| {
        screen.contains("+other words")
    });
    emacs.type_keys(ACCEPT);
    let wanted = "\u{feff}first\r\nother words\r\nlast";
    house.wait_for_file(terminal, "odd.txt", wanted);
    house.wait_until_done(terminal, &mark);
    put_away(emacs);
    emacs.wait_until("the file, loaded again", |screen| {
        screen.contains("other words")
    });
}

/// `drop` are the keys that drop the first hunk.
fn accept_one_hunk(house: &Household, emacs: &mut Terminal, terminal: &mut Terminal, drop: &str) {
    let poem = |third: &str, seventeenth: &str| -> String {
        (1..=20)
            .map(|number| match number {
                3 => format!("{third}\n"),
                17 => format!("{seventeenth}\n"),
                _ => format!("line {number}\n"),
            })
            .collect()
    };
    house.write("poem.txt", poem("third", "seventeenth"));
    let path = house.path("poem.txt");
    let write = Call::write(&path, &poem("THIRD", "SEVENTEENTH"));
    let mark = house.ask(terminal, vec![vec![Call::read(&path)], vec![write]]);
    emacs.wait_until("the diff", |screen| {
        screen.contains("+THIRD") && screen.contains("+SEVENTEENTH")
    });
    command(emacs, "outrigger-show");
    for key in drop.chars() {
        emacs.type_keys(&key.to_string());
        // Ediff takes its time, and would throw away keys that come too early.
        let shown = match key {
            'k' => "Dropped",
            'E' => "At start of 2 diffs",
            'n' => "diff 1 of 2",
            _ => "differences in region 1",
        };
        emacs.wait_until(shown, |screen| screen.contains(shown));
    }
    emacs.type_keys(ACCEPT);
    house.wait_for_file(terminal, "poem.txt", poem("third", "SEVENTEENTH"));
    house.wait_until_done(terminal, &mark);
    put_away(emacs);
}

fn quitting_ediff_decides_nothing(
    house: &Household,
    emacs: &mut Terminal,
    terminal: &mut Terminal,
) {
    visit(emacs, "hello.txt");
    let call = Call::write(house.path("later.txt"), "decided later\n");
    let mark = house.ask(terminal, vec![vec![call]]);
    emacs.wait_until("the diff", |screen| screen.contains("+decided later"));
    command(emacs, "outrigger-show");
    emacs.type_keys("E");
    emacs.wait_until("Ediff", |screen| screen.contains("Quick Help"));
    emacs.type_keys("qy");
    emacs.wait_until("the file", |screen| {
        screen.contains("Undecided") && screen.contains("typed 🙂 and not saved")
    });
    assert_eq!(house.proposals().len(), 1);
    command(emacs, "outrigger-accept");
    house.wait_for_file(terminal, "later.txt", "decided later\n");
    house.wait_until_done(terminal, &mark);
    put_away(emacs);
}

fn nothing_is_taken_from_the_minibuffer(
    house: &Household,
    emacs: &mut Terminal,
    terminal: &mut Terminal,
) {
    emacs.type_keys("\x1b:");
    emacs.wait_until("the minibuffer", |screen| screen.contains("Eval:"));
    emacs.type_keys("(message \"%s\" (* 6 ");
    emacs.wait_until("half of it", |screen| screen.contains("(* 6"));
    let call = Call::write(house.path("quiet.txt"), "quiet\n");
    let mark = house.ask(terminal, vec![vec![call]]);
    emacs.wait_until("the diff", |screen| screen.contains("+quiet"));
    emacs.type_keys("7))\r");
    emacs.wait_until("what was asked for", |screen| screen.contains("42"));
    command(emacs, "outrigger-accept");
    house.wait_for_file(terminal, "quiet.txt", "quiet\n");
    house.wait_until_done(terminal, &mark);
    put_away(emacs);
}

/// Qwen Code looks for itself whether the file has changed, and then does not write it.
fn file_changed_on_disk(
    house: &Household,
    emacs: &mut Terminal,
    terminal: &mut Terminal,
    agent: Agent,
) {
    house.write("moving.txt", "as the agent read it\n");
    let path = house.path("moving.txt");
    let turns = vec![
        vec![Call::read(&path)],
        vec![Call::write(&path, "as the agent wants it\n")],
    ];
    let mark = house.ask(terminal, turns);
    emacs.wait_until("the diff", |screen| {
        screen.contains("+as the agent wants it")
    });
    house.write("moving.txt", "changed by somebody else\n");
    command(emacs, "outrigger-accept");
    emacs.wait_until("the question", |screen| {
        screen.contains("was written since the agent read it")
    });
    emacs.type_keys("yes\r");
    house.wait_until_done(terminal, &mark);
    let left = match agent {
        Agent::Qwen => "changed by somebody else\n",
        Agent::Gemini => "as the agent wants it\n",
    };
    house.wait_for_file(terminal, "moving.txt", left);
    put_away(emacs);
}

fn unsaved_changes(house: &Household, emacs: &mut Terminal, terminal: &mut Terminal) {
    house.write("mine.txt", "first line\nsecond line\n");
    visit(emacs, "mine.txt");
    emacs.type_keys("MINE\r");
    let path = house.path("mine.txt");
    let turns = vec![
        vec![Call::read(&path)],
        vec![Call::edit(&path, "second", "SECOND")],
    ];
    let mark = house.ask(terminal, turns);
    emacs.wait_until("the diff with a warning", |screen| {
        screen.contains("unsaved changes")
            && screen.contains("-MINE")
            && screen.contains("+SECOND line")
    });
    command(emacs, "outrigger-accept");
    house.wait_for_file(terminal, "mine.txt", "first line\nSECOND line\n");
    house.wait_until_done(terminal, &mark);
    put_away(emacs);
    // What was typed is still there, and Emacs asks before it goes over what the agent wrote.
    emacs.type_keys(&format!("{CTRL_X}\x13"));
    emacs.wait_until("the question of Emacs", |screen| {
        screen.contains("MINE") && screen.contains("Save anyway?")
    });
    emacs.type_keys("no\r");
}

/// The person says yes in the terminal, and the agent takes its proposal back. Gemini CLI writes
/// what the editor says the text is by now; Qwen Code does not wait for that and writes its own.
fn answer_in_the_terminal(
    house: &Household,
    emacs: &mut Terminal,
    terminal: &mut Terminal,
    agent: Agent,
) {
    let call = Call::write(house.path("terminal.txt"), "as the agent wants it\n");
    let mark = house.ask(terminal, vec![vec![call]]);
    emacs.wait_until("the diff", |screen| {
        screen.contains("+as the agent wants it")
    });
    command(emacs, "outrigger-show");
    emacs.type_keys("e\x0btyped in Emacs");
    emacs.wait_until("the edit", |screen| screen.contains("typed in Emacs"));
    terminal.wait_until("the question", asks);
    terminal.choose(1);
    house.wait_until_done(terminal, &mark);
    let written = match agent {
        Agent::Qwen => "as the agent wants it\n",
        Agent::Gemini => "typed in Emacs\n",
    };
    house.wait_for_file(terminal, "terminal.txt", written);
    put_away(emacs);
}

fn reject(house: &Household, emacs: &mut Terminal, terminal: &mut Terminal) {
    house.write("keep.txt", "as it was\n");
    let path = house.path("keep.txt");
    let turns = vec![
        vec![Call::read(&path)],
        vec![Call::edit(&path, "as it was", "something else")],
    ];
    house.ask(terminal, turns);
    emacs.wait_until("the diff", |screen| screen.contains("+something else"));
    command(emacs, "outrigger-show");
    emacs.type_keys(REJECT);
    terminal.wait_until("the end of the question", |screen| !asks(screen));
    house.wait_for_prompt(terminal);
    house.wait_for_no_proposals();
    put_away(emacs);
    assert_eq!(house.read("keep.txt").unwrap(), b"as it was\n");
}

fn health(house: &Household, emacs: &mut Terminal) {
    command(emacs, "outrigger-health");
    let port = format!("on port {}", house.status()["port"]);
    emacs.wait_until("the report", |screen| screen.contains(&port));
    assert!(!emacs.screen().contains("FIX"), "{emacs}");
    emacs.type_keys("q");
}

#[test]
fn emacs_starts_the_companion_again_and_keeps_the_diff() {
    let Some(clients) = Clients::find() else {
        return;
    };
    let house = Household::new(PROGRAM, &clients);
    let mut emacs = start(&house, &["hello.txt"]);
    let mut terminal = house.start_connected(Agent::Qwen);
    let call = Call::write(house.path("crash.txt"), "as the agent wants it\n");
    house.ask(&mut terminal, vec![vec![call]]);
    emacs.wait_until("the diff", |screen| {
        screen.contains("+as the agent wants it")
    });
    command(&mut emacs, "outrigger-show");
    emacs.type_keys("e\x0btyped before the crash");
    emacs.wait_until("the edit", |screen| {
        screen.contains("+typed before the crash")
    });
    terminal.wait_until("the question", asks);
    let before = house.served_by().unwrap();
    let mut kill = Command::new("kill");
    let killed = kill.args(["-9", &before.to_string()]).status();
    assert!(killed.unwrap().success());
    emacs.wait_until("the news", |screen| screen.contains("is started again"));
    wait_for(
        "another companion",
        || house.served_by().filter(|process| *process != before),
        || emacs.to_string(),
    );
    house.wait_for_proposal(&terminal, Agent::Qwen, "crash.txt");
    emacs.wait_until("the companion in the mode line", |screen| {
        screen.contains("!1")
    });
    emacs.type_keys(ACCEPT);
    house.wait_for_file(&terminal, "crash.txt", "typed before the crash\n");
    put_away(&emacs);
}

#[test]
fn nothing_is_left_of_an_emacs_that_was_killed() {
    let Some(clients) = Clients::find() else {
        return;
    };
    let house = Household::new(PROGRAM, &clients);
    let mut emacs = start(&house, &["hello.txt"]);
    let mut terminal = house.start_connected(Agent::Gemini);
    let text = "decided in the terminal\n";
    let call = Call::write(house.path("orphan.txt"), text);
    let mark = house.ask(&mut terminal, vec![vec![call]]);
    emacs.wait_until("the diff", |screen| {
        screen.contains("+decided in the terminal")
    });
    assert!(!discovery_files(&house).is_empty());
    emacs.kill();
    nothing_is_left(&house);
    terminal.wait_until("the question", asks);
    terminal.choose(1);
    house.wait_for_file(&terminal, "orphan.txt", text);
    house.wait_until_done(&terminal, &mark);
}

#[test]
fn an_emacs_that_sleeps_misses_nothing() {
    let Some(clients) = Clients::find() else {
        return;
    };
    let house = Household::new(PROGRAM, &clients);
    let shell = ["bash", "--norc", "-i"];
    let mut environment = house.environment();
    environment.push(("PS1".into(), "$ ".into()));
    let mut emacs = Terminal::edit(&shell, &house.workspace(), &environment);
    emacs.wait_until("a prompt", |screen| screen.contains('$'));
    let typed = command_line(&house, &["hello.txt"]).map(|word| format!("'{word}'"));
    emacs.type_keys(&format!("{}\r", typed.collect::<Vec<_>>().join(" ")));
    wait_until_ready(&emacs);
    let mut terminal = house.start_connected(Agent::Gemini);
    emacs.type_keys("\x1a");
    emacs.wait_until("the shell", |screen| screen.contains("Stopped"));
    let call = Call::write(house.path("asleep.txt"), "asked for while it slept\n");
    let mark = house.ask(&mut terminal, vec![vec![call]]);
    house.wait_for_proposal(&terminal, Agent::Gemini, "asleep.txt");
    emacs.type_keys("fg\r");
    emacs.wait_until("the diff", |screen| {
        screen.contains("+asked for while it slept")
    });
    command(&mut emacs, "outrigger-accept");
    house.wait_for_file(&terminal, "asleep.txt", "asked for while it slept\n");
    house.wait_until_done(&terminal, &mark);
}

#[test]
fn two_emacsen_share_a_folder() {
    let Some(clients) = Clients::find() else {
        return;
    };
    let house = Household::new(PROGRAM, &clients);
    let mut first = start(&house, &["hello.txt"]);
    let port = house.status()["port"].clone();
    let second = start(&house, &["hello.txt"]);
    let status = house.outrigger(["status", "--json"], "");
    let status: Value = serde_json::from_slice(&status).unwrap();
    let ports: Vec<_> = status["companions"]
        .as_array()
        .unwrap()
        .iter()
        .map(|companion| &companion["port"])
        .collect();
    assert_eq!(ports.len(), 2, "{status}");
    assert_ne!(ports[0], ports[1]);
    first.kill();
    wait_for(
        "the end of the first companion",
        || {
            let status = house.outrigger(["status", "--json"], "");
            let status: Value = serde_json::from_slice(&status).unwrap();
            (status["companions"].as_array().unwrap().len() == 1).then_some(())
        },
        || second.to_string(),
    );
    assert_ne!(house.status()["port"], port);
    house.start_connected(Agent::Qwen).quit();
}

#[test]
fn a_daemon_shows_proposals_to_whoever_comes() {
    let Some(clients) = Clients::find() else {
        return;
    };
    let house = Household::new(PROGRAM, &clients);
    house.write("hello.txt", "first line\n");
    let mut arguments: Vec<_> = command_line(&house, &[]).collect();
    arguments[1] = "--fg-daemon".into();
    arguments.push("--eval=(find-file-noselect \"hello.txt\")".into());
    let arguments: Vec<_> = arguments.iter().map(String::as_str).collect();
    let mut daemon = Terminal::edit(&arguments, &house.workspace(), &house.environment());
    wait_for("a companion", || house.served_by(), || daemon.to_string());
    let mut terminal = house.start_connected(Agent::Qwen);
    let call = Call::write(house.path("daemon.txt"), "seen by whoever comes\n");
    let mark = house.ask(&mut terminal, vec![vec![call]]);
    house.wait_for_proposal(&terminal, Agent::Qwen, "daemon.txt");
    let come = || {
        let client = ["emacsclient", "-nw", "hello.txt"];
        Terminal::edit(&client, &house.workspace(), &house.environment())
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
    command(&mut second, "outrigger-accept");
    house.wait_for_file(&terminal, "daemon.txt", "seen by whoever comes\n");
    house.wait_until_done(&terminal, &mark);
    put_away(&first);
    put_away(&second);
    terminal.quit();
    command(&mut second, "kill-emacs");
    daemon.ended();
    nothing_is_left(&house);
}

#[test]
fn emacs_without_the_program_says_so_once() {
    let Some(clients) = Clients::find() else {
        return;
    };
    let house = Household::new("/no/such/outrigger", &clients);
    let arguments: Vec<_> = command_line(&house, &["hello.txt", "other.txt"]).collect();
    let arguments: Vec<_> = arguments.iter().map(String::as_str).collect();
    let mut emacs = Terminal::edit(&arguments, &house.workspace(), &house.environment());
    emacs.wait_until("the advice", |screen| screen.contains("cargo install"));
    visit(&mut emacs, "third.txt");
    command(&mut emacs, "outrigger-health");
    emacs.wait_until("the report", |screen| {
        screen.contains("FIX  there is no program /no/such/outrigger")
    });
    emacs.type_keys(&format!("{CTRL_X}b*Warnings*\r{CTRL_X}1"));
    emacs.wait_until("the warnings", |screen| {
        screen.contains("*Warnings*") && !screen.contains("FIX")
    });
    assert_eq!(
        emacs.screen().matches("cargo install").count(),
        1,
        "{emacs}"
    );
}

#[test]
fn the_package_passes_its_own_tests() {
    let arguments = [
        "-l",
        "outrigger-tests",
        "-f",
        "ert-run-tests-batch-and-exit",
    ];
    run_batch(&arguments);
}

#[test]
fn the_package_is_fit_for_an_archive() {
    run_batch(&["-l", "outrigger-lint", "-f", "outrigger-lint"]);
}

/// Runs Emacs without a screen, with the package and its tests to be loaded.
fn run_batch(arguments: &[&str]) {
    let Some(clients) = Clients::find() else {
        return;
    };
    let house = Household::new(PROGRAM, &clients);
    let mut emacs = Command::new("emacs");
    emacs.arg("--batch");
    emacs.arg("-L").arg(package());
    emacs.arg("-L").arg(package().join("test"));
    emacs.args(arguments).current_dir(house.workspace());
    emacs.env_clear().envs(house.environment());
    emacs.env("OUTRIGGER_PROGRAM", PROGRAM);
    let output = run_to_end(&mut emacs, "");
    let report = String::from_utf8_lossy(&output.stderr);
    println!("{report}");
    assert!(output.status.success(), "{}", output.status);
}

/// Starts Emacs with the package and waits until the companion runs.
fn start(house: &Household, files: &[&str]) -> Terminal {
    let arguments: Vec<_> = command_line(house, files).collect();
    let arguments: Vec<_> = arguments.iter().map(String::as_str).collect();
    let emacs = Terminal::edit(&arguments, &house.workspace(), &house.environment());
    wait_until_ready(&emacs);
    emacs
}

fn wait_until_ready(emacs: &Terminal) {
    emacs.wait_until("the companion in the mode line", |screen| {
        screen.contains("Outr") && !screen.contains("Outr-")
    });
}

/// What starts Emacs with the package and `files`.
fn command_line(house: &Household, files: &[&str]) -> impl Iterator<Item = String> {
    let setup = format!(
        "(setq outrigger-program \"{}\" inhibit-startup-screen t create-lockfiles nil)",
        house.program().display()
    );
    let words = [
        "emacs".to_owned(),
        "-nw".to_owned(),
        "-Q".to_owned(),
        format!("--directory={}", package().display()),
        format!("--eval={setup}"),
        "--load=outrigger".to_owned(),
        "--funcall=outrigger-mode".to_owned(),
    ];
    let files: Vec<_> = files.iter().map(|file| (*file).to_owned()).collect();
    words.into_iter().chain(files)
}

fn package() -> PathBuf {
    let package = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../editors/emacs");
    package.canonicalize().unwrap()
}

/// Runs a command by its name.
fn command(emacs: &mut Terminal, name: &str) {
    emacs.type_keys(&format!("{META_X}{name}\r"));
}

fn visit(emacs: &mut Terminal, name: &str) {
    emacs.type_keys(&format!("{CTRL_X}\x06{name}\r"));
    emacs.wait_until("the file", |screen| screen.contains(name));
}

/// Waits until agents see exactly as much selected as `text` has.
fn selected(house: &Household, emacs: &Terminal, text: &str) {
    let length = u64::try_from(text.chars().count()).unwrap();
    wait_for(
        "the selection in what agents see",
        || (house.status()["files"][0]["selected"] == length).then_some(()),
        || format!("{length} expected, {}\n{emacs}", house.status()),
    );
}

/// Waits until no diff is on the screen. It may seem so for a moment while Emacs draws, so one
/// glance is not enough.
fn put_away(emacs: &Terminal) {
    let glances = Cell::new(0);
    emacs.wait_until("the end of the diff", |screen| {
        let gone = !screen.contains("*proposal") && !screen.contains("*proposed");
        glances.set(if gone { glances.get() + 1 } else { 0 });
        glances.get() == 5
    });
}

fn nothing_is_left(house: &Household) {
    wait_for(
        "the end of the discovery files",
        || discovery_files(house).is_empty().then_some(()),
        || format!("{:?}", discovery_files(house)),
    );
}
