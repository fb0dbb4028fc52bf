//! What goes wrong with a daemon, in our own words.

use daemon::client::WholeFileError;
use daemon::connection::{CallError, ConnectError, SetupError};
use daemon::managed::StartError;
use daemon::{DaemonError, ErrorReason};

use crate::trouble::{Trouble, TroubleKind};

/// The daemon does not know a session.
pub(super) fn no_session() -> Trouble {
    SetupError::NoSuchSession.into()
}

/// A file cannot go with a prompt.
pub(super) fn not_attached(why: impl Into<String>) -> Trouble {
    Trouble::new(TroubleKind::NotAttached, why)
}

impl From<ConnectError> for Trouble {
    fn from(error: ConnectError) -> Trouble {
        match error {
            ConnectError::Setup(setup) => setup.into(),
            ConnectError::Daemon(error) => error.into(),
            ConnectError::NoPreviousConnection => Trouble::new(
                TroubleKind::NoEarlier,
                "there is no earlier conversation to go back to",
            ),
            ConnectError::ShuttingDown => companion::desk::Gone.into(),
        }
    }
}

impl From<SetupError> for Trouble {
    fn from(setup: SetupError) -> Trouble {
        let hint = setup.hint();
        match setup {
            SetupError::NoDaemon(_) => Trouble::new(TroubleKind::NoDaemon, "no daemon is running")
                .hint("run `qwen serve` in this folder, or start one from here"),
            SetupError::ForeignServer(_) => Trouble::new(
                TroubleKind::NotADaemon,
                "another user's program listens where the daemon should be; nothing was sent to it",
            )
            .hint(hint),
            SetupError::NotADaemon(_) => Trouble::new(
                TroubleKind::NotADaemon,
                "what answers there is not a daemon",
            )
            .hint(hint),
            SetupError::WrongFolder { wanted, folders } => {
                let why = format!(
                    "the daemon works in {}, not in {wanted}",
                    folders.join(", ")
                );
                Trouble::new(TroubleKind::WrongFolder, why).hint(hint)
            }
            SetupError::Unauthorized => Trouble::new(
                TroubleKind::Unauthorized,
                "the daemon does not accept our token",
            )
            .hint(
                "set `QWEN_SERVER_TOKEN`, or `token-file` below `[daemon]` in the configuration \
                     file, to the token that it was started with, and start Outrigger again",
            ),
            SetupError::NoModelProvider => {
                Trouble::new(TroubleKind::NoModel, "the daemon has no model provider").hint(hint)
            }
            SetupError::Untrusted => Trouble::new(
                TroubleKind::Untrusted,
                "the folder is not trusted on the daemon's machine",
            )
            .hint(hint),
            SetupError::WrongAddress => Trouble::new(
                TroubleKind::WrongAddress,
                "the daemon does not accept the address that it is called by",
            )
            .hint(hint),
            SetupError::UnsupportedProtocol(_) | SetupError::MissingFeatures(_) => Trouble::new(
                TroubleKind::OtherProtocol,
                "the daemon speaks another version of the protocol",
            )
            .hint(hint),
            SetupError::NoSuchSession => Trouble::new(
                TroubleKind::NoSession,
                "the daemon does not know this conversation",
            )
            .hint(hint),
        }
    }
}

impl From<DaemonError> for Trouble {
    fn from(error: DaemonError) -> Trouble {
        let (kind, why) = match error.reason() {
            Some(ErrorReason::QueueFull) => {
                (TroubleKind::Busy, "too many prompts are waiting already")
            }
            Some(
                ErrorReason::RateLimited | ErrorReason::SessionLimit | ErrorReason::SubscriberLimit,
            ) => (TroubleKind::Busy, "the daemon is too busy"),
            Some(ErrorReason::Unavailable) => {
                (TroubleKind::Busy, "the daemon did not get ready in time")
            }
            Some(ErrorReason::TooLarge) => {
                (TroubleKind::TooLarge, "this is too much for the daemon")
            }
            Some(ErrorReason::SessionNotFound | ErrorReason::Gone) => (
                TroubleKind::NoSession,
                "the daemon does not know this conversation",
            ),
            Some(ErrorReason::NoModelProvider) => {
                (TroubleKind::NoModel, "the daemon has no model provider")
            }
            Some(ErrorReason::Unauthorized | ErrorReason::Forbidden) => {
                (TroubleKind::Unauthorized, "the daemon does not let us in")
            }
            Some(_) => (TroubleKind::Refused, "the daemon did not do it"),
            None => (TroubleKind::Unreachable, "the daemon did not answer"),
        };
        let hint = error.reason().and_then(ErrorReason::hint);
        Trouble {
            hint: hint.map(str::to_owned),
            ..Trouble::new(kind, why)
        }
    }
}

impl From<WholeFileError> for Trouble {
    fn from(error: WholeFileError) -> Trouble {
        match error {
            WholeFileError::Daemon(error) => error.into(),
            error => not_attached(error.to_string()),
        }
    }
}

impl From<CallError> for Trouble {
    fn from(error: CallError) -> Trouble {
        match error {
            CallError::NotConnected => {
                Trouble::new(TroubleKind::NotConnected, "there is no connection")
                    .hint("connect first")
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
        Trouble::new(TroubleKind::NotStarted, why).hint(hint)
    }
}
