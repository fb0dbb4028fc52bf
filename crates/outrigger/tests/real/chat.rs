//! Conversations with the published daemon, held by the companion for pages and editors.

use companion::Token;
use serde_json::{Value, json};
use testkit::{Call, Clients, Daemon, Household, ScriptedEditor, wait_for};
use web::Client;

use crate::PROGRAM;

/// A machine with a daemon, and a companion that holds the conversation.
struct Scene {
    daemon: Option<Daemon>,
    page: Client,
    house: Household,
    runtime: tokio::runtime::Runtime,
}

impl Scene {
    /// `None` if there is nothing to run.
    fn set() -> Option<Scene> {
        let clients = Clients::find()?;
        let house = Household::new(PROGRAM, &clients);
        let daemon = house.start_daemon(&house.workspace(), 0);
        let url = daemon.url();
        let mut scene = Scene::over(house, &url);
        scene.daemon = Some(daemon);
        scene.wait_for_state("live");
        Some(scene)
    }

    /// A companion for a daemon that may not be there.
    fn over(mut house: Household, url: &str) -> Scene {
        house.serve_with_daemon(url);
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build();
        Scene {
            daemon: None,
            page: page(&house),
            house,
            runtime: runtime.unwrap(),
        }
    }

    fn get(&self, path: &str) -> Value {
        self.runtime.block_on(self.page.get(path)).unwrap()
    }

    fn post(&self, path: &str, body: &Value) -> Value {
        self.runtime.block_on(self.page.post(path, body)).unwrap()
    }

    /// Why a request fails.
    fn refused(&self, path: &str, body: &Value) -> String {
        let answer = self.runtime.block_on(self.page.post::<Value>(path, body));
        answer.unwrap_err().to_string()
    }

    /// Answers a request, and tells whether it counts.
    fn answer(&self, request: &Value, reply: &Value) -> bool {
        let path = format!(
            "/api/chat/requests/{}",
            request["request"].as_str().unwrap()
        );
        let answered = self.post(&path, &json!({ "reply": reply }));
        answered["counted"] == true
    }

    fn snapshot(&self) -> Value {
        self.get("/api/chat")
    }

    /// Waits until the conversation is as `wanted` says, and tells what it said.
    #[track_caller]
    fn wait_until<T>(&self, what: &str, wanted: impl Fn(&Value) -> Option<T>) -> T {
        wait_for(
            what,
            || wanted(&self.snapshot()),
            || format!("{:#}", self.snapshot()),
        )
    }

    #[track_caller]
    fn wait_for_state(&self, state: &str) {
        self.wait_until(&format!("a connection that is {state}"), |snapshot| {
            (snapshot["status"]["connection"]["state"] == state).then_some(())
        });
    }

    /// Says something that makes the model do these things, and returns the mark that stands for it.
    fn ask(&self, mark: &'static str, turns: Vec<Vec<Call>>) -> &'static str {
        self.house.model.on(mark, turns);
        self.post("/api/chat/prompt", &json!({ "text": mark }));
        mark
    }

    /// Waits until the model has done what `mark` stands for and the turn is over.
    #[track_caller]
    fn wait_until_done(&self, mark: &str) {
        let done = format!("DONE {mark}");
        self.wait_until(&done, |snapshot| {
            let over = snapshot["status"]["busy"] == false;
            (over
                && texts(snapshot, "agent")
                    .iter()
                    .any(|text| text.contains(&done)))
            .then_some(())
        });
    }

    /// Waits for something that the agent wants from the person.
    #[track_caller]
    fn wait_for_request(&self) -> Value {
        self.wait_until("a request", |snapshot| {
            snapshot["requests"].as_array()?.first().cloned()
        })
    }

    #[track_caller]
    fn wait_for_no_request(&self) {
        self.wait_until("the end of all requests", |snapshot| {
            snapshot["requests"].as_array()?.is_empty().then_some(())
        });
    }
}

/// A client with the key of a page.
fn page(house: &Household) -> Client {
    let companions = house.home().join(".local/state/outrigger/companions");
    let record = std::fs::read_dir(companions)
        .unwrap()
        .next()
        .unwrap()
        .unwrap();
    let record = std::fs::read(record.path().join("companion.json")).unwrap();
    let record: Value = serde_json::from_slice(&record).unwrap();
    let key: Token = serde_json::from_value(record["page"].clone()).unwrap();
    let port = record["port"].as_u64().unwrap();
    Client::new(port.try_into().unwrap(), key)
}

/// What `speaker` said, entry by entry. What I said before the companion was restarted counts as
/// said at another client.
fn texts(snapshot: &Value, speaker: &str) -> Vec<String> {
    let is_theirs = |who: &Value| who == speaker || (speaker == "me" && who == "other");
    let entries = snapshot["entries"].as_array().unwrap().iter();
    let said = entries.filter(|entry| entry["kind"] == "said" && is_theirs(&entry["speaker"]));
    said.map(|entry| entry["text"].as_str().unwrap().trim_end().to_owned())
        .collect()
}

fn shell(command: &str) -> Call {
    let arguments = json!({
        "command": command, "description": "try something", "is_background": false,
    });
    Call::Other("run_shell_command", arguments)
}

fn questions() -> Call {
    let option = |label: &str| json!({ "label": label, "description": "one of them" });
    let question = |text: &str, several: bool| {
        json!({
            "question": text, "header": "Choice", "multiSelect": several,
            "options": [option("Tea"), option("Coffee")],
        })
    };
    let questions = [
        question("Which drink?", false),
        question("Which more?", true),
    ];
    Call::Other("ask_user_question", json!({ "questions": questions }))
}

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
    scene.house.outrigger(["accept", &proposal.to_string()], "");
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
    let mark = scene.ask("ASK-PLEASE", vec![vec![questions()]]);
    let request = scene.wait_for_request();
    assert_eq!(request["questions"][1]["several"], true);
    let answers = json!({ "answers": [["Tea"], ["Coffee", "Water"]] });
    assert!(scene.answer(&request, &answers));
    scene.wait_until_done(mark);
    let told = scene.house.model.requests_containing("Coffee, Water");
    assert!(!told.is_empty());
    let mark = scene.ask("SHELL-PLEASE", vec![vec![shell("touch ran")]]);
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
    scene.ask("ASK-PLEASE", vec![vec![questions()]]);
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
    scene.wait_until("the daemon's return", |snapshot| {
        let state = &snapshot["status"]["connection"]["state"];
        if state == "lost" {
            scene.post("/api/chat/connect", &json!({ "which": "last" }));
        }
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

#[test]
fn trouble_is_told_with_what_to_do() {
    let Some(clients) = Clients::find() else {
        return;
    };
    // Nobody is there; a daemon can be started from here, and ends with us.
    let house = Household::new(PROGRAM, &clients);
    house.set_up_daemon();
    let mut scene = Scene::over(house, "http://127.0.0.1:9");
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
    scene.house.companion().kill();

    // A daemon for another folder.
    let house = Household::new(PROGRAM, &clients);
    let elsewhere = house.home().join("elsewhere");
    std::fs::create_dir(&elsewhere).unwrap();
    let daemon = house.start_daemon(&elsewhere, 0);
    let scene = Scene::over(house, &daemon.url());
    scene.wait_for_state("failed");
    let connection = scene.snapshot()["status"]["connection"].clone();
    assert_eq!(connection["trouble"], "wrong_folder");
    let why = connection["why"].as_str().unwrap();
    assert!(why.contains("elsewhere"), "{why}");
}

#[test]
fn an_editor_holds_the_same_conversation() {
    let Some(clients) = Clients::find() else {
        return;
    };
    let house = Household::new(PROGRAM, &clients);
    let daemon = house.start_daemon(&house.workspace(), 0);
    let mut command = house.command();
    command
        .arg("lsp")
        .env("QWEN_IDE_DAEMON_URL", daemon.url())
        .env("QWEN_SERVER_TOKEN", testkit::TOKEN);
    let mut editor = ScriptedEditor::start(command);
    editor.begin("Scripted", &house.workspace(), std::process::id());
    editor.request("outrigger/daemon/follow", json!({ "follow": true }));
    editor.hear("outrigger/daemon/all");
    editor.take("a connection", |message| {
        message["params"]["status"]["connection"]["state"] == "live"
    });
    house.model.on("HELLO-PLEASE", vec![]);
    let sent = editor.request("outrigger/daemon/prompt", json!({ "text": "HELLO-PLEASE" }));
    assert_eq!(sent, Value::Null);
    editor.take("the answer", |message| {
        let params = &message["params"];
        let text = params["text"].as_str().or(params["entry"]["text"].as_str());
        text.is_some_and(|text| text.contains("HELLO-PLEASE") && text.contains("DONE"))
    });

    // An edit is shown as a diff that can only be taken or left.
    let path = house.path("made.txt");
    house
        .model
        .on("WRITE-PLEASE", vec![vec![Call::write(&path, "made\n")]]);
    editor.request("outrigger/daemon/prompt", json!({ "text": "WRITE-PLEASE" }));
    let proposal = editor.show_proposal();
    assert_eq!(proposal["editable"], false);
    editor.decide(&proposal, json!({ "accepted": true }));
    wait_for(
        "the file",
        || (house.read("made.txt")? == b"made\n").then_some(()),
        || editor.log(),
    );
    let unknown = editor.request("outrigger/daemon/dance", json!({}));
    assert_eq!(unknown["code"], -32601);
}

#[test]
fn an_editor_without_a_plugin_is_asked_with_buttons() {
    let Some(clients) = Clients::find() else {
        return;
    };
    let house = Household::new(PROGRAM, &clients);
    let daemon = house.start_daemon(&house.workspace(), 0);
    let mut command = house.command();
    command
        .arg("lsp")
        .env("QWEN_IDE_DAEMON_URL", daemon.url())
        .env("QWEN_SERVER_TOKEN", testkit::TOKEN);
    let mut editor = ScriptedEditor::start(command);
    editor.initialize("Stock", &house.workspace(), std::process::id(), &json!({}));
    wait_for("the companion", || house.served_by(), || editor.log());
    let client = page(&house);
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    let runtime = runtime.unwrap();
    wait_for(
        "a connection",
        || {
            let snapshot: Value = runtime.block_on(client.get("/api/chat")).unwrap();
            (snapshot["status"]["connection"]["state"] == "live").then_some(())
        },
        || editor.log(),
    );
    house
        .model
        .on("SHELL-PLEASE", vec![vec![shell("touch ran")]]);
    let prompt = json!({ "text": "SHELL-PLEASE" });
    let sent: Value = runtime
        .block_on(client.post("/api/chat/prompt", &prompt))
        .unwrap();
    assert_eq!(sent, Value::Null);
    let question = editor.hear("window/showMessageRequest");
    let message = question["params"]["message"].as_str().unwrap();
    assert!(message.contains("touch ran"), "{message}");
    let first = question["params"]["actions"][0].clone();
    editor.reply(&question, first);
    wait_for(
        "the command",
        || house.path("ran").exists().then_some(()),
        || editor.log(),
    );
}
