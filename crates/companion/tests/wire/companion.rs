//! A companion inside the test's own process.

use std::path::{Path, PathBuf};
use std::time::Duration;

use companion::desk::{Answered, Desk, Event};
use companion::journal::{Journal, Saved};
use companion::{Ending, Limits, Token, mcp, server};
use tokio::net::TcpListener;
use tokio::sync::{broadcast, oneshot, watch};
use tokio::task::JoinHandle;
use workbench::{
    Agent, Cursor, Decision, Focus, Place, Privacy, Proposal, ProposalId, Refusal, Workbench,
};

use crate::peer::Peer;
use crate::wire::{Stream, soon};

/// A companion that serves one folder.
pub(crate) struct Companion {
    folder: tempfile::TempDir,
    pub(crate) port: u16,
    pub(crate) desk: Desk,
    tokens: Vec<(Agent, Token)>,
    ending: watch::Sender<Ending>,
    stop: oneshot::Sender<()>,
    serving: JoinHandle<()>,
}

impl Companion {
    pub(crate) async fn start() -> Companion {
        Companion::with(limits()).await
    }

    pub(crate) async fn with(limits: Limits) -> Companion {
        Companion::resume(limits, Saved::default(), Journal::none(), tokens()).await
    }

    /// A companion that keeps a journal in `folder` and takes up what is written there.
    pub(crate) async fn journalled(folder: &Path, tokens: Vec<(Agent, Token)>) -> Companion {
        let saved = Journal::load(folder);
        let journal = Journal::open(folder).unwrap();
        Companion::resume(limits(), saved, journal, tokens).await
    }

    async fn resume(
        limits: Limits,
        saved: Saved,
        journal: Journal,
        tokens: Vec<(Agent, Token)>,
    ) -> Companion {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        let roots = vec![root];
        let privacy = Privacy::new(&roots, &[], &[]).unwrap();
        let desk = Desk::start(
            Workbench::new(roots, privacy),
            saved,
            journal,
            limits.clone(),
        );
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let (ending, ended) = watch::channel(Ending::No);
        let app = mcp::router(mcp::Endpoint {
            port,
            tokens: tokens.clone(),
            desk: desk.clone(),
            ending: ended,
            limits: limits.clone(),
        });
        let (stop, stopped) = oneshot::channel();
        let serving = tokio::spawn(async move {
            let stopped = async { drop(stopped.await) };
            server::serve(&listener, app, &limits, stopped).await;
        });
        Companion {
            folder,
            port,
            desk,
            tokens,
            ending,
            stop,
            serving,
        }
    }

    /// The folder that it serves.
    pub(crate) fn root(&self) -> PathBuf {
        self.folder.path().canonicalize().unwrap()
    }

    /// The path of a file in that folder.
    pub(crate) fn path(&self, name: &str) -> String {
        self.root().join(name).to_str().unwrap().to_owned()
    }

    /// Writes a file into that folder and returns its path.
    pub(crate) fn file(&self, name: &str, bytes: impl AsRef<[u8]>) -> String {
        let path = self.path(name);
        std::fs::write(&path, bytes).unwrap();
        path
    }

    pub(crate) fn tokens(&self) -> Vec<(Agent, Token)> {
        self.tokens.clone()
    }

    pub(crate) fn token(&self, agent: Agent) -> &str {
        let token = self.tokens.iter().find(|(known, _)| *known == agent);
        token.unwrap().1.expose()
    }

    /// An agent that has not connected yet.
    pub(crate) fn peer(&self, agent: Agent) -> Peer {
        Peer::new(self, agent)
    }

    /// An agent that has connected and listens; its record begins after that.
    pub(crate) async fn listener(&self, agent: Agent) -> Peer {
        let mut peer = self.peer(agent);
        peer.initialize().await;
        peer.listen().await;
        peer.forget();
        peer
    }

    /// The person looks at a file.
    pub(crate) async fn focus(&self, path: &str, cursor: (u32, u32), selection: Option<&str>) {
        let focus = Focus {
            place: Place {
                path: path.into(),
                real: Path::new(path).canonicalize().unwrap_or(path.into()),
            },
            cursor: Some(Cursor::new(cursor.0, cursor.1)),
            selection: selection.map(str::to_owned),
        };
        self.desk
            .ask(move |state| state.focus(focus))
            .await
            .unwrap();
    }

    /// The person decides.
    pub(crate) async fn decide(&self, id: u64, decision: Decision) -> Result<Answered, Refusal> {
        let id = ProposalId::new(id);
        let decided = self.desk.ask(move |state| state.decide(id, decision));
        decided.await.unwrap()
    }

    /// What is pending.
    pub(crate) async fn proposals(&self) -> Vec<Proposal> {
        let status = self.desk.ask(|state| state.status());
        status.await.unwrap().proposals
    }

    /// Drops a stream and waits until the companion has noticed.
    pub(crate) async fn lose(&self, stream: Stream) {
        let mut events = self.events();
        drop(stream);
        soon("the end of a stream is noticed", async {
            while events.recv().await.unwrap() != Event::SessionsChanged {}
        })
        .await;
    }

    pub(crate) fn events(&self) -> broadcast::Receiver<Event> {
        self.desk.events().unwrap()
    }

    /// Says that the companion ends, and ends its server as the program does.
    pub(crate) async fn end(self, how: Ending) {
        self.ending.send_replace(how);
        drop(self.stop);
        soon("the end of the server", self.serving).await.unwrap();
    }
}

/// Waits until `check` finds what it looks for in the companion's state.
pub(crate) async fn until(
    what: &str,
    desk: &Desk,
    check: impl Fn(companion::desk::Status) -> bool,
) {
    soon(what, async {
        while !check(desk.ask(|state| state.status()).await.unwrap()) {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    })
    .await;
}

/// The usual limits, but no stream shows signs of life while a slow machine makes a test wait.
pub(crate) fn limits() -> Limits {
    Limits {
        keep_alive: Duration::from_hours(1),
        ..Limits::default()
    }
}

pub(crate) fn tokens() -> Vec<(Agent, Token)> {
    let agents = [Agent::Qwen, Agent::Gemini, Agent::Unnamed];
    agents.map(|agent| (agent, Token::random().unwrap())).into()
}
