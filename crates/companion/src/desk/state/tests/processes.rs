//! Agents whose process is known: while it runs they are away at worst, and when it has ended they
//! are gone at once.

use std::process::{Child, Command, Stdio};

use beacon::process::ProcessId;

use super::*;
use crate::agents::AgentProcess;
use crate::desk::Presence;

/// A process that runs until it is ended.
struct Running(Child);

impl Running {
    fn start() -> Running {
        let mut command = Command::new("cat");
        let child = command.stdin(Stdio::piped()).stdout(Stdio::null()).spawn();
        Running(child.unwrap())
    }

    fn id(&self) -> ProcessId {
        ProcessId::of(self.0.id()).unwrap()
    }

    fn end(&mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn agent(line: &[&Running]) -> AgentProcess {
    AgentProcess {
        line: line.iter().map(|process| process.id()).collect(),
        terminal: Some("pts/3".into()),
        folder: Some("/".into()),
        product: None,
        version: None,
        unasking: None,
    }
}

impl Scene {
    fn session_of(&mut self, process: AgentProcess) -> SessionId {
        let client = AgentClient::default();
        let opened = self.state.open_session(Agent::Qwen, client, Some(process));
        self.heard();
        opened.unwrap()
    }

    fn presences(&self) -> Vec<Presence> {
        let sessions = self.state.sessions();
        sessions.iter().map(|session| session.presence).collect()
    }
}

fn no_grace() -> Limits {
    Limits {
        grace: Duration::ZERO,
        ..Limits::default()
    }
}

#[test]
fn an_agent_that_has_ended_is_gone_at_once() {
    for connected in [false, true] {
        let mut process = Running::start();
        // The grace is a minute; it is not waited for.
        let mut scene = Scene::new();
        let session = scene.session_of(agent(&[&process]));
        if connected {
            scene.stream(&session);
        }
        let id = scene.propose(&session, "/x", "new");
        scene.state.make_round();
        assert!(scene.state.proposal(id).is_some());
        process.end();
        scene.heard();
        scene.state.make_round();
        assert_eq!(scene.state.proposals().count(), 0, "connected: {connected}");
        let closed = Event::Closed(id, Outcome::Orphaned);
        assert!(scene.heard().contains(&closed), "connected: {connected}");
        assert_eq!(scene.presences(), []);
        assert!(!scene.state.sessions.contains_key(&session));
    }
}

#[test]
fn an_agent_is_gone_when_one_of_its_processes_is() {
    let (mut seen, worker) = (Running::start(), Running::start());
    let mut scene = Scene::new();
    let session = scene.session_of(agent(&[&seen, &worker]));
    let stream = scene.stream(&session);
    let mailbox = scene.mailbox(&session);
    let id = scene.propose(&session, "/x", "new");
    assert_eq!(scene.presences(), [Presence::Connected]);
    // The person has ended it; the process that holds the stream lives on.
    seen.end();
    scene.state.make_round();
    assert!(scene.state.proposal(id).is_none());
    assert_eq!(scene.presences(), []);
    assert!(
        !mailbox.is_attached(stream),
        "it would be told what is open"
    );
    assert!(worker.id().is_running());
}

#[test]
fn nothing_is_decided_for_an_agent_that_has_ended() {
    let mut process = Running::start();
    let mut scene = Scene::new();
    let session = scene.session_of(agent(&[&process]));
    let id = scene.propose(&session, "/x", "new");
    process.end();
    // No round was made since.
    let gone = Err(Refusal::AgentGone(id));
    assert_eq!(scene.state.decide(id, Decision::Accept, None), gone);
    assert_eq!(scene.state.proposals().count(), 0);
    assert_eq!(
        scene.state.decide(id, Decision::Accept, None),
        gone,
        "still so"
    );
    assert_eq!(scene.state.missing(id), Refusal::AgentGone(id));
    let never = ProposalId::new(99);
    assert_eq!(scene.state.missing(never), Refusal::Unknown(never));
}

#[test]
fn an_agent_whose_process_runs_is_away() {
    let process = Running::start();
    let mut scene = Scene::with(no_grace());
    let session = scene.session_of(agent(&[&process]));
    let id = scene.propose(&session, "/x", "new");
    scene.state.make_round();
    assert_eq!(scene.presences(), [Presence::Away]);
    let decided = scene.state.decide(id, Decision::Accept, None).unwrap();
    assert!(!decided.streaming);
    assert_eq!(scene.mailbox(&session).undelivered(), 1);
}

#[test]
fn a_session_that_its_process_has_replaced_gets_no_more_than_the_grace() {
    let process = Running::start();
    let mut scene = Scene::with(no_grace());
    let old = scene.session_of(agent(&[&process]));
    let id = scene.propose(&old, "/x", "new");
    let new = scene.session_of(agent(&[&process]));
    scene.state.make_round();
    assert!(scene.state.proposal(id).is_none());
    let left: Vec<_> = scene.state.sessions().into_iter().map(|it| it.id).collect();
    assert_eq!(left, [new]);
}

#[test]
fn a_decision_that_did_not_reach_an_agent_is_shown_until_it_is_forgotten() {
    let mut process = Running::start();
    let mut scene = Scene::new();
    let session = scene.session_of(agent(&[&process]));
    let id = scene.propose(&session, "/x", "new");
    scene.state.decide(id, Decision::Accept, None).unwrap();
    process.end();
    scene.state.make_round();
    assert_eq!(scene.presences(), [Presence::Gone]);
    assert!(!scene.state.sessions()[0].streaming);
}

#[test]
fn the_next_run_knows_who_has_ended_meanwhile() {
    let (mut ended, running) = (Running::start(), Running::start());
    let folder = tempfile::tempdir().unwrap();
    let journal = Journal::open(folder.path()).unwrap();
    let mut scene = Scene::resumed(Saved::default(), journal, Limits::default());
    for process in [&ended, &running] {
        let session = scene.session_of(agent(&[process]));
        scene.propose(&session, "/x", "new");
    }
    drop(scene.state.persist(true));
    drop(scene);
    ended.end();
    let saved = Journal::load(folder.path());
    let mut scene = Scene::resumed(saved, Journal::none(), Limits::default());
    scene.state.make_round();
    assert_eq!(scene.state.proposals().count(), 1);
    let sessions = scene.state.sessions();
    let left: Vec<_> = sessions.iter().flat_map(|it| &it.process).collect();
    assert_eq!(left[0].pid(), running.0.id());
    assert_eq!(left.len(), 1);
}
