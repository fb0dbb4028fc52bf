//! The published agents as processes: which of them is which, and when one is gone.

use testkit::{Agent, Household, Terminal, wait_for};

use crate::served_household;

#[test]
fn a_killed_qwen_is_gone() {
    kill(Agent::Qwen, "Qwen Code 0.24.4");
}

#[test]
fn a_killed_gemini_is_gone() {
    kill(Agent::Gemini, "Gemini CLI 0.61.0");
}

/// Kills the process that a person sees. The ones that it has started for itself live on, connected.
fn kill(agent: Agent, product: &str) {
    let Some(house) = served_household() else {
        return;
    };
    let mut terminal = start_as_a_person_does(&house, agent);
    let session = &house.sessions()[0];
    let label = session["label"].as_str().unwrap().to_owned();
    assert!(label.starts_with(&format!("{product} · pts/")), "{label}");
    let process = format!(" · process {}", terminal.pid());
    assert!(label.ends_with(&process), "{label} is not {process}");

    house.ask_to_create(&mut terminal, "abandoned.txt", "never written\n");
    let proposal = house.wait_for_proposal(&terminal, agent, "abandoned.txt");
    terminal.kill();
    let refused = house.run(&["accept", &proposal.id.to_string()]);
    assert_eq!(refused.code, 4, "{refused:?}");
    // Which of the two depends on whether the companion has missed the agent before it is asked.
    let reasons = ["is gone", "is not open"];
    assert!(
        reasons.iter().any(|reason| refused.stderr.contains(reason)),
        "{refused:?}"
    );
    wait_for(
        "the end of the session",
        || house.sessions().is_empty().then_some(()),
        || format!("{:?}", house.sessions()),
    );
    assert!(house.proposals().is_empty());
    assert_eq!(house.read("abandoned.txt"), None);
}

/// With the processes that the agent starts for itself, which the kit spares it elsewhere.
fn start_as_a_person_does(house: &Household, agent: Agent) -> Terminal {
    let mut environment = house.environment_for(agent);
    environment.retain(|(name, _)| !name.ends_with("_NO_RELAUNCH"));
    let terminal = Terminal::start(agent.command(), &house.workspace(), &environment);
    house.wait_for_prompt(&terminal);
    house.wait_for_session(&terminal, agent);
    terminal
}
