//! A running companion.
//!
//! Puts the crates together and holds no rules of its own: the desk, the endpoint for agents, the
//! API for the person, the conversation with a daemon, and the discovery files.

mod identity;
mod options;
mod privacy;
mod server;

use std::future::Future;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::pin::pin;
use std::time::Duration;

use beacon::process;
use companion::desk::{Desk, State};
use companion::registry::Record;
use companion::{Ending, mcp, random_hex};
use conversation::Conversation;
use conversation::backend::daemon::{DaemonBackend, DaemonSettings};
use front::{Front, PublishChange, ServiceCommand};
use tokio::sync::{mpsc, watch};
use tokio::time::MissedTickBehavior;
use web::{Keys, Links, Owner};
use workbench::{Agent, Fault, Workbench};

use crate::config::DaemonTarget;
use crate::discovery::{Discovery, is_running};
use crate::failure::{Failure, FailureKind};
pub(crate) use options::{ServiceOptions, load_config};
use privacy::PrivacyWatch;
use server::{HttpServer, listen};

/// How often the discovery files, what decides what is shared, and the parent process are checked.
const CHECK_INTERVAL: Duration = Duration::from_millis(500);
/// How long agents are asked to wait before they reconnect after a planned restart.
const RETRY: Duration = Duration::from_secs(1);

/// A companion that agents can find.
pub(crate) struct Service {
    server: HttpServer,
    ending: watch::Sender<Ending>,
    commands: mpsc::Receiver<ServiceCommand>,
    front: Front,
    links: Links,
    desk: Desk,
    discovery: Discovery,
    privacy: PrivacyWatch,
    /// The agents that may connect.
    admitted: watch::Receiver<Vec<Agent>>,
    owner: Owner,
    /// The process that the companion ends with, and when that process was started.
    parent: Option<(u32, Option<u64>)>,
}

/// How a service ended.
pub(crate) enum Exit {
    /// For good.
    Stopped,
    /// To start again at once on this socket.
    Restart(TcpListener),
}

impl Service {
    /// Starts a companion. When this returns, agents can find it and connect.
    pub(crate) fn start(options: ServiceOptions) -> Result<Service, Failure> {
        let ServiceOptions {
            roots,
            config,
            daemon,
            registry,
            state,
            parent,
            owner,
            socket,
        } = options;
        if let Some(pid) = parent
            && !process::exists(pid)
        {
            let message = format!("there is no process {pid} (--parent)");
            return Err(Failure::new(FailureKind::Start, message));
        }
        let (watched, privacy) = PrivacyWatch::start(&config, &roots);
        let mut admitted = watched.admitted();

        let (slot, previous) = (registry.claim(&roots, socket.is_some())).map_err(cannot_start)?;
        for abandoned in registry.abandoned() {
            remove_leftovers(&abandoned);
        }
        let listener = listen(socket, &config, previous.as_ref())?;
        let port = listener.local_addr().map_err(cannot_start)?.port();
        let record = identity::record(port, roots, &config, previous.as_ref())?;

        let limits = config.limits();
        let (saved, journal) = slot.journal().map_err(cannot_start)?;
        let workbench = Workbench::new(record.roots.clone(), privacy);
        let (sink, contexts) = mcp::context_channel();
        let desk = Desk::start(workbench, saved, journal, limits.clone(), sink);
        let (ending, ended) = watch::channel(Ending::No);
        let (sender, commands) = mpsc::channel(16);
        let links = Links::new(port);
        let front = Front::start(desk.clone(), sender, |publish| {
            let target = daemon?;
            Some(start_conversation(
                target,
                &record,
                slot.folder(),
                &desk,
                publish,
            ))
        });
        let front = front.map_err(cannot_start)?;
        let agents = admitted.borrow_and_update().clone();
        let app = mcp::router(mcp::Endpoint {
            port,
            tokens: identity::tokens(&record),
            admitted: admitted.clone(),
            desk: desk.clone(),
            contexts,
            ending: ended.clone(),
            limits: limits.clone(),
        })
        .merge(web::router(web::Api {
            port,
            editor: record.editor.clone(),
            agents: admitted.clone(),
            keys: Keys {
                commands: record.secret.clone(),
                page: record.page.clone(),
            },
            links: links.clone(),
            front: front.clone(),
            owner,
            instance: random_hex::<8>().map_err(cannot_start)?,
            ending: ended,
            body: limits.body,
            keep_alive: limits.keep_alive,
        }));
        let announcement = identity::announcement(&record, &state, parent);
        let discovery = Discovery::start(announcement, agents, record, slot, parent);
        if let Some(mut previous) = previous {
            // Files of the run before that this one has not written again name processes that are
            // gone.
            let files = &discovery.record().files;
            previous.files.retain(|file| !files.contains(file));
            remove_leftovers(&previous);
        }
        for problem in discovery.problems() {
            tracing::warn!("{problem}");
        }
        Ok(Service {
            server: HttpServer::start(listener, app, limits),
            ending,
            commands,
            front,
            links,
            desk,
            discovery,
            privacy: watched,
            admitted,
            owner,
            parent: parent.map(|pid| (pid, process::started(pid))),
        })
    }

    /// The discovery files, for whoever starts agents or reports where we are.
    pub(crate) fn discovery(&mut self) -> &mut Discovery {
        &mut self.discovery
    }

    /// What a person can do and see.
    pub(crate) fn front(&self) -> &Front {
        &self.front
    }

    /// What closes folders to agents.
    pub(crate) fn faults(&self) -> &[Fault] {
        self.privacy.faults()
    }

    /// Makes links to the page.
    pub(crate) fn links(&self) -> &Links {
        &self.links
    }

    /// Runs until `stop` resolves, somebody asks for the end, or the parent process is gone.
    pub(crate) async fn run(mut self, stop: impl Future<Output = ()>) -> Exit {
        let ending = self.until_ending(stop).await;
        // The files go first: nobody should find a companion that is about to end.
        if ending == Ending::Exit {
            self.discovery.remove();
        }
        self.ending.send_replace(ending);
        let socket = self.server.stop().await;
        let returning = ending != Ending::Exit;
        if let Ok(conversation) = self.front.conversation() {
            conversation.close(returning).await;
        }
        let persisted = self.desk.ask(move |state| state.persist(returning)).await;
        if let Ok(receipt) = persisted {
            receipt.written().await;
        }
        match (ending, socket) {
            (Ending::Restart { .. }, Some(socket)) => {
                self.discovery.hand_over();
                Exit::Restart(socket)
            }
            _ => Exit::Stopped,
        }
    }

    async fn until_ending(&mut self, stop: impl Future<Output = ()>) -> Ending {
        let mut stop = pin!(stop);
        let mut check = tokio::time::interval(CHECK_INTERVAL);
        check.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            tokio::select! {
                () = &mut stop => return Ending::Exit,
                _ = check.tick() => if !self.check().await {
                    return Ending::Exit;
                },
                // We hold a front ourselves, so the channel does not close.
                Some(command) = self.commands.recv() => match command {
                    ServiceCommand::Restart => return Ending::Restart { retry: RETRY },
                    ServiceCommand::Stop => return Ending::Exit,
                    other => self.handle(other).await,
                },
            }
        }
    }

    /// Does what only the program can do. Whoever asked may have left; then nobody takes the reply.
    async fn handle(&mut self, command: ServiceCommand) {
        match command {
            ServiceCommand::AddHostProcess(pid, done) => {
                self.discovery.add_candidate(pid);
                let _ = done.send(());
            }
            ServiceCommand::Environment(reply) => drop(reply.send(self.discovery.environment())),
            ServiceCommand::Problems(reply) => drop(reply.send(self.discovery.problems())),
            ServiceCommand::SetFolders(roots) => self.set_roots(roots).await,
            // These end the loop that calls this.
            ServiceCommand::Restart | ServiceCommand::Stop => {}
        }
    }

    /// Serves other folders from now on. The privacy filter learns of them first: no agent may be
    /// told about a file before the patterns of its folder are read.
    async fn set_roots(&mut self, roots: Vec<PathBuf>) {
        self.privacy.set_roots(&roots);
        self.reload_privacy().await;
        self.discovery.set_roots(&roots);
        self.desk
            .tell(move |state| state.workbench_mut().set_roots(roots))
            .await;
    }

    /// Looks at everything outside that can change; `false` if the parent process has ended.
    async fn check(&mut self) -> bool {
        if let Some((pid, started)) = self.parent
            && !is_running(pid, started)
        {
            tracing::info!(pid, "the parent process of this companion has ended");
            return false;
        }
        self.discovery.check();
        self.reload_privacy().await;
        true
    }

    /// Reads again what decides what is shared and with whom, if it has changed.
    async fn reload_privacy(&mut self) {
        if let Some(privacy) = self.privacy.changed() {
            self.desk.tell(|state| state.set_privacy(privacy)).await;
        }
        self.privacy.report(self.owner);
        if self.admitted.has_changed().unwrap_or(false) {
            let agents = self.admitted.borrow_and_update().clone();
            self.discovery.set_agents(agents.clone());
            let end = move |state: &mut State| state.end_sessions_except(&agents);
            self.desk.tell(end).await;
        }
    }
}

/// Starts the conversation with a daemon. It must not keep the companion from starting: if there is
/// no daemon, the page and the editor say so, and what to do.
fn start_conversation(
    target: DaemonTarget,
    record: &Record,
    memory: &Path,
    desk: &Desk,
    publish: PublishChange,
) -> Conversation {
    let backend = DaemonBackend::new(DaemonSettings {
        address: target.address,
        token: target.token,
        workspace: record.roots.first().cloned().unwrap_or_default(),
        program: "qwen".into(),
        session: ::daemon::SessionSettings::default(),
        timeouts: ::daemon::Timeouts::default(),
    });
    let settings = conversation::Settings {
        memory: memory.to_owned(),
        machine: conversation::machine_name(),
    };
    let conversation = Conversation::start(backend, settings, desk.clone(), publish);
    let begin = conversation.clone();
    // What goes wrong shows in the status of the conversation.
    tokio::spawn(async move { begin.begin().await });
    conversation
}

/// Removes the discovery files that a run could not remove because it crashed.
fn remove_leftovers(of: &Record) {
    let tokens: Vec<_> = of
        .tokens
        .iter()
        .map(|(_, token)| token.expose().to_owned())
        .collect();
    for file in beacon::leftovers::clear(&of.files, &tokens) {
        tracing::info!(path = %file.display(), "removed a discovery file of an earlier run");
    }
}

fn cannot_start(error: impl std::fmt::Display) -> Failure {
    let message = format!("cannot start the companion: {error}");
    Failure::new(FailureKind::Start, message)
}
