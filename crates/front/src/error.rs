//! Why a command was not carried out.

use std::path::PathBuf;

use companion::desk::Gone;
use companion::journal::JournalTrouble;
use conversation::Trouble;
use workbench::Refusal;

/// Why a command was not carried out, for the person who gave it.
#[derive(Debug, thiserror::Error)]
pub enum FrontError {
    /// The decision cannot be carried out. The proposal stays open.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// A relative path; commands may run in any folder, so there is no base for it.
    #[error("{} is not an absolute path", .0.display())]
    RelativePath(PathBuf),
    /// There is no such file.
    #[error("cannot find {}: {why}", path.display())]
    NoSuchFile {
        /// The path as it was given.
        path: PathBuf,
        /// The error of the operating system.
        why: std::io::Error,
    },
    /// A folder, or something else that is not a file.
    #[error("{} is not a file", .0.display())]
    NotAFile(PathBuf),
    /// The conversation could not carry it out.
    #[error(transparent)]
    Conversation(#[from] Trouble),
    /// There are no conversations.
    #[error(transparent)]
    NoConversation(#[from] NoConversation),
    /// The next run would not know what is pending.
    #[error("a restart now would lose what is pending and what was decided: {0}")]
    Unsaved(#[from] JournalTrouble),
    /// The companion is about to end.
    #[error("the companion is shutting down")]
    Gone,
}

/// Why there are no conversations.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoConversation {
    /// They are switched off. How to switch them on depends on the front end.
    #[error("conversations with a daemon are switched off")]
    Off,
    /// They are switched on, and cannot be held with what is set: what is wrong, where that comes from,
    /// and what to do.
    #[error("there are no conversations with a daemon: {0}")]
    Misconfigured(String),
}

impl From<Gone> for FrontError {
    fn from(Gone: Gone) -> FrontError {
        FrontError::Gone
    }
}
