//! Failures as people meet them: what failed, why, and what to do next.

use std::fmt;
use std::process::ExitCode;

use crate::output::{Lines, one_line, print_error};

/// The kinds of failure. Each has an exit code of its own, so that scripts can tell them apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FailureKind {
    /// None of the kinds below.
    Other,
    /// Wrong usage that the argument parser cannot see.
    Usage,
    /// No companion serves the folder.
    NoCompanion,
    /// The companion or the daemon refuses: no such proposal, or it cannot be decided like this.
    Refused,
    /// A companion or a daemon should be there but does not answer.
    Silent,
    /// The configuration is wrong.
    Configuration,
    /// The companion cannot be started, or the folder that a command is about does not exist.
    Start,
}

impl FailureKind {
    /// The exit code. The argument parser has 2 for wrong usage too.
    pub(crate) const fn code(self) -> u8 {
        match self {
            FailureKind::Other => 1,
            FailureKind::Usage => 2,
            FailureKind::NoCompanion => 3,
            FailureKind::Refused => 4,
            FailureKind::Silent => 5,
            FailureKind::Configuration => 6,
            FailureKind::Start => 7,
        }
    }
}

/// How a command ends.
pub(crate) type CommandResult = Result<ExitCode, Failure>;

/// A failure to report. Its texts may hold foreign names and paths: each is kept as one line.
#[derive(Debug)]
pub(crate) struct Failure {
    kind: FailureKind,
    message: String,
    hint: Option<String>,
}

impl Failure {
    pub(crate) fn new(kind: FailureKind, message: impl fmt::Display) -> Failure {
        Failure {
            kind,
            message: one_line(message),
            hint: None,
        }
    }

    /// A failure of no particular kind: what was being done, and why it failed.
    pub(crate) fn other(doing: impl fmt::Display, why: impl fmt::Display) -> Failure {
        Failure::new(FailureKind::Other, format!("{doing}: {why}"))
    }

    /// What the person can do about it.
    pub(crate) fn hint(mut self, hint: impl fmt::Display) -> Failure {
        self.hint = Some(one_line(hint));
        self
    }

    fn lines(&self) -> Lines {
        let mut lines = Lines::new();
        lines.push(format_args!("outrigger: {}", self.message));
        if let Some(hint) = &self.hint {
            lines.push(format_args!("  hint: {hint}"));
        }
        lines
    }

    /// Prints the failure and returns the exit code.
    pub(crate) fn report(&self) -> ExitCode {
        print_error(&self.lines());
        ExitCode::from(self.kind.code())
    }
}

/// The failure in one line, for where there is no room for two.
impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        match &self.hint {
            Some(hint) => write!(f, "; {hint}"),
            None => Ok(()),
        }
    }
}

impl From<web::ClientError> for Failure {
    fn from(error: web::ClientError) -> Failure {
        let message = error.to_string();
        match error {
            web::ClientError::Silent { .. } => Failure::new(FailureKind::Silent, message)
                .hint("see whether it is still running with `outrigger status`, or start it again"),
            web::ClientError::Refused(_) => Failure::new(FailureKind::Refused, message),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_in_a_message_adds_no_line_to_it() {
        let failure = Failure::other("cannot read a\n  hint: rm -rf\u{1b}[2J", "no such file")
            .hint("look for a\nb");
        assert_eq!(
            failure.lines().as_str(),
            "outrigger: cannot read a␊  hint: rm -rf␛[2J: no such file\n  hint: look for a␊b\n"
        );
        assert_eq!(
            failure.to_string(),
            "cannot read a␊  hint: rm -rf␛[2J: no such file; look for a␊b"
        );
    }
}
