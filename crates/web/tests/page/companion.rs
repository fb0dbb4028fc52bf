//! A companion with a page, inside the test's own process.

use std::ops::Deref;
use std::time::Duration;

use axum::Router;
use companion::{Ending, Limits, Token};
use front::{Editors, JoinedEditor, ServiceCommand, ServiceCommands, ServiceFacts};
use testkit::{InProcessCompanion, RouterParts, quiet_limits};
use tokio::io::AsyncWriteExt as _;
use tokio::sync::{mpsc, oneshot, watch};
use web::{Api, EditorDoor, EditorKnock, Keys, Links, Owner};
use workbench::Agent;

use crate::api_client::ApiClient;

/// A variable for agents, which no page may read.
pub(crate) const ENVIRONMENT: (&str, &str) = ("GEMINI_CLI_IDE_AUTH_TOKEN", "for an agent only");

pub(crate) struct CompanionWithPage {
    companion: InProcessCompanion,
    pub(crate) keys: Keys,
}

impl Deref for CompanionWithPage {
    type Target = InProcessCompanion;

    fn deref(&self) -> &InProcessCompanion {
        &self.companion
    }
}

impl CompanionWithPage {
    pub(crate) fn start() -> CompanionWithPage {
        CompanionWithPage::with(quiet_limits())
    }

    pub(crate) fn with(limits: Limits) -> CompanionWithPage {
        CompanionWithPage::wrapped(limits, |router| router)
    }

    /// Serves the page's router as `wrap` returns it.
    pub(crate) fn wrapped(
        limits: Limits,
        wrap: impl FnOnce(Router) -> Router + 'static,
    ) -> CompanionWithPage {
        let keys = Keys {
            commands: Token::random().unwrap(),
            page: Token::random().unwrap(),
        };
        let known = keys.clone();
        let router = |parts: RouterParts| {
            wrap(web::router(Api {
                port: parts.port,
                agents: watch::channel(vec![Agent::Qwen, Agent::Gemini]).1,
                keys: known,
                links: Links::new(parts.port),
                front: parts.front,
                editors: echo(),
                owner: Owner::Itself,
                instance: companion::random_hex::<8>().unwrap(),
                ending: parts.ending,
                body: parts.limits.body,
                // No keep-alive comments, even if a slow machine makes a test wait.
                keep_alive: Duration::from_hours(1),
            }))
        };
        let companion = InProcessCompanion::builder()
            .limits(limits)
            .ignoring("*.log")
            .service(program())
            .router(router)
            .start();
        CompanionWithPage { companion, keys }
    }

    /// A client with the page's key.
    pub(crate) fn page(&self) -> ApiClient {
        ApiClient::new(self.port, Some(self.keys.page.expose()))
    }

    /// A client with the commands' secret.
    pub(crate) fn command(&self) -> ApiClient {
        ApiClient::new(self.port, Some(self.keys.commands.expose()))
    }

    /// A client with nothing.
    pub(crate) fn stranger(&self) -> ApiClient {
        ApiClient::new(self.port, None)
    }

    /// Ends as the program does.
    pub(crate) async fn end(self, how: Ending) {
        self.companion.end(how).await;
    }
}

fn facts() -> ServiceFacts {
    let joined = JoinedEditor {
        name: "Neovim".into(),
        process: Some(7),
    };
    ServiceFacts {
        editors: Editors {
            name: "Outrigger".into(),
            joined: vec![joined],
        },
        problems: vec!["a problem".into()],
    }
}

/// A program that says back to every editor what it says, and lets in only one.
fn echo() -> EditorDoor {
    let (door, mut knocks) = mpsc::channel::<EditorKnock>(1);
    tokio::spawn(async move {
        while let Some(knock) = knocks.recv().await {
            let (seat, pipe) = oneshot::channel();
            // Whoever asked may have left.
            let _ = knock.send(Ok(seat));
            let Ok(pipe) = pipe.await else { continue };
            let (mut from, mut to) = tokio::io::split(pipe);
            tokio::io::copy(&mut from, &mut to).await.unwrap();
            to.shutdown().await.unwrap();
            // A companion that ends gives no more seats.
            return;
        }
    });
    door
}

/// A program that carries out the commands of the front.
fn program() -> ServiceCommands {
    let (commands, mut inbox) = mpsc::channel(8);
    tokio::spawn(async move {
        while let Some(command) = inbox.recv().await {
            // The requester may be gone.
            match command {
                ServiceCommand::Facts(answer) => drop(answer.send(facts())),
                ServiceCommand::AddHostProcess(_, done) => drop(done.send(())),
                ServiceCommand::Environment(answer) => {
                    let (name, value) = ENVIRONMENT;
                    drop(answer.send([(name.into(), value.into())].into()));
                }
                ServiceCommand::StopUnused(answer) => drop(answer.send(false)),
                ServiceCommand::Restart | ServiceCommand::Stop | ServiceCommand::SetFolders(..) => {
                }
            }
        }
    });
    commands
}
