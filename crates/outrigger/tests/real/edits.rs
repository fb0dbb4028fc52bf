//! One agent, one companion: every way in which an edit can be decided.

use testkit::{Agent, Call, Household, Key, Terminal};

use crate::{asks, served_household, story};

#[test]
fn qwen_obeys_the_commands() {
    decide_with_commands(Agent::Qwen);
}

#[test]
fn gemini_obeys_the_commands() {
    decide_with_commands(Agent::Gemini);
}

#[test]
fn qwen_tells_what_was_decided_in_its_terminal() {
    decide_in_the_terminal(Agent::Qwen);
}

#[test]
fn gemini_tells_what_was_decided_in_its_terminal() {
    decide_in_the_terminal(Agent::Gemini);
}

/// One start of the agent for all, because the start is what takes the time.
fn decide_with_commands(agent: Agent) {
    let Some(house) = served_household() else {
        return;
    };
    let mut terminal = house.start_connected(agent);
    context_reaches_the_model(&house, &mut terminal, agent);
    accept_edited(&house, &mut terminal, agent);
    accept_some_hunks(&house, &mut terminal, agent);
    accept_after_a_change(&house, &mut terminal, agent);
    two_in_a_row(&house, &mut terminal, agent);
    reject(&house, &mut terminal, agent);
    terminal.quit();
}

fn decide_in_the_terminal(agent: Agent) {
    let Some(house) = served_household() else {
        return;
    };
    let mut terminal = house.start_connected(agent);
    terminal_accept(&house, &mut terminal, agent);
    terminal_reject(&house, &mut terminal, agent);
    quit_with_a_diff_open(&house, terminal, agent);
}

fn context_reaches_the_model(house: &Household, terminal: &mut Terminal, agent: Agent) {
    house.write("hello.txt", "hello\nworld\n");
    house.focus("hello.txt", 2, 3, "SELECTED-BY-THE-PERSON");
    let text = "line one\nline two\n";
    let mark = house.ask_to_create(terminal, "new.txt", text);
    let proposal = house.wait_for_proposal(terminal, agent, "new.txt");
    let request = &house.model.requests_containing(&mark)[0].to_string();
    for part in ["hello.txt", "SELECTED-BY-THE-PERSON"] {
        assert!(request.contains(part), "no {part} in {request}");
    }
    assert_eq!(house.read("new.txt"), None, "written before the decision");
    house.accept(&proposal);
    house.wait_for_file(terminal, "new.txt", text);
    house.wait_until_done(terminal, &mark);
    house.wait_for_no_proposals();
}

fn accept_edited(house: &Household, terminal: &mut Terminal, agent: Agent) {
    let mark = house.ask_to_create(terminal, "edited.txt", "as the agent wants it\n");
    let proposal = house.wait_for_proposal(terminal, agent, "edited.txt");
    house.accept_edited(&proposal, "AS THE PERSON WANTS IT\n");
    house.wait_for_file(terminal, "edited.txt", "AS THE PERSON WANTS IT\n");
    house.wait_until_done(terminal, &mark);
    let told = house.model.requests_containing("AS THE PERSON WANTS IT");
    assert!(!told.is_empty(), "the model was not told of the change");
}

fn accept_some_hunks(house: &Household, terminal: &mut Terminal, agent: Agent) {
    let mark = story::two_changes(house, terminal);
    let proposal = house.wait_for_proposal(terminal, agent, "poem.txt");
    assert_eq!(proposal.hunks, 2, "{proposal:?}");
    let shown = house.run(&["show", &proposal.id.to_string()]).good();
    for line in ["-third", "+THIRD", "-seventeenth", "+SEVENTEENTH"] {
        assert!(shown.lines().any(|it| it == line), "no {line} in {shown}");
    }
    house.accept_hunks(&proposal, "2");
    story::second_change_is_made(house, terminal, &mark);
}

/// The person saves a change of their own while the agent waits: the agent writes both, or reads
/// the file again first. The person's change is there in any case.
fn accept_after_a_change(house: &Household, terminal: &mut Terminal, agent: Agent) {
    let mark = story::two_changes(house, terminal);
    let proposal = house.wait_for_proposal(terminal, agent, "poem.txt");
    story::person_changes_the_poem(house);
    let id = proposal.id.to_string();
    let unseen = house.run(&["accept", &id]);
    assert_eq!(unseen.code, 4, "{unseen:?}");
    house.run(&["show", &id]).good();
    house.run(&["accept", &id]).good();
    match agent {
        Agent::Gemini => story::both_changes_are_made(house, terminal, &mark),
        Agent::Qwen => {
            house.wait_until_done(terminal, &mark);
            story::persons_change_is_there(house);
            let told = house
                .model
                .requests_containing("modified since you last read it");
            assert!(!told.is_empty(), "the model was not told to read it again");
        }
    }
}

fn two_in_a_row(house: &Household, terminal: &mut Terminal, agent: Agent) {
    let calls = vec![
        Call::write(house.path("a.txt"), "A\n"),
        Call::write(house.path("b.txt"), "B\n"),
    ];
    let mark = house.ask(terminal, vec![calls]);
    for name in ["a.txt", "b.txt"] {
        let proposal = house.wait_for_proposal(terminal, agent, name);
        house.accept(&proposal);
    }
    house.wait_until_done(terminal, &mark);
    assert_eq!(house.read("a.txt").unwrap(), b"A\n");
    assert_eq!(house.read("b.txt").unwrap(), b"B\n");
}

fn reject(house: &Household, terminal: &mut Terminal, agent: Agent) {
    story::unwanted_change(house, terminal);
    let proposal = house.wait_for_proposal(terminal, agent, "keep.txt");
    house.reject(&proposal);
    story::nothing_is_changed(house, terminal);
}

fn terminal_accept(house: &Household, terminal: &mut Terminal, agent: Agent) {
    let text = "decided in the terminal\n";
    let mark = house.ask_to_create(terminal, "terminal.txt", text);
    house.wait_for_proposal(terminal, agent, "terminal.txt");
    story::yes_in_the_terminal(terminal);
    house.wait_for_file(terminal, "terminal.txt", text);
    house.wait_until_done(terminal, &mark);
    house.wait_for_no_proposals();
}

fn terminal_reject(house: &Household, terminal: &mut Terminal, agent: Agent) {
    house.ask_to_create(terminal, "refused.txt", "never written\n");
    house.wait_for_proposal(terminal, agent, "refused.txt");
    terminal.wait_until("the question", asks);
    terminal.press(Key::Escape);
    house.wait_for_no_proposals();
    terminal.wait_until("the end of the question", |screen| !asks(screen));
    house.wait_for_prompt(terminal);
    assert_eq!(house.read("refused.txt"), None);
}

fn quit_with_a_diff_open(house: &Household, mut terminal: Terminal, agent: Agent) {
    house.ask_to_create(&mut terminal, "abandoned.txt", "never written\n");
    house.wait_for_proposal(&terminal, agent, "abandoned.txt");
    terminal.quit();
    house.wait_for_no_proposals();
    story::no_stream_is_left(house);
    assert_eq!(house.read("abandoned.txt"), None);
}
