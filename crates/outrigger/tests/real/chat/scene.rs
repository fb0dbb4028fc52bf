//! A machine with a daemon, and a companion that holds the conversation for whoever shows it.

use companion::Token;
use serde_json::{Value, json};
use testkit::{Call, Clients, Daemon, Household, ScriptedEditor, wait_for};
use web::Client;

use super::peer::Peer;
use crate::PROGRAM;

/// Where no daemon ever is.
pub(super) const NOBODY: &str = "http://127.0.0.1:9";

/// A machine with a daemon, and a companion that holds the conversation.
pub(super) struct Scene {
    pub(super) daemon: Option<Daemon>,
    pub(super) page: Client,
    pub(super) house: Household,
    runtime: tokio::runtime::Runtime,
}

impl Scene {
    /// `None` if there is nothing to run.
    pub(super) fn set() -> Option<Scene> {
        Self::set_with(&[])
    }

    /// The same for a test that needs more than the newest agents.
    pub(super) fn set_with(more: &[&str]) -> Option<Scene> {
        let clients = Clients::find_with(more)?;
        let house = Household::new(PROGRAM, &clients);
        let daemon = house.start_daemon_with_agent();
        let url = daemon.url();
        let mut scene = Scene::over(house, &url);
        scene.daemon = Some(daemon);
        scene.wait_until_live();
        Some(scene)
    }

    /// A companion for a daemon that may not be there.
    pub(super) fn over(mut house: Household, url: &str) -> Scene {
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

    fn wait<T>(&self, asked: impl Future<Output = T>) -> T {
        self.runtime.block_on(asked)
    }

    pub(super) fn get(&self, path: &str) -> Value {
        self.wait(self.page.get(path)).unwrap()
    }

    pub(super) fn post(&self, path: &str, body: &Value) -> Value {
        self.wait(self.page.post(path, body)).unwrap()
    }

    /// Why a request fails.
    pub(super) fn refused(&self, path: &str, body: &Value) -> String {
        let answer = self.wait(self.page.post::<Value>(path, body));
        answer.unwrap_err().to_string()
    }

    /// Answers a request, and tells whether it counts.
    pub(super) fn answer(&self, request: &Value, reply: &Value) -> bool {
        let path = format!(
            "/api/chat/requests/{}",
            request["request"].as_str().unwrap()
        );
        let answered = self.post(&path, &json!({ "reply": reply }));
        answered["counted"] == true
    }

    pub(super) fn snapshot(&self) -> Value {
        self.get("/api/chat")
    }

    /// Somebody else at the daemon.
    #[track_caller]
    pub(super) fn peer(&self) -> Peer {
        Peer::new(&self.house, self.daemon.as_ref().unwrap())
    }

    /// Waits until the conversation is as `wanted` says, and tells what it said.
    #[track_caller]
    pub(super) fn wait_until<T>(&self, what: &str, wanted: impl Fn(&Value) -> Option<T>) -> T {
        wait_for(
            what,
            || wanted(&self.snapshot()),
            || format!("{:#}", self.snapshot()),
        )
    }

    #[track_caller]
    pub(super) fn wait_for_state(&self, state: &str) {
        self.wait_until(&format!("a connection that is {state}"), |snapshot| {
            (snapshot["status"]["connection"]["state"] == state).then_some(())
        });
    }

    /// Waits until there is a conversation. The daemon gives its agent ten seconds to start, which
    /// is not enough on a machine that is busy enough.
    #[track_caller]
    pub(super) fn wait_until_live(&self) {
        self.wait_until("a connection that is live", |snapshot| {
            let connection = &snapshot["status"]["connection"];
            if connection["trouble"] == "busy" {
                self.post("/api/chat/connect", &json!({ "which": "last" }));
            }
            (connection["state"] == "live").then_some(())
        });
    }

    /// Says something that makes the model do these things, and returns the mark that stands for it.
    pub(super) fn ask(&self, mark: &'static str, turns: Vec<Vec<Call>>) -> &'static str {
        self.house.model.on(mark, turns);
        self.post("/api/chat/prompt", &json!({ "text": mark }));
        mark
    }

    /// Waits until the model has done what `mark` stands for and the turn is over.
    #[track_caller]
    pub(super) fn wait_until_done(&self, mark: &str) {
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
    pub(super) fn wait_for_request(&self) -> Value {
        self.wait_until("a request", |snapshot| {
            snapshot["requests"].as_array()?.first().cloned()
        })
    }

    #[track_caller]
    pub(super) fn wait_for_no_request(&self) {
        self.wait_until("the end of all requests", |snapshot| {
            snapshot["requests"].as_array()?.is_empty().then_some(())
        });
    }
}

/// A client with the key of a page.
pub(super) fn page(house: &Household) -> Client {
    let record = house.record();
    let key: Token = serde_json::from_value(record["page"].clone()).unwrap();
    let port = record["port"].as_u64().unwrap();
    Client::new(port.try_into().unwrap(), key)
}

/// An editor that has not begun, in whose process the companion holds the conversation.
pub(super) fn editor(house: &Household, daemon: &Daemon) -> ScriptedEditor {
    let mut command = house.command(&["lsp"]);
    command
        .env("QWEN_IDE_DAEMON_URL", daemon.url())
        .env("QWEN_SERVER_TOKEN", testkit::TOKEN);
    ScriptedEditor::start(command)
}

/// What `speaker` said, entry by entry. What I said before the companion was restarted counts as
/// said at another client.
pub(super) fn texts(snapshot: &Value, speaker: &str) -> Vec<String> {
    let is_theirs = |who: &Value| who == speaker || (speaker == "me" && who == "other");
    let entries = snapshot["entries"].as_array().unwrap().iter();
    let said = entries.filter(|entry| entry["kind"] == "said" && is_theirs(&entry["speaker"]));
    said.map(|entry| entry["text"].as_str().unwrap().trim_end().to_owned())
        .collect()
}

/// Makes a plan of these steps and their states.
pub(super) fn plan(steps: &[(&str, &str)]) -> Call {
    let steps = steps.iter().enumerate();
    let steps = steps.map(|(index, (text, status))| {
        json!({ "id": index.to_string(), "content": text, "status": status })
    });
    let todos: Vec<Value> = steps.collect();
    Call::Other("todo_write", json!({ "todos": todos }))
}
