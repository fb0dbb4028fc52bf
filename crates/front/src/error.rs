//! Why a command was not carried out.

use std::path::PathBuf;

use companion::desk::Gone;
use conversation::Trouble;
use workbench::Refusal;

/// Why a command was not carried out, for the person who gave it.
#[derive(Debug, thiserror::Error)]
pub enum FrontError {
    /// The decision cannot be carried out. The proposal is as open as before.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// A path that is relative to nothing that we know.
    #[error("{} is not an absolute path", .0.display())]
    RelativePath(PathBuf),
    /// There is no such file.
    #[error("cannot find {}: {why}", path.display())]
    NoSuchFile {
        /// The path as it was given.
        path: PathBuf,
        /// What the system says.
        why: std::io::Error,
    },
    /// Something else than a file.
    #[error("{} is not a file", .0.display())]
    NotAFile(PathBuf),
    /// The conversation could not do it.
    #[error(transparent)]
    Conversation(#[from] Trouble),
    /// Conversations are switched off. How to switch them on depends on where one asks.
    #[error("conversations with a daemon are switched off")]
    NoConversation,
    /// The companion is about to end.
    #[error("the companion is shutting down")]
    Gone,
}

impl From<Gone> for FrontError {
    fn from(Gone: Gone) -> FrontError {
        FrontError::Gone
    }
}
