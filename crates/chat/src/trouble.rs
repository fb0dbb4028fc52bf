//! What goes wrong, in our own words.
//!
//! An error of the daemon crate may name an address, and one of the daemon anything at all. Neither
//! may reach a page, so each kind of trouble has its own sentence here.

use daemon::connection::{CallError, ConnectError, SetupError};
use daemon::managed::StartError;
use daemon::{DaemonError, Reason};

use crate::view::Connection;

/// Why something could not be done, for people.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{why}")]
pub struct Trouble {
    /// Which kind, for programs.
    pub kind: &'static str,
    /// Why.
    pub why: String,
    /// What to do about it.
    pub hint: Option<String>,
}

impl Trouble {
    pub(crate) fn new(kind: &'static str, why: impl Into<String>) -> Trouble {
        Trouble {
            kind,
            why: why.into(),
            hint: None,
        }
    }

    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Trouble {
        self.hint = Some(hint.into());
        self
    }
}

impl From<Trouble> for Connection {
    fn from(trouble: Trouble) -> Connection {
        Connection::Failed {
            trouble: trouble.kind,
            why: trouble.why,
            hint: trouble.hint,
        }
    }
}

impl From<ConnectError> for Trouble {
    fn from(error: ConnectError) -> Trouble {
        match error {
            ConnectError::Setup(setup) => setup.into(),
            ConnectError::Daemon(error) => error.into(),
            ConnectError::NoEarlier => Trouble::new(
                "no_earlier",
                "there is no earlier conversation to go back to",
            ),
            ConnectError::Over => Trouble::new("over", "the companion is shutting down"),
        }
    }
}

impl From<SetupError> for Trouble {
    fn from(setup: SetupError) -> Trouble {
        let hint = setup.hint();
        match setup {
            SetupError::NoDaemon(_) => Trouble::new("no_daemon", "no daemon is running")
                .hint("run `qwen serve` in this folder, or start one from here"),
            SetupError::NotADaemon(_) => {
                Trouble::new("not_a_daemon", "what answers there is not a daemon").hint(hint)
            }
            SetupError::WrongFolder { wanted, folders } => {
                let why = format!(
                    "the daemon works in {}, not in {wanted}",
                    folders.join(", ")
                );
                Trouble::new("wrong_folder", why).hint(hint)
            }
            SetupError::Unauthorized => Trouble::new(
                "unauthorized",
                "the daemon does not accept our token",
            )
            .hint(
                "set `QWEN_SERVER_TOKEN`, or `token-file` below `[daemon]` in the configuration \
                     file, to the token that it was started with, and start Outrigger again",
            ),
            SetupError::NoModelProvider => {
                Trouble::new("no_model", "the daemon has no model provider").hint(hint)
            }
            SetupError::Untrusted => Trouble::new(
                "untrusted",
                "the folder is not trusted on the daemon's machine",
            )
            .hint(hint),
            SetupError::WrongAddress => Trouble::new(
                "wrong_address",
                "the daemon does not accept the address that it is called by",
            )
            .hint(hint),
            SetupError::OtherProtocol(_) | SetupError::Lacking(_) => Trouble::new(
                "other_protocol",
                "the daemon speaks another version of the protocol",
            )
            .hint(hint),
            SetupError::NoSuchSession => {
                Trouble::new("no_session", "the daemon does not know this conversation").hint(hint)
            }
        }
    }
}

impl From<DaemonError> for Trouble {
    fn from(error: DaemonError) -> Trouble {
        let (kind, why) = match error.reason() {
            Some(Reason::QueueFull) => ("busy", "too many prompts are waiting already"),
            Some(Reason::RateLimited | Reason::SessionLimit | Reason::SubscriberLimit) => {
                ("busy", "the daemon is too busy")
            }
            Some(Reason::Unavailable) => ("busy", "the daemon did not get ready in time"),
            Some(Reason::TooLarge) => ("too_large", "this is too much for the daemon"),
            Some(Reason::SessionNotFound | Reason::Gone) => {
                ("no_session", "the daemon does not know this conversation")
            }
            Some(Reason::NoModelProvider) => ("no_model", "the daemon has no model provider"),
            Some(Reason::Unauthorized | Reason::Forbidden) => {
                ("unauthorized", "the daemon does not let us in")
            }
            Some(_) => ("refused", "the daemon did not do it"),
            None => ("unreachable", "the daemon did not answer"),
        };
        let hint = error.reason().and_then(Reason::hint);
        Trouble {
            hint: hint.map(str::to_owned),
            ..Trouble::new(kind, why)
        }
    }
}

impl From<CallError> for Trouble {
    fn from(error: CallError) -> Trouble {
        match error {
            CallError::NotConnected => {
                Trouble::new("not_connected", "there is no connection").hint("connect first")
            }
            CallError::Daemon(error) => error.into(),
        }
    }
}

impl From<StartError> for Trouble {
    fn from(error: StartError) -> Trouble {
        let (why, hint) = match error {
            StartError::Program { .. } => (
                "qwen could not be run",
                "install it with `npm install -g @qwen-code/qwen-code`, or start `qwen serve` yourself",
            ),
            StartError::Token(_) => ("the system gives no random numbers", "try again"),
            StartError::Ended { .. } => (
                "the daemon ended before it listened",
                "run `qwen serve` in this folder to see why",
            ),
            StartError::Slow { .. } => (
                "the daemon did not begin to listen in time",
                "run `qwen serve` in this folder to see why",
            ),
        };
        Trouble::new("not_started", why).hint(hint)
    }
}
