//! Files of the daemon's folder, whole, although the daemon gives a part of them at a time.

use super::WorkspaceClient;
use crate::error::DaemonError;
use crate::wire::{ByteRange, FileKind, FileStat, RelativePath};

/// How many bytes are asked for at a time. The published daemon refuses to give more than these.
const PART: u64 = 256 * 1024;

/// Why a file could not be read whole.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WholeFileError {
    /// The daemon did not give it.
    #[error(transparent)]
    Daemon(#[from] DaemonError),
    /// It is a folder, or something else without a content.
    #[error("it is not a file")]
    NotAFile,
    /// It is larger than what is wanted.
    #[error("it is larger than {0} bytes")]
    TooLarge(u64),
    /// It changed while it was read, so that its parts do not belong together.
    #[error("it changed while it was read")]
    Changed,
}

/// A file that is being read, part by part: the daemon refuses to give a large one at once.
#[derive(Debug)]
pub struct WholeFile {
    workspace: WorkspaceClient,
    path: RelativePath,
    /// What it was before the first part was read.
    stat: FileStat,
    /// Where the next part begins.
    offset: u64,
    is_over: bool,
}

impl WholeFile {
    /// Looks what is at this path. Nothing of it is read yet.
    pub async fn open(
        workspace: WorkspaceClient,
        path: RelativePath,
    ) -> Result<WholeFile, WholeFileError> {
        let stat = workspace.stat(&path).await?;
        if stat.kind != FileKind::File {
            return Err(WholeFileError::NotAFile);
        }
        Ok(WholeFile {
            workspace,
            path,
            stat,
            offset: 0,
            is_over: false,
        })
    }

    /// The next part; `None` after the last one, and only if the file is still what it was when it was
    /// opened.
    pub async fn next_part(&mut self) -> Result<Option<Vec<u8>>, WholeFileError> {
        if self.is_over {
            return Ok(None);
        }
        let range = ByteRange {
            offset: self.offset,
            max_bytes: Some(PART),
        };
        let part = self.workspace.read_bytes(&self.path, range).await?;
        let length = u64::try_from(part.content.len()).unwrap_or(u64::MAX);
        self.offset = self.offset.saturating_add(length);
        // A daemon that does not tell the size gives less than was asked for only at the end. One that
        // does, and stops before that, has met another file.
        let size = part.size_bytes.or(self.stat.size_bytes);
        self.is_over = size.map_or(length < PART, |size| self.offset >= size);
        if !self.is_over && length < PART {
            return Err(WholeFileError::Changed);
        }
        // The daemon itself sees to it that one part is of one state of the file.
        if self.is_over && self.offset > PART {
            let now = self.workspace.stat(&self.path).await?;
            let state = |stat: &FileStat| (stat.kind.clone(), stat.size_bytes, stat.modified_ms);
            if state(&now) != state(&self.stat) {
                return Err(WholeFileError::Changed);
            }
        }
        Ok(Some(part.content))
    }

    /// All of it, if it is not larger than `limit` bytes.
    pub async fn read(mut self, limit: u64) -> Result<Vec<u8>, WholeFileError> {
        let is_too_large = |size: u64| size > limit;
        if self.stat.size_bytes.is_some_and(is_too_large) {
            return Err(WholeFileError::TooLarge(limit));
        }
        let mut bytes = Vec::new();
        while let Some(part) = self.next_part().await? {
            bytes.extend(part);
            if is_too_large(self.offset) {
                return Err(WholeFileError::TooLarge(limit));
            }
        }
        Ok(bytes)
    }
}
