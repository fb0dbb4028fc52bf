//! A scripted agent: an MCP client that finds the companion, connects and comes back as the published
//! clients do.
//!
//! It goes on with its session and its token as long as it can. When it cannot connect, or its token
//! is refused, it reads the discovery files again; when its session is unknown, it begins another one.
//! It comes back after a tenth of the time that the published clients wait.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use testkit::http::{Request, message};

use crate::http::{Answer, Events, Response, exchange};
use crate::ledger::{AgentNumber, Ledger, Outcome};
use crate::link::Link;
use crate::world::World;

/// How long an agent waits before it connects again.
const COMES_BACK: Duration = Duration::from_millis(100);
/// How long a step waits for an agent to have a session.
const CONNECTS: Duration = Duration::from_secs(2);

/// Which product an agent plays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Product {
    Qwen,
    Gemini,
}

/// What an agent knows of the companion.
#[derive(Clone, Debug)]
struct Found {
    port: u16,
    token: String,
}

/// A scripted agent.
pub(crate) struct Agent {
    part: Arc<Part>,
    listener: Option<JoinHandle<()>>,
}

struct Part {
    number: AgentNumber,
    product: Product,
    /// Where it looks for discovery files.
    folder: PathBuf,
    workspace: String,
    link: Link,
    ledger: Arc<Mutex<Ledger>>,
    state: Mutex<State>,
    over: AtomicBool,
}

#[derive(Debug, Default)]
struct State {
    found: Option<Found>,
    /// How often the discovery files have led nowhere.
    failures: usize,
    session: Option<String>,
    streaming: bool,
    /// The file that was in front in the last context.
    active: String,
    next_id: u64,
}

impl Agent {
    pub(crate) fn start(
        number: AgentNumber,
        world: &World,
        ledger: Arc<Mutex<Ledger>>,
    ) -> io::Result<Agent> {
        let product = Product::of(number);
        let [qwen, gemini, _] = world.discovery_folders();
        let folder = match product {
            Product::Qwen => qwen,
            Product::Gemini => gemini,
        };
        let workspace = world.machine().workspace();
        let part = Arc::new(Part {
            number,
            product,
            folder,
            workspace: workspace.display().to_string(),
            link: Link::new()?,
            ledger,
            state: Mutex::default(),
            over: AtomicBool::new(false),
        });
        let listening = part.clone();
        let listener = thread::spawn(move || listening.run());
        Ok(Agent {
            part,
            listener: Some(listener),
        })
    }

    /// The wire to the companion.
    pub(crate) fn link(&self) -> &Link {
        &self.part.link
    }

    pub(crate) fn is_streaming(&self) -> bool {
        self.part.state().streaming
    }

    /// Whether the last context had this file in front.
    pub(crate) fn sees(&self, path: &str) -> bool {
        self.part.state().active == path
    }

    /// Waits until it has a session, for as long as a step may take.
    fn session(&self) -> Option<String> {
        let end = Instant::now() + CONNECTS;
        loop {
            if let Some(session) = self.part.state().session.clone() {
                return Some(session);
            }
            if Instant::now() > end {
                return None;
            }
            thread::sleep(Duration::from_millis(5));
        }
    }

    /// Proposes a text for a file, which the ledger knows by a name; what became of it, for the log.
    pub(crate) fn propose(&self, path: &str, name: &str, text: &str) -> &'static str {
        let Some(session) = self.session() else {
            return "not connected";
        };
        let entry = self
            .part
            .ledger()
            .proposing(self.part.number, &session, path, name);
        let arguments = json!({ "filePath": path, "newContent": text });
        match self.part.call(&session, "openDiff", &arguments) {
            Some(answer) if is_success(&answer) => {
                self.part.ledger().proposed(entry);
                "acknowledged"
            }
            Some(_) => "refused",
            None => "no answer",
        }
    }

    /// Takes back what it proposed for a file.
    pub(crate) fn close(&self, path: &str) -> &'static str {
        let Some(session) = self.session() else {
            return "not connected";
        };
        let number = self.part.number;
        self.part.ledger().withdrawing(number, Some(path));
        let arguments = json!({ "filePath": path, "suppressNotification": true });
        match self.part.call(&session, "closeDiff", &arguments) {
            Some(answer) if is_success(&answer) => {
                self.part.ledger().withdrawn(number, Some(path));
                "acknowledged"
            }
            Some(_) => "refused",
            None => "no answer",
        }
    }

    /// Ends its session; it begins another one by itself.
    pub(crate) fn leave(&self) -> &'static str {
        let Some(session) = self.session() else {
            return "not connected";
        };
        let number = self.part.number;
        self.part.ledger().withdrawing(number, None);
        let answer = self.part.request("DELETE", &session, None);
        let told = match answer {
            Some(Answer::Whole(response)) if response.status == 200 => {
                self.part.ledger().withdrawn(number, None);
                "acknowledged"
            }
            _ => "no answer",
        };
        self.part.forget(&session);
        self.part.link.cut();
        told
    }
}

impl Drop for Agent {
    fn drop(&mut self) {
        self.part.over.store(true, Ordering::Relaxed);
        self.part.link.stall(false);
        self.part.link.cut();
        let _ = self.listener.take().map(JoinHandle::join);
    }
}

impl Part {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn ledger(&self) -> MutexGuard<'_, Ledger> {
        self.ledger.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn is_over(&self) -> bool {
        self.over.load(Ordering::Relaxed)
    }

    /// The thread: connected as long as that is possible.
    fn run(self: &Arc<Self>) {
        while !self.is_over() {
            self.connect();
            self.state().streaming = false;
            if !self.is_over() {
                thread::sleep(COMES_BACK);
            }
        }
    }

    /// Finds the companion, has a session there, and listens until the stream ends.
    fn connect(self: &Arc<Self>) {
        if self.state().found.is_none() && !self.find() {
            return;
        }
        let session = self.state().session.clone();
        let Some(session) = session.or_else(|| self.initialize()) else {
            return;
        };
        let Some(Answer::Stream(events)) = self.request("GET", &session, None) else {
            return;
        };
        self.state().streaming = true;
        self.listen(events);
    }

    /// Reads the discovery files, newest first; after a failure it is the turn of the next one.
    fn find(&self) -> bool {
        let mut files: Vec<_> = fs::read_dir(&self.folder)
            .into_iter()
            .flatten()
            .flatten()
            .filter(|entry| self.product.reads(&entry.file_name().to_string_lossy()))
            .filter_map(|entry| {
                let text = fs::read(entry.path()).ok()?;
                let file: Value = serde_json::from_slice(&text).ok()?;
                let found = Found {
                    port: file["port"].as_u64()?.try_into().ok()?,
                    token: file["authToken"].as_str()?.to_owned(),
                };
                let written = entry.metadata().ok()?.modified().ok()?;
                (file["workspacePath"] == self.workspace.as_str()).then_some((written, found))
            })
            .collect();
        files.sort_by_key(|(written, found)| (std::cmp::Reverse(*written), found.port));
        let mut state = self.state();
        if files.is_empty() {
            return false;
        }
        let at = state.failures % files.len();
        let (_, found) = files.swap_remove(at);
        self.link.lead_to(found.port);
        state.found = Some(found);
        true
    }

    fn initialize(self: &Arc<Self>) -> Option<String> {
        let params = json!({
            "protocolVersion": "2025-11-25",
            "capabilities": {},
            "clientInfo": { "name": "streamable-http-client", "version": "1.0.0" },
        });
        let body = json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params });
        let Answer::Whole(welcome) = self.request("POST", "", Some(&body))? else {
            return None;
        };
        let session = welcome.header("mcp-session-id")?.to_owned();
        let body = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
        self.request("POST", &session, Some(&body))?;
        let mut state = self.state();
        state.failures = 0;
        state.session = Some(session.clone());
        Some(session)
    }

    /// Calls a tool; the answer, if one came. A verdict may follow on the same stream.
    fn call(self: &Arc<Self>, session: &str, tool: &str, arguments: &Value) -> Option<Value> {
        let id = {
            let mut state = self.state();
            state.next_id += 1;
            state.next_id
        };
        let params = json!({ "name": tool, "arguments": arguments });
        let body = json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params });
        match self.request("POST", session, Some(&body))? {
            Answer::Whole(Response {
                status: 200, body, ..
            }) => Some(body),
            Answer::Whole(_) => None,
            Answer::Stream(mut events) => {
                let end = Instant::now() + crate::http::PATIENCE;
                while Instant::now() < end {
                    let Some(block) = events.block().ok()? else {
                        continue;
                    };
                    let Some(said) = message(&block) else {
                        continue;
                    };
                    if said["id"] == id {
                        let part = self.clone();
                        thread::spawn(move || part.listen(events));
                        return Some(said);
                    }
                    self.hear(&said);
                }
                None
            }
        }
    }

    /// One request in a session. A failure is remembered for the next attempt to connect.
    fn request(&self, method: &str, session: &str, body: Option<&Value>) -> Option<Answer> {
        let found = self.state().found.clone()?;
        let accept = if method == "GET" {
            "text/event-stream"
        } else {
            "application/json, text/event-stream"
        };
        let mut request = Request::new(method, "/mcp")
            .header("host", &format!("127.0.0.1:{}", found.port))
            .header("connection", if method == "GET" { "" } else { "close" })
            .header("authorization", &format!("Bearer {}", found.token))
            .header("accept", accept)
            .header("mcp-session-id", session);
        if let Some(body) = body {
            request = request
                .header("content-type", "application/json")
                .body(body.to_string());
        }
        let answer = exchange(self.link.port(), &request);
        match &answer {
            Ok(Answer::Whole(response)) if response.status == 404 => self.forget(session),
            Ok(
                Answer::Whole(Response {
                    status: 200..=299, ..
                })
                | Answer::Stream(_),
            ) => {}
            Ok(Answer::Whole(_)) | Err(_) => {
                let mut state = self.state();
                state.found = None;
                state.failures += 1;
            }
        }
        answer.ok()
    }

    /// The companion does not know this session, or it has ended.
    fn forget(&self, session: &str) {
        let mut state = self.state();
        if state.session.as_deref() == Some(session) {
            state.session = None;
        }
    }

    /// Hears what comes on a stream until it ends.
    fn listen(&self, mut events: Events) {
        while !self.is_over() {
            match events.block() {
                Ok(Some(block)) => {
                    if let Some(said) = message(&block) {
                        self.hear(&said);
                    }
                }
                Ok(None) => {}
                Err(_) => return,
            }
        }
    }

    fn hear(&self, said: &Value) {
        let params = &said["params"];
        let path = params["filePath"].as_str().unwrap_or_default();
        let outcome = match said["method"].as_str() {
            Some("ide/diffAccepted") => {
                let text = params["content"].as_str().unwrap_or_default();
                // The agent writes the file.
                replace(Path::new(path), text);
                Outcome::Accepted(Some(text.to_owned()))
            }
            Some("ide/diffRejected") => Outcome::Rejected,
            Some("ide/contextUpdate") => {
                let first = &params["workspaceState"]["openFiles"][0]["path"];
                let first = first.as_str().unwrap_or_default();
                first.clone_into(&mut self.state().active);
                return;
            }
            _ => return,
        };
        self.ledger().arrived(self.number, path, &outcome);
    }
}

impl Product {
    /// The agents of every schedule, by number.
    pub(crate) fn of(number: AgentNumber) -> Product {
        if number.is_multiple_of(2) {
            Product::Qwen
        } else {
            Product::Gemini
        }
    }

    /// Whether it reads discovery files of this name.
    fn reads(self, name: &str) -> bool {
        match self {
            Product::Qwen => name
                .strip_suffix(".lock")
                .is_some_and(|port| port.parse::<u16>().is_ok()),
            Product::Gemini => name.starts_with("gemini-ide-server-"),
        }
    }

    /// Whether it waits forever for a companion that has ended.
    pub(crate) fn hangs_without_companion(self) -> bool {
        self == Product::Gemini
    }
}

/// Writes a file in one piece: nobody reads half of it.
pub(crate) fn replace(path: &Path, text: &str) {
    static NUMBER: AtomicUsize = AtomicUsize::new(0);
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    let written = path.with_extension(format!("{number}.new"));
    let _ = fs::write(&written, text).and_then(|()| fs::rename(&written, path));
}

fn is_success(answer: &Value) -> bool {
    answer["result"].is_object() && answer["result"]["isError"] != true
}
