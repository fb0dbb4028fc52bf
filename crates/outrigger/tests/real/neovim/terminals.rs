//! An agent in Neovim's own terminal.

use testkit::Agent;

use super::nvim::Neovim;
use super::{NEW, OLD, household};
use crate::asks;

#[test]
fn qwen_runs_in_the_terminal_of_a_new_neovim() {
    agent_in_the_terminal(Agent::Qwen, NEW);
}

#[test]
fn gemini_runs_in_the_terminal_of_an_old_neovim() {
    agent_in_the_terminal(Agent::Gemini, OLD);
}

fn agent_in_the_terminal(agent: Agent, which: usize) {
    let Some(house) = household(which) else {
        return;
    };
    house.write("hello.txt", "hello\n");
    let environment = house.environment_for(agent);
    let mut neovim = Neovim::start_bare(&house, which, &["hello.txt"], environment);
    neovim.wait_for_ready();
    let port = house.status()["port"].to_string();
    assert_eq!(neovim.eval("$QWEN_CODE_IDE_SERVER_PORT"), port);
    assert_eq!(neovim.eval("$GEMINI_CLI_IDE_SERVER_PORT"), port);

    neovim.command(&format!("tabnew | terminal {}", agent.command().join(" ")));
    neovim.keys("i");
    neovim.wait_for("mode()", "t");
    house.wait_for_session(&neovim.terminal, agent);
    let text = "from the agent in the terminal\n";
    let mark = house.ask_to_create(&mut neovim.terminal, "inside.txt", text);
    house.wait_for_proposal(&neovim, agent, "inside.txt");
    // The agent asks in its terminal, where the person is, and keeps it.
    neovim.terminal.wait_until("the question", asks);
    neovim.wait_until("the news", |it| it.messages().contains(":Outrigger show"));
    assert_eq!(neovim.eval("mode() . tabpagenr('$')"), "t2");

    neovim.keys("\u{1c}\u{e}:Outrigger show\r");
    neovim.wait_for_review("inside.txt");
    neovim.keys(":w\r");
    house.wait_for_file(&neovim.terminal, "inside.txt", text);
    neovim.wait_for("&buftype . tabpagenr('$')", "terminal2");
    neovim.keys("i");
    house.wait_until_done(&neovim.terminal, &mark);
}
