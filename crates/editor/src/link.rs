//! One editor's conversation, from `initialize` to `exit`.

use std::collections::BTreeMap;
use std::future::Future;
use std::path::PathBuf;

use chat::{Chat, Step};
use companion::desk::{Desk, Event, Question, Viewer, Why};
use serde_json::{Value, json};
use tokio::sync::{broadcast, mpsc};
use workbench::Decision;

use crate::buffer::Encoding;
use crate::connection::Connection;
use crate::documents::Documents;
use crate::reviews::{Abilities, Reviews, Wish};
use crate::rpc::{self, Fault, Id, Incoming, Outgoing, Params};
use crate::talk::{self, Talk};
use crate::wire::{self, Options, method};
use crate::{sheet, uri};

/// What an editor says of itself when it begins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hello {
    /// Its process, if it said so; the companion ends with it.
    pub process: Option<u32>,
    /// Its folders; none if it has no folder open.
    pub roots: Vec<PathBuf>,
    /// Its name, if it said so.
    pub name: Option<String>,
    /// The person's settings for us in this editor.
    pub options: Options,
}

/// A companion that was started for an editor.
#[derive(Debug)]
pub struct Opened {
    /// The owner of all state.
    pub desk: Desk,
    /// Where agents find it.
    pub port: u16,
    /// What terminals of this editor should have in their environment.
    pub environment: BTreeMap<String, String>,
    /// The folders it serves.
    pub roots: Vec<PathBuf>,
    /// A private folder for documents of ours.
    pub folder: PathBuf,
    /// The conversation with a daemon, if that is switched on.
    pub chat: Option<Chat>,
}

/// Whoever can start companions: the program.
pub trait Host: Send {
    /// Starts a companion for an editor. An error is told to the person.
    fn open(&mut self, hello: Hello) -> impl Future<Output = Result<Opened, String>> + Send;

    /// The editor has other folders open now.
    fn set_roots(&mut self, roots: Vec<PathBuf>) -> impl Future<Output = ()> + Send;

    /// A link to the page of the companion, good for one tab; nothing if it has none.
    fn page(&mut self) -> Option<String>;
}

/// How a conversation ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Left {
    /// The editor said goodbye first, as it should.
    Properly,
    /// It just left.
    Abruptly,
}

/// A conversation with one editor.
pub struct Link<H> {
    pub(crate) host: H,
    incoming: mpsc::Receiver<Incoming>,
    pub(crate) outgoing: mpsc::Sender<Outgoing>,
    pub(crate) documents: Documents,
    pub(crate) encoding: Encoding,
    pub(crate) session: Option<Session>,
    shut_down: bool,
}

/// What exists from `initialize` on.
pub(crate) struct Session {
    pub(crate) desk: Desk,
    pub(crate) roots: Vec<PathBuf>,
    pub(crate) reviews: Reviews,
    events: broadcast::Receiver<Event>,
    pub(crate) viewer: Viewer,
    questions: mpsc::Receiver<Question>,
    pub(crate) talk: Option<Talk>,
    ready: Value,
    /// The status that the editor was told last.
    told: Option<Value>,
    /// Whether the editor has said that it is ready for requests of ours.
    initialized: bool,
}

enum Heard {
    Message(Incoming),
    Event(Result<Event, broadcast::error::RecvError>),
    Question(Question),
    Talk(Step),
    End,
}

pub(crate) type Answer = Result<Value, Fault>;

impl<H: Host> Link<H> {
    /// Sets up a conversation.
    pub fn new(connection: Connection, host: H) -> Link<H> {
        Link {
            host,
            incoming: connection.incoming,
            outgoing: connection.outgoing,
            documents: Documents::default(),
            encoding: Encoding::default(),
            session: None,
            shut_down: false,
        }
    }

    /// Talks until the editor leaves.
    pub async fn run(mut self) -> Left {
        loop {
            let out = match self.listen().await {
                Heard::Message(Incoming::Notification(name, _)) if name == "exit" => break,
                Heard::Message(message) => self.hear(message).await,
                Heard::Event(event) => self.learn(event).await,
                Heard::Question(question) => self.question(question),
                Heard::Talk(step) => self.talk(step),
                Heard::End => break,
            };
            for message in out {
                if self.outgoing.send(message).await.is_err() {
                    return Left::Abruptly;
                }
            }
        }
        if self.shut_down {
            Left::Properly
        } else {
            Left::Abruptly
        }
    }

    async fn listen(&mut self) -> Heard {
        let Some(session) = &mut self.session else {
            return self
                .incoming
                .recv()
                .await
                .map_or(Heard::End, Heard::Message);
        };
        tokio::select! {
            message = self.incoming.recv() => message.map_or(Heard::End, Heard::Message),
            event = session.events.recv(), if session.initialized => Heard::Event(event),
            Some(question) = session.questions.recv() => Heard::Question(question),
            step = Talk::next(session.talk.as_mut()), if session.initialized => Heard::Talk(step),
        }
    }

    async fn hear(&mut self, message: Incoming) -> Vec<Outgoing> {
        match message {
            Incoming::Request(id, name, params) if name.starts_with(talk::PREFIX) => {
                self.daemon(&id, &name, &params)
            }
            Incoming::Request(id, name, params) => self.request(&id, &name, &params).await,
            Incoming::Notification(name, params) => self.notification(&name, &params).await,
            Incoming::Answer(number, outcome) => {
                let wish = self
                    .session
                    .as_mut()
                    .and_then(|session| session.reviews.answered(number, outcome));
                match wish {
                    Some(Wish::Accept(id)) => report(self.accept_sheet(id).await),
                    Some(Wish::Reject(id)) => report(self.decide(id, Decision::Reject).await),
                    Some(Wish::Tell(message)) => vec![tell(&message)],
                    Some(Wish::Choose(request, option)) => self.choose(request, option),
                    None => Vec::new(),
                }
            }
            Incoming::Odd(id, code, why) => {
                vec![Outgoing::answer(id.as_deref(), Err(Fault::new(code, why)))]
            }
        }
    }

    async fn request(&mut self, id: &Id, name: &str, params: &Params) -> Vec<Outgoing> {
        let mut after = Vec::new();
        let answer = match (name, &mut self.session) {
            ("initialize", None) => self.initialize(params).await,
            ("initialize", Some(_)) => Err(Fault::new(rpc::INVALID_REQUEST, "already initialized")),
            (_, None) => Err(Fault::new(rpc::NOT_INITIALIZED, "initialize first")),
            (_, Some(_)) if self.shut_down => {
                Err(Fault::new(rpc::INVALID_REQUEST, "already shut down"))
            }
            ("shutdown", Some(_)) => {
                self.shut_down = true;
                Ok(Value::Null)
            }
            ("textDocument/codeAction", Some(_)) => self.code_actions(params),
            ("textDocument/documentHighlight" | "textDocument/hover", Some(_)) => {
                self.place_asked_about(params);
                Ok(Value::Null)
            }
            ("workspace/executeCommand", Some(_)) => self.execute(params, &mut after).await,
            (method::PROPOSAL_LIST, Some(_)) => self.list().await,
            (method::PROPOSAL_VERDICT, Some(_)) => self.verdict(params).await,
            (method::STATUS, Some(_)) => Ok(self.status().await),
            (method::PAGE, Some(_)) => self.page(),
            (method::PAUSE, Some(_)) => {
                let paused = self.pause(params).await;
                after.extend(self.changed_status().await);
                paused
            }
            _ => Err(Fault::new(
                rpc::METHOD_NOT_FOUND,
                format!("there is no method {name:?}"),
            )),
        };
        let mut out = vec![Outgoing::answer(Some(id), answer)];
        out.append(&mut after);
        out
    }

    async fn notification(&mut self, name: &str, params: &Params) -> Vec<Outgoing> {
        if self.session.is_none() || self.shut_down {
            return Vec::new();
        }
        match name {
            "initialized" => return self.initialized().await,
            method::PROPOSAL_VERDICT => {
                let decided = self.verdict(params).await;
                return report(decided);
            }
            method::PROPOSAL_UPDATE => self.update(params),
            method::PAUSE => {
                let paused = self.pause(params).await;
                let mut out = report(paused);
                out.extend(self.changed_status().await);
                return out;
            }
            "textDocument/didSave" => return self.saved(params).await,
            "workspace/didChangeWorkspaceFolders" => self.folders_changed(params).await,
            _ => self.presence(name, params),
        }
        Vec::new()
    }

    async fn initialize(&mut self, params: &Params) -> Answer {
        let asked: wire::Initialize = read(params)?;
        let wants = &asked.capabilities;
        let offered = |name: &str| {
            wants
                .general
                .position_encodings
                .iter()
                .any(|offered| offered == name)
        };
        self.encoding = if offered("utf-8") {
            Encoding::Utf8
        } else {
            Encoding::Utf16
        };
        let options = asked.initialization_options.unwrap_or_default();
        let options: Options = if options.is_null() {
            Options::default()
        } else {
            serde_json::from_value(options).map_err(|error| {
                Fault::new(
                    rpc::INVALID_PARAMS,
                    format!("wrong initializationOptions: {error}"),
                )
            })?
        };
        let abilities = Abilities {
            plugin: (wants.experimental.as_ref())
                .is_some_and(|it| it.get("outrigger").is_some_and(|it| it != false)),
            show_document: wants
                .window
                .show_document
                .as_ref()
                .is_some_and(|it| it.support),
            apply_edit: wants.workspace.apply_edit,
        };
        let folders = asked.workspace_folders.unwrap_or_default();
        let folders = folders
            .iter()
            .map(|folder| folder.uri.as_str())
            .chain(asked.root_uri.as_deref());
        let mut roots: Vec<PathBuf> = Vec::new();
        for root in folders
            .filter_map(uri::to_path)
            .chain(asked.root_path.map(PathBuf::from))
        {
            if !roots.contains(&root) && root.is_absolute() {
                roots.push(root);
            }
        }
        let trusted = options.trusted;
        let hello = Hello {
            process: asked.process_id,
            roots,
            name: asked
                .client_info
                .map(|client| client.name)
                .filter(|name| !name.trim().is_empty()),
            options,
        };
        let failed = |why: String| Fault::new(rpc::REQUEST_FAILED, why);
        let opened = self.host.open(hello).await.map_err(failed)?;
        let events = opened
            .desk
            .events()
            .map_err(|gone| failed(gone.to_string()))?;
        opened
            .desk
            .tell(move |state| state.workbench_mut().set_trust(trusted));
        let (viewer, questions) = mpsc::channel(64);
        self.session = Some(Session {
            ready: json!({ "port": opened.port, "environment": opened.environment }),
            desk: opened.desk,
            roots: opened.roots,
            reviews: Reviews::new(abilities, opened.folder),
            events,
            viewer,
            questions,
            talk: opened.chat.map(|chat| Talk::new(chat, abilities.plugin)),
            told: None,
            initialized: false,
        });
        Ok(capabilities(self.encoding, abilities))
    }

    /// From here on we may ask the editor something: first of all to show what is pending.
    async fn initialized(&mut self) -> Vec<Outgoing> {
        let Some(session) = &mut self.session else {
            return Vec::new();
        };
        session.initialized = true;
        let mut out = Vec::new();
        // The environment holds tokens. A client without a plugin has no use for them and might
        // write them to its log.
        if session.reviews.abilities().plugin {
            out.push(Outgoing::notification(method::READY, &session.ready));
        }
        out.append(&mut self.catch_up().await);
        out
    }

    async fn learn(&mut self, event: Result<Event, broadcast::error::RecvError>) -> Vec<Outgoing> {
        let mut out = match event {
            Ok(Event::Opened(id)) => {
                let mut out = vec![log(&format!("proposal {id} is pending"))];
                out.append(&mut self.show(id).await);
                out
            }
            Ok(Event::Closed(id, why)) => {
                let mut out = vec![log(&format!("proposal {id} was {}", ended(why)))];
                if let Some(session) = &mut self.session {
                    out.append(&mut session.reviews.close(id));
                }
                out
            }
            Ok(
                Event::Drafted(_)
                | Event::Delivered(_)
                | Event::SessionsChanged
                | Event::ContextChanged
                | Event::HeldBackChanged,
            ) => Vec::new(),
            // We were too slow to hear everything; what matters is what is there now.
            Err(broadcast::error::RecvError::Lagged(_)) => return self.catch_up().await,
            Err(broadcast::error::RecvError::Closed) => return Vec::new(),
        };
        out.extend(self.changed_status().await);
        out
    }

    fn talk(&mut self, step: Step) -> Vec<Outgoing> {
        let Some(session) = &mut self.session else {
            return Vec::new();
        };
        let talk = session.talk.as_mut();
        talk.map_or_else(Vec::new, |talk| talk.step(step, &mut session.reviews))
    }

    fn choose(&mut self, request: String, option: String) -> Vec<Outgoing> {
        if let Some(talk) = self.session.as_ref().and_then(|it| it.talk.as_ref()) {
            talk.choose(request, option);
        }
        Vec::new()
    }

    /// The status, if it is not what the editor was told last.
    pub(crate) async fn changed_status(&mut self) -> Vec<Outgoing> {
        let status = self.status().await;
        let Some(session) = &mut self.session else {
            return Vec::new();
        };
        if session.told.as_ref() == Some(&status) {
            return Vec::new();
        }
        let agents = |status: &Value| status["agents"].clone();
        let came_or_went = session
            .told
            .as_ref()
            .is_some_and(|told| agents(told) != agents(&status));
        let mut out = Vec::new();
        if came_or_went {
            out.push(log(&format!("agents: {}", names(&status))));
        }
        if session.reviews.abilities().plugin {
            out.push(Outgoing::notification(method::STATUS, &status));
        }
        session.told = Some(status);
        out
    }

    async fn status(&self) -> Value {
        let Some(session) = &self.session else {
            return Value::Null;
        };
        let asked = session
            .desk
            .ask(|state| (state.status(), state.is_paused()))
            .await;
        let Ok((status, paused)) = asked else {
            return Value::Null;
        };
        let agents = status.sessions.iter().map(|session| {
            json!({ "name": session.agent.to_string(), "version": session.client.version, "connected": session.streaming })
        });
        json!({
            "agents": agents.collect::<Vec<_>>(),
            "pending": status.proposals.len(),
            "heldBack": status.held_back.total(),
            "paused": paused,
        })
    }

    fn page(&mut self) -> Answer {
        let link = self.host.page();
        link.map(|url| json!({ "url": url }))
            .ok_or_else(|| Fault::new(rpc::REQUEST_FAILED, "there is no page to open"))
    }

    async fn pause(&self, params: &Params) -> Answer {
        let pause: wire::Pause = read(params)?;
        let desk = &self.session()?.desk;
        let done = desk.ask(move |state| state.set_paused(pause.paused)).await;
        done.map(|()| Value::Null).map_err(gone)
    }

    pub(crate) fn session(&self) -> Result<&Session, Fault> {
        self.session
            .as_ref()
            .ok_or_else(|| Fault::new(rpc::NOT_INITIALIZED, "initialize first"))
    }
}

/// A line for the editor's log. It names no text of a file and no token.
fn log(message: &str) -> Outgoing {
    const INFO: u8 = 3;
    Outgoing::notification(
        "window/logMessage",
        &json!({ "type": INFO, "message": message }),
    )
}

/// A line for the person.
fn tell(message: &str) -> Outgoing {
    const INFO: u8 = 3;
    Outgoing::notification(
        "window/showMessage",
        &json!({ "type": INFO, "message": message }),
    )
}

/// How a proposal ended, in words.
fn ended(why: Why) -> &'static str {
    match why {
        Why::Accepted => "accepted",
        Why::Rejected => "rejected",
        Why::Withdrawn => "taken back by its agent",
        Why::Replaced => "replaced by its agent",
        Why::Orphaned => "left by its agent",
    }
}

/// The agents of a status, in words.
fn names(status: &Value) -> String {
    let agents = status["agents"].as_array().into_iter().flatten();
    let names: Vec<_> = agents
        .map(|agent| {
            let (name, version) = (agent["name"].as_str(), agent["version"].as_str());
            let presence = if agent["connected"] == true {
                "connected"
            } else {
                "away"
            };
            format!(
                "{} {} ({presence})",
                name.unwrap_or_default(),
                version.unwrap_or_default()
            )
        })
        .collect();
    if names.is_empty() {
        "none".into()
    } else {
        names.join(", ")
    }
}

/// Tells the person when something that they asked for did not work.
pub(crate) fn report(outcome: Answer) -> Vec<Outgoing> {
    let Err(fault) = outcome else {
        return Vec::new();
    };
    let params = json!({ "type": 2, "message": fault.message() });
    vec![Outgoing::notification("window/showMessage", &params)]
}

pub(crate) fn read<'a, T: serde::Deserialize<'a>>(params: &'a Params) -> Result<T, Fault> {
    params
        .read()
        .map_err(|error| Fault::new(rpc::INVALID_PARAMS, format!("wrong parameters: {error}")))
}

pub(crate) fn gone(_: impl std::fmt::Display) -> Fault {
    Fault::new(rpc::REQUEST_FAILED, "the companion is shutting down")
}

/// What we offer. Code actions, highlights and hovers are offered to learn where the person is; an
/// editor with a plugin says so itself, and would only offer them to the person in vain.
fn capabilities(encoding: Encoding, abilities: Abilities) -> Value {
    let files = json!({ "filters": [{ "scheme": "file", "pattern": { "glob": "**" } }] });
    let mut capabilities = json!({
        "positionEncoding": encoding.name(),
        "textDocumentSync": { "openClose": true, "change": 2, "save": { "includeText": false } },
        "workspace": {
            "workspaceFolders": { "supported": true, "changeNotifications": true },
            "fileOperations": { "didRename": files, "didDelete": files },
        },
        "experimental": { "outrigger": { "version": 1 } },
    });
    if !abilities.plugin {
        capabilities["codeActionProvider"] = json!({ "codeActionKinds": ["quickfix"] });
        capabilities["documentHighlightProvider"] = true.into();
        capabilities["hoverProvider"] = true.into();
        capabilities["executeCommandProvider"] = json!({
            "commands": [sheet::ACCEPT, sheet::REJECT, sheet::KEEP_HUNK, sheet::DROP_HUNK],
        });
    }
    json!({
        "capabilities": capabilities,
        "serverInfo": { "name": "outrigger", "version": env!("CARGO_PKG_VERSION") },
    })
}
