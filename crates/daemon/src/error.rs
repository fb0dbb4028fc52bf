//! Errors of requests to a daemon.
//!
//! The variants differ in what may be done next. Nothing was sent ([`DaemonError::Unreachable`],
//! [`DaemonError::Foreign`]): the request may be repeated. It was sent and no response came ([`DaemonError::Timeout`],
//! [`DaemonError::ConnectionLost`]): the daemon may have acted on it. The daemon rejected it
//! ([`DaemonError::Refused`]): the reason tells.

mod response;

use std::fmt;
use std::io;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::address::Address;

pub use response::{ErrorReason, ErrorResponse};

/// Why a request has no result.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DaemonError {
    /// No connection could be made. Nothing was sent.
    #[error("no daemon answers at {address}: {why}")]
    Unreachable {
        /// The address that was tried.
        address: Address,
        /// The error of the system.
        why: io::Error,
    },
    /// Another user of the machine listens there. Nothing was sent.
    #[error("another user's program listens at {address}; nothing was sent to it")]
    Foreign {
        /// The address that was tried.
        address: Address,
    },
    /// The request was sent, and no complete response came in time.
    #[error("the daemon at {address} has not answered within {} s", .timeout.as_secs())]
    Timeout {
        /// The daemon's address.
        address: Address,
        /// The time limit.
        timeout: Duration,
    },
    /// The request was sent, and the connection broke before the response was complete.
    #[error("the connection to the daemon at {address} broke: {why}")]
    ConnectionLost {
        /// The daemon's address.
        address: Address,
        /// The error with all its sources.
        why: String,
    },
    /// The daemon answered with an error status.
    #[error("{0}")]
    Refused(Box<ErrorResponse>),
    /// The response is not one of a daemon: another program may listen there.
    #[error("{address} does not answer like a daemon: {why}")]
    InvalidResponse {
        /// The address that was tried.
        address: Address,
        /// What is wrong with the response.
        why: String,
    },
    /// The answer is about another path than the one that was asked for, or about one outside of the
    /// folder that was asked for. It was thrown away.
    #[error("the daemon at {address} answers about another path than {asked}")]
    ForeignPath {
        /// The daemon's address.
        address: Address,
        /// The path or the folder that was asked for.
        asked: String,
        /// The path that it answered about. What a link points to is such a path, too.
        answered: String,
    },
    /// The session had ended before the request was made. Nothing was sent.
    #[error("the session is over")]
    SessionEnded,
}

impl DaemonError {
    /// The error response, for [`DaemonError::Refused`].
    pub fn response(&self) -> Option<&ErrorResponse> {
        match self {
            Self::Refused(response) => Some(response),
            _ => None,
        }
    }

    /// What the error response means, for [`DaemonError::Refused`].
    pub fn reason(&self) -> Option<ErrorReason> {
        self.response().map(ErrorResponse::reason)
    }

    /// Whether the daemon cannot have acted on the request, so that it may be repeated.
    pub fn nothing_was_sent(&self) -> bool {
        matches!(
            self,
            Self::Unreachable { .. } | Self::Foreign { .. } | Self::SessionEnded
        )
    }

    /// What the user can do about it.
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            Self::Unreachable { .. } => Some(
                "start it with `qwen serve` in the project's folder, or check the address: a \
                      daemon that finds its port taken moves to the next one",
            ),
            Self::Foreign { .. } => Some(
                "it would get your token and your prompts: start your own daemon with `qwen serve \
                 --port` and give its address; to use one that runs as another user, forward a port \
                 of your own to it (`ssh -L`)",
            ),
            Self::Timeout { .. } => Some("it may be starting or overloaded; try again"),
            Self::ConnectionLost { .. } => {
                Some("it may have ended; look whether it is still running")
            }
            Self::InvalidResponse { .. } => Some("another program may be listening on this port"),
            Self::ForeignPath { .. } => Some(
                "if it is a link, ask for what it points to; otherwise do not trust this daemon",
            ),
            Self::Refused(response) => response.reason().hint(),
            Self::SessionEnded => Some("connect again"),
        }
    }
}

/// The code in an error. The daemon's own codes are words, those of the agent are numbers.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(untagged)]
pub enum ErrorCode {
    /// A code of the agent's JSON-RPC.
    Number(i64),
    /// A code of the daemon, for example `session_not_found`.
    Name(String),
}

impl ErrorCode {
    /// Whether it is the word `name`.
    pub fn is(&self, name: &str) -> bool {
        matches!(self, Self::Name(it) if it == name)
    }

    /// The number, also if it was sent as a string.
    pub fn number(&self) -> Option<i64> {
        match self {
            Self::Number(number) => Some(*number),
            Self::Name(name) => name.parse().ok(),
        }
    }
}

impl fmt::Display for ErrorCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(number) => number.fmt(f),
            Self::Name(name) => f.write_str(name),
        }
    }
}
