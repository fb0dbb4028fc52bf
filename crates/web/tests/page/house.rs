//! A companion with a page, inside the test's own process.

use std::path::{Path, PathBuf};
use std::time::Duration;

use companion::desk::Desk;
use companion::journal::{Journal, Saved};
use companion::{Ending, Limits, Token, mcp, server};
use tokio::net::TcpListener;
use tokio::sync::{mpsc, oneshot, watch};
use tokio::task::JoinHandle;
use web::{Api, Keys, Links, Order};
use workbench::{Agent, Cursor, Focus, Place, Privacy, Workbench};

use crate::agent::Peer;
use crate::visitor::Visitor;

/// How long anything that has to happen may take before the test counts as failed.
const DEADLINE: Duration = Duration::from_secs(30);

/// Waits for something that has to happen.
pub(crate) async fn soon<T>(what: &str, happens: impl Future<Output = T>) -> T {
    let happened = tokio::time::timeout(DEADLINE, happens).await;
    happened.unwrap_or_else(|_| panic!("waited in vain: {what}"))
}

/// A variable that an agent should see, and that no page may.
pub(crate) const ENVIRONMENT: (&str, &str) = ("GEMINI_CLI_IDE_AUTH_TOKEN", "for an agent only");

pub(crate) struct House {
    folder: tempfile::TempDir,
    pub(crate) port: u16,
    pub(crate) desk: Desk,
    pub(crate) keys: Keys,
    pub(crate) tokens: Vec<(Agent, Token)>,
    ending: watch::Sender<Ending>,
    stop: oneshot::Sender<()>,
    serving: JoinHandle<()>,
}

impl House {
    pub(crate) async fn open() -> House {
        House::with(Limits::default()).await
    }

    pub(crate) async fn with(limits: Limits) -> House {
        let folder = tempfile::tempdir().unwrap();
        let roots = vec![folder.path().canonicalize().unwrap()];
        let privacy = Privacy::new(&roots, &[], &["*.log".into()]).unwrap();
        let workbench = Workbench::new(roots, privacy);
        let desk = Desk::start(workbench, Saved::default(), Journal::none(), limits.clone());
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let (ending, ended) = watch::channel(Ending::No);
        let agents = [Agent::Qwen, Agent::Gemini];
        let tokens = agents
            .map(|agent| (agent, Token::random().unwrap()))
            .to_vec();
        let keys = Keys {
            commands: Token::random().unwrap(),
            page: Token::random().unwrap(),
        };
        let app = mcp::router(mcp::Endpoint {
            port,
            tokens: tokens.clone(),
            desk: desk.clone(),
            ending: ended.clone(),
            limits: limits.clone(),
        })
        .merge(web::router(Api {
            port,
            editor: "Outrigger".into(),
            agents: agents.to_vec(),
            keys: keys.clone(),
            links: Links::new(port),
            chat: None,
            desk: desk.clone(),
            orders: program(),
            restartable: true,
            instance: companion::random_hex::<8>().unwrap(),
            ending: ended,
            body: limits.body,
            // No stream shows signs of life while a slow machine makes a test wait.
            keep_alive: Duration::from_hours(1),
        }));
        let (stop, stopped) = oneshot::channel();
        let serving = tokio::spawn(async move {
            let stopped = async { drop(stopped.await) };
            server::serve(&listener, app, &limits, stopped).await;
        });
        House {
            folder,
            port,
            desk,
            keys,
            tokens,
            ending,
            stop,
            serving,
        }
    }

    /// A visitor with the page's key.
    pub(crate) fn page(&self) -> Visitor {
        Visitor::new(self.port, Some(self.keys.page.expose()))
    }

    /// A visitor with the commands' secret.
    pub(crate) fn command(&self) -> Visitor {
        Visitor::new(self.port, Some(self.keys.commands.expose()))
    }

    /// A visitor with nothing.
    pub(crate) fn stranger(&self) -> Visitor {
        Visitor::new(self.port, None)
    }

    /// An agent, connected and listening.
    pub(crate) async fn agent(&self, agent: Agent) -> Peer {
        let token = self.tokens.iter().find(|(known, _)| *known == agent);
        Peer::connect(self.port, &token.unwrap().1).await
    }

    /// The path of a file in the folder.
    pub(crate) fn path(&self, name: &str) -> String {
        let root = self.folder.path().canonicalize().unwrap();
        root.join(name).to_str().unwrap().to_owned()
    }

    /// Writes a file into the folder and returns its path.
    pub(crate) fn file(&self, name: &str, bytes: impl AsRef<[u8]>) -> String {
        let path = self.path(name);
        std::fs::write(&path, bytes).unwrap();
        path
    }

    /// The person looks at a file.
    pub(crate) async fn focus(&self, path: &str, line: u32, selection: Option<&str>) {
        let focus = Focus {
            place: Place {
                path: path.into(),
                real: Path::new(path)
                    .canonicalize()
                    .unwrap_or(PathBuf::from(path)),
            },
            cursor: Some(Cursor::new(line, 1)),
            selection: selection.map(str::to_owned),
        };
        self.desk
            .ask(move |state| state.focus(focus))
            .await
            .unwrap();
    }

    /// Ends as the program does.
    pub(crate) async fn close(self) {
        self.ending.send_replace(Ending::Exit);
        drop(self.stop);
        soon("the end of the server", self.serving).await.unwrap();
    }
}

/// A program that does what it is told.
fn program() -> mpsc::Sender<Order> {
    let (orders, mut inbox) = mpsc::channel(8);
    tokio::spawn(async move {
        while let Some(order) = inbox.recv().await {
            // Whoever asked may have left.
            match order {
                Order::Problems(answer) => drop(answer.send(vec!["a problem".into()])),
                Order::Host(_, done) => drop(done.send(())),
                Order::Environment(answer) => {
                    let (name, value) = ENVIRONMENT;
                    drop(answer.send([(name.into(), value.into())].into()));
                }
                Order::Restart | Order::Stop | Order::SetRoots(_) => {}
            }
        }
    });
    orders
}
