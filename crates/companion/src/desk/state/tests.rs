//! The state without its task: every operation, and what front ends hear of it.

mod direct_proposals;
#[cfg(target_os = "linux")]
mod processes;
mod room;
mod withheld;

use std::path::{Path, PathBuf};
use std::time::Duration;

use workbench::{Cursor, Original, Privacy};

use super::*;
use crate::desk::known_files::Looking;
use crate::mailbox::{Mailbox, StreamId, StreamKind};
use crate::mcp::context_channel;

struct Scene {
    state: State,
    events: broadcast::Receiver<Event>,
}

impl Scene {
    fn new() -> Scene {
        Scene::with(Limits::default())
    }

    fn with(limits: Limits) -> Scene {
        Scene::resumed(Saved::default(), Journal::none(), limits)
    }

    fn resumed(saved: Saved, journal: Journal, limits: Limits) -> Scene {
        let roots = vec![PathBuf::from("/")];
        let privacy = Privacy::new(&roots, &[], &[]);
        let (sender, events) = broadcast::channel(100);
        let workbench = Workbench::new(roots, privacy);
        let setup = Setup {
            workbench,
            saved,
            journal,
            limits,
            sink: Box::new(context_channel().0),
            // Looked at on the spot, because there is no task to come back to.
            looking: Looking {
                spawn: |work| work(),
                ..Looking::default()
            },
        };
        let (state, _) = State::new(setup, sender);
        Scene { state, events }
    }

    fn session(&mut self, agent: Agent) -> SessionId {
        let client = AgentClient::default();
        let opened = self.state.open_session(agent, client, None).unwrap();
        self.heard();
        opened
    }

    fn mailbox(&mut self, id: &SessionId) -> Arc<Mailbox> {
        self.state.sessions[id].mailbox.clone()
    }

    fn stream(&mut self, id: &SessionId) -> StreamId {
        self.mailbox(id).attach(StreamKind::Listening, 4)
    }

    fn propose(&mut self, session: &SessionId, path: &str, text: &str) -> ProposalId {
        let texts = Texts::new(Original::Absent, text.into());
        let opened = self
            .state
            .propose_for_session(session, path.into(), texts, Standing::Open);
        opened.unwrap()
    }

    /// What front ends have heard since the last call.
    fn heard(&mut self) -> Vec<Event> {
        std::iter::from_fn(|| self.events.try_recv().ok()).collect()
    }
}

/// Something that happens to a proposal.
type Before = fn(&mut State, ProposalId);

fn accepted(text: &str) -> Decision {
    Decision::AcceptText(text.into())
}

#[test]
fn a_decision_reaches_the_session_that_asked_and_is_final() {
    let mut scene = Scene::new();
    let (asked, other) = (scene.session(Agent::Qwen), scene.session(Agent::Qwen));
    let id = scene.propose(&asked, "/x", "new");
    scene.propose(&other, "/x", "other");
    scene.heard();
    let answered = scene.state.decide(id, Decision::Accept, None).unwrap();
    assert!(!answered.streaming);
    assert_eq!(scene.heard(), [Event::Closed(id, Outcome::Accepted)]);
    let again = scene.state.decide(id, Decision::Reject, None);
    assert_eq!(again, Err(Refusal::Unknown(id)));
    assert_eq!(scene.heard(), []);
    assert_eq!(scene.mailbox(&asked).undelivered(), 1);
    assert_eq!(scene.mailbox(&other).undelivered(), 0);
}

#[test]
fn a_refused_decision_changes_nothing() {
    let mut scene = Scene::new();
    let session = scene.session(Agent::Gemini);
    let id = scene.propose(&session, "/x", "new");
    scene.heard();
    assert_eq!(
        scene.state.decide(id, accepted(""), None),
        Err(Refusal::EmptyText)
    );
    assert_eq!(scene.heard(), []);
    assert!(scene.state.proposal(id).is_some());
    assert_eq!(scene.mailbox(&session).undelivered(), 0);
    scene.state.decide(id, accepted("x"), None).unwrap();
}

#[test]
fn at_the_end_only_those_are_told_no_that_could_not_be_answered_later() {
    let mut scene = Scene::new();
    assert!(!scene.state.is_waited_for());
    let agents = [Agent::Qwen, Agent::Gemini, Agent::Unnamed];
    let sessions = agents.map(|agent| scene.session(agent));
    let [asks_on, ..] = [0, 1, 2].map(|at| scene.propose(&sessions[at], "/x", "new"));
    assert!(scene.state.is_waited_for());
    scene.state.reject_for_end();
    let open: Vec<_> = scene.state.proposals().map(|it| it.id).collect();
    assert_eq!(open, [asks_on]);
    let undelivered = sessions
        .each_ref()
        .map(|it| scene.mailbox(it).undelivered());
    assert_eq!(undelivered, [0, 1, 1]);
}

#[test]
fn an_unsaved_text_is_known_as_long_as_a_proposal_is_about_its_file() {
    let mut scene = Scene::new();
    let session = scene.session(Agent::Qwen);
    let unsaved = |scene: &Scene, id| {
        let proposal = scene.state.proposal(id)?;
        scene.state.unsaved(proposal).map(|text| text.to_string())
    };
    let editor = Holder::editor(1);
    let place = || Place::direct("/x");
    let first = scene.propose(&session, "/x", "new");
    scene.propose(&session, "/y", "another that stays open");
    scene
        .state
        .set_unsaved(editor, place(), Some("mine".into()));
    assert_eq!(unsaved(&scene, first).as_deref(), Some("mine"));
    scene.state.decide(first, Decision::Reject, None).unwrap();
    // The editor saves it now, and tells nobody.
    let second = scene.propose(&session, "/x", "newer");
    assert_eq!(unsaved(&scene, second), None);
    // Nothing is told to agents of a file that they must not see.
    let secret = scene.propose(&session, "/w/.env", "KEY=1\n");
    let place = Place::direct("/w/.env");
    scene
        .state
        .set_unsaved(editor, place, Some("KEY=2\n".into()));
    assert_eq!(unsaved(&scene, secret), None);
}

#[test]
fn a_newer_proposal_for_the_path_closes_the_older_and_revokes_its_verdict() {
    let mut scene = Scene::new();
    let session = scene.session(Agent::Qwen);
    let first = scene.propose(&session, "/x", "1");
    let second = scene.propose(&session, "/x", "2");
    assert_eq!(
        scene.heard(),
        [
            Event::Opened(first),
            Event::Closed(first, Outcome::Replaced),
            Event::Opened(second)
        ]
    );
    scene.state.decide(second, Decision::Reject, None).unwrap();
    scene.propose(&session, "/x", "3");
    assert_eq!(scene.mailbox(&session).undelivered(), 0);
}

#[test]
fn what_an_agent_takes_back_it_gets_as_it_stands() {
    let mut scene = Scene::new();
    let session = scene.session(Agent::Gemini);
    let open = |scene: &mut Scene| scene.propose(&session, "/x", "proposed");
    let table: [(Before, Option<&str>, Outcome); 4] = [
        (|_, _| {}, Some("proposed"), Outcome::Withdrawn),
        (
            |state, id| state.set_draft(id, 1, "draft").unwrap(),
            Some("draft"),
            Outcome::Withdrawn,
        ),
        (
            |state, id| drop(state.decide(id, accepted("decided"), None)),
            Some("decided"),
            Outcome::Accepted,
        ),
        (
            |state, id| drop(state.decide(id, Decision::Reject, None)),
            None,
            Outcome::Rejected,
        ),
    ];
    for (before, expected, why) in table {
        let id = open(&mut scene);
        before(&mut scene.state, id);
        let text = scene.state.withdraw_for_session(&session, "/x");
        assert_eq!(text.as_ref().and_then(Withdrawn::text), expected, "{why:?}");
        let mut heard = scene.heard();
        heard.retain(|event| *event != Event::Drafted(id));
        assert_eq!(heard, [Event::Opened(id), Event::Closed(id, why)]);
        assert_eq!(scene.mailbox(&session).undelivered(), 0, "{why:?}");
        assert!(scene.state.withdraw_for_session(&session, "/x").is_none());
    }
}

#[test]
fn nobody_takes_back_what_another_session_asked() {
    let mut scene = Scene::new();
    let (asked, other) = (scene.session(Agent::Qwen), scene.session(Agent::Qwen));
    scene.propose(&asked, "/x", "new");
    assert!(scene.state.withdraw_for_session(&other, "/x").is_none());
    assert_eq!(scene.state.status().proposals.len(), 1);
}

#[test]
fn a_session_that_ends_takes_its_proposals_and_verdicts_along() {
    let mut scene = Scene::new();
    let (gone, stays) = (scene.session(Agent::Qwen), scene.session(Agent::Gemini));
    let pending = scene.propose(&gone, "/x", "1");
    let decided = scene.propose(&gone, "/y", "2");
    let other = scene.propose(&stays, "/x", "3");
    scene.state.decide(decided, Decision::Accept, None).unwrap();
    scene.heard();
    assert!(scene.state.close_session(&gone));
    assert!(!scene.state.close_session(&gone));
    let heard = scene.heard();
    assert!(heard.contains(&Event::Closed(pending, Outcome::Orphaned)));
    assert!(heard.contains(&Event::SessionsChanged));
    let left: Vec<_> = scene.state.status().proposals;
    assert_eq!(left.iter().map(|it| it.id).collect::<Vec<_>>(), [other]);
    let late = Texts::new(Original::Absent, String::new());
    let opened = scene
        .state
        .propose_for_session(&gone, "/z".into(), late, Standing::Open);
    assert_eq!(opened, Err(ProposeError::SessionEnded));
}

#[test]
fn a_session_is_found_only_by_the_agent_it_belongs_to() {
    let mut scene = Scene::new();
    let session = scene.session(Agent::Qwen);
    assert!(scene.state.mailbox(&session, Agent::Qwen).is_some());
    assert!(scene.state.mailbox(&session, Agent::Gemini).is_none());
    let unknown = SessionId::new("unknown");
    assert!(scene.state.mailbox(&unknown, Agent::Qwen).is_none());
}

#[test]
fn only_sessions_without_a_stream_are_ended_for_their_silence() {
    let limits = Limits {
        grace: Duration::ZERO,
        memory: Duration::ZERO,
        ..Limits::default()
    };
    let mut scene = Scene::with(limits);
    let (silent, connected) = (scene.session(Agent::Qwen), scene.session(Agent::Qwen));
    let stream = scene.stream(&connected);
    scene.state.make_round();
    let left = |scene: &Scene| scene.state.sessions.keys().cloned().collect::<Vec<_>>();
    assert_eq!(left(&scene), std::slice::from_ref(&connected));
    assert!(!scene.state.sessions.contains_key(&silent));
    scene.mailbox(&connected).detach(stream);
    scene.state.collect_reports();
    scene.state.make_round();
    assert_eq!(left(&scene), []);
}

#[test]
fn a_session_that_stays_away_loses_its_proposals_first_and_keeps_its_verdicts() {
    let limits = Limits {
        grace: Duration::ZERO,
        ..Limits::default()
    };
    let mut scene = Scene::with(limits);
    let session = scene.session(Agent::Qwen);
    let pending = scene.propose(&session, "/x", "1");
    let decided = scene.propose(&session, "/y", "2");
    scene.state.decide(decided, Decision::Accept, None).unwrap();
    scene.heard();
    scene.state.make_round();
    let gone = [
        Event::Closed(pending, Outcome::Orphaned),
        Event::SessionsChanged,
    ];
    assert_eq!(scene.heard(), gone);
    assert_eq!(scene.mailbox(&session).undelivered(), 1);
    assert!(!scene.mailbox(&session).awaits(pending));
    scene.state.make_round();
    assert_eq!(scene.heard(), [], "once is enough");
}

#[test]
fn a_full_house_ends_the_longest_silent_session_and_never_one_that_waits() {
    let limits = Limits {
        sessions: 4,
        ..Limits::default()
    };
    let mut scene = Scene::with(limits);
    let (connected, asking) = (scene.session(Agent::Qwen), scene.session(Agent::Qwen));
    let (owed, idle) = (scene.session(Agent::Qwen), scene.session(Agent::Qwen));
    scene.stream(&connected);
    scene.propose(&asking, "/x", "1");
    let id = scene.propose(&owed, "/x", "2");
    scene.state.decide(id, Decision::Accept, None).unwrap();
    let newcomer = scene.session(Agent::Gemini);
    assert!(!scene.state.sessions.contains_key(&idle));
    scene.propose(&newcomer, "/x", "3");
    let refused = scene
        .state
        .open_session(Agent::Qwen, AgentClient::default(), None);
    assert_eq!(refused, Err(OpenSessionError::TooMany));
    assert_eq!(scene.state.sessions.len(), 4);
}

/// A file of the test's own that is open, with a selection.
fn open_file(folder: &Path, name: &str, selection: Option<&str>) -> Focus {
    let path = folder.canonicalize().unwrap().join(name);
    std::fs::write(&path, "").unwrap();
    Focus {
        place: Place::direct(path),
        cursor: Some(Cursor::new(2, 3)),
        selection: selection.map(str::to_owned),
    }
}

#[test]
fn a_context_is_published_when_it_differs() {
    let folder = tempfile::tempdir().unwrap();
    let mut scene = Scene::new();
    assert!(!scene.state.publish(), "nothing is open");
    scene.state.focus(
        workbench::Holder::COMMANDS,
        open_file(folder.path(), "a", None),
    );
    assert!(scene.state.is_stale() && scene.state.publish());
    assert_eq!(scene.heard(), [Event::ContextChanged]);
    scene.state.focus(
        workbench::Holder::COMMANDS,
        open_file(folder.path(), "a", None),
    );
    assert!(scene.state.is_stale() && !scene.state.publish());
    assert!(!scene.state.is_stale());
    std::fs::remove_file(folder.path().join("a")).unwrap();
    scene.state.make_round();
    assert!(
        scene.state.is_stale() && scene.state.publish(),
        "it is gone"
    );
}

#[test]
fn what_is_open_survives_a_planned_restart_and_no_other() {
    let folder = tempfile::tempdir().unwrap();
    for returning in [true, false] {
        let journal = tempfile::tempdir().unwrap();
        let open = Journal::open(journal.path()).unwrap();
        let mut scene = Scene::resumed(Saved::default(), open, Limits::default());
        let a = open_file(folder.path(), "a", Some("of a"));
        let b = open_file(folder.path(), "b", None);
        scene.state.focus(workbench::Holder::COMMANDS, a);
        scene.state.publish();
        // This one is so new that no agent has heard of it.
        scene.state.focus(workbench::Holder::COMMANDS, b.clone());
        drop(scene.state.persist(returning));
        drop(scene);

        let saved = Journal::load(journal.path());
        let mut scene = Scene::resumed(saved, Journal::none(), Limits::default());
        assert_eq!(scene.state.publish(), returning);
        let files = scene.state.status().context.files;
        assert_eq!(files.len(), if returning { 2 } else { 0 });
        if let Some(first) = files.first() {
            let active = first.active.as_ref().unwrap();
            assert_eq!(first.path, b.place.path);
            assert_eq!(active.cursor, b.cursor);
            assert_eq!(active.selection, None, "what was selected in another file");
        }
    }
}

#[test]
fn what_belongs_to_no_session_is_not_taken_up() {
    let journal = tempfile::tempdir().unwrap();
    let open = || Journal::open(journal.path()).unwrap();
    let mut scene = Scene::resumed(Saved::default(), open(), Limits::default());
    let (stays, lost) = (scene.session(Agent::Qwen), scene.session(Agent::Gemini));
    let kept = scene.propose(&stays, "/x", "1");
    scene.propose(&lost, "/x", "2");
    let decided = scene.propose(&lost, "/y", "3");
    scene.state.decide(decided, Decision::Accept, None).unwrap();
    drop(scene.state.persist(false));
    drop(scene);

    let mut saved = Journal::load(journal.path());
    saved
        .sessions
        .retain(|session| session.id == stays.to_string());
    let mut scene = Scene::resumed(saved, open(), Limits::default());
    let status = scene.state.status();
    assert_eq!((status.sessions.len(), status.proposals.len()), (1, 1));
    assert_eq!(status.proposals[0].id, kept);
    drop(scene.state.persist(false));
    drop(scene);
    let saved = Journal::load(journal.path());
    assert_eq!((saved.proposals.len(), saved.verdicts.len()), (1, 0));
}

#[test]
fn every_draft_of_an_open_proposal_is_told() {
    let mut scene = Scene::new();
    let session = scene.session(Agent::Qwen);
    let id = scene.propose(&session, "/x", "proposed");
    scene.heard();
    for draft in ["mine", "mine", "proposed"] {
        scene.state.set_draft(id, 1, draft).unwrap();
        assert_eq!(scene.heard(), [Event::Drafted(id)], "{draft}");
    }
    scene.state.decide(id, Decision::Reject, None).unwrap();
    scene.heard();
    assert_eq!(
        scene.state.set_draft(id, 1, "late"),
        Err(Refusal::Unknown(id))
    );
    assert_eq!(scene.heard(), []);
}

#[test]
fn what_is_held_back_is_told_even_if_agents_see_the_same() {
    let folder = tempfile::tempdir().unwrap();
    let mut scene = Scene::new();
    scene.state.focus(
        workbench::Holder::COMMANDS,
        open_file(folder.path(), ".env", None),
    );
    assert!(!scene.state.publish(), "agents see nothing as before");
    assert_eq!(scene.heard(), [Event::HeldBackChanged]);
    scene.state.focus(
        workbench::Holder::COMMANDS,
        open_file(folder.path(), ".env", None),
    );
    assert!(!scene.state.publish());
    assert_eq!(scene.heard(), [], "nothing is different");
    scene.state.set_paused(true);
    assert!(!scene.state.publish());
    assert_eq!(scene.heard(), [Event::HeldBackChanged], "paused");
}

/// The log as words.
fn logged(state: &State) -> Vec<String> {
    let told = state.log().entries().map(|entry| match &entry.what {
        LogEvent::Connected(_) => "connected".to_owned(),
        LogEvent::Disconnected(_) => "disconnected".to_owned(),
        LogEvent::Context(sent) => {
            let to = if sent.to.is_some() { "one" } else { "all" };
            format!("{} files to {to}, {} times", sent.files, sent.times)
        }
        LogEvent::Proposed(what) => format!("proposed {}", what.path),
        LogEvent::Ended(what, why) => format!("{why:?} {}", what.path),
        LogEvent::Paused => "paused".to_owned(),
        LogEvent::Resumed => "resumed".to_owned(),
    });
    told.collect()
}

#[test]
fn the_log_says_what_agents_were_told_and_what_became_of_their_proposals() {
    let folder = tempfile::tempdir().unwrap();
    let mut scene = Scene::with(Limits {
        grace: Duration::ZERO,
        ..Limits::default()
    });
    let look = |scene: &mut Scene, name: &str, line: u32| {
        let mut focus = open_file(folder.path(), name, None);
        focus.cursor = Some(Cursor::new(line, 1));
        scene.state.focus(workbench::Holder::COMMANDS, focus);
        scene.state.publish();
    };
    look(&mut scene, "a", 1);
    let session = scene.session(Agent::Qwen);
    let stream = scene.stream(&session);
    scene.state.stream_began(&session);
    look(&mut scene, "a", 2);
    look(&mut scene, "a", 3);
    look(&mut scene, "b", 1);
    let id = scene.propose(&session, "/x", "1");
    scene.state.decide(id, Decision::Reject, None).unwrap();
    scene.propose(&session, "/y", "2");
    scene.state.set_paused(true);
    scene.state.set_paused(true);
    scene.state.publish();
    scene.state.set_paused(false);
    scene.mailbox(&session).detach(stream);
    scene.state.make_round();
    scene.state.make_round();
    scene.state.mailbox(&session, Agent::Qwen).unwrap();
    scene.state.close_session(&session);
    insta::assert_snapshot!(logged(&scene.state).join("\n"), @r#"
    connected
    1 files to one, 1 times
    1 files to all, 2 times
    2 files to all, 1 times
    proposed /x
    Rejected /x
    proposed /y
    paused
    0 files to all, 1 times
    resumed
    Orphaned /y
    disconnected
    connected
    disconnected
    "#);
}
