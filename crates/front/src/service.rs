//! What only the program itself can do: its own life, its folders, its discovery files.

use std::collections::BTreeMap;
use std::path::PathBuf;

use tokio::sync::{mpsc, oneshot};

use crate::error::FrontError;
use crate::front::Front;

/// A command to the program that runs a companion.
#[derive(Debug)]
pub enum ServiceCommand {
    /// Come back at once with the same port, tokens, sessions and proposals.
    Restart,
    /// End.
    Stop,
    /// Serve other folders from now on.
    SetFolders(Vec<PathBuf>),
    /// Let agents below this process find us until it ends. Answered when they can.
    AddHostProcess(u32, oneshot::Sender<()>),
    /// The variables that an agent should see.
    Environment(oneshot::Sender<BTreeMap<String, String>>),
    /// What is wrong with the discovery files, in words.
    Problems(oneshot::Sender<Vec<String>>),
}

/// The way to the program.
pub type ServiceCommands = mpsc::Sender<ServiceCommand>;

impl Front {
    /// Makes the companion come back at once. It answers before it acts.
    pub async fn restart(&self) -> Result<(), FrontError> {
        self.send(ServiceCommand::Restart).await
    }

    /// Ends the companion. It answers before it acts.
    pub async fn stop(&self) -> Result<(), FrontError> {
        self.send(ServiceCommand::Stop).await
    }

    /// Serves other folders from now on.
    pub async fn set_folders(&self, folders: Vec<PathBuf>) -> Result<(), FrontError> {
        self.send(ServiceCommand::SetFolders(folders)).await
    }

    /// Lets agents below this process find us until it ends.
    pub async fn add_host_process(&self, pid: u32) -> Result<(), FrontError> {
        self.ask_service(|done| ServiceCommand::AddHostProcess(pid, done))
            .await
    }

    /// The variables that an agent should see. They hold a token.
    pub async fn environment(&self) -> Result<BTreeMap<String, String>, FrontError> {
        self.ask_service(ServiceCommand::Environment).await
    }

    /// What is wrong with the discovery files, in words.
    pub async fn problems(&self) -> Result<Vec<String>, FrontError> {
        self.ask_service(ServiceCommand::Problems).await
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
