//! What another client does in the conversation, which the page and the editors show too.

use daemon::wire::ContentBlock;
use serde_json::{Value, json};
use testkit::{Call, wait_for};

use super::scene::{Scene, texts};

/// A picture of one pixel.
const PICTURE: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

#[test]
fn what_another_client_attaches_is_shown() {
    let Some(scene) = Scene::set() else { return };
    scene.house.model.on("LOOK-PLEASE", vec![]);
    scene.peer().say(vec![
        ContentBlock::text("LOOK-PLEASE at these"),
        ContentBlock::image(PICTURE, "image/png"),
        ContentBlock::resource_link("notes.txt", "file:///tmp/notes.txt"),
        ContentBlock::resource("file:///tmp/list.txt", "text/plain", "tea"),
    ]);
    scene.wait_until_done("LOOK-PLEASE");
    let snapshot = scene.snapshot();
    let entries = snapshot["entries"].as_array().unwrap();
    let attached: Vec<&Value> = (entries.iter())
        .filter(|entry| entry["kind"] == "attached")
        .map(|entry| &entry["attachment"])
        .collect();
    assert_eq!(
        json!(attached),
        json!([
            {"type": "image", "mimeType": "image/png", "data": PICTURE},
            {"type": "link", "name": "notes.txt", "uri": "file:///tmp/notes.txt"},
            {"type": "file", "uri": "file:///tmp/list.txt"},
        ])
    );
}

/// Somebody takes the conversation back: what the agent has forgotten is not shown any more, and which
/// files were put back is said.
#[test]
fn a_conversation_that_is_taken_back_shows_what_is_left() {
    let Some(scene) = Scene::set() else { return };
    scene.ask("FIRST-PLEASE", vec![]);
    scene.wait_until_done("FIRST-PLEASE");
    let path = scene.house.path("made.txt");
    scene.ask("SECOND-PLEASE", vec![vec![Call::write(&path, "made\n")]]);
    let request = scene.wait_for_request();
    let mut options = request["options"].as_array().unwrap().iter();
    let once = options.find(|it| it["kind"] == "allow_once").unwrap();
    assert!(scene.answer(&request, &json!({ "option": once["id"] })));
    scene.wait_until_done("SECOND-PLEASE");
    scene.peer().rewind(1);
    let note = scene.wait_until("the note", |snapshot| {
        let notes = texts_of(snapshot, "note");
        notes.into_iter().find(|note| note.contains("taken back"))
    });
    assert!(
        note.contains("Put back: ") && note.contains("made.txt"),
        "{note}"
    );
    assert!(!path.exists());
    let snapshot = scene.snapshot();
    assert_eq!(texts(&snapshot, "me"), ["FIRST-PLEASE"]);
    assert!(!snapshot["entries"].to_string().contains("SECOND-PLEASE"));
    // And it goes on from there.
    scene.ask("THIRD-PLEASE", vec![]);
    scene.wait_until_done("THIRD-PLEASE");
}

/// Somebody says something while the agent works. It is not a prompt, and is said all the same.
#[test]
fn what_is_said_in_the_middle_of_a_turn_is_shown() {
    let Some(scene) = Scene::set() else { return };
    let path = scene.house.path("made.txt");
    scene.ask("WORK-PLEASE", vec![vec![Call::write(&path, "made\n")]]);
    let request = scene.wait_for_request();
    scene.peer().interject("and mind the gap");
    let mut options = request["options"].as_array().unwrap().iter();
    let once = options.find(|it| it["kind"] == "allow_once").unwrap();
    assert!(scene.answer(&request, &json!({ "option": once["id"] })));
    scene.wait_until_done("WORK-PLEASE");
    assert_eq!(texts(&scene.snapshot(), "other"), ["and mind the gap"]);
}

/// The texts of all entries of a kind.
fn texts_of(snapshot: &Value, kind: &str) -> Vec<String> {
    let entries = snapshot["entries"].as_array().unwrap().iter();
    let entries = entries.filter(|entry| entry["kind"] == kind);
    entries
        .map(|entry| entry["text"].as_str().unwrap().to_owned())
        .collect()
}

/// A registration that stays at the daemon counts wherever several clients have to agree.
#[test]
fn the_host_leaves_no_registration_behind() {
    let Some(scene) = Scene::set() else { return };
    scene.ask("HELLO-PLEASE", vec![]);
    scene.wait_until_done("HELLO-PLEASE");
    let peer = scene.peer();
    let stays = peer.register();
    assert_eq!(peer.clients(&stays), 2);
    scene.house.run(&["stop"]).good();
    // The command is answered before the companion has ended.
    let clients = || peer.clients(&stays);
    wait_for(
        "the host to leave",
        || (clients() == 1).then_some(()),
        || clients().to_string(),
    );
}
