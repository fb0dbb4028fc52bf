//! Which session is connected to, and what keeps one from it.

use std::time::Duration;

use conversation::backend::daemon::{DaemonBackend, DaemonSettings};
use conversation::view::{ConnectionState, EndReason};
use conversation::{Target, TroubleKind};
use daemon::Timeouts;
use serde_json::json;
use testkit::fake_daemon::{SESSION, TOKEN, stand, until};
use testkit::soon;

use crate::scene::{Machine, Talk};

/// What the failure of a connection shows to everybody.
async fn trouble(talk: &Talk) -> TroubleKind {
    talk.until("a failure", |state| match &state.status().connection {
        ConnectionState::Failed(trouble) => Some(trouble.kind),
        _ => None,
    })
    .await
}

/// The request for the sessions of the person's folder.
fn list_route(machine: &Machine) -> String {
    let folder = machine.companion.root();
    let folder = folder.to_str().unwrap();
    let folder = folder.replace('/', "%2F").replace('.', "%2E");
    format!("GET /workspace/{folder}/sessions")
}

#[tokio::test]
async fn without_a_past_it_is_the_session_that_everybody_shares() {
    let machine = Machine::new();
    let daemon = machine.daemon().await;
    let context = json!({"sessionId": SESSION, "state": {
        "models": {"currentModelId": "m(openai)", "availableModels": [{"modelId": "m(openai)", "name": "M"}, {"modelId": "n"}]},
        "modes": {"currentModeId": "default", "availableModes": [{"id": "default", "name": "Ask"}]},
    }});
    stand(
        &daemon,
        &format!("GET /session/{SESSION}/context"),
        200,
        &context,
    );
    let talk = machine.talk_to(daemon.port);
    talk.conversation.begin().await.unwrap();
    talk.is_live().await;
    let opened = daemon.requests("POST /session");
    assert_eq!(opened.len(), 1);
    assert_eq!(opened[0].body["sessionScope"], "single");
    assert_eq!(machine.remembered("conversation").as_deref(), Some(SESSION));
    let status = talk
        .until("the models", |state| {
            let status = state.status();
            (!status.models.is_empty()).then(|| status.clone())
        })
        .await;
    let models: Vec<_> = status.models.iter().map(|it| it.name.as_str()).collect();
    assert_eq!(models, ["M", "n"]);
    assert_eq!(status.model.as_deref(), Some("m(openai)"));
    assert_eq!(status.mode.as_deref(), Some("default"));
    let place = status.place.unwrap();
    let folder = machine.companion.root();
    assert_eq!(place.machine.as_deref(), Some("elm"));
    assert_eq!(place.workspace.path, folder.to_str().unwrap());
}

#[tokio::test]
async fn a_later_run_goes_on_with_the_last_session() {
    let machine = Machine::new();
    let (daemon, talk) = machine.connected().await;
    daemon.say("Welcome");
    talk.ends_with(&["Agent: Welcome"]).await;
    drop(talk);
    let talk = machine.talk_to(daemon.port);
    talk.conversation.begin().await.unwrap();
    talk.is_live().await;
    let route = format!("POST /session/{SESSION}/load");
    assert_eq!(daemon.requests(&route).len(), 1);
    talk.ends_with(&["Agent: Welcome"]).await;
}

#[tokio::test]
async fn a_new_one_is_nobody_elses() {
    let machine = Machine::new();
    machine.remember("conversation", SESSION);
    let daemon = machine.daemon().await;
    let talk = machine.talk_to(daemon.port);
    talk.conversation.connect(Target::New).await.unwrap();
    talk.is_live().await;
    assert_eq!(
        daemon.requests("POST /session")[0].body["sessionScope"],
        "thread"
    );
}

#[tokio::test]
async fn a_last_session_that_was_deleted_keeps_nobody_from_talking() {
    let machine = Machine::new();
    machine.remember("conversation", SESSION);
    let daemon = machine.daemon().await;
    let talk = machine.talk_to(daemon.port);
    talk.conversation.connect(Target::Last).await.unwrap();
    talk.is_live().await;
    let load = format!("POST /session/{SESSION}/load");
    assert_eq!(daemon.requests(&load).len(), 1);
    assert_eq!(
        daemon.requests("POST /session")[0].body["sessionScope"],
        "single"
    );
}

#[tokio::test]
async fn earlier_ones_are_named_by_a_key() {
    let machine = Machine::new();
    let (daemon, talk) = machine.connected().await;
    let list = list_route(&machine);
    let sessions = json!({"sessions": [
        {"sessionId": "11111111-0920-45db-8dde-af1945dbd383", "displayName": "Tea", "updatedAt": "2026-11-16"},
        {"sessionId": SESSION, "hasActivePrompt": true},
    ]});
    stand(&daemon, &list, 200, &sessions);
    let earlier = talk.conversation.earlier().await.unwrap();
    let seen: Vec<_> = (earlier.iter())
        .map(|it| (it.key, it.title.as_deref(), it.busy, it.current))
        .collect();
    assert_eq!(
        seen,
        [(0, Some("Tea"), false, false), (1, None, true, true)]
    );
    // A session keeps its key, also in another order.
    let reversed = json!({"sessions": [{"sessionId": SESSION}]});
    stand(&daemon, &list, 200, &reversed);
    assert_eq!(talk.conversation.earlier().await.unwrap()[0].key, 1);
    talk.conversation.connect(Target::Earlier(1)).await.unwrap();
    talk.is_live().await;
    let load = format!("POST /session/{SESSION}/load");
    assert_eq!(daemon.requests(&load).len(), 1);
    let unknown = talk.conversation.connect(Target::Earlier(9)).await;
    let unknown = unknown.unwrap_err();
    assert_eq!(unknown.kind, TroubleKind::NoSession);
    assert_eq!(unknown.hint.as_deref(), Some("list them again"));
    // What stands is not given up for it.
    talk.is_live().await;
}

#[tokio::test]
async fn an_earlier_one_that_was_deleted_is_said() {
    let machine = Machine::new();
    let (daemon, talk) = machine.connected().await;
    let list = list_route(&machine);
    let sessions = json!({"sessions": [{"sessionId": SESSION}]});
    stand(&daemon, &list, 200, &sessions);
    talk.conversation.earlier().await.unwrap();
    daemon.world().alive = false;
    let gone = talk.conversation.connect(Target::Earlier(0)).await;
    assert_eq!(gone.unwrap_err().kind, TroubleKind::NoSession);
    assert_eq!(trouble(&talk).await, TroubleKind::NoSession);
}

#[tokio::test]
async fn no_daemon_and_a_wrong_token_are_told_apart() {
    let machine = Machine::new();
    let daemon = machine.daemon().await;
    daemon.go_down().await;
    let talk = machine.talk_to(daemon.port);
    let error = talk.conversation.connect(Target::Last).await.unwrap_err();
    assert_eq!(error.kind, TroubleKind::NoDaemon);
    assert_eq!(trouble(&talk).await, TroubleKind::NoDaemon);
    daemon.come_back().await;
    let talk = machine.talk_with_token(daemon.port, "another-secret");
    let error = talk.conversation.connect(Target::Last).await.unwrap_err();
    assert_eq!(error.kind, TroubleKind::Unauthorized);
    assert_eq!(trouble(&talk).await, TroubleKind::Unauthorized);
    // Nothing of it names the address or the token.
    let shown = format!("{error} {:?} {:?}", error.hint, talk.snapshot().await);
    assert!(!shown.contains(&daemon.port.to_string()) && !shown.contains("another-secret"));
    assert_eq!(machine.remembered("conversation"), None);
}

#[tokio::test]
async fn a_run_that_was_cut_short_starts_its_daemon_again() {
    let machine = Machine::new();
    let daemon = machine.daemon().await;
    daemon.go_down().await;
    // Without a daemon of its own it does not try.
    let talk = machine.talk_to(daemon.port);
    let error = talk.conversation.begin().await.unwrap_err();
    assert_eq!(error.kind, TroubleKind::NoDaemon);
    machine.remember("own-daemon", "");
    let talk = machine.talk_to(daemon.port);
    let error = talk.conversation.begin().await.unwrap_err();
    assert_eq!(error.kind, TroubleKind::NotStarted);
    assert_eq!(trouble(&talk).await, TroubleKind::NotStarted);
}

#[tokio::test]
async fn whoever_leaves_is_told_so_and_can_come_back() {
    let machine = Machine::new();
    let (_daemon, talk) = machine.connected().await;
    talk.conversation.disconnect().await;
    talk.is(ConnectionState::Lost(EndReason::Left)).await;
    talk.conversation.connect(Target::Last).await.unwrap();
    talk.is_live().await;
}

/// Whoever ends the program does not wait as long as a request may take.
#[tokio::test]
async fn a_daemon_that_does_not_answer_a_goodbye_is_left() {
    let day = Duration::from_hours(24);
    for stalled in ["POST /session/ID/detach", "POST /session"] {
        let machine = Machine::new();
        let daemon = machine.daemon().await;
        let stalled = stalled.replace("ID", SESSION);
        daemon.world().stalled.insert(stalled.clone());
        let talk = machine.talk(DaemonBackend::new(DaemonSettings {
            timeouts: Timeouts {
                connect: day,
                response: day,
                restore: day,
            },
            ..machine.settings(daemon.port, TOKEN)
        }));
        let conversation = talk.conversation.clone();
        let connecting = tokio::spawn(async move { conversation.connect(Target::Last).await });
        let is_asked = async || {
            let what = "the request that is not answered";
            until(what, || !daemon.requests(&stalled).is_empty()).await;
        };
        if stalled.ends_with("detach") {
            connecting.await.unwrap().unwrap();
        } else {
            is_asked().await;
        }
        let closing = talk.conversation.clone();
        let closing = tokio::spawn(async move { closing.close(false).await });
        is_asked().await;
        soon("the end", closing).await.unwrap();
    }
}
