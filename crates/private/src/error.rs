//! Why a file or folder cannot be used as a private one.

use std::io;
use std::path::{Path, PathBuf};

/// Why a private file or folder could not be used. Each message says what to do about it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The file or folder belongs to another user, who could read or replace what is in it.
    #[error(
        "{} belongs to another user (uid {owner}); ask them or the administrator to remove it",
        path.display()
    )]
    NotOurs {
        /// The file or folder with another owner.
        path: PathBuf,
        /// The user id of its owner.
        owner: u32,
    },
    /// There is a symlink where a real file or folder is required.
    #[error("{} is a symlink, which is not followed here; remove it", path.display())]
    Symlink {
        /// The symlink.
        path: PathBuf,
    },
    /// There is something else where a folder is required.
    #[error("{} is in the way of a folder of that name; move it elsewhere", path.display())]
    NotAFolder {
        /// What exists instead of the folder.
        path: PathBuf,
    },
    /// There is something else where a regular file is required.
    #[error("{} is not a regular file; move it elsewhere", path.display())]
    NotAFile {
        /// What exists instead of the file.
        path: PathBuf,
    },
    /// The file is larger than anything we would have written.
    #[error("{} is larger than {limit} bytes; remove it", path.display())]
    TooLarge {
        /// The file.
        path: PathBuf,
        /// The largest size that was accepted.
        limit: u64,
    },
    /// A name that would lead out of the folder it was meant for.
    #[error("{name:?} is not the name of a file or folder; use one without a path separator")]
    Name {
        /// The name that was given.
        name: String,
    },
    /// The operating system refused.
    #[error("could not {action} {}: {source}; check its permissions and the free space", path.display())]
    Io {
        /// What was being done, as a verb: "create", "read", …
        action: &'static str,
        /// What it was done to.
        path: PathBuf,
        /// The error of the operating system.
        source: io::Error,
    },
}

impl Error {
    /// Whether the same may go well another time, without anybody doing something about the file.
    pub fn is_transient(&self) -> bool {
        let refused = io::ErrorKind::PermissionDenied;
        matches!(self, Error::Io { source, .. } if source.kind() != refused)
    }

    /// The file or folder that caused the error; `None` for an invalid name.
    pub fn path(&self) -> Option<&Path> {
        match self {
            Error::NotOurs { path, .. }
            | Error::Symlink { path }
            | Error::NotAFolder { path }
            | Error::NotAFile { path }
            | Error::TooLarge { path, .. }
            | Error::Io { path, .. } => Some(path),
            Error::Name { .. } => None,
        }
    }

    /// Wraps an I/O error about `path`.
    pub(crate) fn io(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Error {
        let path = path.to_path_buf();
        move |source| Error::Io {
            action,
            path,
            source,
        }
    }
}
