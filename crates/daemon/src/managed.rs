//! A daemon of one's own: started, watched and ended from here.
//!
//! The token goes to it in its environment, never as an argument, because everybody on the machine
//! can read the arguments of a process. The port is its own choice; it prints where it listens.
//!
//! ```no_run
//! use daemon::managed::{Launch, ManagedDaemon};
//!
//! # async fn own() -> Result<(), Box<dyn std::error::Error>> {
//! let daemon = ManagedDaemon::start(Launch::new("/home/me/project")).await?;
//! println!("{}", daemon.client().health().await?.status);
//! daemon.stop().await;
//! # Ok(())
//! # }
//! ```

mod process;

use std::ffi::OsString;
use std::fmt::Write as _;
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
use process::{LastWords, Process, drain};

/// How to start a daemon.
#[derive(Clone, Debug)]
pub struct Launch {
    /// The program.
    pub program: PathBuf,
    /// The folder it works in.
    pub workspace: PathBuf,
    /// The secret it shall ask for; a new one if `None`.
    pub token: Option<Token>,
    /// More arguments.
    pub arguments: Vec<OsString>,
    /// More variables for its environment.
    pub environment: Vec<(OsString, OsString)>,
    /// Whether it gets only those variables, and none of ours.
    pub clean_environment: bool,
    /// How long it has to begin to listen.
    pub patience: Duration,
    /// How long it has to end by itself before it is made to.
    pub grace: Duration,
}

impl Launch {
    /// The `qwen` of the search path, in this folder.
    pub fn new(workspace: impl Into<PathBuf>) -> Self {
        Self {
            program: "qwen".into(),
            workspace: workspace.into(),
            token: None,
            arguments: Vec::new(),
            environment: Vec::new(),
            clean_environment: false,
            patience: Duration::from_mins(1),
            grace: Duration::from_secs(5),
        }
    }
}

/// Why there is no daemon.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The program could not be run.
    #[error("cannot run {}: {why}", .program.display())]
    Program {
        /// Which.
        program: PathBuf,
        /// What the system said.
        why: io::Error,
    },
    /// The system has no randomness for a token.
    #[error("cannot make a token: {0}")]
    Token(String),
    /// It ended, or its output did, before it listened.
    #[error("the daemon ended before it listened: {last_words}")]
    Ended {
        /// What it printed last.
        last_words: String,
    },
    /// It does not listen.
    #[error("the daemon did not begin to listen in time: {last_words}")]
    Slow {
        /// What it printed last.
        last_words: String,
    },
}

/// How a daemon ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Death {
    /// Its exit status, if the system knows it.
    pub status: Option<ExitStatus>,
    /// Whether we asked it to end.
    pub asked_for: bool,
    /// What it printed last.
    pub last_words: String,
}

/// A daemon that was started here. It ends when this is dropped, with everything that it started; on
/// Linux also when this process is killed.
#[derive(Debug)]
pub struct ManagedDaemon {
    address: Address,
    token: Token,
    pid: Option<u32>,
    stop: mpsc::Sender<()>,
    death: watch::Receiver<Option<Death>>,
    keeper: JoinHandle<()>,
}

impl ManagedDaemon {
    /// Starts a daemon, and waits until it listens.
    pub async fn start(launch: Launch) -> Result<ManagedDaemon, StartError> {
        let token = match &launch.token {
            Some(token) => token.clone(),
            None => fresh_token()?,
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
        let words = LastWords::new(token.clone());
        let (found, port) = oneshot::channel();
        let (stdout, stderr) = process.pipes();
        let mut drains = Vec::new();
        if let Some(stdout) = stdout {
            drains.push(tokio::spawn(drain(stdout, words.clone(), Some(found))));
        }
        if let Some(stderr) = stderr {
            drains.push(tokio::spawn(drain(stderr, words.clone(), None)));
        }
        let Ok(listening) = tokio::time::timeout(launch.patience, port).await else {
            process.end(launch.grace).await;
            let last_words = words.text();
            return Err(StartError::Slow { last_words });
        };
        let Ok(address) = listening else {
            process.end(launch.grace).await;
            for drained in drains {
                let _ = drained.await;
            }
            let last_words = words.text();
            return Err(StartError::Ended { last_words });
        };
        let pid = process.id();
        let (stop, stopped) = mpsc::channel(1);
        let (tell, death) = watch::channel(None);
        let keeper = tokio::spawn(keep(process, stopped, tell, words, launch.grace));
        Ok(ManagedDaemon {
            address,
            token,
            pid,
            stop,
            death,
            keeper,
        })
    }

    /// Where it listens.
    pub fn address(&self) -> &Address {
        &self.address
    }

    /// The secret it asks for.
    pub fn token(&self) -> &Token {
        &self.token
    }

    /// Its process.
    pub fn pid(&self) -> Option<u32> {
        self.pid
    }

    /// A client for it.
    pub fn client(&self) -> DaemonClient {
        DaemonClient::new(self.address.clone(), Some(self.token.clone()))
    }

    /// Waits until it is dead, and tells how it died.
    pub async fn died(&self) -> Death {
        let mut death = self.death.clone();
        let told = death.wait_for(Option::is_some).await;
        told.ok()
            .and_then(|it| it.clone())
            .unwrap_or_else(|| Death {
                status: None,
                asked_for: false,
                last_words: "nobody watched it".into(),
            })
    }

    /// Asks it to end, makes it end if it does not, and waits until it is dead.
    pub async fn stop(self) -> Death {
        // If there is no room, it has been asked already.
        let _ = self.stop.try_send(());
        self.died().await
    }
}

impl Drop for ManagedDaemon {
    fn drop(&mut self) {
        // The keeper owns the process, which ends with everything it started when it is dropped.
        self.keeper.abort();
    }
}

/// Watches a daemon until it is dead.
async fn keep(
    mut process: Process,
    mut stopped: mpsc::Receiver<()>,
    tell: watch::Sender<Option<Death>>,
    words: LastWords,
    grace: Duration,
) {
    let (status, asked_for) = tokio::select! {
        status = process.wait() => (status, false),
        Some(()) = stopped.recv() => (process.end(grace).await, true),
    };
    let last_words = words.text();
    tell.send_replace(Some(Death {
        status,
        asked_for,
        last_words,
    }));
}

fn fresh_token() -> Result<Token, StartError> {
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
