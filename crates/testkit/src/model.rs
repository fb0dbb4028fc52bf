//! A language model on loopback that does exactly what a test tells it to.
//!
//! It speaks the two wire formats the agents use. A test registers a *mark* and the tool calls to
//! make, turn by turn; when the newest marked text of the person in a request carries that mark, the
//! model makes the next turn's calls, and after the last turn it says `DONE <mark>`, or what the test
//! makes it say piece by piece ([`Speech`]), or it fails. Which turn is next is read from the request
//! itself (how often the model has called tools since the mark), so retries and side requests of the
//! agents do not disturb it.

mod gemini;
mod openai;
mod speech;

use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::thread;

use axum::Router;
use axum::body::Body;
use axum::extract::State;
use axum::http::{Response, StatusCode, Uri, header};
use serde_json::{Value, json};

use speech::Heard;

pub use speech::Speech;

/// One use of a tool, in words that each wire format translates for its agent.
#[derive(Clone, Debug)]
pub enum Call {
    /// Read a file; the agents insist on it before they change one that exists.
    Read(PathBuf),
    /// Write a whole file.
    Write(PathBuf, String),
    /// Replace one piece of text in a file by another.
    Edit(PathBuf, String, String),
    /// Use any other tool, by the name and with the arguments that the agent knows it by.
    Other(&'static str, Value),
}

impl Call {
    /// Reads `path`.
    pub fn read(path: impl AsRef<Path>) -> Self {
        Self::Read(path.as_ref().into())
    }

    /// Writes `content` to `path`.
    pub fn write(path: impl AsRef<Path>, content: &str) -> Self {
        Self::Write(path.as_ref().into(), content.into())
    }

    /// Replaces `old` by `new` in `path`.
    pub fn edit(path: impl AsRef<Path>, old: &str, new: &str) -> Self {
        Self::Edit(path.as_ref().into(), old.into(), new.into())
    }

    /// Runs a command.
    pub fn shell(command: &str) -> Self {
        let arguments = json!({
            "command": command, "description": "try something", "is_background": false,
        });
        Self::Other("run_shell_command", arguments)
    }

    /// Asks one question with one answer, and one with several.
    pub fn questions() -> Self {
        let option = |label: &str| json!({"label": label, "description": "one of them"});
        let question = |text: &str, several: bool| {
            json!({
                "question": text, "header": "Choice", "multiSelect": several,
                "options": [option("Tea"), option("Coffee")],
            })
        };
        let both = [
            question("Which drink?", false),
            question("Which more?", true),
        ];
        Self::Other("ask_user_question", json!({"questions": both}))
    }

    /// The tool's name and arguments; `edit_tool` is what this agent calls its editing tool.
    fn on_wire(&self, edit_tool: &'static str) -> (&'static str, Value) {
        match self {
            Self::Read(path) => ("read_file", json!({"file_path": path})),
            Self::Write(path, content) => {
                ("write_file", json!({"file_path": path, "content": content}))
            }
            Self::Edit(path, old, new) => (
                edit_tool,
                json!({
                    "file_path": path,
                    "old_string": old,
                    "new_string": new,
                    "instruction": "Change the text as given.",
                }),
            ),
            Self::Other(name, arguments) => (name, arguments.clone()),
        }
    }
}

/// What the model answers to one request.
enum Answer {
    Text(String),
    Calls(Vec<Call>),
    Speech(Heard),
    Refusal,
}

/// What a request says about the conversation, in either format.
struct Conversation {
    /// The person's texts, oldest first, each with the number of turns since it in which the model
    /// called tools.
    texts: Vec<(String, usize)>,
}

/// The fake model; it answers until the test process ends.
pub struct Model {
    port: u16,
    state: Arc<Mutex<Play>>,
}

/// What one mark means.
struct Task {
    mark: String,
    turns: Vec<Vec<Call>>,
    /// What comes after the last turn.
    end: End,
}

/// How the model ends a task.
enum End {
    /// It says `DONE <mark>`.
    Done,
    /// It says what the test says.
    Speech(Heard),
    Refusal,
}

#[derive(Default)]
struct Play {
    /// What marks mean, in order of registration.
    script: Vec<Task>,
    /// Every request body received, oldest first.
    requests: Vec<Value>,
}

impl Model {
    /// Starts a model on a free port.
    pub fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        listener.set_nonblocking(true).unwrap();
        let port = listener.local_addr().unwrap().port();
        let state = Arc::<Mutex<Play>>::default();
        let app = Router::new().fallback(respond).with_state(state.clone());
        thread::spawn(move || {
            tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build()
                .unwrap()
                .block_on(async move {
                    let listener = tokio::net::TcpListener::from_std(listener).unwrap();
                    axum::serve(listener, app).await.unwrap();
                });
        });
        Self { port, state }
    }

    /// The port it listens on.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// From now on, `mark` in what the person says means these calls, one inner list per turn.
    pub fn on(&self, mark: &str, turns: Vec<Vec<Call>>) {
        self.learn(mark, turns, End::Done);
    }

    /// The same, but after the calls the model says what it is told to through the speech, for as
    /// long as there is one. A text that is known beforehand is said in the same statement, and the
    /// answer is then whole: `model.speak("HELLO", vec![]).say("Good day")`.
    pub fn speak(&self, mark: &str, turns: Vec<Vec<Call>>) -> Speech {
        let (speech, heard) = speech::begin();
        self.learn(mark, turns, End::Speech(heard));
        speech
    }

    /// From now on, the model fails when the person says `mark`.
    pub fn refuse(&self, mark: &str) {
        self.learn(mark, vec![], End::Refusal);
    }

    fn learn(&self, mark: &str, turns: Vec<Vec<Call>>, end: End) {
        let mark = mark.to_owned();
        let task = Task { mark, turns, end };
        self.state.lock().unwrap().script.push(task);
    }

    /// Forgets the requests so far, for a test that measures the memory of its own process. Each
    /// carries the whole conversation up to it.
    pub fn forget_requests(&self) {
        self.state.lock().unwrap().requests.clear();
    }

    /// The bodies of all requests so far that contain `text` (as it is written inside JSON).
    pub fn requests_containing(&self, text: &str) -> Vec<Value> {
        let play = self.state.lock().unwrap();
        play.requests
            .iter()
            .filter(|body| body.to_string().contains(text))
            .cloned()
            .collect()
    }
}

impl Play {
    fn answer(&self, conversation: &Conversation) -> Answer {
        let marked = conversation.texts.iter().rev().find_map(|(text, turn)| {
            // A task that was cancelled may be in the same text as the next one.
            let places = self
                .script
                .iter()
                .filter_map(|it| Some((text.rfind(&it.mark)?, it)));
            let (_, task) = places.max_by_key(|(place, _)| *place)?;
            Some((task, *turn))
        });
        let Some((task, turn)) = marked else {
            return Answer::Text("NOTHING TO DO".into());
        };
        match (task.turns.get(turn), &task.end) {
            (Some(calls), _) => Answer::Calls(calls.clone()),
            (None, End::Done) => Answer::Text(format!("DONE {}", task.mark)),
            (None, End::Speech(speech)) => Answer::Speech(speech.clone()),
            (None, End::Refusal) => Answer::Refusal,
        }
    }
}

/// Any request of either format.
async fn respond(State(state): State<Arc<Mutex<Play>>>, uri: Uri, body: String) -> Response<Body> {
    let body: Value = serde_json::from_str(&body).unwrap_or_default();
    let mut play = state.lock().unwrap();
    play.requests.push(body.clone());
    let answer = |conversation: &Conversation| play.answer(conversation);
    let path = uri.path();
    if path.ends_with("/chat/completions") {
        openai::respond(&body, answer)
    } else if path.ends_with(":countTokens") {
        whole(&json!({"totalTokens": 10}))
    } else if path.ends_with("enerateContent") {
        let stream = path.ends_with(":streamGenerateContent");
        gemini::respond(&body, stream, answer)
    } else {
        whole(&json!({"data": []}))
    }
}

/// An answer in one piece.
fn whole(value: &Value) -> Response<Body> {
    response(StatusCode::OK, "application/json", value.to_string())
}

/// An answer as a stream of events.
fn streamed(events: impl Into<Body>) -> Response<Body> {
    response(StatusCode::OK, "text/event-stream", events)
}

/// An error that no agent takes for a reason to try again.
fn refused() -> Response<Body> {
    let error = json!({"message": "the model says no", "type": "invalid_request_error"});
    let error = json!({"error": error}).to_string();
    response(StatusCode::BAD_REQUEST, "application/json", error)
}

fn response(status: StatusCode, kind: &str, content: impl Into<Body>) -> Response<Body> {
    Response::builder()
        .status(status)
        .header(header::CONTENT_TYPE, kind)
        .body(content.into())
        .unwrap()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_mark_decides_and_each_turn_is_played_once() {
        let mut play = Play::default();
        let mut learn = |mark: &str, turns| {
            let (mark, end) = (mark.into(), End::Done);
            play.script.push(Task { mark, turns, end });
        };
        learn("FIRST", vec![vec![]]);
        let turns = vec![vec![Call::read("/a")], vec![Call::write("/a", "x")]];
        learn("SECOND", turns);
        let answer = |turn| {
            let texts = vec![
                ("please FIRST".into(), 5),
                ("please FIRST, now SECOND".into(), turn),
                ("unmarked".into(), 0),
            ];
            match play.answer(&Conversation { texts }) {
                Answer::Text(text) => text,
                Answer::Calls(calls) => format!("{calls:?}"),
                Answer::Speech(_) | Answer::Refusal => unreachable!("every task is done"),
            }
        };
        assert_eq!(answer(0), r#"[Read("/a")]"#);
        assert_eq!(answer(1), r#"[Write("/a", "x")]"#);
        assert_eq!(answer(2), "DONE SECOND");
    }
}
