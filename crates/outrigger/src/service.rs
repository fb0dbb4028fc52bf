//! A running companion.
//!
//! Puts the crates together and holds no rules of its own: the desk, the endpoint for agents, the
//! API for the person, the conversation with a daemon, the discovery files, and the editors that
//! join and leave.

mod editors;
mod identity;
mod options;
mod privacy;
mod reception;
mod server;
mod start;
mod succession;

use std::future::Future;
use std::path::PathBuf;
use std::pin::pin;
use std::time::Duration;

use companion::Ending;
use companion::desk::{Desk, State};
use companion::registry::Record;
use editor::SessionEnd;
use front::{Front, ServiceCommand, ServiceFacts};
use tokio::sync::{mpsc, watch};
use tokio::time::MissedTickBehavior;
use web::{Links, Owner};
use workbench::{Agent, Fault};

use crate::config::DaemonSettings;
use crate::discovery::{Discovery, RecordState, is_running};
use crate::resume::Handover;
pub(crate) use editors::CLEAN_END;
pub(crate) use options::{ServiceOptions, StartingEditor, load_config};
use privacy::PrivacyWatch;
pub(crate) use reception::existing_folders;
use reception::{OwnPart, Reception};
use server::HttpServer;
pub(crate) use start::is_same_version;

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
    /// The process that the companion ends with, and when that process was started.
    parent: Option<(u32, Option<u64>)>,
    owner: Owner,
    /// Whether an editor starts it again at once.
    returns: bool,
    /// What it has without editors.
    own: OwnPart,
    /// The editors that are in it.
    reception: Reception,
    /// What is set about conversations.
    daemon: DaemonSettings,
    /// What the person should know before the first prompt.
    conversation_warning: Option<String>,
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
    /// To start again at once with this.
    Restart(Handover),
}

impl Service {
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

    /// What the person should know about conversations before the first prompt.
    pub(crate) fn conversation_warning(&self) -> Option<&str> {
        self.conversation_warning.as_deref()
    }

    /// Makes links to the page.
    pub(crate) fn links(&self) -> &Links {
        &self.links
    }

    /// Runs until `stop` resolves, somebody asks for the end, or the parent process is gone.
    pub(crate) async fn run(mut self, stop: impl Future) -> Exit {
        let ending = self.until_ending(stop).await;
        if self.discovery.is_displaced() {
            self.desk.tell(State::leave_journal).await;
        }
        // The files go first: nobody should find a companion that is about to end.
        if ending == Ending::Exit {
            self.discovery.remove(self.returns);
        }
        if ending == Ending::Exit && !self.returns {
            // Streams send what is in the mailboxes before they end.
            let _ = self.desk.ask(State::reject_for_end).await;
        }
        self.ending.send_replace(ending);
        let socket = self.server.stop().await;
        let returning = ending != Ending::Exit;
        if let Ok(conversation) = self.front.conversation() {
            conversation.close(returning).await;
        }
        let persisted = self.desk.ask(move |state| state.persist(returning)).await;
        if let Ok(receipt) = persisted {
            receipt.settled().await;
        }
        let exit = if let (Ending::Restart { .. }, Some(socket)) = (ending, socket) {
            let lock = self.discovery.hand_over();
            Exit::Restart(Handover { socket, lock })
        } else {
            drop(self.discovery);
            Exit::Stopped
        };
        // An editor learns that the service has ended when nothing is left of it.
        self.reception.close().await;
        exit
    }

    async fn until_ending(&mut self, stop: impl Future) -> Ending {
        let mut stop = pin!(stop);
        let mut check = tokio::time::interval(CHECK_INTERVAL);
        check.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            tokio::select! {
                _ = &mut stop => return Ending::Exit,
                _ = check.tick() => if !self.check().await {
                    return Ending::Exit;
                },
                // We hold a front ourselves, so the channel does not close.
                Some(command) = self.commands.recv() => match command {
                    ServiceCommand::Restart => return Ending::Restart { retry: RETRY },
                    ServiceCommand::Stop => return Ending::Exit,
                    ServiceCommand::StopUnused(answer) => {
                        let is_unused = self.owner == Owner::Editor && self.reception.seats.is_empty();
                        let _ = answer.send(is_unused);
                        if is_unused {
                            self.returns = true;
                            return Ending::Exit;
                        }
                    }
                    other => self.handle(other).await,
                },
                event = self.reception.next() => if !self.receive(event).await {
                    return Ending::Exit;
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
            ServiceCommand::Facts(reply) => {
                let facts = ServiceFacts {
                    editors: self.reception.seats.list(&self.own.name),
                    problems: self.discovery.problems(),
                };
                let _ = reply.send(facts);
            }
            ServiceCommand::SetFolders(holder, folders) => {
                if let Some(known) = self.reception.seats.folders_mut(holder) {
                    *known = folders;
                    self.folders_changed().await;
                }
            }
            // These end the loop that calls this.
            ServiceCommand::Restart | ServiceCommand::Stop | ServiceCommand::StopUnused(_) => {}
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

    /// Looks at everything outside that can change; `false` if the parent process has ended, or that
    /// of the last editor, or if another companion has taken the place of this one.
    async fn check(&mut self) -> bool {
        if let Some((pid, started)) = self.parent
            && !is_running(pid, started)
        {
            tracing::info!(pid, "the parent process of this companion has ended");
            return false;
        }
        for holder in self.reception.seats.ended() {
            tracing::info!("the process of an editor has ended");
            if !self.leave(holder, SessionEnd::Abrupt).await {
                return false;
            }
        }
        match self.discovery.restore_record() {
            RecordState::Intact => {}
            RecordState::Restored => self.desk.tell(State::rewrite_journal).await,
            RecordState::Displaced => {
                tracing::warn!(
                    "ending, because another companion has taken the place of this one, whose state somebody has deleted"
                );
                return false;
            }
            RecordState::Superseded => {
                tracing::warn!(
                    "ending, because another companion was started for these folders while the state of this one was deleted"
                );
                return false;
            }
        }
        // Not before it is known that this companion is the one to be found.
        self.discovery.check();
        let is_used = self.desk.ask(|state| state.has_sessions()).await;
        self.discovery.beat(is_used.unwrap_or(false));
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
