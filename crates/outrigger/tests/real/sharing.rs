//! Several editors and a terminal in one folder: one companion, which everybody shows.

use serde_json::Value;
use testkit::{Agent, Household, PlayedAgent, wait_for};

use crate::emacs::driver::{ACCEPT, CTRL_X, Emacs};
use crate::neovim::nvim::Neovim;
use crate::neovim::{NEW, OLD, household};

#[test]
fn an_old_neovim_shows_what_waits_in_the_companion_of_a_terminal() {
    neovim_comes_later(OLD);
}

#[test]
fn a_new_neovim_shows_what_waits_in_the_companion_of_a_terminal() {
    neovim_comes_later(NEW);
}

#[test]
fn emacs_goes_on_when_neovim_has_left() {
    let Some(house) = household(OLD) else {
        return;
    };
    house.write("hello.txt", "hello\n");
    let mut neovim = Neovim::start(&house, OLD, &["hello.txt"]);
    let emacs_then_neovim = house.served_by();
    let mut emacs = Emacs::start(&house, &["hello.txt"]);
    let mut terminal = house.start_connected(Agent::Qwen);
    let mark = house.ask_to_create(&mut terminal, "both.txt", "seen in both\n");
    neovim.wait_for_review("both.txt");
    emacs.wait_until("the diff", |screen| screen.contains("+seen in both"));
    neovim.keys(":qa!\r");
    neovim.terminal.ended();
    wait_for_editors(&house, &["Emacs"]);
    assert_eq!(house.served_by(), emacs_then_neovim);
    emacs.command("outrigger-show");
    emacs.keys(ACCEPT);
    house.wait_for_file(&terminal, "both.txt", "seen in both\n");
    house.wait_until_done(&terminal, &mark);
}

/// The person closes one editor and opens the other; the agents in their terminals do not notice.
#[test]
fn qwen_and_gemini_stay_connected_from_an_old_neovim_to_emacs() {
    from_neovim_to_emacs(OLD);
}

#[test]
fn qwen_and_gemini_stay_connected_from_a_new_neovim_to_emacs() {
    from_neovim_to_emacs(NEW);
}

#[test]
fn gemini_stays_connected_from_emacs_to_neovim() {
    let Some(house) = household(OLD) else {
        return;
    };
    house.write("hello.txt", "hello\n");
    let mut emacs = Emacs::start(&house, &["hello.txt"]);
    let mut terminal = house.start_connected(Agent::Gemini);
    let before = (house.served_by(), sessions(&house));
    emacs.keys(&format!("{CTRL_X}\x03"));
    emacs.terminal.ended();
    wait_for_editors(&house, &[]);
    let neovim = Neovim::start(&house, OLD, &["hello.txt"]);
    assert_eq!((house.served_by(), sessions(&house)), before);
    house.ask_to_create(&mut terminal, "after.txt", "asked for after the change\n");
    neovim.wait_for_review("after.txt");
}

fn neovim_comes_later(which: usize) {
    let Some(mut house) = household(which) else {
        return;
    };
    house.serve();
    let port = house.companion().port();
    let mut agent = PlayedAgent::connect(port, &house.qwen_token(port));
    for name in ["a.txt", "b.txt"] {
        let path = house.write(name, "old\n");
        agent.open_diff(&path, "new\n");
    }
    let mut neovim = Neovim::start(&house, which, &["a.txt"]);
    let summary = r#"luaeval('require("outrigger").status().summary')"#;
    neovim.wait_for(summary, "Qwen Code; 2 pending; 0 held back");
    neovim.eval("execute('tabonly')");
    neovim.command("checkhealth outrigger");
    let report = neovim.text();
    let port = format!("port {port}");
    for part in ["Qwen Code", "2 pending", &port] {
        assert!(report.contains(part), "no {part} in {report}");
    }
    let editors = house.status()["editors"].clone();
    assert_eq!(editors[0]["name"], "Neovim", "{editors}");
    // The commands show the same.
    assert_eq!(house.proposals().len(), 2);
    assert_eq!(house.sessions().len(), 1);
}

fn from_neovim_to_emacs(which: usize) {
    let Some(house) = household(which) else {
        return;
    };
    house.write("hello.txt", "hello\n");
    let mut neovim = Neovim::start(&house, which, &["hello.txt"]);
    let mut qwen = house.start_connected(Agent::Qwen);
    let mut gemini = house.start_connected(Agent::Gemini);
    let before = (house.served_by(), sessions(&house));
    assert_eq!(names_found(&house), ["Neovim"]);
    neovim.keys(":qa\r");
    neovim.terminal.ended();
    wait_for_editors(&house, &[]);
    let mut emacs = Emacs::start(&house, &["hello.txt"]);
    assert_eq!((house.served_by(), sessions(&house)), before);
    assert_eq!(names_found(&house), ["Emacs"]);
    for (terminal, name, text) in [
        (&mut qwen, "qwen.txt", "of qwen\n"),
        (&mut gemini, "gemini.txt", "of gemini\n"),
    ] {
        let mark = house.ask_to_create(terminal, name, text);
        emacs.wait_until("the diff", |screen| {
            screen.contains(&format!("+{}", text.trim_end()))
        });
        emacs.command("outrigger-show");
        emacs.keys(ACCEPT);
        house.wait_for_file(terminal, name, text);
        house.wait_until_done(terminal, &mark);
    }
}

/// The sessions that have a stream, by their ids: an agent that reconnects gets another.
fn sessions(house: &Household) -> Vec<String> {
    let all = house.sessions();
    let streaming = all.iter().filter(|session| session["streaming"] == true);
    streaming
        .map(|session| session["id"].as_str().unwrap().to_owned())
        .collect()
}

#[track_caller]
fn wait_for_editors(house: &Household, names: &[&str]) {
    let joined = || {
        let status = house.status();
        let editors = status["editors"].as_array().unwrap().iter();
        editors
            .map(|editor| editor["name"].as_str().unwrap().to_owned())
            .collect::<Vec<_>>()
    };
    wait_for(
        &format!("the editors {names:?}"),
        || (joined() == names).then_some(()),
        || house.status().to_string(),
    );
}

/// The names of the editor that agents read in the discovery files, each once.
fn names_found(house: &Household) -> Vec<String> {
    let files = crate::editor::discovery_files(house);
    let names = files.iter().filter_map(|path| {
        let file: Value = serde_json::from_slice(&std::fs::read(path).ok()?).ok()?;
        Some(file["ideInfo"]["displayName"].as_str()?.to_owned())
    });
    let mut names: Vec<_> = names.collect();
    names.sort();
    names.dedup();
    names
}
