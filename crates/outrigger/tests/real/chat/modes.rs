//! What an agent may do without asking in a conversation that starts here.

use serde_json::{Value, json};
use testkit::Call;

use super::scene::Scene;
use crate::unasking_household;

/// A companion with this configuration, over a daemon whose own settings ask nobody.
fn scene(configuration: &str) -> Option<Scene> {
    let house = unasking_household()?;
    let folder = house.home().join(".config/outrigger");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("config.toml"), configuration).unwrap();
    let daemon = house.start_daemon_with_agent();
    let mut scene = Scene::over(house, &daemon.url());
    scene.daemon = Some(daemon);
    scene.wait_until_live();
    Some(scene)
}

/// The status once the mode is known.
fn status(scene: &Scene) -> Value {
    scene.wait_until("the mode", |snapshot| {
        let status = &snapshot["status"];
        status["mode"].is_string().then(|| status.clone())
    })
}

#[test]
fn a_conversation_starts_in_the_mode_that_asks() {
    let Some(mut scene) = scene("") else { return };
    let begun = status(&scene);
    assert_eq!(begun["mode"], "default");
    let printed = scene.house.companion().printed();
    assert!(!printed.contains("reviewed"), "{printed}");
    let locality = begun["place"]["locality"].to_string();
    for part in [
        "MCP servers, skills and credentials",
        "no extension of your editor",
    ] {
        assert!(locality.contains(part), "{locality}");
    }
    let path = scene.house.path("asked.txt");
    scene.ask("ASK-PLEASE", vec![vec![Call::write(&path, "made\n")]]);
    let proposal = scene.wait_until("the edit in the review", |snapshot| {
        snapshot["requests"][0]["proposal"].as_u64()
    });
    assert_eq!(scene.house.read("asked.txt"), None);
    scene.house.run(&["accept", &proposal.to_string()]).good();
    scene.wait_until_done("ASK-PLEASE");
    assert_eq!(scene.house.read("asked.txt").unwrap(), b"made\n");
}

#[test]
fn another_mode_and_model_are_the_persons_choice_and_the_person_is_warned() {
    let configuration = "[daemon]\nmode = 'auto-edit'\nmodel = 'fake-model-2'\n";
    let Some(mut scene) = scene(configuration) else {
        return;
    };
    let begun = status(&scene);
    assert_eq!(begun["mode"], "auto-edit");
    let printed = scene.house.companion().printed();
    for part in ["warning: ", "config.toml:2:8", "its edits are not reviewed"] {
        assert!(printed.contains(part), "{printed}");
    }
    let path = scene.house.path("unasked.txt");
    scene.ask("WRITE-PLEASE", vec![vec![Call::write(&path, "made\n")]]);
    scene.wait_until_done("WRITE-PLEASE");
    assert_eq!(scene.house.read("unasked.txt").unwrap(), b"made\n");
    scene.house.wait_for_no_proposals();
    let sent = scene.house.model.requests_containing("WRITE-PLEASE");
    assert_eq!(sent[0]["model"], "fake-model-2", "{}", sent[0]);
    // A command is asked about, as it was said.
    scene.ask("RUN-PLEASE", vec![vec![Call::shell("touch ran")]]);
    let request = scene.wait_for_request();
    assert_eq!(request["tool"]["command"], "touch ran");
    assert!(!scene.house.path("ran").exists());
    // A new one starts in the same mode, whatever this one is in by then.
    assert!(scene.answer(&request, &json!("decline")));
    scene.wait_for_no_request();
    scene.wait_until("the end of the turn", |snapshot| {
        (snapshot["status"]["busy"] == false).then_some(())
    });
    scene.post("/api/chat/mode", &json!({ "mode": "plan" }));
    scene.wait_until("another mode", |snapshot| {
        (snapshot["status"]["mode"] == "plan").then_some(())
    });
    scene.post("/api/chat/connect", &json!({ "which": "new" }));
    scene.wait_until("the chosen mode", |snapshot| {
        (snapshot["status"]["mode"] == "auto-edit").then_some(())
    });
}

/// Others are in it, so it keeps its mode; and whoever comes in is told.
#[test]
fn a_conversation_that_goes_on_keeps_its_mode_and_it_is_said() {
    let Some(scene) = scene("") else { return };
    status(&scene);
    scene.post("/api/chat/mode", &json!({ "mode": "yolo" }));
    scene.wait_until("the other mode", |snapshot| {
        (snapshot["status"]["mode"] == "yolo").then_some(())
    });
    let house = &scene.house;
    let path = house.path("shared.txt");
    house
        .model
        .on("SHARED-PLEASE", vec![vec![Call::write(&path, "made\n")]]);
    let mut command = house.command(&["daemon", "prompt", "SHARED-PLEASE", "--shared"]);
    command
        .env("QWEN_IDE_DAEMON_URL", scene.daemon.as_ref().unwrap().url())
        .env("QWEN_SERVER_TOKEN", testkit::TOKEN);
    let output = testkit::run_to_end(&mut command, "");
    let said = String::from_utf8_lossy(&output.stderr);
    for part in [
        "goes on in mode yolo, and not in mode default",
        "Nothing is reviewed",
    ] {
        assert!(said.contains(part), "{said}");
    }
    assert_eq!(house.read("shared.txt").unwrap(), b"made\n");
    assert_eq!(status(&scene)["mode"], "yolo");
}
