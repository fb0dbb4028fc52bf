//! Commands that only the program can carry out: restart, stop, folders, discovery files.

use std::collections::BTreeMap;
use std::path::PathBuf;

use tokio::sync::{mpsc, oneshot};

use crate::error::FrontError;
use crate::front::Front;

/// A command to the program that runs the companion.
#[derive(Debug)]
pub enum ServiceCommand {
    /// Restart at once with the same port, tokens, sessions and proposals.
    Restart,
    /// Stop the companion.
    Stop,
    /// Serve other folders from now on.
    SetFolders(Vec<PathBuf>),
    /// Let agents below this process find the companion until it ends. Answered when they can.
    AddHostProcess(u32, oneshot::Sender<()>),
    /// The environment variables for an agent.
    Environment(oneshot::Sender<BTreeMap<String, String>>),
    /// What is wrong with the discovery files, in words.
    Problems(oneshot::Sender<Vec<String>>),
}

/// The channel to the program.
pub type ServiceCommands = mpsc::Sender<ServiceCommand>;

impl Front {
    /// Restarts the companion. Returns before it happens.
    pub async fn restart(&self) -> Result<(), FrontError> {
        self.send(ServiceCommand::Restart).await
    }

    /// Stops the companion. Returns before it happens.
    pub async fn stop(&self) -> Result<(), FrontError> {
        self.send(ServiceCommand::Stop).await
    }

    /// Serves other folders from now on.
    pub async fn set_folders(&self, folders: Vec<PathBuf>) -> Result<(), FrontError> {
        self.send(ServiceCommand::SetFolders(folders)).await
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
