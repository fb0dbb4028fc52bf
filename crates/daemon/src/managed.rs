//! Starts, watches and ends a daemon as a child process.
//!
//! The daemon gets its token in its environment, never as an argument, because every user of the
//! machine can read the arguments of a process. It chooses its own port, and prints its address.
//!
//! ```no_run
//! use outrigger_daemon::managed::{LaunchOptions, ManagedDaemon};
//!
//! # async fn own() -> Result<(), Box<dyn std::error::Error>> {
//! let daemon = ManagedDaemon::start(LaunchOptions::new("/home/me/project")).await?;
//! println!("{}", daemon.client().health().await?.status);
//! daemon.stop().await;
//! # Ok(())
//! # }
//! ```

mod process;

use std::ffi::OsString;
use std::fmt::{self, Write as _};
use std::io;
use std::path::PathBuf;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use tokio::process::Command;
use tokio::sync::{mpsc, oneshot, watch};
use tokio::task::JoinHandle;

use crate::address::Address;
use crate::client::DaemonClient;
use crate::token::Token;
use process::{LastOutput, Process, drain};

/// How to start a daemon. `Debug` shows no arguments, and of the environment only names: keys
/// are in them.
#[derive(Clone)]
pub struct LaunchOptions {
    /// The program, which is run with `serve`.
    pub program: PathBuf,
    /// The folder that it serves, and its working directory.
    pub workspace: PathBuf,
    /// The token that it requires; a new random one if `None`.
    pub token: Option<Token>,
    /// Further arguments.
    pub arguments: Vec<OsString>,
    /// Further environment variables.
    pub environment: Vec<(OsString, OsString)>,
    /// Whether it gets only those variables, and none of this process.
    pub clean_environment: bool,
    /// How long it may take until it listens.
    pub start_timeout: Duration,
    /// How long it may take to end after SIGTERM before it is killed.
    pub grace: Duration,
}

impl fmt::Debug for LaunchOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = self.environment.iter().map(|(name, _)| name);
        f.debug_struct("LaunchOptions")
            .field("program", &self.program)
            .field("workspace", &self.workspace)
            .field("environment", &names.collect::<Vec<_>>())
            .field("clean_environment", &self.clean_environment)
            .field("start_timeout", &self.start_timeout)
            .field("grace", &self.grace)
            .finish_non_exhaustive()
    }
}

impl LaunchOptions {
    /// The `qwen` in the search path, with default limits.
    pub fn new(workspace: impl Into<PathBuf>) -> Self {
        Self {
            program: "qwen".into(),
            workspace: workspace.into(),
            token: None,
            arguments: Vec::new(),
            environment: Vec::new(),
            clean_environment: false,
            start_timeout: Duration::from_mins(1),
            grace: Duration::from_secs(5),
        }
    }
}

/// Why a daemon could not be started.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The program could not be run.
    #[error("cannot run {}: {why}", .program.display())]
    Program {
        /// The program that could not be run.
        program: PathBuf,
        /// The error of the system.
        why: io::Error,
    },
    /// No random token could be made.
    #[error("cannot make a token: {0}")]
    Token(String),
    /// The process ended, or closed its output, before it listened.
    #[error("the daemon ended before it listened: {last_output}")]
    Ended {
        /// The last lines it printed, without the token.
        last_output: String,
    },
    /// It did not listen within [`LaunchOptions::start_timeout`], and was ended.
    #[error("the daemon did not begin to listen in time: {last_output}")]
    Slow {
        /// The last lines it printed, without the token.
        last_output: String,
    },
}

/// How a daemon ended.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct DaemonExit {
    /// The exit status, if the system knows it.
    pub status: Option<ExitStatus>,
    /// Whether [`ManagedDaemon::stop`] ended it.
    pub requested: bool,
    /// The last lines it printed, without the token.
    pub last_output: String,
}

/// A daemon that was started here. Dropping this ends it, with all processes that it started. On
/// Linux it also ends when this process is killed.
#[derive(Debug)]
pub struct ManagedDaemon {
    address: Address,
    token: Token,
    pid: Option<u32>,
    stop: mpsc::Sender<()>,
    exit: watch::Receiver<Option<DaemonExit>>,
    watcher: JoinHandle<()>,
}

impl ManagedDaemon {
    /// Starts a daemon and waits until it listens.
    pub async fn start(launch: LaunchOptions) -> Result<ManagedDaemon, StartError> {
        let token = match &launch.token {
            Some(token) => token.clone(),
            None => random_token()?,
        };
        let mut command = Command::new(&launch.program);
        command
            .arg("serve")
            .args([
                "--port",
                "0",
                "--hostname",
                "127.0.0.1",
                "--no-web",
                "--workspace",
            ])
            .arg(&launch.workspace)
            .args(&launch.arguments)
            .current_dir(&launch.workspace)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        if launch.clean_environment {
            command.env_clear();
        }
        command.envs(launch.environment.iter().map(|(name, value)| (name, value)));
        command.env("QWEN_SERVER_TOKEN", token.expose());
        let started = Process::start(command).await;
        let mut process = started.map_err(|why| StartError::Program {
            program: launch.program.clone(),
            why,
        })?;
        let output = LastOutput::new(token.clone());
        let (found, port) = oneshot::channel();
        let (stdout, stderr) = process.pipes();
        let mut drains = Vec::new();
        if let Some(stdout) = stdout {
            drains.push(tokio::spawn(drain(stdout, output.clone(), Some(found))));
        }
        if let Some(stderr) = stderr {
            drains.push(tokio::spawn(drain(stderr, output.clone(), None)));
        }
        let Ok(listening) = tokio::time::timeout(launch.start_timeout, port).await else {
            process.end(launch.grace).await;
            let last_output = output.text();
            return Err(StartError::Slow { last_output });
        };
        let Ok(address) = listening else {
            process.end(launch.grace).await;
            for drained in drains {
                let _ = drained.await;
            }
            let last_output = output.text();
            return Err(StartError::Ended { last_output });
        };
        let pid = process.id();
        let (stop, stopped) = mpsc::channel(1);
        let (exit_sender, exit) = watch::channel(None);
        let watcher = tokio::spawn(watch_process(
            process,
            stopped,
            exit_sender,
            output,
            launch.grace,
        ));
        Ok(ManagedDaemon {
            address,
            token,
            pid,
            stop,
            exit,
            watcher,
        })
    }

    /// The address that it listens on.
    pub fn address(&self) -> &Address {
        &self.address
    }

    /// The token that it requires.
    pub fn token(&self) -> &Token {
        &self.token
    }

    /// The process id.
    pub fn pid(&self) -> Option<u32> {
        self.pid
    }

    /// A client with its address and token.
    pub fn client(&self) -> DaemonClient {
        DaemonClient::new(self.address.clone(), Some(self.token.clone()))
    }

    /// Waits until the process has ended.
    pub async fn exited(&self) -> DaemonExit {
        let mut exit = self.exit.clone();
        let told = exit.wait_for(Option::is_some).await;
        told.ok()
            .and_then(|it| it.clone())
            .unwrap_or_else(|| DaemonExit {
                status: None,
                requested: false,
                last_output: "nobody watched it".into(),
            })
    }

    /// Sends SIGTERM, kills the process if it does not end in time, and waits until it has ended.
    pub async fn stop(self) -> DaemonExit {
        // A full channel means that it was asked already.
        let _ = self.stop.try_send(());
        self.exited().await
    }
}

impl Drop for ManagedDaemon {
    fn drop(&mut self) {
        // The task owns the process, and dropping the process kills its group.
        self.watcher.abort();
    }
}

/// Waits for the end of a daemon, or ends it on request.
async fn watch_process(
    mut process: Process,
    mut stopped: mpsc::Receiver<()>,
    exit_sender: watch::Sender<Option<DaemonExit>>,
    output: LastOutput,
    grace: Duration,
) {
    let (status, requested) = tokio::select! {
        status = process.wait() => (status, false),
        Some(()) = stopped.recv() => (process.end(grace).await, true),
    };
    let last_output = output.text();
    exit_sender.send_replace(Some(DaemonExit {
        status,
        requested,
        last_output,
    }));
}

fn random_token() -> Result<Token, StartError> {
    let mut bytes = [0; 32];
    getrandom::fill(&mut bytes).map_err(|error| StartError::Token(error.to_string()))?;
    let mut text = String::with_capacity(2 * bytes.len());
    for byte in bytes {
        // Writing to a `String` cannot fail.
        let _ = write!(text, "{byte:02x}");
    }
    Token::new(&text).map_err(|error| StartError::Token(error.to_string()))
}

#[cfg(test)]
#[cfg(unix)]
mod tests;
