//! What the terminal in which a companion runs is told.

use serde_json::json;
use testkit::{Machine, PlayedAgent, Terminal};

use crate::{PROGRAM, machine};

/// A companion in a terminal of its own, as a person starts it from elsewhere, and its port.
fn sit_down(machine: &Machine, args: &[&str]) -> (Terminal, u16) {
    let folder = machine.workspace();
    let command = [&[PROGRAM, folder.to_str().unwrap(), "--no-open"], args].concat();
    let terminal = Terminal::start(&command, &machine.home(), &machine.environment());
    terminal.wait_until("the companion", |screen| {
        screen.contains("lists what they want to change")
    });
    let port = machine.status()["port"].as_u64().unwrap();
    (terminal, port.try_into().unwrap())
}

/// What the terminal says after the greeting. Agents are this process, wherever it runs, and have
/// the name of their product only.
fn lines(terminal: &Terminal) -> Vec<String> {
    let screen = terminal.screen();
    let after = screen.split_once("want to change.").unwrap().1;
    let lines = after.lines().map(str::trim_end);
    lines
        .filter(|line| !line.is_empty())
        .map(|line| match line.split_once("Qwen Code") {
            Some((before, rest)) => {
                let end = [" is connected", " is gone"];
                let end = end.into_iter().find(|end| rest.ends_with(end));
                format!("{before}Qwen Code{}", end.unwrap_or_default())
            }
            None => line.to_owned(),
        })
        .collect()
}

#[test]
fn the_terminal_tells_what_happens() {
    let machine = machine();
    let (terminal, port) = sit_down(&machine, &[]);
    let mut agent = PlayedAgent::connect(port, &machine.qwen_token(port));
    let one = machine.write("a.txt", "one\n");
    std::fs::create_dir(machine.path("src")).unwrap();
    agent.open_diff(&one, "ONE\ntwo\n");
    agent.open_diff(
        machine.path("src/n\u{1b}[2J.txt").to_str().unwrap(),
        "new\n",
    );
    terminal.wait_until("the proposals", |screen| screen.contains("proposal 2"));
    machine.run(&["accept", "1"]).good();
    let params = json!({ "name": "closeDiff", "arguments": { "filePath": machine.path("src/n\u{1b}[2J.txt") } });
    agent.request("tools/call", params);
    agent.open_diff(&one, "ONE\n");
    terminal.wait_until("the third", |screen| screen.contains("proposal 3"));
    assert_eq!(agent.knock_at("DELETE", "/mcp"), 200);
    terminal.wait_until("the end", |screen| {
        screen.contains("is gone") && screen.contains("left by")
    });
    let mut told = lines(&terminal);
    // The agent and what it leaves behind go at the same time.
    told[6..].sort();
    assert_eq!(
        told,
        [
            "Qwen Code is connected",
            "proposal 1: a.txt +2 −1 by Qwen Code",
            "proposal 2: src/n␛[2J.txt (new file) +1 −0 by Qwen Code",
            "proposal 1: a.txt accepted",
            "proposal 2: src/n␛[2J.txt taken back by its agent",
            "proposal 3: a.txt +1 −1 by Qwen Code",
            "Qwen Code is gone",
            "proposal 3: a.txt left by its agent",
        ]
    );
    terminal.quit();
}

#[test]
fn a_planned_restart_is_not_told_as_something_new() {
    let machine = machine();
    let (terminal, port) = sit_down(&machine, &[]);
    let mut agent = PlayedAgent::connect(port, &machine.qwen_token(port));
    let path = machine.write("a.txt", "one\n");
    agent.open_diff(&path, "ONE\n");
    terminal.wait_until("the proposal", |screen| screen.contains("proposal 1"));
    machine.run(&["restart"]).good();
    agent.listen();
    machine.run(&["reject", "1"]).good();
    terminal.wait_until("the end", |screen| screen.contains("rejected"));
    assert_eq!(
        lines(&terminal),
        [
            "Qwen Code is connected",
            "proposal 1: a.txt +1 −1 by Qwen Code",
            "proposal 1: a.txt rejected",
        ]
    );
}

#[test]
fn who_wants_quiet_has_it() {
    let machine = machine();
    let folder = machine.home().join(".config/outrigger");
    std::fs::create_dir_all(&folder).unwrap();
    let path = machine.write("a.txt", "one\n");
    let config = folder.join("config.toml");
    for (text, args) in [("", &["--quiet"][..]), ("quiet = true\n", &[])] {
        std::fs::write(&config, text).unwrap();
        let (mut terminal, port) = sit_down(&machine, args);
        let mut agent = PlayedAgent::connect(port, &machine.qwen_token(port));
        agent.open_diff(&path, "ONE\n");
        machine.run(&["accept"]).good();
        agent.hear_verdict();
        machine.run(&["stop"]).good();
        terminal.ended();
        assert_eq!(lines(&terminal), [] as [&str; 0], "{text}{args:?}");
    }
    std::fs::remove_file(&config).unwrap();
    // Programs read one line, and nothing else.
    let mut served = machine.start_companion(&[]);
    let mut agent = PlayedAgent::qwen(&machine, &served);
    agent.open_diff(&path, "ONE\n");
    machine.run(&["accept"]).good();
    agent.hear_verdict();
    machine.run(&["stop"]).good();
    served.ended();
    let printed = served.printed();
    assert_eq!(printed, served.ready_line(), "{printed}");
}
