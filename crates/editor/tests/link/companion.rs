//! A companion inside the test's own process, and the host that hands it to the link.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use ::companion::desk::{Answered, Desk};
use ::companion::journal::{Journal, Saved};
use ::companion::{Ending, Limits, Token, mcp, server};
use ::editor::{Hello, Host, Opened};
use tokio::net::TcpListener;
use tokio::sync::watch;
use workbench::{Agent, Decision, Privacy, Proposal, ProposalId, Refusal, Workbench};

use crate::agent::Peer;

/// How long anything that has to come may take before the test counts as failed.
const DEADLINE: Duration = Duration::from_mins(1);

/// Waits for something that has to happen.
pub(crate) async fn soon<T>(what: &str, happens: impl Future<Output = T>) -> T {
    let happened = tokio::time::timeout(DEADLINE, happens).await;
    happened.unwrap_or_else(|_| panic!("waited in vain: {what}"))
}

/// A companion that serves one folder.
pub(crate) struct Companion {
    folder: tempfile::TempDir,
    /// What the editor said of itself, for each time that it was asked to start.
    pub(crate) hellos: Arc<Mutex<Vec<Hello>>>,
    /// The folders that the link asked for, each time that it did.
    pub(crate) moves: Arc<Mutex<Vec<Vec<PathBuf>>>>,
    pub(crate) port: u16,
    pub(crate) desk: Desk,
    tokens: Vec<(Agent, Token)>,
    _ending: watch::Sender<Ending>,
}

impl Companion {
    pub(crate) async fn start() -> Companion {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("state")).unwrap();
        Companion::start_in(folder).await
    }

    /// The same, with a private folder that is reached through a link.
    pub(crate) async fn start_linked() -> Companion {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(folder.path().join("real/state")).unwrap();
        std::os::unix::fs::symlink("real", folder.path().join("link")).unwrap();
        std::os::unix::fs::symlink("link/state", folder.path().join("state")).unwrap();
        Companion::start_in(folder).await
    }

    async fn start_in(folder: tempfile::TempDir) -> Companion {
        std::fs::create_dir(folder.path().join("w")).unwrap();
        let roots = vec![folder.path().canonicalize().unwrap().join("w")];
        let privacy = Privacy::new(&roots, &[], &[]).unwrap();
        let limits = Limits::default();
        let desk = Desk::start(
            Workbench::new(roots, privacy),
            Saved::default(),
            Journal::none(),
            limits.clone(),
        );
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let agents = [Agent::Qwen, Agent::Gemini];
        let tokens = agents.map(|agent| (agent, Token::random().unwrap()));
        let (ending, ended) = watch::channel(Ending::No);
        let app = mcp::router(mcp::Endpoint {
            port,
            tokens: tokens.to_vec(),
            desk: desk.clone(),
            ending: ended,
            limits: limits.clone(),
        });
        tokio::spawn(async move {
            server::serve(&listener, app, &limits, std::future::pending()).await;
        });
        Companion {
            folder,
            hellos: Arc::default(),
            moves: Arc::default(),
            port,
            desk,
            tokens: tokens.to_vec(),
            _ending: ending,
        }
    }

    /// The folder that it serves.
    pub(crate) fn root(&self) -> PathBuf {
        self.folder.path().canonicalize().unwrap().join("w")
    }

    /// A folder that is private to the companion.
    pub(crate) fn state(&self) -> PathBuf {
        self.folder.path().canonicalize().unwrap().join("state")
    }

    /// The path of a file in the folder that it serves.
    pub(crate) fn path(&self, name: &str) -> String {
        self.root().join(name).to_str().unwrap().to_owned()
    }

    /// Writes a file into that folder and returns its path.
    pub(crate) fn file(&self, name: &str, bytes: impl AsRef<[u8]>) -> String {
        let path = self.path(name);
        std::fs::write(&path, bytes).unwrap();
        path
    }

    /// An agent that has connected and listens.
    pub(crate) async fn agent(&self, agent: Agent) -> Peer {
        let token = self.tokens.iter().find(|(known, _)| *known == agent);
        Peer::connect(self.port, token.unwrap().1.expose()).await
    }

    /// What would be told to agents now. Unlike what was published, it needs no waiting.
    pub(crate) async fn context(&self) -> workbench::Context {
        let look = |state: &mut ::companion::desk::State| state.workbench().context(Path::is_file);
        self.desk.ask(look).await.unwrap()
    }

    /// The person decides elsewhere.
    pub(crate) async fn decide(&self, id: u64, decision: Decision) -> Result<Answered, Refusal> {
        let id = ProposalId::new(id);
        let decided = self.desk.ask(move |state| state.decide(id, decision));
        decided.await.unwrap()
    }

    /// What is pending.
    pub(crate) async fn pending(&self) -> Vec<Proposal> {
        let status = self.desk.ask(|state| state.status());
        status.await.unwrap().proposals
    }

    /// The host that starts this companion for an editor.
    pub(crate) fn host(&self) -> Starter {
        Starter {
            hellos: self.hellos.clone(),
            moves: self.moves.clone(),
            desk: self.desk.clone(),
            port: self.port,
            roots: vec![self.root()],
            folder: self.state(),
        }
    }
}

/// Hands an editor the companion of the test.
pub(crate) struct Starter {
    hellos: Arc<Mutex<Vec<Hello>>>,
    moves: Arc<Mutex<Vec<Vec<PathBuf>>>>,
    desk: Desk,
    port: u16,
    roots: Vec<PathBuf>,
    folder: PathBuf,
}

impl Host for Starter {
    async fn open(&mut self, hello: Hello) -> Result<Opened, String> {
        if hello.name.as_deref() == Some("unlucky") {
            return Err("there is no room".into());
        }
        self.hellos.lock().unwrap().push(hello);
        let root = self.roots[0].to_str().unwrap().to_owned();
        let environment = BTreeMap::from([
            ("QWEN_CODE_IDE_SERVER_PORT".into(), self.port.to_string()),
            ("QWEN_CODE_IDE_WORKSPACE_PATH".into(), root),
        ]);
        Ok(Opened {
            desk: self.desk.clone(),
            port: self.port,
            environment,
            roots: self.roots.clone(),
            folder: self.folder.clone(),
            chat: None,
        })
    }

    async fn set_roots(&mut self, roots: Vec<PathBuf>) {
        self.moves.lock().unwrap().push(roots);
    }

    fn page(&mut self) -> Option<String> {
        Some(format!("http://127.0.0.1:{}/#5ca1ab1e", self.port))
    }
}
