//! Commands that only the program can carry out: restart, stop, folders, discovery files.

use std::collections::BTreeMap;
use std::path::PathBuf;

use tokio::sync::{mpsc, oneshot};
use workbench::Holder;

use crate::change::Change;
use crate::error::FrontError;
use crate::front::Front;

/// A command to the program that runs the companion.
#[derive(Debug)]
pub enum ServiceCommand {
    /// Restart at once with the same port, tokens, sessions and proposals.
    Restart,
    /// Stop the companion.
    Stop,
    /// Stop the companion if no editor is in it, because one starts it with other settings. Answered
    /// with whether it stops.
    StopUnused(oneshot::Sender<bool>),
    /// This editor has other folders open from now on.
    SetFolders(Holder, Vec<PathBuf>),
    /// Let agents below this process find the companion until it ends. Answered when they can.
    AddHostProcess(u32, oneshot::Sender<()>),
    /// The environment variables for an agent.
    Environment(oneshot::Sender<BTreeMap<String, String>>),
    /// What only the program knows about the companion.
    Facts(oneshot::Sender<ServiceFacts>),
}

/// What only the program knows about the companion.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ServiceFacts {
    /// The editors that are in it.
    pub editors: Editors,
    /// What is wrong with the discovery files, in words.
    pub problems: Vec<String>,
}

/// The editors that are in a companion.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Editors {
    /// The name that agents show: of the editor that joined last, or of the companion itself.
    pub name: String,
    /// Those that have joined and not left, the last one last.
    pub joined: Vec<JoinedEditor>,
}

/// An editor that is in a companion.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JoinedEditor {
    /// Its name.
    pub name: String,
    /// Its process, if it said so.
    pub process: Option<u32>,
}

/// The channel to the program.
pub type ServiceCommands = mpsc::Sender<ServiceCommand>;

impl Front {
    /// Restarts the companion. Returns before it happens. Refused if the next run would not know
    /// what this one knows.
    pub async fn restart(&self) -> Result<(), FrontError> {
        let receipt = self.0.desk.ask(|state| state.receipt()).await?;
        receipt.written().await?;
        self.send(ServiceCommand::Restart).await
    }

    /// Stops the companion. Returns before it happens.
    pub async fn stop(&self) -> Result<(), FrontError> {
        self.send(ServiceCommand::Stop).await
    }

    /// Stops the companion if no editor is in it, because one starts it with other settings; whether
    /// it stops.
    pub async fn stop_unused(&self) -> Result<bool, FrontError> {
        self.ask_service(ServiceCommand::StopUnused).await
    }

    pub(crate) async fn set_folders(
        &self,
        holder: Holder,
        folders: Vec<PathBuf>,
    ) -> Result<(), FrontError> {
        let command = ServiceCommand::SetFolders(holder, folders);
        self.send(command).await
    }

    /// Tells all front ends that an editor has joined or left.
    pub fn publish_editors(&self, editors: Editors) {
        self.0.feed.push(Change::Editors(editors));
    }

    /// Lets agents below this process find the companion until it ends.
    pub async fn add_host_process(&self, pid: u32) -> Result<(), FrontError> {
        self.ask_service(|done| ServiceCommand::AddHostProcess(pid, done))
            .await
    }

    /// The environment variables for an agent. They contain a token.
    pub async fn environment(&self) -> Result<BTreeMap<String, String>, FrontError> {
        self.ask_service(ServiceCommand::Environment).await
    }

    /// What only the program knows about the companion.
    pub(crate) async fn facts(&self) -> Result<ServiceFacts, FrontError> {
        self.ask_service(ServiceCommand::Facts).await
    }

    async fn send(&self, command: ServiceCommand) -> Result<(), FrontError> {
        let sent = self.0.service.send(command).await;
        sent.map_err(|_| FrontError::Gone)
    }

    async fn ask_service<T>(
        &self,
        command: impl FnOnce(oneshot::Sender<T>) -> ServiceCommand,
    ) -> Result<T, FrontError> {
        let (answer, answered) = oneshot::channel();
        self.send(command(answer)).await?;
        answered.await.map_err(|_| FrontError::Gone)
    }
}
