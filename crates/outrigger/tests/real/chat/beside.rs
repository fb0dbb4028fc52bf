//! What another client does in the conversation, which the page and the editors show too.

use daemon::wire::ContentBlock;
use serde_json::{Value, json};
use testkit::wait_for;

use super::scene::Scene;

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
