//! In which approval mode a session runs, and with which model. The daemon's own mode edits without asking, so
//! what is at stake is whether a person is asked.

use outrigger_daemon::wire::{ApprovalMode, NewSession, RestoreSession, SessionId, SessionScope};
use outrigger_daemon::{
    DaemonError, DisconnectMode, ResumeState, Session, SessionEvent, SessionEvents,
};
use serde_json::{Value, json};

use crate::fake::{FakeDaemon, SESSION, http, is, quick, take_until, until};
use crate::watching::Opens;

/// The mode of the daemon's settings.
const DAEMONS: &str = "auto";

fn asking() -> RestoreSession {
    RestoreSession {
        approval_mode: Some(ApprovalMode::Default),
        ..RestoreSession::default()
    }
}

fn new(scope: SessionScope) -> NewSession {
    NewSession {
        session_scope: Some(scope),
        approval_mode: Some(ApprovalMode::Default),
        model_service_id: Some("m".into()),
        ..NewSession::default()
    }
}

fn id() -> SessionId {
    SessionId::new(SESSION).unwrap()
}

type Opened = Result<(Session, SessionEvents), DaemonError>;

async fn open(daemon: &FakeDaemon, scope: SessionScope) -> Opened {
    Session::open(daemon.client(), &new(scope), quick()).await
}

async fn load(daemon: &FakeDaemon) -> Opened {
    Session::load(daemon.client(), &id(), &asking(), quick()).await
}

async fn resume(daemon: &FakeDaemon) -> Opened {
    let state = ResumeState {
        session_id: id(),
        epoch: None,
        last_event_id: 0,
    };
    Session::resume(daemon.client(), &state, &asking(), quick()).await
}

/// What was sent to this route of the session.
fn sent(daemon: &FakeDaemon, route: &str) -> Vec<Value> {
    let seen = daemon.requests(&format!("POST /session/{SESSION}/{route}"));
    seen.into_iter().map(|it| it.body).collect()
}

#[derive(Clone, Copy, Debug)]
enum Before {
    Nothing,
    /// Others are in the session, with the daemon's mode.
    Live,
    OnDisk,
}

async fn daemon(before: Before) -> FakeDaemon {
    let daemon = FakeDaemon::start().await;
    let mut world = daemon.world();
    world.alive = matches!(before, Before::Live);
    world.on_disk = matches!(before, Before::OnDisk);
    drop(world);
    daemon
}

#[tokio::test]
async fn a_session_of_our_own_is_created_with_mode_and_model() {
    let daemon = daemon(Before::Nothing).await;
    open(&daemon, SessionScope::Thread).await.unwrap();
    let created = daemon.requests("POST /session").pop().unwrap().body;
    assert_eq!(created["approvalMode"], "default");
    assert_eq!(created["modelServiceId"], "m");
    assert_eq!(daemon.world().mode, "default");
    // Once is enough.
    assert!(sent(&daemon, "approval-mode").is_empty());
    assert!(sent(&daemon, "model").is_empty());
}

/// The daemon would apply what is sent on creation to a session that exists, too, under the hands of
/// those who are in it.
#[tokio::test]
async fn a_shared_session_gets_mode_and_model_only_from_whoever_creates_it() {
    for (before, mode) in [(Before::Nothing, "default"), (Before::Live, DAEMONS)] {
        let daemon = daemon(before).await;
        open(&daemon, SessionScope::Single).await.unwrap();
        let created = daemon.requests("POST /session").pop().unwrap().body;
        assert_eq!(created["approvalMode"], Value::Null, "{before:?}");
        assert_eq!(created["modelServiceId"], Value::Null, "{before:?}");
        assert_eq!(daemon.world().mode, mode, "{before:?}");
        let models: Vec<Value> = match before {
            Before::Nothing => vec![json!({"modelId": "m"})],
            _ => vec![],
        };
        assert_eq!(sent(&daemon, "model"), models, "{before:?}");
    }
}

#[tokio::test]
async fn a_session_from_disk_gets_the_mode_and_a_live_one_keeps_its_own() {
    for (before, mode) in [(Before::OnDisk, "default"), (Before::Live, DAEMONS)] {
        let loading = daemon(before).await;
        load(&loading).await.unwrap();
        assert_eq!(loading.world().mode, mode, "load {before:?}");
        let resuming = daemon(before).await;
        resume(&resuming).await.unwrap();
        assert_eq!(resuming.world().mode, mode, "resume {before:?}");
    }
}

/// An agent that does not ask is worse than none.
#[tokio::test]
async fn a_session_whose_mode_cannot_be_set_is_left_again() {
    let route = format!("POST /session/{SESSION}/approval-mode");
    for before in [Before::Nothing, Before::OnDisk] {
        let daemon = daemon(before).await;
        daemon.refuse_next(&route, 400, "", &json!({"error": "no"}));
        let opened = match before {
            Before::OnDisk => load(&daemon).await,
            _ => open(&daemon, SessionScope::Single).await,
        };
        assert!(opened.is_err(), "{before:?}");
        assert_eq!(sent(&daemon, "detach").len(), 1, "{before:?}");
    }
}

/// The daemon is ended and starts again, and the session comes back from disk in the mode of the
/// settings. The person had chosen another one in the meantime.
#[tokio::test]
async fn a_session_that_was_lost_comes_back_in_the_mode_that_it_had() {
    let daemon = daemon(Before::Nothing).await;
    let (session, mut events) = open(&daemon, SessionScope::Thread).await.unwrap();
    let plan = ApprovalMode::Plan;
    session.set_approval_mode(&plan, false).await.unwrap();
    take_until(&mut events, is("approval_mode_changed")).await;
    for round in 1..4 {
        daemon.go_down().await;
        // The first attempt fails now and then. The session is live at the second one, and in the
        // daemon's mode all the same.
        if round > 1 {
            let route = format!("POST /session/{SESSION}/approval-mode");
            daemon.refuse_next(&route, 503, "", &json!({"error": "busy"}));
        }
        daemon.come_back().await;
        let is_history = |it: &SessionEvent| matches!(it, SessionEvent::History(_));
        let taken = take_until(&mut events, is_history).await;
        let Some(SessionEvent::History(history)) = taken.last() else {
            panic!("{taken:?}")
        };
        assert_eq!(daemon.world().mode, "plan", "round {round}");
        // And nobody is told another one.
        let modes = history.state.modes.as_ref();
        let told = modes.and_then(|modes| modes.current_mode_id.clone());
        assert_ne!(told.as_ref().map(ApprovalMode::as_str), Some(DAEMONS));
    }
}

/// It would be left in the daemon's mode, and whoever tries again would find it alive.
#[tokio::test]
async fn a_daemon_that_is_busy_is_asked_for_the_mode_again() {
    let route = format!("POST /session/{SESSION}/approval-mode");
    for before in [Before::Nothing, Before::OnDisk] {
        let daemon = daemon(before).await;
        let busy = json!({"error": "busy", "retryAfterMs": 1});
        daemon.refuse_next(&route, 429, "", &busy);
        daemon.refuse_next(&route, 503, "", &busy);
        match before {
            Before::OnDisk => load(&daemon).await.unwrap(),
            _ => open(&daemon, SessionScope::Single).await.unwrap(),
        };
        assert_eq!(daemon.world().mode, "default", "{before:?}");
    }
}

/// Another client was faster after the restart, so our own request finds a live session.
#[tokio::test]
async fn a_session_that_somebody_else_brought_back_gets_the_mode_that_it_had() {
    let daemon = daemon(Before::Nothing).await;
    let (_session, mut events) = open(&daemon, SessionScope::Thread).await.unwrap();
    daemon.listened_to().await;
    for round in 1..3 {
        daemon.go_down().await;
        daemon.come_back_in_use().await;
        assert_eq!(daemon.world().mode, DAEMONS);
        let is_history = |it: &SessionEvent| matches!(it, SessionEvent::History(_));
        take_until(&mut events, is_history).await;
        assert_eq!(daemon.world().mode, "default", "round {round}");
    }
}

/// The event about it has not come, so nothing tells of the mode but the answer.
#[tokio::test]
async fn what_the_person_has_chosen_is_what_is_restored() {
    let daemon = daemon(Before::Nothing).await;
    let (session, mut events) = open(&daemon, SessionScope::Thread).await.unwrap();
    daemon.listened_to().await;
    let route = format!("POST /session/{SESSION}/approval-mode");
    let set =
        json!({"sessionId": SESSION, "mode": "plan", "previous": "default", "persisted": false});
    daemon.answer_next(&route, http(200, "", &set.to_string()));
    session
        .set_approval_mode(&ApprovalMode::Plan, false)
        .await
        .unwrap();
    daemon.go_down().await;
    daemon.come_back().await;
    let is_history = |it: &SessionEvent| matches!(it, SessionEvent::History(_));
    take_until(&mut events, is_history).await;
    assert_eq!(daemon.world().mode, "plan");
    assert_eq!(session.approval_mode(), Some(ApprovalMode::Plan));
}

/// It was alive when the daemon answered, and had ended before it was loaded.
#[tokio::test]
async fn a_session_that_ends_while_it_is_opened_comes_back_in_the_mode_that_was_wanted() {
    let daemon = daemon(Before::OnDisk).await;
    let alive = json!({"sessionId": SESSION, "attached": true, "clientId": "client_0"});
    daemon.answer_next("POST /session", http(200, "", &alive.to_string()));
    open(&daemon, SessionScope::Single).await.unwrap();
    assert_eq!(daemon.world().mode, "default");
}

/// A registration that nobody uses would count wherever several clients have to agree.
#[tokio::test]
async fn whoever_cannot_open_a_session_is_not_registered_in_it() {
    let daemon = daemon(Before::Live).await;
    let route = format!("POST /session/{SESSION}/load");
    daemon.refuse_next(&route, 400, "", &json!({"error": "no"}));
    assert!(open(&daemon, SessionScope::Single).await.is_err());
    until("the detach", || sent(&daemon, "detach").len() == 1).await;
}

/// The daemon counts how often it was asked to register us, here once for the creation and once for the
/// load, and wants as many detaches.
#[tokio::test]
async fn a_detach_that_failed_can_be_repeated() {
    let daemon = daemon(Before::Live).await;
    let (session, _events) = open(&daemon, SessionScope::Single).await.unwrap();
    let route = format!("POST /session/{SESSION}/detach");
    daemon.refuse_next(&route, 503, "", &json!({"error": "busy"}));
    assert!(session.leave(DisconnectMode::Detach).await.is_err());
    session.leave(DisconnectMode::Detach).await.unwrap();
    assert_eq!(sent(&daemon, "detach").len(), 3);
    session.leave(DisconnectMode::Detach).await.unwrap();
    assert_eq!(sent(&daemon, "detach").len(), 3);
}

/// The daemon has forgotten us, so any request would have us registered again, and nobody would leave.
#[tokio::test]
async fn whoever_has_left_is_not_registered_again() {
    let daemon = daemon(Before::Nothing).await;
    let (session, _events) = open(&daemon, SessionScope::Thread).await.unwrap();
    session.leave(DisconnectMode::Detach).await.unwrap();
    daemon.world().forget_clients();
    let late = session.heartbeat().await;
    assert!(matches!(late, Err(DaemonError::SessionEnded)), "{late:?}");
    assert!(sent(&daemon, "resume").is_empty() && sent(&daemon, "load").is_empty());
}
