//! Failures as people meet them: what failed, why, and what to do next.

use std::fmt;
use std::process::ExitCode;

/// What kind of failure it was; each kind has an exit code of its own, so that scripts can tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Anything that has no kind of its own.
    Other,
    /// No companion serves the folder.
    NoCompanion,
    /// The companion says no: no such proposal, or it cannot be decided like this.
    Refused,
    /// A companion should be there but does not answer.
    Silent,
    /// The configuration is wrong.
    Configuration,
    /// The companion cannot be started.
    Start,
}

impl Kind {
    /// The exit code. 2 is used by the argument parser for wrong usage.
    pub(crate) const fn code(self) -> u8 {
        match self {
            Kind::Other => 1,
            Kind::NoCompanion => 3,
            Kind::Refused => 4,
            Kind::Silent => 5,
            Kind::Configuration => 6,
            Kind::Start => 7,
        }
    }
}

/// A failure to tell a person about.
#[derive(Debug)]
pub(crate) struct Failure {
    kind: Kind,
    message: String,
    hint: Option<String>,
}

impl Failure {
    pub(crate) fn new(kind: Kind, message: impl Into<String>) -> Failure {
        Failure {
            kind,
            message: message.into(),
            hint: None,
        }
    }

    /// Something failed that has no kind of its own.
    pub(crate) fn other(doing: impl fmt::Display, why: impl fmt::Display) -> Failure {
        Failure::new(Kind::Other, format!("{doing}: {why}"))
    }

    /// What the person can do about it.
    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Failure {
        self.hint = Some(hint.into());
        self
    }

    /// Tells the person, and gives the code to leave with.
    pub(crate) fn report(&self) -> ExitCode {
        eprintln!("outrigger: {self}");
        ExitCode::from(self.kind.code())
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        match &self.hint {
            Some(hint) => write!(f, "\n  hint: {hint}"),
            None => Ok(()),
        }
    }
}

impl From<web::ClientError> for Failure {
    fn from(error: web::ClientError) -> Failure {
        let message = error.to_string();
        match error {
            web::ClientError::Silent { .. } => Failure::new(Kind::Silent, message)
                .hint("see whether it is still running with `outrigger status`, or start it again"),
            web::ClientError::Refused(_) => Failure::new(Kind::Refused, message),
        }
    }
}
