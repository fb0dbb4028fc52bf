//! Commands that a person runs through the daemon, and what they print.

use serde_json::{Value, json};
use testkit::fake_daemon::TOKEN;

use crate::ide::daemon;
use crate::shown::{Sent, event, told, update};

fn begins(command: &str) -> Sent {
    event(
        "user_shell_command",
        json!({"command": command, "cwd": "/w"}),
    )
}

fn prints(text: &str) -> Sent {
    update(&json!({"sessionUpdate": "shell_output", "output": text}))
}

fn ends(mut result: Value) -> Sent {
    result["signal"] = Value::Null;
    event("user_shell_result", result)
}

fn text(text: &str) -> Value {
    json!({"type": "text", "text": text})
}

/// What the last of these shows.
fn shown(told: &[Value]) -> &str {
    let mut contents = told
        .iter()
        .filter_map(|it| it["content"][0]["text"].as_str());
    contents.next_back().unwrap_or_default()
}

#[tokio::test]
async fn a_command_is_shown_like_a_tool() {
    let daemon = daemon().await;
    let told = told(
        &daemon,
        &[
            begins("ls"),
            prints("a.txt\n"),
            prints("b.txt\n"),
            ends(json!({"exitCode": 0, "aborted": false})),
            // Nobody knows whose this is.
            ends(json!({"exitCode": 7})),
            begins("false"),
            ends(json!({"exitCode": 1})),
        ],
    )
    .await;
    let id = |at: usize| told[at]["id"].as_str().unwrap().to_owned();
    assert_eq!(told[0]["command"], "ls");
    assert_eq!(told[0]["status"], "in_progress");
    assert_eq!(told[2]["content"], json!([text("a.txt\nb.txt\n")]));
    assert_eq!(told[3]["status"], "completed");
    assert_eq!([id(1), id(2), id(3)], [id(0), id(0), id(0)]);
    assert_ne!(id(4), id(0));
    assert_eq!((id(5), &told[5]["status"]), (id(4), &json!("failed")));
    assert_eq!(told.len(), 6);
}

#[tokio::test]
async fn how_a_command_ended_is_shown_behind_what_it_printed() {
    let error = "It could not be run: spawn bash ENOENT";
    for (result, status, content) in [
        (json!({"exitCode": 0}), "completed", Value::Null),
        (
            json!({"exitCode": null, "error": "spawn bash ENOENT"}),
            "failed",
            json!([text("one\n"), text(error)]),
        ),
        (
            json!({"exitCode": null, "aborted": true}),
            "failed",
            json!([text("one\n"), text("It was cancelled.")]),
        ),
        (
            json!({"exitCode": 0, "aborted": true}),
            "failed",
            json!([text("one\n"), text("It was cancelled.")]),
        ),
        (
            json!({"exitCode": null, "aborted": true, "error": format!("no {TOKEN}")}),
            "failed",
            json!([
                text("one\n"),
                text("It could not be run: no [hidden]"),
                text("It was cancelled.")
            ]),
        ),
    ] {
        let daemon = daemon().await;
        let told = told(&daemon, &[begins("sleep"), prints("one\n"), ends(result)]).await;
        let last = told.last().unwrap();
        assert_eq!(last["status"], status, "{last}");
        assert_eq!(last["content"], content, "{last}");
    }
}

#[tokio::test]
async fn a_secret_that_a_command_prints_in_pieces_is_never_seen() {
    let daemon = daemon().await;
    let mut sent = vec![begins("env")];
    sent.extend(TOKEN.chars().map(|letter| prints(&letter.to_string())));
    sent.push(prints(", and a part of it: "));
    sent.push(prints(&TOKEN[..5]));
    sent.push(ends(json!({"exitCode": 0})));
    let told = told(&daemon, &sent).await;
    for event in &told[..told.len() - 1] {
        let seen = event["content"].to_string();
        assert!(!seen.contains(&TOKEN[..2]), "{seen}");
    }
    let whole = format!("[hidden], and a part of it: {}", &TOKEN[..5]);
    assert_eq!(shown(&told), whole);
    // What holds nothing new is not told.
    assert_eq!(told.len(), 4, "{told:?}");
}

#[tokio::test]
async fn the_end_of_what_is_held_back_is_shown_when_the_next_command_begins() {
    let daemon = daemon().await;
    let beginning = &TOKEN[..3];
    let told = told(&daemon, &[begins("a"), prints(beginning), begins("b")]).await;
    assert_eq!(told.len(), 3, "{told:?}");
    assert_eq!(told[1]["content"], json!([text(beginning)]));
    assert_eq!(
        (&told[1]["id"], &told[2]["command"]),
        (&told[0]["id"], &json!("b"))
    );
}

#[tokio::test]
async fn a_command_that_prints_without_end_is_cut_and_told_no_more() {
    let daemon = daemon().await;
    let mut sent = vec![begins("yes")];
    // Every second byte is in the middle of a character.
    let piece = format!("a{}", "é".repeat(5_000));
    sent.extend((0..100).map(|_| prints(&piece)));
    sent.push(ends(json!({"exitCode": 0})));
    let told = told(&daemon, &sent).await;
    let whole = piece.repeat(7);
    let output = shown(&told).strip_suffix('…').unwrap();
    assert!(whole.starts_with(output));
    assert!(
        (65_530..=65_536).contains(&output.len()),
        "{}",
        output.len()
    );
    // Its beginning, seven pieces, and its end.
    assert_eq!(told.len(), 9);
    assert_eq!(told[8]["content"], Value::Null);
}

/// The past that the daemon sends may begin after the command did.
#[tokio::test]
async fn output_whose_command_did_not_come_is_shown_all_the_same() {
    let daemon = daemon().await;
    let told = told(
        &daemon,
        &[
            prints("one\n"),
            prints("two\n"),
            ends(json!({"exitCode": 0})),
            prints("three\n"),
        ],
    )
    .await;
    assert_eq!(told[0]["title"], "A command of a person");
    assert_eq!(told[0]["command"], Value::Null);
    assert_eq!(told[2]["content"], json!([text("one\ntwo\n")]));
    assert_eq!(told[3]["status"], "completed");
    // Another one.
    assert_ne!(told[4]["id"], told[0]["id"]);
    assert_eq!(told[5]["content"], json!([text("three\n")]));
    assert!(told.iter().all(|it| it["event"] == "tool"), "{told:?}");
}
