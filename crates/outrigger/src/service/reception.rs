//! Editors come in and leave, and the service follows: its name, its folders, its patterns, and
//! whether it goes on at all.

use std::path::PathBuf;
use std::time::Duration;

use companion::registry::Record;
use editor::{DaemonOptions, EditorInfo, EditorService, SessionEnd};
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinSet;
use tokio::time::Instant;
use web::{EditorDoor, EditorKnock, NoSeat, Owner};
use workbench::{Agent, Holder};

use super::editors::{EditorRequest, Joined, MOST_SEATS, Seats, Session};
use super::{Service, identity, load_config};
use crate::config::{DaemonLayer, Layer};
use crate::failure::Failure;

/// How long a service that belongs to editors waits for the next one while agents are connected, so
/// that they do not notice when the person goes from one editor to another.
const LINGER: Duration = Duration::from_secs(30);
/// How often a service without an editor looks whether agents still wait for decisions.
const DECISION_INTERVAL: Duration = Duration::from_secs(1);
/// How long the sessions of editors may take to say goodbye.
const LAST_GOODBYES: Duration = Duration::from_secs(1);

/// Where editors come in and leave.
pub(super) struct Reception {
    pub(super) seats: Seats,
    /// Editors that ask for a seat.
    knocks: mpsc::Receiver<EditorKnock>,
    requests: mpsc::Receiver<EditorRequest>,
    /// For the sessions of editors, which run on their own.
    request_sender: mpsc::Sender<EditorRequest>,
    sessions: JoinSet<()>,
    /// When the service ends if no editor comes in.
    lingers_until: Option<Instant>,
    /// Dropped at the very end: an editor whose leaving ends the service waits for that.
    farewells: Vec<oneshot::Sender<()>>,
}

/// What happens at the reception.
pub(super) enum Event {
    /// An editor asks for a seat.
    Knock(EditorKnock),
    /// The session of an editor asks for something.
    Request(EditorRequest),
    /// The service has waited long enough for an editor.
    NobodyCame,
}

impl Reception {
    /// The reception of a service, and its door.
    pub(super) fn new(owner: Owner) -> (Reception, EditorDoor) {
        let (door, knocks) = mpsc::channel(16);
        let (request_sender, requests) = mpsc::channel(16);
        let reception = Reception {
            seats: Seats::default(),
            knocks,
            requests,
            request_sender,
            sessions: JoinSet::new(),
            // The editor that started it is about to come in.
            lingers_until: (owner == Owner::Editor).then(|| Instant::now() + LINGER),
            farewells: Vec::new(),
        };
        (reception, door)
    }

    /// What happens next.
    pub(super) async fn next(&mut self) -> Event {
        loop {
            tokio::select! {
                Some(answer) = self.knocks.recv() => return Event::Knock(answer),
                // We hold a sender ourselves, so the channel does not close.
                Some(request) = self.requests.recv() => return Event::Request(request),
                Some(_) = self.sessions.join_next() => {}
                () = until(self.lingers_until) => return Event::NobodyCame,
            }
        }
    }

    /// Lets the service wait that long for an editor.
    fn linger(&mut self, wait: Duration) {
        self.lingers_until = Some(Instant::now() + wait);
    }

    /// Ends the sessions of all editors.
    pub(super) async fn close(mut self) {
        self.requests.close();
        // Whoever has said that it leaves need not be told that there is no service any more.
        while self.requests.try_recv().is_ok() {}
        self.farewells.clear();
        self.seats.clear();
        let goodbyes = async { while self.sessions.join_next().await.is_some() {} };
        let _ = tokio::time::timeout(LAST_GOODBYES, goodbyes).await;
    }
}

/// What a service has without editors.
pub(super) struct OwnPart {
    pub(super) name: String,
    /// None if it belongs to editors: then all folders are theirs.
    pub(super) folders: Vec<PathBuf>,
}

impl OwnPart {
    pub(super) fn new(owner: Owner, record: &Record) -> OwnPart {
        OwnPart {
            name: record.editor.clone(),
            folders: match owner {
                Owner::Editor => Vec::new(),
                Owner::Itself | Owner::Launcher => record.roots.clone(),
            },
        }
    }
}

impl Service {
    /// Keeps a seat for an editor whose pipe is about to come, if there is one.
    fn let_in(&mut self, answer: EditorKnock) {
        let Some((holder, ended)) = self.reception.seats.take() else {
            // If nobody waits for it any more, nobody has to know.
            let _ = answer.send(Err(NoSeat { most: MOST_SEATS }));
            return;
        };
        let (seat, pipe) = oneshot::channel();
        self.reception.lingers_until = None;
        // If nobody waits for it any more, the session finds no pipe and leaves.
        let _ = answer.send(Ok(seat));
        let session = Session {
            holder,
            requests: self.reception.request_sender.clone(),
            links: self.links.clone(),
            pipe,
            ended,
        };
        self.reception.sessions.spawn(session.run());
    }

    /// Does what follows from an event; `false` if the service ends with it.
    pub(super) async fn receive(&mut self, event: Event) -> bool {
        let request = match event {
            Event::Knock(answer) => {
                self.let_in(answer);
                return true;
            }
            Event::NobodyCame if self.is_waited_for().await => {
                self.reception.linger(DECISION_INTERVAL);
                return true;
            }
            Event::NobodyCame => {
                tracing::info!("no editor has come; the companion ends");
                return false;
            }
            Event::Request(request) => request,
        };
        match request {
            EditorRequest::Join(holder, editor, reply) => {
                let joined = self.join(holder, *editor).await;
                // An editor that has left meanwhile says so.
                let _ = reply.send(joined.map_err(|failure| failure.to_string()));
                true
            }
            EditorRequest::Leave(holder, end, done) => {
                let stays = self.leave(holder, end).await;
                if !stays {
                    self.reception.farewells.push(done);
                }
                stays
            }
        }
    }

    /// An editor has said what it is.
    async fn join(&mut self, holder: Holder, info: EditorInfo) -> Result<EditorService, Failure> {
        let folders = existing_folders(&info.folders);
        let options = info.options.daemon.clone();
        let layer = Layer::from_editor(info.name.clone(), &info.options, None)?;
        let (privacy, daemon) = (layer.privacy().clone(), layer.daemon().clone());
        let config = load_config(&folders, layer)?;
        let joined = Joined {
            name: info.name.unwrap_or_else(|| self.own.name.clone()),
            process: Joined::process(info.process),
            folders: folders.clone(),
            privacy,
        };
        self.reception.seats.set(holder, Some(joined));
        self.editors_changed().await;
        let private_folder = (self.reception.seats)
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
            notices: self.notices(&config.privacy.agents.value, &options, &daemon),
        })
    }

    /// What an editor should know: what is wrong in what it asks for, and what it cannot have because
    /// the service was started without it.
    fn notices(
        &self,
        agents: &[Agent],
        options: &DaemonOptions,
        asked: &DaemonLayer,
    ) -> Vec<String> {
        const REMEDY: &str = "to change that, run `outrigger stop`, and restart it from here";
        let started_by = &self.own.name;
        let mut notices = options.unused.clone();
        notices.extend(self.conversation_warning.clone());
        let mistakes = options.mistakes.join("; ");
        let known = self.conversation_warning.as_deref().unwrap_or_default();
        if !known.contains(&mistakes) {
            notices.push(format!("wrong settings of the editor: {mistakes}"));
        }
        let admitted = self.admitted.borrow();
        if admitted.iter().any(|agent| !agents.contains(agent)) {
            let lets_in: Vec<_> = admitted.iter().map(ToString::to_string).collect();
            notices.push(format!(
                "this companion was started by {started_by} and lets in {}; {REMEDY}",
                lets_in.join(" and ")
            ));
        }
        let other = match self.front.conversation() {
            Ok(_) if asked.switches() == Some(false) => {
                Some("with a conversation with a daemon".to_owned())
            }
            Ok(_) => {
                let differences = self.daemon.differences(asked);
                (!differences.is_empty())
                    .then(|| format!("for conversations with {}", differences.join(", ")))
            }
            // What is wrong is said above.
            Err(_) if self.conversation_warning.is_some() => None,
            Err(_) => (asked.switches() == Some(true))
                .then(|| "without a conversation with a daemon".to_owned()),
        };
        notices.extend(
            other.map(|other| {
                format!("this companion was started by {started_by} {other}; {REMEDY}")
            }),
        );
        notices
    }

    /// An editor has left; `false` if the service ends with it.
    pub(super) async fn leave(&mut self, holder: Holder, end: SessionEnd) -> bool {
        // One whose process had ended says so as well when its session ends.
        let Some(had_joined) = self.reception.seats.free(holder) else {
            return true;
        };
        self.front.presence(holder).leave().await;
        let is_last = self.owner == Owner::Editor && self.reception.seats.is_empty();
        let is_clean = end == SessionEnd::Clean || !had_joined;
        if is_last {
            self.returns = end == SessionEnd::Restarts;
            if matches!(end, SessionEnd::Stopped | SessionEnd::Restarts) {
                return false;
            }
            if is_clean && self.has_agents().await {
                tracing::info!("the last editor has left; waiting for the next one");
                self.reception.linger(LINGER);
            } else if self.is_waited_for().await {
                tracing::info!("the last editor has left; agents wait for decisions");
                self.reception.linger(DECISION_INTERVAL);
            } else {
                return false;
            }
            // There is nobody whose files these would be.
            self.desk
                .tell(|state| state.workbench_mut().close_all())
                .await;
        }
        if had_joined {
            self.editors_changed().await;
        }
        true
    }

    /// Whether an agent listens at this moment.
    async fn has_agents(&self) -> bool {
        let sessions = self.desk.ask(|state| state.sessions()).await;
        sessions.is_ok_and(|sessions| sessions.iter().any(|session| session.streaming))
    }

    /// Whether an agent waits for a decision. It can still be made in its terminal, in the page and
    /// with commands; and Gemini CLI cannot be answered at all once the companion is gone.
    async fn is_waited_for(&self) -> bool {
        let is_waited_for = self.desk.ask(|state| state.is_waited_for()).await;
        is_waited_for.unwrap_or(false)
    }

    /// Tells agents, front ends and later runs which editors are here now.
    async fn editors_changed(&mut self) {
        // No agent may be told about a file before the patterns of its editor are in force.
        self.privacy.set_editors(self.reception.seats.privacy());
        self.folders_changed().await;
        self.reload_privacy().await;
        let editors = self.reception.seats.list(&self.own.name);
        let processes = editors.joined.iter().filter_map(|editor| editor.process);
        let ide = identity::ide(&editors.name);
        self.discovery.set_editors(ide, processes.collect());
        self.front.publish_editors(editors);
    }

    /// Serves the folders that there are now.
    pub(super) async fn folders_changed(&mut self) {
        if let Some(folders) = self.reception.seats.folders(&self.own.folders)
            && folders != self.discovery.record().roots
        {
            self.set_roots(folders).await;
        }
    }
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
