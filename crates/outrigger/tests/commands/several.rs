//! Deciding the only proposal, and several at once.

use serde_json::{Value, json};
use testkit::{Key, Machine, PlayedAgent, Terminal};

use crate::{PROGRAM, machine};

/// A companion, two agents, and three proposals: two of Qwen Code, one of Gemini CLI.
fn scene(machine: &Machine) -> (testkit::Companion, PlayedAgent, PlayedAgent) {
    let served = machine.start_companion(&[]);
    let mut qwen = PlayedAgent::qwen(machine, &served);
    let mut gemini = PlayedAgent::gemini(machine, &served);
    qwen.open_diff(&machine.write("a.txt", "one\n"), "ONE\ntwo\n");
    qwen.open_diff(&machine.write("b.txt", "one\n"), "ONE\n");
    gemini.open_diff(&machine.write("c.txt", "one\ntwo\n"), "one\n");
    (served, qwen, gemini)
}

fn pending(machine: &Machine) -> Vec<u64> {
    machine.proposals().iter().map(|it| it.id).collect()
}

#[test]
fn the_only_proposal_needs_no_number() {
    let machine = machine();
    let served = machine.start_companion(&[]);
    let mut agent = PlayedAgent::qwen(&machine, &served);
    let path = machine.write("a.txt", "one\n");
    for command in ["accept", "reject", "show"] {
        let none = machine.run(&[command]);
        assert_eq!(none.code, 4, "{none:?}");
        assert!(none.stderr.contains("nothing is pending"), "{none:?}");
    }
    agent.open_diff(&path, "ONE\n");
    assert!(machine.run(&["show"]).good().contains("+ONE"));
    machine.run(&["accept"]).good();
    assert_eq!(agent.hear_verdict()["params"]["content"], "ONE\n");
    agent.open_diff(&path, "ONE\n");
    machine.run(&["reject"]).good();
    assert_eq!(agent.hear_verdict()["method"], "ide/diffRejected");
}

#[test]
fn among_several_a_number_is_needed() {
    let machine = machine();
    let _scene = scene(&machine);
    for command in ["accept", "reject", "show"] {
        let done = machine.run(&[command]);
        assert_eq!(done.code, 4, "{done:?}");
        for part in [
            "  1  qwen    a.txt  +2 −1  (1 hunk; Qwen Code",
            "  3  gemini  c.txt  +0 −1  (1 hunk; Gemini CLI",
            "3 proposals are pending",
            &format!("outrigger {command} 1"),
        ] {
            assert!(done.stderr.contains(part), "{part} in {}", done.stderr);
        }
    }
    assert_eq!(pending(&machine), [1, 2, 3]);
}

#[test]
fn all_of_them_or_all_of_one_agent_after_a_yes() {
    let machine = machine();
    let (_served, mut qwen, mut gemini) = scene(&machine);
    // Without a terminal nobody can be asked.
    for args in [&["accept", "--all"][..], &["reject", "--agent", "qwen"]] {
        let done = machine.run_with(args, "y\n");
        assert_eq!(done.code, 4, "{done:?}");
        assert!(done.stderr.contains("--yes"), "{done:?}");
    }
    assert_eq!(pending(&machine), [1, 2, 3]);

    let done = machine.run(&["accept", "--agent", "qwen", "--yes", "--json"]);
    assert!(done.stderr.contains("  2  qwen  b.txt  +1 −1"), "{done:?}");
    let ids: Vec<Value> = done
        .json()
        .as_array()
        .unwrap()
        .iter()
        .map(|it| it["id"].clone())
        .collect();
    assert_eq!(ids, [json!(1), json!(2)]);
    for text in ["ONE\ntwo\n", "ONE\n"] {
        assert_eq!(qwen.hear_verdict()["params"]["content"], text);
    }
    assert_eq!(pending(&machine), [3]);
    let none = machine.run(&["accept", "--agent", "qwen", "--yes"]);
    assert_eq!(none.code, 0, "{none:?}");
    assert!(
        none.stderr.contains("there is nothing to accept"),
        "{none:?}"
    );

    let unknown = machine.run(&["reject", "--agent", "qwne", "--yes"]);
    assert_eq!(unknown.code, 2, "{unknown:?}");
    machine.run(&["reject", "--all", "-y"]).good();
    assert_eq!(gemini.hear_verdict()["method"], "ide/diffRejected");
    assert_eq!(pending(&machine), [] as [u64; 0]);
}

#[test]
fn what_cannot_be_shown_is_not_accepted_with_the_rest() {
    let machine = machine();
    let served = machine.start_companion(&[]);
    let mut agent = PlayedAgent::gemini(&machine, &served);
    agent.open_diff(&machine.write("a.bin", b"\xff\xfe"), "text");
    agent.open_diff(&machine.write("a.txt", "one\n"), "ONE\n");
    let done = machine.run(&["accept", "--all", "--yes"]);
    assert_eq!(done.code, 0, "{done:?}");
    assert!(done.stderr.contains("agent's own terminal"), "{done:?}");
    assert_eq!(agent.hear_verdict()["params"]["content"], "ONE\n");
    assert_eq!(pending(&machine), [1]);
    machine.run(&["reject", "--all", "--yes"]).good();
    assert_eq!(pending(&machine), [] as [u64; 0]);
}

#[test]
fn the_person_at_the_terminal_is_asked() {
    let machine = machine();
    let (_served, mut qwen, _gemini) = scene(&machine);
    for (key, left) in [("n", vec![1, 2, 3]), ("y", vec![])] {
        let command = [PROGRAM, "accept", "--all"];
        let mut terminal = Terminal::start(&command, &machine.workspace(), &machine.environment());
        terminal.wait_until("the question", |screen| {
            screen.contains("  3  gemini  c.txt  +0 −1  (1 hunk; Gemini CLI")
                && screen.contains("accept 3 proposals (+3 −3)? [y/N]")
        });
        assert_eq!(pending(&machine), [1, 2, 3]);
        terminal.type_keys(key);
        terminal.press(Key::Enter);
        terminal.ended();
        assert_eq!(pending(&machine), left, "{key}\n{terminal}");
    }
    assert_eq!(qwen.hear_verdict()["params"]["content"], "ONE\ntwo\n");
}
