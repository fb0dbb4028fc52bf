//! A companion inside the test's own process.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use axum::Router;
use companion::desk::{Desk, Dispatched, Event, Status};
use companion::journal::{Journal, Saved};
use companion::{Ending, Limits, Token, mcp, server};
use conversation::Conversation;
use front::{Front, NoConversation, PublishChange, ServiceCommands};
use tokio::net::TcpListener;
use tokio::sync::{broadcast, mpsc, oneshot, watch};
use tokio::task::JoinHandle;
use workbench::{
    Agent, Cursor, Decision, Fault, Focus, PatternList, Place, Position, Privacy, Proposal,
    ProposalId, Refusal, Scope, Workbench,
};

use crate::McpPeer;
use crate::http::EventStream;
use crate::soon;

/// A companion that serves one folder, with its endpoint for agents on a port of its own.
pub struct InProcessCompanion {
    folder: tempfile::TempDir,
    /// Where agents reach it.
    pub port: u16,
    /// Its state.
    pub desk: Desk,
    /// What editors and pages use.
    pub front: Front,
    tokens: Vec<(Agent, Token)>,
    ending: watch::Sender<Ending>,
    /// Dropped to end the server.
    stop: oneshot::Sender<()>,
    serving: JoinHandle<()>,
}

/// What a test changes about a companion before it starts.
#[must_use]
pub struct InProcessBuilder {
    limits: Limits,
    saved: Saved,
    journal: Journal,
    tokens: Vec<(Agent, Token)>,
    ignored: Vec<String>,
    service: ServiceCommands,
    conversation: StartConversation,
    router: MakeRouter,
}

type StartConversation = Box<dyn FnOnce(&Path, Desk, PublishChange) -> Option<Conversation>>;
type MakeRouter = Box<dyn FnOnce(RouterParts) -> Router>;

/// What a router gets that is served beside the endpoint for agents.
pub struct RouterParts {
    /// The port that both are served on.
    pub port: u16,
    /// What a person can do and see.
    pub front: Front,
    /// Says when the companion ends.
    pub ending: watch::Receiver<Ending>,
    /// The companion's limits.
    pub limits: Limits,
}

impl InProcessBuilder {
    /// Replaces [`quiet_limits`].
    pub fn limits(self, limits: Limits) -> InProcessBuilder {
        InProcessBuilder { limits, ..self }
    }

    /// Keeps a journal in `folder` and takes up what is written there.
    pub fn journal(self, folder: &Path) -> InProcessBuilder {
        InProcessBuilder {
            saved: Journal::load(folder),
            journal: Journal::open(folder).unwrap(),
            ..self
        }
    }

    /// Lets the agents of another companion in.
    pub fn tokens(self, tokens: &[(Agent, Token)]) -> InProcessBuilder {
        InProcessBuilder {
            tokens: tokens.to_vec(),
            ..self
        }
    }

    /// Holds back the files that match a pattern of the person's.
    pub fn ignoring(mut self, pattern: &str) -> InProcessBuilder {
        self.ignored.push(pattern.to_owned());
        self
    }

    /// Sends what only the program can do to `service`. Without one, there is no program.
    pub fn service(self, service: ServiceCommands) -> InProcessBuilder {
        InProcessBuilder { service, ..self }
    }

    /// Starts a conversation behind the front. The function gets the companion's folder.
    pub fn conversation(
        self,
        start: impl FnOnce(&Path, Desk, PublishChange) -> Conversation + 'static,
    ) -> InProcessBuilder {
        let conversation: StartConversation =
            Box::new(move |folder, desk, publish| Some(start(folder, desk, publish)));
        InProcessBuilder {
            conversation,
            ..self
        }
    }

    /// Serves more than the endpoint for agents.
    pub fn router(self, router: impl FnOnce(RouterParts) -> Router + 'static) -> InProcessBuilder {
        InProcessBuilder {
            router: Box::new(router),
            ..self
        }
    }

    /// Starts the companion. Needs a running tokio runtime.
    pub fn start(self) -> InProcessCompanion {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        let roots = vec![root.clone()];
        let ignored = PatternList {
            source: "the test".into(),
            scope: Scope::Everywhere,
            patterns: self.ignored.iter().map(|it| it.as_str().into()).collect(),
        };
        let privacy = Privacy::new(&roots, &[ignored], &[]);
        let workbench = Workbench::new(roots, privacy);
        let (sink, contexts) = mcp::context_channel();
        let limits = self.limits;
        let desk = Desk::start(workbench, self.saved, self.journal, limits.clone(), sink);
        let conversation = self.conversation;
        let front = Front::start(desk.clone(), self.service, |publish| {
            conversation(&root, desk.clone(), publish).ok_or(NoConversation::Off)
        });
        let front = front.unwrap();
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        listener.set_nonblocking(true).unwrap();
        let listener = TcpListener::from_std(listener).unwrap();
        let port = listener.local_addr().unwrap().port();
        let (ending, ended) = watch::channel(Ending::No);
        let app = mcp::router(mcp::Endpoint {
            port,
            tokens: self.tokens.clone(),
            admitted: watch::channel(Agent::DISCOVERING.to_vec()).1,
            desk: desk.clone(),
            contexts,
            ending: ended.clone(),
            limits: limits.clone(),
        })
        .merge((self.router)(RouterParts {
            port,
            front: front.clone(),
            ending: ended,
            limits: limits.clone(),
        }));
        let (stop, stopped) = oneshot::channel();
        let serving = tokio::spawn(async move {
            let stopped = async { drop(stopped.await) };
            server::serve(&listener, app, &limits, stopped).await;
        });
        InProcessCompanion {
            folder,
            port,
            desk,
            front,
            tokens: self.tokens,
            ending,
            stop,
            serving,
        }
    }
}

impl InProcessCompanion {
    /// A companion with [`quiet_limits`], which keeps nothing, has no conversation and no program.
    pub fn builder() -> InProcessBuilder {
        let agents = [Agent::Qwen, Agent::Gemini, Agent::Unnamed];
        InProcessBuilder {
            limits: quiet_limits(),
            saved: Saved::default(),
            journal: Journal::none(),
            tokens: agents.map(|agent| (agent, Token::random().unwrap())).into(),
            ignored: Vec::new(),
            service: mpsc::channel(1).0,
            conversation: Box::new(|_, _, _| None),
            router: Box::new(|_| Router::new()),
        }
    }

    /// A companion as the builder makes it.
    pub fn start() -> InProcessCompanion {
        InProcessCompanion::builder().start()
    }

    /// A companion with other limits.
    pub fn with(limits: Limits) -> InProcessCompanion {
        InProcessCompanion::builder().limits(limits).start()
    }

    /// The folder that it serves.
    pub fn root(&self) -> PathBuf {
        self.folder.path().canonicalize().unwrap()
    }

    /// The path of a file in that folder.
    pub fn path(&self, name: &str) -> String {
        self.root().join(name).to_str().unwrap().to_owned()
    }

    /// Writes a file into that folder and returns its path.
    pub fn file(&self, name: &str, bytes: impl AsRef<[u8]>) -> String {
        let path = self.path(name);
        std::fs::write(&path, bytes).unwrap();
        path
    }

    /// Closes its folder because of this mistake on the first line of a settings file, or opens it.
    pub async fn set_fault(&self, message: Option<&str>) {
        let root = self.root();
        let fault = message.map(|message| Fault {
            source: root.join(".outrigger.toml").display().to_string(),
            position: Some(Position {
                line: 1,
                column: 10,
            }),
            message: message.to_owned(),
            scope: Scope::Below(root.clone()),
        });
        let privacy = Privacy::new(std::slice::from_ref(&root), &[], fault.as_slice());
        let set = self.desk.ask(|state| state.set_privacy(privacy));
        set.await.unwrap();
    }

    /// The tokens of all agents, for a companion that takes over.
    pub fn tokens(&self) -> &[(Agent, Token)] {
        &self.tokens
    }

    /// The token of an agent.
    pub fn token(&self, agent: Agent) -> &str {
        let token = self.tokens.iter().find(|(known, _)| *known == agent);
        token.unwrap().1.expose()
    }

    /// An agent that has not connected yet.
    pub fn peer(&self, agent: Agent) -> McpPeer {
        McpPeer::new(self.port, self.token(agent)).working_in(&self.path(""))
    }

    /// An agent that has connected and listens; its record begins after that.
    pub async fn listener(&self, agent: Agent) -> McpPeer {
        let mut peer = self.peer(agent);
        peer.initialize().await;
        peer.listen().await;
        peer.forget();
        peer
    }

    /// The person looks at a file.
    pub async fn focus(&self, path: &str, cursor: (u32, u32), selection: Option<&str>) {
        let focus = Focus {
            place: Place {
                path: path.into(),
                real: Path::new(path).canonicalize().unwrap_or(path.into()),
            },
            cursor: Some(Cursor::new(cursor.0, cursor.1)),
            selection: selection.map(str::to_owned),
        };
        let focused = self
            .desk
            .ask(move |state| state.focus(workbench::Holder::COMMANDS, focus));
        focused.await.unwrap();
    }

    /// The person decides.
    pub async fn decide(&self, id: u64, decision: Decision) -> Result<Dispatched, Refusal> {
        let id = ProposalId::new(id);
        let decided = self.desk.ask(move |state| state.decide(id, decision, None));
        decided.await.unwrap()
    }

    /// What is pending.
    pub async fn proposals(&self) -> Vec<Proposal> {
        let status = self.desk.ask(|state| state.status());
        status.await.unwrap().proposals
    }

    /// Drops a stream and waits until the companion has noticed.
    pub async fn lose(&self, stream: EventStream) {
        let mut events = self.events();
        drop(stream);
        soon("the end of a stream is noticed", async {
            while events.recv().await.unwrap() != Event::SessionsChanged {}
        })
        .await;
    }

    /// What happens at the desk from now on.
    pub fn events(&self) -> broadcast::Receiver<Event> {
        self.desk.events().unwrap()
    }

    /// Waits until `check` finds what it looks for in the desk's state.
    pub async fn until(&self, what: &str, check: impl Fn(Status) -> bool) {
        soon(what, async {
            while !check(self.desk.ask(|state| state.status()).await.unwrap()) {
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
        })
        .await;
    }

    /// Says that the companion ends, and ends its server as the program does.
    pub async fn end(self, how: Ending) {
        self.ending.send_replace(how);
        drop(self.stop);
        soon("the end of the server", self.serving).await.unwrap();
    }
}

impl McpPeer {
    /// Makes sure that nothing but contexts is on its way: what is asked for now comes next.
    pub async fn nothing_more(&mut self, companion: &InProcessCompanion) {
        let before = self.record.len();
        self.hear_all_contexts(companion).await;
        self.record.truncate(before);
    }

    /// Reads contexts up to one that is made for this call.
    pub async fn hear_all_contexts(&mut self, companion: &InProcessCompanion) {
        static MARKS: AtomicU32 = AtomicU32::new(1);
        let mark = MARKS.fetch_add(1, Ordering::Relaxed);
        let path = companion.file("a mark", "");
        companion.focus(&path, (mark, 1), None).await;
        loop {
            let next = self.hear().await;
            assert_eq!(next["method"], "ide/contextUpdate", "{next}");
            let first = &next["params"]["workspaceState"]["openFiles"][0];
            if first["path"] == path && first["cursor"]["line"] == mark {
                return;
            }
        }
    }
}

/// The usual limits, but no stream shows signs of life while a slow machine makes a test wait.
pub fn quiet_limits() -> Limits {
    Limits {
        keep_alive: Duration::from_hours(1),
        ..Limits::default()
    }
}
