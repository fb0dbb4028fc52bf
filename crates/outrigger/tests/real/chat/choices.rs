//! What a person can choose: the model, what it may do, commands, files, conversations.

use serde_json::{Value, json};
use testkit::{Call, Look};

use super::scene::Scene;
use super::screen::{ENTER, Screen};
use crate::page::pretend;

const OPTIONS: &str = "[role=listbox] [role=option]";

/// The sentences about where the agent works, where a conversation begins.
const LOCALITY: &str = "[data-locality]";

/// The model of the daemon that it does not begin with.
const OTHER_MODEL: &str = "fake-model-2";

const BACKSPACE: &str = "\u{e003}";

#[test]
fn models_modes_commands_files_and_conversations_are_chosen_in_the_page() {
    let Some(scene) = Scene::set() else { return };
    let screen = Screen::open(&scene.house, Look::DESK);
    screen.wait_for_state("live");
    another_model(&scene, &screen);
    another_mode(&scene, &screen);
    commands(&scene, &screen);
    files(&scene, &screen);
    an_earlier_conversation(&scene, &screen);
    screen.never_received(&scene.peer().secrets(), "DONE MODEL-PLEASE");
}

/// The mode is there and the place is named, however much the daemon tells of them. Somebody who
/// begins reads where the agent works without opening anything.
#[test]
fn the_mode_and_the_place_are_always_on_the_page() {
    let Some(scene) = Scene::set() else { return };
    let screen = Screen::open(&scene.house, Look::PHONE);
    screen.wait_for_state("live");
    pretend(&screen.browser, "return {}", "return {}");
    screen.show_chat();
    let tell = |change: Value| {
        let script = "window.tell('chat', arguments[0])";
        screen.browser.run(script, vec![change]);
    };
    let tell_status = |changes: Value| {
        let mut status = scene.snapshot()["status"].clone();
        let fields = status.as_object_mut().unwrap();
        fields.extend(changes.as_object().unwrap().clone());
        fields.retain(|_, it| !it.is_null());
        tell(json!({ "change": "status", "status": status }));
    };
    screen.wait_for_text("[data-place]", "Files, MCP servers, skills and credentials");
    wait_until_in_sight(&screen, LOCALITY, &locality(&scene));
    let sentences = ["It runs on elm\u{202e}.", "So do its files."];
    let place = json!({ "workspace": { "daemonPath": "/w" }, "locality": sentences });
    tell_status(json!({ "mode": "auto-edit", "modes": [], "unasking": true, "place": place }));
    screen.wait_for_text("[data-unasking=true]", "auto-edit");
    screen.wait_for_text("[data-unasking=true] .unasking", "may not ask");
    screen.wait_for_text("[data-place]", "It runs on elm⟨202E⟩. So do its files.");
    let place = screen.browser.texts("[data-place]").concat();
    assert!(!place.contains("credentials"), "{place}");
    let sentences = json!(["It runs on elm⟨202E⟩.", "So do its files."]);
    wait_until_in_sight(&screen, LOCALITY, &sentences);
    // They make room for the first entry. The line above stays.
    let entry = json!({ "id": 1, "kind": "said", "speaker": "me", "text": "hello" });
    tell(json!({ "change": "put", "entry": entry }));
    screen.browser.wait_for_no(LOCALITY);
    let line = json!(["Runs on its machine in /w"]);
    wait_until_in_sight(&screen, "[data-place] summary", &line);
    tell(json!({ "change": "clear" }));
    wait_until_in_sight(&screen, LOCALITY, &sentences);
    tell_status(json!({ "mode": null, "modes": [] }));
    screen.wait_for_text("[data-unasking=false]", "mode not known");
}

/// What the program says about where the agent works.
fn locality(scene: &Scene) -> Value {
    scene.snapshot()["status"]["place"]["locality"].clone()
}

/// Waits until of all that match exactly these texts can be read without doing anything.
#[track_caller]
fn wait_until_in_sight(screen: &Screen, css: &str, texts: &Value) {
    let what = format!("{texts} in sight");
    screen.browser.wait_until(&what, || {
        json!(screen.browser.texts_in_sight(css)) == *texts
    });
}

/// Chooses something from one of the lists at the top.
#[track_caller]
fn choose(screen: &Screen, list: &str, wanted: &str) {
    screen
        .browser
        .click(&format!("{list} option[value='{wanted}']"));
    let what = format!("{wanted} in {list}");
    screen
        .browser
        .wait_until(&what, || screen.value_of(list) == wanted);
}

fn another_model(scene: &Scene, screen: &Screen) {
    let list = "select[data-model]";
    screen.browser.wait_for(&format!("{list}:not([disabled])"));
    let status = scene.snapshot()["status"].clone();
    let models = status["models"].as_array().unwrap().iter();
    let mut ids = models.filter_map(|model| model["id"].as_str());
    let other = ids.find(|id| id.contains(OTHER_MODEL)).unwrap();
    assert_ne!(screen.value_of(list), other);
    choose(screen, list, other);
    screen.ask(&scene.house, "MODEL-PLEASE", vec![]);
    screen.wait_until_done("MODEL-PLEASE");
    let request = &scene.house.model.requests_containing("MODEL-PLEASE")[0];
    assert_eq!(request["model"], OTHER_MODEL);
}

fn another_mode(scene: &Scene, screen: &Screen) {
    let list = "select[data-mode]";
    let before = screen.value_of(list);
    screen.browser.wait_for_no("[data-unasking=true]");
    choose(screen, list, "yolo");
    screen.wait_for_text("[data-unasking=true]", "may not ask");
    screen.ask(
        &scene.house,
        "YOLO-PLEASE",
        vec![vec![Call::shell("touch unasked")]],
    );
    screen.wait_until_done("YOLO-PLEASE");
    assert!(scene.house.path("unasked").exists());
    choose(screen, list, &before);
    screen.browser.wait_for_no("[data-unasking=true]");
    screen.ask(
        &scene.house,
        "ASKED-PLEASE",
        vec![vec![Call::shell("touch asked")]],
    );
    screen.wait_for_request();
    assert!(!scene.house.path("asked").exists());
    screen.reject();
    screen.wait_until_idle();
}

/// What the daemon can do stands there once a slash is typed.
fn commands(scene: &Scene, screen: &Screen) {
    let status = scene.snapshot()["status"].clone();
    let known = status["commands"].as_array().unwrap().iter();
    let names: Vec<&str> = known.filter_map(|command| command[0].as_str()).collect();
    screen.type_text("/");
    screen.browser.wait_for(OPTIONS);
    let offered = screen.browser.texts(&format!("{OPTIONS} bdi"));
    for offer in &offered {
        assert!(names.contains(&offer.trim_start_matches('/')), "{offer}");
    }
    let (first, _) = offered[0].split_at(3);
    screen.clear();
    screen.type_text(first);
    screen.wait_for_text(OPTIONS, &offered[0]);
    screen.browser.press(ENTER);
    screen.browser.wait_until("the command", || {
        let typed = screen.typed();
        let command = typed.strip_prefix('/').and_then(|it| it.strip_suffix(' '));
        command.is_some_and(|command| names.contains(&command))
    });
    screen.browser.wait_for_no(OPTIONS);
    screen.clear();
}

/// A file goes with a prompt once it is chosen; one that agents may not see is not on offer.
fn files(scene: &Scene, screen: &Screen) {
    let house = &scene.house;
    house.write("thyme.txt", "the secret ingredient is thyme\n");
    house.write("server.txt", "it is called Olive\n");
    house.write("server.pem", "hunter2\n");
    screen.type_text("@thy");
    screen.wait_for_text(OPTIONS, "thyme.txt");
    screen.browser.press(ENTER);
    screen.browser.wait_for("[data-attached='thyme.txt']");
    screen.type_text("@server");
    screen.browser.wait_until("server.txt alone", || {
        screen.browser.texts(OPTIONS) == ["server.txt"]
    });
    screen.browser.press(&BACKSPACE.repeat("@server".len()));
    screen.browser.wait_for_no(OPTIONS);
    house.model.on("FILE-PLEASE", vec![]);
    screen.type_text("FILE-PLEASE");
    screen.browser.press(ENTER);
    screen.wait_until_done("FILE-PLEASE");
    let request = house.model.requests_containing("FILE-PLEASE")[0].to_string();
    assert!(
        request.contains("the secret ingredient is thyme"),
        "{request}"
    );
    assert!(house.model.requests_containing("hunter2").is_empty());
    screen.browser.wait_for_no("[data-attached]");
}

fn an_earlier_conversation(scene: &Scene, screen: &Screen) {
    let before = screen.said();
    assert!(before.len() > 4, "{before:?}");
    screen.act("new-chat");
    screen.wait_until_said(&[]);
    wait_until_in_sight(screen, LOCALITY, &locality(scene));
    screen.ask(&scene.house, "NEW-PLEASE", vec![]);
    screen.wait_until_said(&["me: NEW-PLEASE", "agent: DONE NEW-PLEASE"]);
    screen.browser.wait_until("both conversations", || {
        screen.browser.count("[data-earlier]") == 2
    });
    screen
        .browser
        .click("button[data-earlier]:not([aria-current=true])");
    let lines: Vec<&str> = before.iter().map(String::as_str).collect();
    screen.wait_until_said(&lines);
    let earlier: Value = scene.get("/api/chat/earlier");
    assert_eq!(earlier.as_array().unwrap().len(), 2, "{earlier}");
}
