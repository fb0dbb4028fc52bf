//! The stream ends in the middle of a diff: alone, with the companion, or in a crash.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use serde_json::Value;
use testkit::{Agent, Call, Clients, Household, Proposal, Terminal, wait_for};

use crate::{PROGRAM, asks, served_household};

#[test]
fn qwen_does_not_notice_a_planned_restart() {
    planned_restart(Agent::Qwen);
}

#[test]
fn gemini_does_not_notice_a_planned_restart() {
    planned_restart(Agent::Gemini);
}

#[test]
fn qwen_does_not_notice_the_clean_end_of_a_stream() {
    clean_end(Agent::Qwen);
}

#[test]
fn gemini_does_not_notice_the_clean_end_of_a_stream() {
    clean_end(Agent::Gemini);
}

#[test]
fn qwen_gets_its_verdict_after_a_crash() {
    crash(Agent::Qwen);
}

#[test]
fn gemini_gets_its_verdict_after_a_crash() {
    crash(Agent::Gemini);
}

#[test]
fn qwen_asks_on_when_the_companion_stops() {
    let Some((house, mut terminal)) = stop_while_it_asks(Agent::Qwen) else {
        return;
    };
    terminal.wait_until("the question", asks);
    terminal.choose(1);
    house.wait_for_file(&terminal, "during.txt", "text of during.txt\n");
}

/// Gemini CLI would wait for ever, whatever is pressed, so it is told no.
#[test]
fn gemini_can_be_talked_to_when_the_companion_stops() {
    let Some((house, mut terminal)) = stop_while_it_asks(Agent::Gemini) else {
        return;
    };
    terminal.wait_until("the end of the question", |screen| !asks(screen));
    assert_eq!(house.read("during.txt"), None);
    house.ask_to_create(&mut terminal, "after.txt", "text of after.txt\n");
    terminal.wait_until("the next question", asks);
    terminal.choose(1);
    house.wait_for_file(&terminal, "after.txt", "text of after.txt\n");
}

fn stop_while_it_asks(agent: Agent) -> Option<(Household, Terminal)> {
    let house = served_household()?;
    let mut terminal = house.start_connected(agent);
    propose(&house, &mut terminal, agent, "during.txt");
    terminal.wait_until("the question", asks);
    house.run(&["stop"]).good();
    Some((house, terminal))
}

fn planned_restart(agent: Agent) {
    let Some(clients) = Clients::find() else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("outrigger");
    fs::copy(PROGRAM, &program).unwrap();
    let mut house = Household::with_companion(&program, &clients);
    let (pid, port) = (house.companion().pid(), house.companion().port());
    let mut terminal = house.start_connected(agent);
    let (mark, before) = propose(&house, &mut terminal, agent, "during.txt");

    // An upgrade: the process goes on, as another file. That is also how to know that it happened.
    let upgrade = folder.path().join("upgrade");
    fs::copy(PROGRAM, &upgrade).unwrap();
    fs::rename(&upgrade, &program).unwrap();
    house.run(&["restart"]).good();
    let file = |path: &Path| fs::metadata(path).ok().map(|it| it.ino());
    wait_for(
        "the upgraded program",
        || (file(Path::new(&format!("/proc/{pid}/exe"))) == file(&program)).then_some(()),
        || terminal.to_string(),
    );
    let after = reconnected(&house, &terminal, &before);
    assert_eq!(
        (after["pid"].as_u64(), after["port"].as_u64()),
        (Some(pid.into()), Some(port.into()))
    );
    let proposal = house.wait_for_proposal(&terminal, agent, "during.txt");
    assert_eq!(proposal.id, before.id, "the proposal has another number");
    still_connected(&house, &mut terminal, &mark, &proposal);
}

fn clean_end(agent: Agent) {
    let Some(mut house) = served_household() else {
        return;
    };
    let mut terminal = house.start_connected(agent);
    let (mark, proposal) = propose(&house, &mut terminal, agent, "during.txt");

    // A session may hold four streams; the oldest, which is the agent's, is ended for a fifth.
    let port = house.companion().port();
    let token = token(&house, agent);
    let others: Vec<_> = (0..4)
        .map(|_| listen(port, &token, &proposal.session))
        .collect();
    drop(others);
    reconnected(&house, &terminal, &proposal);
    still_connected(&house, &mut terminal, &mark, &proposal);
}

/// The open diff is decided, and another one is opened and decided after it, which an agent that
/// thinks it is disconnected would not do.
fn still_connected(house: &Household, terminal: &mut Terminal, mark: &str, proposal: &Proposal) {
    let agent = if proposal.agent == "qwen" {
        Agent::Qwen
    } else {
        Agent::Gemini
    };
    house.accept(proposal);
    house.wait_for_file(terminal, "during.txt", "text of during.txt\n");
    house.wait_until_done(terminal, mark);
    let (mark, proposal) = propose(house, terminal, agent, "after.txt");
    house.accept(&proposal);
    house.wait_for_file(terminal, "after.txt", "text of after.txt\n");
    house.wait_until_done(terminal, &mark);
}

fn crash(agent: Agent) {
    let Some(mut house) = served_household() else {
        return;
    };
    let mut terminal = house.start_connected(agent);
    let (_, before) = propose(&house, &mut terminal, agent, "crash.txt");

    let port = house.companion().port();
    house.companion().kill();
    house.serve();
    assert_eq!(house.companion().port(), port);
    let proposal = house.wait_for_proposal(&terminal, agent, "crash.txt");
    assert_eq!(
        (proposal.id, &proposal.session),
        (before.id, &before.session)
    );
    house.accept(&proposal);
    house.wait_for_file(&terminal, "crash.txt", "text of crash.txt\n");
}

/// Has the agent propose a new file.
fn propose(
    house: &Household,
    terminal: &mut Terminal,
    agent: Agent,
    name: &str,
) -> (String, Proposal) {
    let call = Call::write(house.path(name), &format!("text of {name}\n"));
    let mark = house.ask(terminal, vec![vec![call]]);
    let proposal = house.wait_for_proposal(terminal, agent, name);
    // By the time that it asks, it has heard that the diff is open.
    terminal.wait_until("the question", asks);
    (mark, proposal)
}

/// Waits until the session of `proposal` has a stream again; the companion's status then.
fn reconnected(house: &Household, terminal: &Terminal, proposal: &Proposal) -> Value {
    let look = || {
        let status = house.status();
        let sessions = status["sessions"].as_array()?;
        let session = sessions.iter().find(|it| it["id"] == proposal.session)?;
        (session["streaming"] == true).then(|| status.clone())
    };
    wait_for("the stream after the restart", look, || {
        terminal.to_string()
    })
}

/// The token that the companion gave to `agent`, from its own record.
fn token(house: &Household, agent: Agent) -> String {
    let record = house.record();
    let tokens = record["tokens"].as_array().unwrap();
    let pair = tokens.iter().find(|pair| pair[0] == agent.name()).unwrap();
    pair[1].as_str().unwrap().to_owned()
}

/// Opens a stream of a session and waits for its first event.
fn listen(port: u16, token: &str, session: &str) -> TcpStream {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
    write!(
        stream,
        "GET /mcp HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nAuthorization: Bearer {token}\r\n\
         Accept: text/event-stream\r\nMcp-Session-Id: {session}\r\n\r\n"
    )
    .unwrap();
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    let mut line = String::new();
    while !line.starts_with("data:") {
        line.clear();
        assert!(reader.read_line(&mut line).unwrap() > 0, "no event came");
    }
    stream
}
