//! Two agents at one companion.

use testkit::{Agent, Call, wait_for};

use crate::{asks, served_household};

/// Both propose the same file; each gets its own verdict and nothing of the other's.
#[test]
fn two_agents_with_a_diff_each_on_the_same_file() {
    let Some(house) = served_household() else {
        return;
    };
    let mut qwen = house.start_connected(Agent::Qwen);
    let mut gemini = house.start_connected(Agent::Gemini);
    for (name, winner) in [("first.txt", Agent::Qwen), ("second.txt", Agent::Gemini)] {
        let path = house.path(name);
        let of = |agent: Agent| vec![vec![Call::write(&path, &format!("by {}\n", agent.name()))]];
        let qwen_mark = house.ask(&mut qwen, of(Agent::Qwen));
        let from_qwen = house.wait_for_proposal(&qwen, Agent::Qwen, name);
        let gemini_mark = house.ask(&mut gemini, of(Agent::Gemini));
        let from_gemini = house.wait_for_proposal(&gemini, Agent::Gemini, name);
        assert_ne!(from_qwen.session, from_gemini.session);
        assert_eq!(house.proposals().len(), 2, "{:?}", house.proposals());

        let (won, lost, happy, sad, mark) = match winner {
            Agent::Qwen => (&from_qwen, &from_gemini, &qwen, &gemini, qwen_mark),
            Agent::Gemini => (&from_gemini, &from_qwen, &gemini, &qwen, gemini_mark),
        };
        house.accept(won);
        let text = format!("by {}\n", winner.name());
        house.wait_for_file(happy, name, &text);
        house.wait_until_done(happy, &mark);
        let left: Vec<u64> = house.proposals().iter().map(|it| it.id).collect();
        assert_eq!(left, [lost.id], "one verdict decided both");
        assert!(asks(&sad.screen()), "the other agent stopped asking\n{sad}");

        house.reject(lost);
        wait_for(
            "the end of the other question",
            || (!asks(&sad.screen())).then_some(()),
            || sad.to_string(),
        );
        house.wait_for_prompt(sad);
        assert_eq!(house.read(name).unwrap(), text.as_bytes());
    }
}
