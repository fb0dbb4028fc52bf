//! What can go wrong between us and a daemon.
//!
//! The kinds differ in what may be done next. Nothing was sent ([`DaemonError::Unreachable`]): try
//! again. Something was sent and no answer came ([`DaemonError::Silent`], [`DaemonError::Cut`]): the
//! daemon may have acted on it. It said no ([`DaemonError::Refused`]): its reasons tell.

mod refusal;

use std::fmt;
use std::io;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::address::Address;

pub use refusal::{Reason, Refusal};

/// Why a request has no result.
#[derive(Debug, thiserror::Error)]
pub enum DaemonError {
    /// No connection. Nothing was sent.
    #[error("no daemon answers at {address}: {why}")]
    Unreachable {
        /// Where it was sought.
        address: Address,
        /// What the system said.
        why: io::Error,
    },
    /// A request went out, and no complete answer came in time.
    #[error("the daemon at {address} has not answered within {} s", .patience.as_secs())]
    Silent {
        /// Where it is.
        address: Address,
        /// How long it had.
        patience: Duration,
    },
    /// A request went out, and the connection broke before the answer was complete.
    #[error("the connection to the daemon at {address} broke: {why}")]
    Cut {
        /// Where it is.
        address: Address,
        /// What broke.
        why: String,
    },
    /// The daemon said no.
    #[error("{0}")]
    Refused(Box<Refusal>),
    /// Somebody answered, but not as a daemon does.
    #[error("{address} does not answer like a daemon: {why}")]
    Strange {
        /// Who.
        address: Address,
        /// What was wrong.
        why: String,
    },
    /// The session ended before the request was made.
    #[error("the session is over")]
    Over,
}

impl DaemonError {
    /// The refusal, if it is one.
    pub fn refusal(&self) -> Option<&Refusal> {
        match self {
            Self::Refused(refusal) => Some(refusal),
            _ => None,
        }
    }

    /// What the daemon means by its refusal, if it is one.
    pub fn reason(&self) -> Option<Reason> {
        self.refusal().map(Refusal::reason)
    }

    /// Whether nothing can have happened at the daemon.
    pub fn nothing_was_sent(&self) -> bool {
        matches!(self, Self::Unreachable { .. } | Self::Over)
    }

    /// What a person can do about it.
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            Self::Unreachable { .. } => Some(
                "start it with `qwen serve` in the project's folder, or check the address: a \
                      daemon that finds its port taken moves to the next one",
            ),
            Self::Silent { .. } => Some("it may be starting or overloaded; try again"),
            Self::Cut { .. } => Some("it may have ended; look whether it is still running"),
            Self::Strange { .. } => Some("another program may be listening on this port"),
            Self::Refused(refusal) => refusal.reason().hint(),
            Self::Over => Some("connect again"),
        }
    }
}

/// A code in an error: the daemon's own are words, the agent's are numbers.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Code {
    /// A number, from the agent's JSON-RPC.
    Number(i64),
    /// A word.
    Name(String),
}

impl Code {
    /// Whether it is this word.
    pub fn is(&self, name: &str) -> bool {
        matches!(self, Self::Name(it) if it == name)
    }

    /// The number, also when it was written as text.
    pub fn number(&self) -> Option<i64> {
        match self {
            Self::Number(number) => Some(*number),
            Self::Name(name) => name.parse().ok(),
        }
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(number) => number.fmt(f),
            Self::Name(name) => f.write_str(name),
        }
    }
}
