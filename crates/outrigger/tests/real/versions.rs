//! An old, a middle and the newest published version of each agent, by their own connection code.

use serde_json::{Value, json};
use testkit::{Agent, IdeClient, Start};

use crate::{served_household_with, story};

/// Finds the file the companion writes for the process that started it, and nothing else.
#[test]
fn qwen_0_5_0_started_by_us() {
    speaks("qwen-0.5.0", Agent::Qwen, Start::Run);
}

/// Reads the file that the port in its environment names.
#[test]
fn qwen_0_10_1_with_our_environment() {
    speaks("qwen-0.10.1", Agent::Qwen, Start::Environment);
}

#[test]
fn qwen_0_15_10_in_any_terminal() {
    speaks("qwen-0.15.10", Agent::Qwen, Start::Plain);
}

#[test]
fn newest_qwen_in_any_terminal() {
    speaks("current", Agent::Qwen, Start::Plain);
}

/// Insists on the process id in the name of the file.
#[test]
fn gemini_0_8_2_started_by_us() {
    speaks("gemini-0.8.2", Agent::Gemini, Start::Run);
}

#[test]
fn gemini_0_32_1_in_any_terminal() {
    speaks("gemini-0.32.1", Agent::Gemini, Start::Plain);
}

#[test]
fn newest_gemini_in_any_terminal() {
    speaks("current", Agent::Gemini, Start::Plain);
}

#[test]
fn newest_qwen_through_the_bridge() {
    speaks("current", Agent::Qwen, Start::Bridge);
}

#[test]
fn newest_gemini_through_the_bridge() {
    speaks("current", Agent::Gemini, Start::Bridge);
}

/// Discover, connect, context, accept, accept edited, reject, close.
fn speaks(set: &str, agent: Agent, start: Start) {
    let Some(house) = served_household_with(&[set]) else {
        return;
    };
    house.write("hello.txt", "hello\nworld\n");
    house.focus("hello.txt", 2, 3, "world");
    let hello = house.path("hello.txt").display().to_string();

    let mut client = IdeClient::start(&house, set, agent, start);
    let found = client.discover();
    assert!(
        found.is_some_and(|name| !name.is_empty()),
        "found nothing\n{client}"
    );
    assert_eq!(client.connect(), "connected", "{client}");
    assert!(client.diffing(), "would not ask for diffs\n{client}");

    let context = client.wait_for_context("the open file", |context| {
        context["workspaceState"]["openFiles"][0]["path"] == hello.as_str()
    });
    let file = &context["workspaceState"]["openFiles"][0];
    assert_eq!(file["isActive"], true);
    assert_eq!(file["cursor"], json!({"line": 2, "character": 3}));
    assert_eq!(file["selectedText"], "world");

    let mut decide = |decision: &dyn Fn(&testkit::Proposal, &mut IdeClient)| -> Value {
        let diff = client.open_diff(&hello, "hello\nthere\n");
        let proposal = house.wait_for_proposal(&client, agent, "hello.txt");
        decision(&proposal, &mut client);
        let verdict = client.verdict(diff);
        house.wait_for_no_proposals();
        verdict
    };
    let accepted = decide(&|proposal, _| house.accept(proposal));
    assert_eq!(
        accepted,
        json!({"status": "accepted", "content": "hello\nthere\n"})
    );
    let edited = decide(&|proposal, _| house.accept_edited(proposal, "hello\nyou\n"));
    assert_eq!(
        edited,
        json!({"status": "accepted", "content": "hello\nyou\n"})
    );
    let rejected = decide(&|proposal, _| house.reject(proposal));
    assert_eq!(rejected["status"], "rejected");
    let closed = decide(&|_, client| client.close_diff(&hello, "accepted"));
    assert_eq!(
        closed,
        json!({"status": "accepted", "content": "hello\nthere\n"})
    );
    assert_eq!(client.status(), "connected", "{client}");

    client.disconnect();
    story::no_stream_is_left(&house);
}
