//! Agents that die, and what becomes of the conversation.

use conversation::Prompt;
use conversation::view::{ConnectionState, EndReason};
use serde_json::json;
use testkit::fake_daemon::{FakeDaemon, SESSION, until};

use crate::scene::Machine;

const UNANSWERED: &str =
    "note The agent ended before it had answered. Say it again if you still want it.";

/// The agent's process ends. What it had said is on disk.
fn die(daemon: &FakeDaemon) {
    let died = json!({"sessionId": SESSION, "reason": "agent_exited"});
    daemon.emit("session_died", died);
    let mut world = daemon.world();
    world.alive = false;
    world.on_disk = true;
}

fn loads(daemon: &FakeDaemon) -> usize {
    daemon
        .requests(&format!("POST /session/{SESSION}/load"))
        .len()
}

fn hello() -> Prompt {
    Prompt {
        text: "hello".into(),
        ..Prompt::default()
    }
}

#[tokio::test]
async fn an_agent_that_died_is_brought_back_with_its_past() {
    let machine = Machine::new();
    let (daemon, talk) = machine.connected().await;
    daemon.say("before");
    talk.ends_with(&["Agent: before"]).await;
    die(&daemon);
    until("the load", || loads(&daemon) == 1).await;
    talk.is_live().await;
    // Nobody was waiting for an answer, so nothing is said of one.
    talk.ends_with(&["Agent: before"]).await;
    daemon.listened_to().await;
    daemon.say(" and after");
    talk.ends_with(&["Agent: before and after"]).await;
}

/// What comes back from disk has the mode of the daemon's settings, in which the agent asks nobody.
#[tokio::test]
async fn an_agent_that_died_comes_back_in_the_mode_that_the_person_has_chosen() {
    let machine = Machine::new();
    let (daemon, talk) = machine.connected().await;
    daemon.listened_to().await;
    talk.conversation.set_mode("plan").await.unwrap();
    talk.until("the mode", |state| {
        (state.status().mode.as_deref() == Some("plan")).then_some(())
    })
    .await;
    die(&daemon);
    until("the load", || loads(&daemon) == 1).await;
    talk.is_live().await;
    assert_eq!(daemon.world().mode, "plan");
    // Another conversation begins in the mode of the settings.
    daemon.world().alive = false;
    let new = conversation::Target::New;
    talk.conversation.connect(new).await.unwrap();
    assert_eq!(daemon.world().mode, "default");
}

/// The daemon closes the session when the last one leaves, as this program does when it is restarted.
#[tokio::test]
async fn the_next_run_goes_on_in_the_mode_that_the_person_has_chosen() {
    let machine = Machine::new();
    let (daemon, talk) = machine.connected().await;
    talk.conversation.set_mode("plan").await.unwrap();
    talk.conversation.close(true).await;
    daemon.world().alive = false;
    daemon.world().on_disk = true;
    let talk = machine.talk_to(daemon.port);
    talk.conversation.begin().await.unwrap();
    talk.is_live().await;
    assert_eq!(daemon.world().mode, "plan");
}

#[tokio::test]
async fn a_prompt_that_was_never_answered_is_noted() {
    let machine = Machine::new();
    let (daemon, talk) = machine.connected().await;
    talk.conversation.prompt(hello()).await.unwrap();
    daemon.say("Well, ");
    talk.ends_with(&["Agent: Well, "]).await;
    die(&daemon);
    until("the load", || loads(&daemon) == 1).await;
    talk.ends_with(&[UNANSWERED]).await;
    talk.is_live().await;
}

#[tokio::test]
async fn an_agent_that_keeps_dying_is_left_to_the_person() {
    let machine = Machine::new();
    let (daemon, talk) = machine.connected().await;
    for death in 1..=3 {
        die(&daemon);
        until("the load", || loads(&daemon) == death).await;
        talk.is_live().await;
        daemon.listened_to().await;
    }
    die(&daemon);
    talk.is(ConnectionState::Lost(EndReason::Died)).await;
    assert_eq!(loads(&daemon), 3);
    // The person may.
    let last = conversation::Target::Last;
    talk.conversation.connect(last).await.unwrap();
    talk.is_live().await;
}
