//! What the host does for everybody, as one client with the key of a page sees it.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};
use testkit::{Call, Clients, Household, wait_for};

use super::scene::{NOBODY, Scene, page, texts};
use crate::PROGRAM;

#[test]
fn a_conversation_is_held_for_pages() {
    let Some(scene) = Scene::set() else { return };
    let snapshot = scene.snapshot();
    let place = &snapshot["status"]["place"];
    let workspace = scene.house.workspace().display().to_string();
    assert_eq!(place["workspace"]["daemonPath"], workspace.as_str());
    attachments(&scene);
    an_edit_in_the_review(&scene);
    a_no_in_the_conversation(&scene);
    questions_and_commands(&scene);
    another_model(&scene);
    // Nothing that a page can fetch of all this holds the daemon's secrets.
    let url = scene.daemon.as_ref().unwrap().url();
    let told = [
        scene.snapshot(),
        scene.get("/api/chat/earlier"),
        scene.get("/api/live"),
    ];
    for told in told.map(|told| told.to_string()) {
        assert!(!told.contains(testkit::TOKEN), "{told}");
        assert!(!told.contains(url.trim_start_matches("http://")), "{told}");
    }
}

/// A file and the selection go with a prompt, unless they are private.
fn attachments(scene: &Scene) {
    let house = &scene.house;
    house.write("notes.txt", "the secret ingredient is thyme\n");
    house.write(".env", "PASSWORD=hunter2\n");
    house.focus("notes.txt", 1, 5, "ingredient is");
    house.model.on("HELLO-PLEASE", vec![]);
    let text = "HELLO-PLEASE with @notes.txt, and @selection.";
    let hello = json!({ "text": text, "mentions": true });
    scene.post("/api/chat/prompt", &hello);
    scene.wait_until_done("HELLO-PLEASE");
    let request = house.model.requests_containing("HELLO-PLEASE")[0].to_string();
    assert!(
        request.contains("the secret ingredient is thyme"),
        "{request}"
    );
    let private = json!({ "text": "x", "files": [".env"] });
    let refused = scene.refused("/api/chat/prompt", &private);
    assert!(refused.contains("secrets"), "{refused}");
    assert!(house.model.requests_containing("hunter2").is_empty());
    assert_eq!(
        scene.get("/api/chat/files?typed=note"),
        json!(["notes.txt"])
    );
    assert_eq!(scene.get("/api/chat/files?typed=.env"), json!([]));
}

/// An edit stands in the review, and is decided there like any other.
fn an_edit_in_the_review(scene: &Scene) {
    let path = scene.house.path("made.txt");
    let call = Call::write(&path, "made by the daemon\n");
    let mark = scene.ask("WRITE-PLEASE", vec![vec![call]]);
    let request = scene.wait_for_request();
    assert_eq!(request["tool"]["kind"], "edit");
    let proposal = scene.wait_until("the edit in the review", |snapshot| {
        snapshot["requests"][0]["proposal"].as_u64()
    });
    let detail = scene.get(&format!("/api/proposals/{proposal}"));
    assert_eq!(detail["proposed"], "made by the daemon\n");
    assert_eq!(detail["editable"], false);
    let accept = format!("/api/proposals/{proposal}/accept");
    let refused = scene.refused(&accept, &json!({ "content": "mine\n" }));
    assert!(refused.contains("cannot take an edited text"), "{refused}");
    scene.house.run(&["accept", &proposal.to_string()]).good();
    scene.wait_until_done(mark);
    let written = scene.house.read("made.txt").unwrap();
    assert_eq!(written, b"made by the daemon\n");
    scene.wait_for_no_request();
}

/// A no in the conversation takes the edit out of the review.
fn a_no_in_the_conversation(scene: &Scene) {
    let path = scene.house.path("never.txt");
    scene.ask("REFUSE-PLEASE", vec![vec![Call::write(&path, "no\n")]]);
    let request = scene.wait_for_request();
    assert!(scene.answer(&request, &json!("decline")));
    scene.wait_for_no_request();
    scene.house.wait_for_no_proposals();
    assert_eq!(scene.house.read("never.txt"), None);
    scene.wait_until("the end of the turn", |snapshot| {
        (snapshot["status"]["busy"] == false).then_some(())
    });
}

fn questions_and_commands(scene: &Scene) {
    let mark = scene.ask("ASK-PLEASE", vec![vec![Call::questions()]]);
    let request = scene.wait_for_request();
    assert_eq!(request["questions"][1]["several"], true);
    let answers = json!({ "answers": [["Tea"], ["Coffee", "Water"]] });
    assert!(scene.answer(&request, &answers));
    scene.wait_until_done(mark);
    let told = scene.house.model.requests_containing("Coffee, Water");
    assert!(!told.is_empty());
    let mark = scene.ask("SHELL-PLEASE", vec![vec![Call::shell("touch ran")]]);
    let request = scene.wait_for_request();
    assert_eq!(request["tool"]["command"], "touch ran");
    let mut options = request["options"].as_array().unwrap().iter();
    let once = options.find(|it| it["kind"] == "allow_once").unwrap();
    assert!(scene.answer(&request, &json!({ "option": once["id"] })));
    scene.wait_until_done(mark);
    assert!(scene.house.path("ran").exists());
}

fn another_model(scene: &Scene) {
    let models = scene.snapshot()["status"]["models"].clone();
    let other = models.as_array().unwrap().last().unwrap()["id"].clone();
    scene.post("/api/chat/model", &json!({ "model": other }));
    scene.wait_until("another model", |snapshot| {
        (snapshot["status"]["model"] == other).then_some(())
    });
    let earlier = scene.get("/api/chat/earlier");
    assert_eq!(earlier[0]["current"], true, "{earlier}");
}

#[test]
fn a_conversation_survives_everybody_s_end() {
    let Some(mut scene) = Scene::set() else {
        return;
    };
    let mark = scene.ask("BEFORE-PLEASE", vec![]);
    scene.wait_until_done(mark);
    let before = texts(&scene.snapshot(), "agent");

    // The companion is killed while a question waits, and comes back.
    scene.ask("ASK-PLEASE", vec![vec![Call::questions()]]);
    let asked = scene.wait_for_request()["request"].clone();
    let url = scene.daemon.as_ref().unwrap().url();
    scene.house.companion().kill();
    scene.house.serve_with_daemon(&url);
    scene.page = page(&scene.house);
    scene.wait_for_state("live");
    let request = scene.wait_for_request();
    assert_eq!(request["request"], asked);
    let answers = json!({ "answers": [["Tea"], ["Coffee"]] });
    assert!(scene.answer(&request, &answers));
    scene.wait_until_done("ASK-PLEASE");
    let now = texts(&scene.snapshot(), "agent");
    assert_eq!(
        now[..before.len()],
        before,
        "nothing is lost, nothing is twice"
    );
    assert_eq!(
        texts(&scene.snapshot(), "me"),
        ["BEFORE-PLEASE", "ASK-PLEASE"]
    );

    // The agent behind the daemon is killed; it is brought back with all that was said.
    let first = |snapshot: &Value| snapshot["entries"][0]["id"].clone();
    let before = first(&scene.snapshot());
    assert!(scene.daemon.as_ref().unwrap().kill_agent());
    scene.wait_until("the agent's return", |snapshot| {
        let back = snapshot["status"]["connection"]["state"] == "live";
        // The conversation was told anew, under other numbers.
        let anew = first(snapshot) != before && texts(snapshot, "me").len() == 2;
        (back && anew).then_some(())
    });
    let mark = scene.ask("AFTER-PLEASE", vec![]);
    scene.wait_until_done(mark);

    // The daemon is killed and started again on its port.
    let port = scene.daemon.as_ref().unwrap().port();
    scene.daemon.as_mut().unwrap().kill();
    scene.wait_until("the loss of the daemon", |snapshot| {
        (snapshot["status"]["connection"]["state"] != "live").then_some(())
    });
    scene.daemon = Some(scene.house.start_daemon(&scene.house.workspace(), port));
    // It is found again by itself: nobody clicks anything.
    scene.wait_until("the daemon's return", |snapshot| {
        let state = &snapshot["status"]["connection"]["state"];
        assert!(state != "lost" && state != "failed", "{snapshot:#}");
        (state == "live" && texts(snapshot, "me").len() == 3).then_some(())
    });
    let mark = scene.ask("AGAIN-PLEASE", vec![]);
    scene.wait_until_done(mark);
    assert_eq!(
        texts(&scene.snapshot(), "me"),
        [
            "BEFORE-PLEASE",
            "ASK-PLEASE",
            "AFTER-PLEASE",
            "AGAIN-PLEASE"
        ]
    );
}

/// The processes on this machine that were started with this folder as an argument.
fn processes_for(folder: &Path) -> Vec<i32> {
    let entries = fs::read_dir("/proc").unwrap().flatten();
    let found = entries.filter_map(|entry| {
        let pid: i32 = entry.file_name().to_str()?.parse().ok()?;
        let line = fs::read(entry.path().join("cmdline")).ok()?;
        let mut words = line.split(|byte| *byte == 0);
        words
            .any(|word| word == folder.as_os_str().as_encoded_bytes())
            .then_some(pid)
    });
    found.collect()
}

#[test]
fn a_daemon_of_our_own_lives_and_ends_with_us() {
    let Some(clients) = Clients::find() else {
        return;
    };
    let house = Household::new(PROGRAM, &clients);
    house.set_up_daemon();
    let mut scene = Scene::over(house, NOBODY);
    let workspace = scene.house.workspace();
    scene.wait_for_state("failed");
    scene.post("/api/chat/start", &Value::Null);
    scene.wait_for_state("live");
    let mark = scene.ask("BEFORE-PLEASE", vec![]);
    scene.wait_until_done(mark);

    // It does not outlive a companion that is killed, and the next one starts it again.
    let companion = scene.house.companion().pid();
    scene.house.companion().kill();
    let is_other = |pid: &i32| u32::try_from(*pid) != Ok(companion);
    wait_for(
        "the end of the daemon",
        || (!processes_for(&workspace).iter().any(is_other)).then_some(()),
        || format!("{:?}", processes_for(&workspace)),
    );
    scene.house.serve_with_daemon(NOBODY);
    scene.page = page(&scene.house);
    scene.wait_for_state("live");
    assert_eq!(scene.snapshot()["status"]["managed"], true);
    assert_eq!(texts(&scene.snapshot(), "me"), ["BEFORE-PLEASE"]);

    // Nor one that restarts, which starts it again as well.
    scene.house.run(&["restart"]).good();
    scene.wait_until("the conversation", |snapshot| {
        let live = snapshot["status"]["connection"]["state"] == "live";
        (live && snapshot["status"]["managed"] == true).then_some(())
    });
    let mark = scene.ask("AFTER-PLEASE", vec![]);
    scene.wait_until_done(mark);

    // After a proper end nothing is left, and nothing is started unasked.
    scene.house.run(&["stop"]).good();
    wait_for(
        "the end of everything",
        || processes_for(&workspace).is_empty().then_some(()),
        || format!("{:?}", processes_for(&workspace)),
    );
    scene.house.serve_with_daemon(NOBODY);
    scene.page = page(&scene.house);
    scene.wait_for_state("failed");
}

#[test]
fn trouble_is_told_with_what_to_do() {
    let Some(clients) = Clients::find() else {
        return;
    };
    // Nobody is there; a daemon can be started from here.
    let house = Household::new(PROGRAM, &clients);
    house.set_up_daemon();
    let scene = Scene::over(house, NOBODY);
    scene.wait_for_state("failed");
    let connection = scene.snapshot()["status"]["connection"].clone();
    assert_eq!(connection["trouble"], "no_daemon");
    assert!(
        connection["hint"].as_str().unwrap().contains("qwen serve"),
        "{connection}"
    );
    scene.post("/api/chat/start", &Value::Null);
    scene.wait_for_state("live");
    assert_eq!(scene.snapshot()["status"]["managed"], true);
    let mark = scene.ask("HELLO-PLEASE", vec![]);
    scene.wait_until_done(mark);
    drop(scene);

    // A daemon for another folder.
    let house = Household::new(PROGRAM, &clients);
    let elsewhere = house.home().join("elsewhere");
    fs::create_dir(&elsewhere).unwrap();
    let daemon = house.start_daemon(&elsewhere, 0);
    let scene = Scene::over(house, &daemon.url());
    scene.wait_for_state("failed");
    let connection = scene.snapshot()["status"]["connection"].clone();
    assert_eq!(connection["trouble"], "wrong_folder");
    let why = connection["why"].as_str().unwrap();
    assert!(why.contains("elsewhere"), "{why}");
}
