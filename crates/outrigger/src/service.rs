//! A running companion.
//!
//! Puts the crates together and holds no rules of its own: the desk, the endpoint for agents, the
//! API for the person, the conversation with a daemon, the discovery files, and the editors that
//! join and leave.

mod editors;
mod identity;
mod options;
mod server;

use std::future::Future;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::pin::pin;
use std::time::Duration;

use beacon::process;
use companion::desk::{Desk, State};
use companion::registry::Record;
use companion::{Ending, IgnoreFiles, mcp, random_hex};
use conversation::Conversation;
use conversation::backend::daemon::{DaemonBackend, DaemonSettings};
use editor::{EditorInfo, EditorService, SessionEnd};
use front::{Front, PublishChange, ServiceCommand, ServiceFacts};
use tokio::sync::{mpsc, oneshot, watch};
use tokio::task::JoinSet;
use tokio::time::{Instant, MissedTickBehavior};
use web::{EditorSeat, Keys, Links, Owner};
use workbench::{Agent, Holder, Privacy, Workbench};

use crate::config::{DaemonTarget, Layer};
use crate::discovery::{Discovery, is_running};
use crate::failure::{Failure, FailureKind};
pub(crate) use editors::CLEAN_END;
use editors::{EditorRequest, Joined, Seats, Session};
pub(crate) use options::{ServiceOptions, StartingEditor, load_config};
use server::{HttpServer, listen};

/// How often the discovery files, the ignore files and the parent process are checked.
const CHECK_INTERVAL: Duration = Duration::from_millis(500);
/// How long agents are asked to wait before they reconnect after a planned restart.
const RETRY: Duration = Duration::from_secs(1);
/// How long a service that belongs to editors waits for the next one while agents are connected, so
/// that they do not notice when the person goes from one editor to another.
const LINGER: Duration = Duration::from_secs(30);
/// How long the sessions of editors may take to say goodbye.
const LAST_GOODBYES: Duration = Duration::from_secs(1);

/// A companion that agents can find.
pub(crate) struct Service {
    server: HttpServer,
    ending: watch::Sender<Ending>,
    commands: mpsc::Receiver<ServiceCommand>,
    front: Front,
    links: Links,
    desk: Desk,
    discovery: Discovery,
    ignore_files: IgnoreFiles,
    /// The process that the companion ends with, and when that process was started.
    parent: Option<(u32, Option<u64>)>,
    owner: Owner,
    /// What it has without editors.
    own: OwnPart,
    /// The agents that are let in.
    agents: Vec<Agent>,
    seats: Seats,
    /// Editors that ask for a seat.
    door: mpsc::Receiver<oneshot::Sender<EditorSeat>>,
    requests: mpsc::Receiver<EditorRequest>,
    /// For the sessions of editors, which run on their own.
    request_sender: mpsc::Sender<EditorRequest>,
    sessions: JoinSet<()>,
    /// When it ends if no editor comes in.
    lingers_until: Option<Instant>,
    /// Dropped at the very end: an editor whose leaving ends the service waits for that.
    farewells: Vec<oneshot::Sender<()>>,
}

/// What a service has without editors.
struct OwnPart {
    name: String,
    /// None if it belongs to editors: then all folders are theirs.
    folders: Vec<PathBuf>,
    patterns: Vec<Vec<String>>,
}

/// The outcome of starting a service.
pub(crate) enum Start {
    /// It runs.
    Started(Box<Service>),
    /// Another one serves all of these folders.
    Served(Box<Record>),
}

/// How a service ended.
pub(crate) enum Exit {
    /// For good.
    Stopped,
    /// To start again at once on this socket.
    Restart(TcpListener),
}

impl Service {
    /// Starts a companion, unless one serves these folders. When this returns, agents can find it
    /// and connect.
    pub(crate) fn start(options: ServiceOptions) -> Result<Start, Failure> {
        let ServiceOptions {
            roots,
            config,
            daemon,
            registry,
            state,
            parent,
            editor,
            owner,
            socket,
        } = options;
        if let Some(pid) = parent
            && !process::exists(pid)
        {
            let message = format!("there is no process {pid} (--parent)");
            return Err(Failure::new(FailureKind::Start, message));
        }
        let mut ignore_files = IgnoreFiles::new(roots.clone(), config.patterns());
        let privacy = first_privacy(&mut ignore_files)?;

        // Held until the record is written, from which others learn that these folders are served.
        let _turn = registry.turn().map_err(cannot_start)?;
        if socket.is_none()
            && let Some(record) = (registry.covering(&roots).into_iter())
                .rfind(|record| owner != Owner::Editor || is_same_version(record))
        {
            return Ok(Start::Served(Box::new(record)));
        }
        let (slot, previous) = (registry.claim(&roots, socket.is_some())).map_err(cannot_start)?;
        for abandoned in registry.abandoned() {
            remove_leftovers(&abandoned);
        }
        let listener = listen(socket, &config, previous.as_ref())?;
        let port = listener.local_addr().map_err(cannot_start)?.port();
        let (process, settings) = editor.map(|it| (it.process, it.settings)).unzip();
        let record = identity::record(port, roots, &config, settings, previous.as_ref())?;

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
        let own = OwnPart {
            name: record.editor.clone(),
            folders: match owner {
                Owner::Editor => Vec::new(),
                Owner::Itself | Owner::Launcher => record.roots.clone(),
            },
            patterns: config.patterns(),
        };
        let (knock, door) = mpsc::channel(16);
        let (request_sender, requests) = mpsc::channel(16);
        let agents = config.agents.value;
        let app = mcp::router(mcp::Endpoint {
            port,
            tokens: identity::accepted_tokens(&record, &agents),
            desk: desk.clone(),
            contexts,
            ending: ended.clone(),
            limits: limits.clone(),
        })
        .merge(web::router(web::Api {
            port,
            agents: agents.clone(),
            keys: Keys {
                commands: record.secret.clone(),
                page: record.page.clone(),
            },
            links: links.clone(),
            front: front.clone(),
            editors: knock,
            owner,
            instance: random_hex::<8>().map_err(cannot_start)?,
            ending: ended,
            body: limits.body,
            keep_alive: limits.keep_alive,
        }));
        let process = process.flatten();
        let announcement = identity::announcement(&record, &state, process.or(parent));
        let discovery =
            Discovery::start(announcement, agents.clone(), record, slot, parent, process);
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
        Ok(Start::Started(Box::new(Service {
            server: HttpServer::start(listener, app, limits),
            ending,
            commands,
            front,
            links,
            desk,
            discovery,
            ignore_files,
            parent: parent.map(|pid| (pid, process::started(pid))),
            // The editor that started it is about to come in.
            lingers_until: (owner == Owner::Editor).then(|| Instant::now() + LINGER),
            owner,
            own,
            agents,
            seats: Seats::default(),
            door,
            requests,
            request_sender,
            sessions: JoinSet::new(),
            farewells: Vec::new(),
        })))
    }

    /// The discovery files, for whoever starts agents or reports where we are.
    pub(crate) fn discovery(&mut self) -> &mut Discovery {
        &mut self.discovery
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
        let exit = match (ending, socket) {
            (Ending::Restart { .. }, Some(socket)) => {
                self.discovery.hand_over();
                Exit::Restart(socket)
            }
            _ => {
                drop(self.discovery);
                Exit::Stopped
            }
        };
        // An editor learns that the service has ended when nothing is left of it.
        self.requests.close();
        self.farewells.clear();
        self.seats.clear();
        let goodbyes = async { while self.sessions.join_next().await.is_some() {} };
        let _ = tokio::time::timeout(LAST_GOODBYES, goodbyes).await;
        exit
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
                Some(answer) = self.door.recv() => self.let_in(answer),
                Some(request) = self.requests.recv() => if !self.attend(request).await {
                    return Ending::Exit;
                },
                Some(_) = self.sessions.join_next() => {}
                () = until(self.lingers_until) => {
                    tracing::info!("no editor has come; the companion ends");
                    return Ending::Exit;
                }
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
            ServiceCommand::Facts(reply) => {
                let facts = ServiceFacts {
                    editors: self.seats.list(&self.own.name),
                    problems: self.discovery.problems(),
                };
                let _ = reply.send(facts);
            }
            ServiceCommand::SetFolders(holder, folders) => {
                if let Some(known) = self.seats.folders_mut(holder) {
                    *known = folders;
                    self.folders_changed().await;
                }
            }
            // These end the loop that calls this.
            ServiceCommand::Restart | ServiceCommand::Stop => {}
        }
    }

    /// Keeps a seat for an editor whose pipe is about to come. There is none if it is dropped.
    fn let_in(&mut self, answer: oneshot::Sender<EditorSeat>) {
        let Some((holder, ended)) = self.seats.take() else {
            return;
        };
        let (seat, pipe) = oneshot::channel();
        self.lingers_until = None;
        // If nobody waits for it any more, the session finds no pipe and leaves.
        let _ = answer.send(seat);
        let session = Session {
            holder,
            requests: self.request_sender.clone(),
            links: self.links.clone(),
            pipe,
            ended,
        };
        self.sessions.spawn(session.run());
    }

    /// Does what the session of an editor asks; `false` if the service ends with it.
    async fn attend(&mut self, request: EditorRequest) -> bool {
        match request {
            EditorRequest::Join(holder, editor, reply) => {
                let joined = self.join(holder, editor).await;
                // An editor that has left meanwhile says so.
                let _ = reply.send(joined.map_err(|failure| failure.to_string()));
                true
            }
            EditorRequest::Leave(holder, end, done) => {
                let stays = self.leave(holder, end).await;
                if !stays {
                    self.farewells.push(done);
                }
                stays
            }
        }
    }

    /// An editor has said what it is.
    async fn join(&mut self, holder: Holder, info: EditorInfo) -> Result<EditorService, Failure> {
        let folders = existing_folders(&info.folders);
        let wants_daemon = info.options.daemon;
        let layer = Layer::from_editor(info.name.clone(), info.options, None)?;
        let config = load_config(&folders, layer)?;
        let joined = Joined {
            name: info.name.unwrap_or_else(|| self.own.name.clone()),
            process: Joined::process(info.process),
            folders: folders.clone(),
            patterns: config.patterns(),
        };
        self.seats.set(holder, Some(joined));
        // No agent may be told about a file before the patterns of its editor are in force.
        self.ignore_files
            .set_patterns(self.seats.patterns(&self.own.patterns));
        if let Some(Err(bad)) = self.ignore_files.changed() {
            self.seats.set(holder, None);
            self.ignore_files
                .set_patterns(self.seats.patterns(&self.own.patterns));
            return Err(Failure::new(FailureKind::Configuration, bad)
                .hint("patterns are written as in .gitignore"));
        }
        self.ignore_files
            .set_patterns(self.seats.patterns(&self.own.patterns));
        self.editors_changed().await;
        let private_folder = (self.seats)
            .private_folder(holder, self.discovery.folder())
            .map_err(|error| Failure::other("cannot make a private folder", error))?;
        let record = self.discovery.record();
        Ok(EditorService {
            front: self.front.clone(),
            holder,
            port: record.port,
            environment: self.discovery.environment(),
            folders: if folders.is_empty() {
                record.roots.clone()
            } else {
                folders
            },
            private_folder,
            notices: self.notices(&config.agents.value, wants_daemon),
        })
    }

    /// What an editor cannot have because the service was started without it.
    fn notices(&self, agents: &[Agent], wants_daemon: bool) -> Vec<String> {
        let mut notices = Vec::new();
        let started_by = &self.own.name;
        const REMEDY: &str = "to change that, run `outrigger stop`, and restart it from here";
        if self.agents.iter().any(|agent| !agents.contains(agent)) {
            let lets_in: Vec<_> = self.agents.iter().map(ToString::to_string).collect();
            notices.push(format!(
                "this companion was started by {started_by} and lets in {}; {REMEDY}",
                lets_in.join(" and ")
            ));
        }
        if wants_daemon && self.front.conversation().is_err() {
            notices.push(format!(
                "this companion was started by {started_by} without a conversation with a daemon; {REMEDY}"
            ));
        }
        notices
    }

    /// An editor has left; `false` if the service ends with it.
    async fn leave(&mut self, holder: Holder, end: SessionEnd) -> bool {
        // One whose process had ended says so as well when its session ends.
        let Some(had_joined) = self.seats.free(holder) else {
            return true;
        };
        self.front.presence(holder).leave().await;
        let is_last = self.owner == Owner::Editor && self.seats.is_empty();
        let is_clean = end == SessionEnd::Clean || !had_joined;
        if is_last && !(is_clean && self.has_agents().await) {
            return false;
        }
        if is_last {
            tracing::info!("the last editor has left; waiting for the next one");
            // There is nobody whose files these would be.
            self.desk
                .tell(|state| state.workbench_mut().close_all())
                .await;
            self.lingers_until = Some(Instant::now() + LINGER);
        }
        if had_joined {
            self.ignore_files
                .set_patterns(self.seats.patterns(&self.own.patterns));
            self.editors_changed().await;
        }
        true
    }

    /// Whether an agent listens at this moment.
    async fn has_agents(&self) -> bool {
        let sessions = self.desk.ask(|state| state.sessions()).await;
        sessions.is_ok_and(|sessions| sessions.iter().any(|session| session.streaming))
    }

    /// Tells agents, front ends and later runs which editors are here now.
    async fn editors_changed(&mut self) {
        self.folders_changed().await;
        self.reload_privacy().await;
        let editors = self.seats.list(&self.own.name);
        let processes = editors.joined.iter().filter_map(|editor| editor.process);
        let ide = identity::ide(&editors.name);
        self.discovery.set_editors(ide, processes.collect());
        self.front.publish_editors(editors);
    }

    /// Serves the folders that there are now.
    async fn folders_changed(&mut self) {
        if let Some(folders) = self.seats.folders(&self.own.folders)
            && folders != self.discovery.record().roots
        {
            self.set_roots(folders).await;
        }
    }

    /// Serves other folders from now on. The privacy filter learns of them first: no agent may be
    /// told about a file before the patterns of its folder are read.
    async fn set_roots(&mut self, roots: Vec<PathBuf>) {
        self.ignore_files.set_roots(roots.clone());
        self.reload_privacy().await;
        self.discovery.set_roots(&roots);
        self.desk
            .tell(move |state| state.workbench_mut().set_roots(roots))
            .await;
    }

    /// Looks at everything outside that can change; `false` if the parent process has ended, or that
    /// of the last editor.
    async fn check(&mut self) -> bool {
        if let Some((pid, started)) = self.parent
            && !is_running(pid, started)
        {
            tracing::info!(pid, "the parent process of this companion has ended");
            return false;
        }
        for holder in self.seats.ended() {
            tracing::info!("the process of an editor has ended");
            if !self.leave(holder, SessionEnd::Abrupt).await {
                return false;
            }
        }
        self.discovery.check();
        self.reload_privacy().await;
        true
    }

    /// Reads the ignore files again if they have changed.
    async fn reload_privacy(&mut self) {
        match self.ignore_files.changed() {
            Some(Ok(privacy)) => {
                let set = move |state: &mut State| state.workbench_mut().set_privacy(privacy);
                self.desk.tell(set).await;
            }
            Some(Err(bad)) => tracing::warn!("{bad}; the patterns from before stay in force"),
            None => {}
        }
    }
}

/// Whether a running companion is the same program as this one, so that an editor can join it.
pub(crate) fn is_same_version(record: &Record) -> bool {
    record.version == env!("CARGO_PKG_VERSION")
}

/// The folders of an editor that exist, without links, each once.
pub(crate) fn existing_folders(folders: &[PathBuf]) -> Vec<PathBuf> {
    let mut existing: Vec<PathBuf> = Vec::new();
    for folder in folders
        .iter()
        .filter_map(|folder| folder.canonicalize().ok())
    {
        if folder.is_dir() && !existing.contains(&folder) {
            existing.push(folder);
        }
    }
    existing
}

/// Resolves at that time, or never.
async fn until(at: Option<Instant>) {
    match at {
        Some(at) => tokio::time::sleep_until(at).await,
        None => std::future::pending().await,
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

/// The privacy filter to start with. A mistake in a pattern is an error here, because to go on
/// without it would share what the person wanted to hold back.
fn first_privacy(ignore_files: &mut IgnoreFiles) -> Result<Privacy, Failure> {
    match ignore_files.changed() {
        Some(Ok(privacy)) => Ok(privacy),
        Some(Err(bad)) => Err(Failure::new(FailureKind::Configuration, bad)
            .hint("patterns are written as in .gitignore")),
        None => Err(cannot_start("no privacy filter could be built")),
    }
}

fn cannot_start(error: impl std::fmt::Display) -> Failure {
    let message = format!("cannot start the companion: {error}");
    Failure::new(FailureKind::Start, message)
}
