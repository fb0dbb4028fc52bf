//! What the agent asks the person, and every place where it can be answered.

use conversation::requests::AgentRequest;
use conversation::view::ConnectionState;
use conversation::{Reply, TroubleKind};
use serde_json::{Value, json};
use testkit::fake_daemon::{
    FakeDaemon, cancelled, permission, question, resolve, selected, stand, takes_votes, until,
    vote_route, votes,
};
use workbench::{Agent, Decision, Original};

use crate::scene::{Machine, Talk};

/// The first client that a fake daemon knows is ours.
const US: &str = "client_1";

/// A request for permission to make these edits.
fn edits(id: &str, diffs: &[(&str, Option<&str>, &str)]) -> Value {
    let mut request = permission(id);
    let diff = |(path, old, new): &(&str, Option<&str>, &str)| json!({"type": "diff", "path": path, "oldText": old, "newText": new});
    request["toolCall"]["content"] = diffs.iter().map(diff).collect();
    request
}

async fn asked(talk: &Talk, id: &'static str) -> AgentRequest {
    talk.until("the request", move |state| {
        let mut requests = state.requests().iter();
        requests.find(|request| request.id == id).cloned()
    })
    .await
}

async fn nothing_waits(talk: &Talk) {
    talk.until("the end of the request", |state| {
        state.requests().is_empty().then_some(())
    })
    .await;
}

/// An edit that stands in the review, and its number there.
async fn edit_in_review(machine: &Machine, daemon: &FakeDaemon, talk: &Talk) -> u64 {
    takes_votes(daemon, "r-1");
    let edit = edits("r-1", &[("/w/a.txt", Some("one\n"), "two\n")]);
    daemon.emit("permission_request", edit);
    let request = asked(talk, "r-1").await;
    let proposals = machine.companion.proposals().await;
    assert_eq!(proposals.len(), 1);
    assert_eq!(request.proposal, Some(proposals[0].id.get()));
    proposals[0].id.get()
}

async fn decide(machine: &Machine, decision: Decision) {
    let proposals = machine.companion.proposals().await;
    let id = proposals[0].id;
    let decided = machine
        .companion
        .desk
        .ask(move |state| state.decide(id, decision));
    decided.await.unwrap().unwrap();
}

async fn review_is_empty(machine: &Machine) {
    for _ in 0..10_000 {
        if machine.companion.proposals().await.is_empty() {
            return;
        }
        tokio::time::sleep(std::time::Duration::from_millis(2)).await;
    }
    panic!("it still stands in the review");
}

#[tokio::test]
async fn permission_is_given_here() {
    let machine = Machine::new();
    let (daemon, talk) = machine.connected().await;
    takes_votes(&daemon, "r-1");
    daemon.emit("permission_request", permission("r-1"));
    let request = asked(&talk, "r-1").await;
    let options: Vec<_> = request.options.as_slice().iter().collect();
    let ids: Vec<_> = options.iter().map(|it| it.id.as_str()).collect();
    assert_eq!(ids, ["proceed_once", "cancel", "proceed_always"]);
    // There is no edit in it that could be reviewed.
    assert_eq!(request.proposal, None);
    assert!(machine.companion.proposals().await.is_empty());
    let reply = Reply::Option("proceed_once".into());
    assert!(talk.conversation.answer("r-1", reply).await.unwrap());
    assert_eq!(votes(&daemon, "r-1"), [selected("proceed_once")]);
    resolve(&daemon, "r-1", "proceed_once", US);
    nothing_waits(&talk).await;
}

#[tokio::test]
async fn somebody_else_is_faster() {
    let machine = Machine::new();
    let (daemon, talk) = machine.connected().await;
    daemon.emit("permission_request", permission("r-1"));
    asked(&talk, "r-1").await;
    resolve(&daemon, "r-1", "proceed_once", "client_9");
    nothing_waits(&talk).await;
    let late = talk.conversation.answer("r-1", Reply::Decline).await;
    assert!(!late.unwrap());
    assert!(votes(&daemon, "r-1").is_empty());
}

#[tokio::test]
async fn questions_are_answered() {
    let machine = Machine::new();
    let (daemon, talk) = machine.connected().await;
    takes_votes(&daemon, "r-1");
    daemon.emit("permission_request", question("r-1"));
    let request = asked(&talk, "r-1").await;
    let questions = request.questions.unwrap();
    let asked: Vec<_> = questions.iter().map(|it| it.question.as_str()).collect();
    assert_eq!(asked, ["Which database?", "Which features?"]);
    let answers = vec![vec!["SQLite".into()], vec!["Search".into(), "x".into()]];
    let counted = talk.conversation.answer("r-1", Reply::Answers(answers));
    assert!(counted.await.unwrap());
    let vote = &votes(&daemon, "r-1")[0];
    assert_eq!(vote["answers"], json!({"0": "SQLite", "1": "Search, x"}));
}

#[tokio::test]
async fn an_edit_is_accepted_in_the_review() {
    let machine = Machine::new();
    let (daemon, talk) = machine.connected().await;
    edit_in_review(&machine, &daemon, &talk).await;
    let proposal = &machine.companion.proposals().await[0];
    assert_eq!(proposal.path, "/w/a.txt");
    assert_eq!(proposal.agent, Agent::Qwen);
    assert_eq!(proposal.texts.original, Original::Text("one\n".into()));
    assert_eq!(proposal.current(), "two\n");
    // The daemon takes its own text or nothing.
    assert!(!proposal.capabilities.takes_edited_text);
    decide(&machine, Decision::Accept).await;
    until("the vote", || !votes(&daemon, "r-1").is_empty()).await;
    assert_eq!(votes(&daemon, "r-1"), [selected("proceed_once")]);
    resolve(&daemon, "r-1", "proceed_once", US);
    nothing_waits(&talk).await;
}

#[tokio::test]
async fn an_edit_is_rejected_in_the_review() {
    let machine = Machine::new();
    let (daemon, talk) = machine.connected().await;
    edit_in_review(&machine, &daemon, &talk).await;
    decide(&machine, Decision::Reject).await;
    until("the vote", || !votes(&daemon, "r-1").is_empty()).await;
    assert_eq!(votes(&daemon, "r-1"), [cancelled()]);
}

#[tokio::test]
async fn an_edit_that_is_answered_elsewhere_leaves_the_review() {
    let machine = Machine::new();
    let (daemon, talk) = machine.connected().await;
    edit_in_review(&machine, &daemon, &talk).await;
    resolve(&daemon, "r-1", "proceed_once", "client_9");
    nothing_waits(&talk).await;
    review_is_empty(&machine).await;
    assert!(votes(&daemon, "r-1").is_empty());
}

#[tokio::test]
async fn an_edit_leaves_the_review_with_the_connection() {
    let machine = Machine::new();
    let (daemon, talk) = machine.connected().await;
    edit_in_review(&machine, &daemon, &talk).await;
    talk.conversation.disconnect().await;
    nothing_waits(&talk).await;
    review_is_empty(&machine).await;
}

#[tokio::test]
async fn a_decision_that_does_not_reach_the_daemon_is_said() {
    let machine = Machine::new();
    let (daemon, talk) = machine.connected().await;
    edit_in_review(&machine, &daemon, &talk).await;
    let refused = json!({"error": "no"});
    stand(&daemon, &vote_route("r-1"), 500, &refused);
    decide(&machine, Decision::Accept).await;
    talk.ends_with(&["note A decision did not reach the daemon. Please answer it here."])
        .await;
    // It still waits, and can be answered in the conversation.
    asked(&talk, "r-1").await;
    takes_votes(&daemon, "r-1");
    let again = talk.conversation.answer("r-1", Reply::Decline).await;
    assert!(again.unwrap());
}

#[tokio::test]
async fn two_edits_in_one_request_are_for_the_conversation_only() {
    let machine = Machine::new();
    let (daemon, talk) = machine.connected().await;
    let two = edits("r-1", &[("/w/a", None, "a"), ("/w/b", None, "b")]);
    daemon.emit("permission_request", two);
    assert_eq!(asked(&talk, "r-1").await.proposal, None);
    // Nor is one that cannot be allowed for this time only.
    let mut always = edits("r-2", &[("/w/a", None, "a")]);
    always["options"] = json!([{"optionId": "all", "name": "All", "kind": "allow_always"}]);
    daemon.emit("permission_request", always);
    assert_eq!(asked(&talk, "r-2").await.proposal, None);
    assert!(machine.companion.proposals().await.is_empty());
    talk.is(ConnectionState::Live).await;
}

#[tokio::test]
async fn what_nobody_could_answer_is_declined_and_said() {
    let machine = Machine::new();
    let (daemon, talk) = machine.connected().await;
    takes_votes(&daemon, "r-1");
    daemon.emit(
        "permission_request",
        json!({"requestId": "r-1", "options": "all"}),
    );
    let note = "note The agent asked for something that could not be read. It was declined.";
    talk.ends_with(&[note]).await;
    until("the no", || votes(&daemon, "r-1").contains(&cancelled())).await;
    let unknown = talk.conversation.answer("", Reply::Decline).await;
    assert_eq!(unknown.unwrap_err().kind, TroubleKind::Unknown);
}
