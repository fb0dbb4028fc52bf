//! A conversation with the published daemon, whichever editor the person holds it in.
//!
//! The story is the same for all of them; what differs is what the person types and sees.

use std::fmt::Display;
use std::fs;
use std::os::unix::fs::PermissionsExt;

use companion::Token;
use daemon::wire::ContentBlock;
use serde_json::{Value, json};
use testkit::{Call, Daemon, Household, wait_for};
use tokio::runtime::{Builder, Runtime};
use web::Client;

use crate::chat::peer::Peer;
use crate::household_with;

/// The smallest picture in PNG that there is.
const PICTURE: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

/// An editor in which a person talks to a daemon.
pub(crate) trait Talker: Display {
    /// Types a text where one writes, and sends it.
    fn say(&mut self, text: &str);

    /// Everything in the buffer with the conversation.
    fn transcript(&self) -> String;

    /// The line that says how things stand.
    fn bar(&self) -> String;

    /// Waits until the picker asks about `what`.
    fn wait_for_picker(&self, what: &str);

    /// Waits until it does not any more, though nobody has chosen there.
    fn wait_for_no_picker(&mut self, what: &str);

    /// Chooses the option with this number, from one, and this title.
    fn choose(&mut self, number: usize, title: &str);

    /// Answers [`questions`] with Tea; and with Coffee and, in own words, Water.
    fn answer_questions(&mut self);

    /// Waits for the editor's own diff of a file, which cannot be edited, and accepts it.
    fn accept(&mut self, name: &str);

    /// Waits for that diff, but decides nothing.
    fn wait_for_diff(&self, name: &str);

    /// Waits until no diff is shown.
    fn wait_for_no_diff(&self);

    /// Ends what the agent is doing.
    fn stop(&mut self);

    /// Switches to the model with this number, from one, and this name.
    fn switch_model(&mut self, number: usize, name: &str);

    /// Begins a new conversation.
    fn begin_anew(&mut self);

    /// Goes back to the one whose title holds this.
    fn go_back_to(&mut self, number: usize, title: &str);
}

/// A machine with a daemon, and somebody who answers elsewhere than in the editor.
pub(crate) struct Stage {
    daemon: Daemon,
    pub(crate) house: Household,
    runtime: Runtime,
}

impl Stage {
    /// `None` if there is nothing to run.
    pub(crate) fn set() -> Option<Stage> {
        Self::set_with(&[])
    }

    /// The same for a test that needs more than the newest agents.
    pub(crate) fn set_with(more: &[&str]) -> Option<Stage> {
        let house = household_with(more)?;
        house.write("hello.txt", "hello\n");
        Some(Stage {
            daemon: house.start_daemon_with_agent(),
            house,
            runtime: Builder::new_current_thread().enable_all().build().unwrap(),
        })
    }

    /// The environment of an editor that finds the daemon.
    pub(crate) fn environment(&self) -> Vec<(String, String)> {
        let mut environment = self.house.environment();
        environment.push(("QWEN_IDE_DAEMON_URL".into(), self.daemon.url()));
        environment.push(("QWEN_SERVER_TOKEN".into(), testkit::TOKEN.into()));
        environment
    }

    /// The address of the daemon and a file with its token, for an editor that finds it by its own
    /// settings.
    pub(crate) fn address_and_token_file(&self) -> (String, String) {
        let file = self.house.home().join("token");
        fs::write(&file, testkit::TOKEN).unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
        (self.daemon.url(), "~/token".into())
    }

    /// Waits until the companion talks to the daemon, in this mode.
    #[track_caller]
    pub(crate) fn wait_for_conversation(&self, talker: &impl Display, mode: &str) {
        wait_for(
            "a conversation",
            || {
                let status = self.snapshot()["status"].clone();
                if status["connection"]["trouble"] == "busy" {
                    let last = json!({ "which": "last" });
                    let page = self.page();
                    let again = page.post::<Value>("/api/chat/connect", &last);
                    self.runtime.block_on(again).unwrap();
                }
                (status["connection"]["state"] == "live" && status["mode"] == mode).then_some(())
            },
            || format!("{:#}\n{talker}", self.snapshot()),
        );
    }

    /// The page of the companion, without a browser.
    fn page(&self) -> Client {
        let record = self.house.record();
        let key: Token = serde_json::from_value(record["page"].clone()).unwrap();
        let port = record["port"].as_u64().unwrap();
        Client::new(port.try_into().unwrap(), key)
    }

    fn snapshot(&self) -> Value {
        self.runtime.block_on(self.page().get("/api/chat")).unwrap()
    }

    /// Waits until the conversation, as the page sees it, is as wanted.
    #[track_caller]
    fn wait_until<T>(
        &self,
        talker: &impl Talker,
        what: &str,
        wanted: impl Fn(&Value) -> Option<T>,
    ) -> T {
        wait_for(
            what,
            || wanted(&self.snapshot()),
            || format!("{:#}\n{talker}", self.snapshot()),
        )
    }

    #[track_caller]
    fn wait_for_request(&self, talker: &impl Talker) -> Value {
        self.wait_until(talker, "a request", |snapshot| {
            snapshot["requests"].as_array()?.first().cloned()
        })
    }

    /// Says something that makes the model do these things.
    fn ask(&self, talker: &mut impl Talker, mark: &str, turns: Vec<Vec<Call>>) {
        self.house.model.on(mark, turns);
        talker.say(mark);
    }

    /// Has the model run a command, and waits for the picker that asks for leave.
    #[track_caller]
    fn ask_to_run(&self, talker: &mut impl Talker, mark: &str, command: &str) -> Leave {
        self.ask(talker, mark, vec![vec![Call::shell(command)]]);
        let request = self.wait_for_request(talker);
        talker.wait_for_picker(command);
        let options = request["options"].as_array().unwrap();
        let once = options.iter().position(|it| it["kind"] == "allow_once");
        let once = once.unwrap();
        Leave {
            request: request["request"].as_str().unwrap().into(),
            number: once + 1,
            title: options[once]["title"].as_str().unwrap().into(),
            option: options[once]["id"].clone(),
        }
    }
}

/// What the agent asks for, and the option that gives it once.
struct Leave {
    request: String,
    number: usize,
    title: String,
    option: Value,
}

/// Waits until the conversation holds a text, and that once.
#[track_caller]
fn wait_for_text(talker: &impl Talker, text: &str) {
    wait_for(
        &format!("{text:?} in the conversation"),
        || talker.transcript().contains(text).then_some(()),
        || format!("{}\n{talker}", talker.transcript()),
    );
    let transcript = talker.transcript();
    assert_eq!(transcript.matches(text).count(), 1, "{transcript}");
}

/// Waits until the line above the conversation is as wanted.
#[track_caller]
fn wait_for_bar(talker: &impl Talker, what: &str, wanted: impl Fn(&str) -> bool) {
    wait_for(
        what,
        || wanted(&talker.bar()).then_some(()),
        || format!("{}\n{talker}", talker.bar()),
    );
}

fn is_connected(bar: &str) -> bool {
    bar.trim_start().starts_with("connected")
}

/// Waits until the model has done what `mark` stands for.
#[track_caller]
fn wait_until_done(talker: &impl Talker, mark: &str) {
    wait_for_text(talker, &format!("DONE {mark}"));
}

/// Everything that happens in a turn.
pub(crate) fn turns(stage: &Stage, talker: &mut impl Talker) {
    let house = &stage.house;
    let workspace = house.workspace().display().to_string();
    wait_for_bar(talker, "a connection", is_connected);
    assert!(talker.bar().contains(&workspace), "{}", talker.bar());
    assert!(talker.transcript().contains(&workspace), "{talker}");

    stage.ask(talker, "HELLO-PLEASE", vec![]);
    wait_until_done(talker, "HELLO-PLEASE");

    // What the model says is there while it speaks, and goes on where it was.
    let speech = house.model.speak("SPEAK-PLEASE", vec![]);
    talker.say("SPEAK-PLEASE");
    speech.think("What could I say?");
    speech.say("First this");
    wait_for_text(talker, "First this");
    speech.say(", then that.");
    drop(speech);
    wait_for_text(talker, "First this, then that.");
    wait_for_text(talker, "What could I say?");

    // What a tool shows is shown, and not obeyed.
    let command = r"printf '\033[2J\033[31mred'; touch ran";
    let leave = stage.ask_to_run(talker, "SHELL-PLEASE", command);
    talker.choose(leave.number, &leave.title);
    wait_until_done(talker, "SHELL-PLEASE");
    assert!(house.path("ran").exists());
    assert!(talker.transcript().contains("red"), "{talker}");

    let write = |name: &str| vec![vec![Call::write(house.path(name), "made\n")]];
    stage.ask(talker, "WRITE-PLEASE", write("made.txt"));
    talker.accept("made.txt");
    wait_until_done(talker, "WRITE-PLEASE");
    assert_eq!(house.read("made.txt").unwrap(), b"made\n");
    talker.wait_for_no_diff();

    stage.ask(talker, "ASK-PLEASE", vec![vec![Call::questions()]]);
    talker.wait_for_picker("Which drink?");
    talker.answer_questions();
    wait_until_done(talker, "ASK-PLEASE");
    assert!(!house.model.requests_containing("Coffee, Water").is_empty());

    let command = "touch runs; tail -f hello.txt";
    let leave = stage.ask_to_run(talker, "WAIT-PLEASE", command);
    talker.choose(leave.number, &leave.title);
    wait_for(
        "a command that does not end",
        || house.path("runs").exists().then_some(()),
        || talker.to_string(),
    );
    talker.stop();
    wait_for_text(talker, "the turn was cancelled");
    attachments(stage, talker);
}

/// Somebody else attaches what is not text, and editors have a line for it.
fn attachments(stage: &Stage, talker: &impl Talker) {
    stage.house.model.on("LOOK-PLEASE", vec![]);
    Peer::new(&stage.house, &stage.daemon).say(vec![
        ContentBlock::text("LOOK-PLEASE\n"),
        ContentBlock::image(PICTURE, "image/png"),
        ContentBlock::resource_link("the tea", "file:///tea/green.txt"),
    ]);
    wait_until_done(talker, "LOOK-PLEASE");
    wait_for_text(talker, "a picture (image/png, 1 kB)");
    wait_for_text(talker, "the tea (file:///tea/green.txt)");
}

/// Somebody else answers what the editor asks.
pub(crate) fn answers_from_elsewhere(stage: &Stage, talker: &mut impl Talker) {
    let house = &stage.house;
    let leave = stage.ask_to_run(talker, "ELSEWHERE-PLEASE", "touch elsewhere");
    let path = format!("/api/chat/requests/{}", leave.request);
    let reply = json!({ "reply": { "option": leave.option } });
    let answered: Value = stage
        .runtime
        .block_on(stage.page().post(&path, &reply))
        .unwrap();
    assert_eq!(answered["counted"], true);
    talker.wait_for_no_picker("touch elsewhere");
    wait_until_done(talker, "ELSEWHERE-PLEASE");

    let call = Call::write(house.path("accepted.txt"), "accepted elsewhere\n");
    stage.ask(talker, "ACCEPT-PLEASE", vec![vec![call]]);
    talker.wait_for_diff("accepted.txt");
    let proposal = house.proposals().remove(0);
    house.accept(&proposal);
    talker.wait_for_no_diff();
    wait_until_done(talker, "ACCEPT-PLEASE");
    assert!(house.path("accepted.txt").exists());
}

/// Whether the agent asks is seen, whoever changes it.
fn modes(stage: &Stage, talker: &impl Talker) {
    for (mode, asks) in [("yolo", false), ("default", true)] {
        let chosen = json!({ "mode": mode });
        let set = stage.page();
        let set = set.post::<Value>("/api/chat/mode", &chosen);
        stage.runtime.block_on(set).unwrap();
        // In a narrow window it is a sign.
        wait_for_bar(talker, mode, |bar| {
            let says_so = bar.contains("(may not ask)") || bar.contains('!');
            bar.to_lowercase().contains(mode) && says_so != asks
        });
    }
}

/// Another model, another conversation, and back.
pub(crate) fn choices(stage: &Stage, talker: &mut impl Talker) {
    let models = stage.snapshot()["status"]["models"].clone();
    let place = |name: &str| {
        let mut all = models.as_array().unwrap().iter();
        all.position(|model| model["name"].as_str().unwrap().contains(name))
            .unwrap()
    };
    let other = place("fake-model-2");
    talker.switch_model(other + 1, models[other]["name"].as_str().unwrap());
    wait_for_bar(talker, "another model", |bar| bar.contains("fake-model-2"));

    modes(stage, talker);

    talker.begin_anew();
    wait_for(
        "another conversation",
        || (!talker.transcript().contains("HELLO-PLEASE")).then_some(()),
        || talker.transcript(),
    );
    wait_for_bar(talker, "a connection", is_connected);
    stage.ask(talker, "ANEW-PLEASE", vec![]);
    wait_until_done(talker, "ANEW-PLEASE");
    let page = stage.page();
    let earlier: Value = stage
        .runtime
        .block_on(page.get("/api/chat/earlier"))
        .unwrap();
    let all = earlier.as_array().unwrap();
    let first = all.iter().position(|it| it["current"] == false).unwrap();
    talker.go_back_to(
        first + 1,
        all[first]["title"].as_str().unwrap_or("without a title"),
    );
    wait_until_done(talker, "HELLO-PLEASE");
    assert!(!talker.transcript().contains("ANEW-PLEASE"), "{talker}");
}

/// The daemon is killed in the middle, and started again on its port.
pub(crate) fn daemon_killed(stage: &mut Stage, talker: &mut impl Talker) {
    let before = talker.transcript();
    let port = stage.daemon.port();
    stage.daemon.kill();
    wait_for_bar(talker, "the loss of the daemon", |bar| !is_connected(bar));
    stage.daemon = stage.house.start_daemon(&stage.house.workspace(), port);
    wait_for_bar(talker, "the daemon's return", is_connected);
    stage.ask(talker, "AFTER-PLEASE", vec![]);
    wait_until_done(talker, "AFTER-PLEASE");
    is_still_there(talker, &before);
}

/// All answers that were in the conversation before are still in it, each once.
#[track_caller]
pub(crate) fn is_still_there(talker: &impl Talker, before: &str) {
    for line in before.lines().filter(|line| line.contains("DONE ")) {
        wait_for_text(talker, line);
    }
}
