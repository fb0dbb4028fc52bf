//! Detects that a file was replaced or changed, without reading it.

use std::fs;
use std::path::Path;
use std::time::SystemTime;

use crate::platform;

/// The metadata that changes when a file is replaced or rewritten.
///
/// Equal stamps mean that the file was not touched since. Different stamps only mean that the
/// content may have changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stamp {
    length: u64,
    modified: Option<SystemTime>,
    /// The inode on Unix, which every atomic replacement changes; nothing on Windows.
    inode: u64,
}

/// The stamp of the file at `path`; `None` when there is no file, when its metadata cannot be
/// read, and for a symlink or a folder.
pub fn stamp(path: &Path) -> Option<Stamp> {
    Stamp::of(&fs::symlink_metadata(path).ok()?)
}

/// The same, but of the file that a symlink leads to.
pub fn stamp_of_target(path: &Path) -> Option<Stamp> {
    Stamp::of(&fs::metadata(path).ok()?)
}

impl Stamp {
    fn of(metadata: &fs::Metadata) -> Option<Stamp> {
        metadata.is_file().then(|| Stamp {
            length: metadata.len(),
            modified: metadata.modified().ok(),
            inode: platform::inode(metadata),
        })
    }

    /// Whether the file was written at that time or later, or may have been.
    pub fn is_after(&self, time: SystemTime) -> bool {
        self.modified.is_none_or(|modified| modified >= time)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn replacing_a_file_with_the_same_bytes_shows() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        assert_eq!(stamp(&path), None);
        crate::write(folder.path(), "file", b"same").unwrap();
        let before = stamp(&path);
        assert!(before.is_some());
        assert_eq!(stamp(&path), before);
        if cfg!(unix) {
            // The old file is kept by a second name, so that its inode is not used again.
            fs::hard_link(&path, folder.path().join("keep")).unwrap();
            crate::write(folder.path(), "file", b"same").unwrap();
            assert_ne!(stamp(&path), before);
        }
        fs::write(&path, "longer text").unwrap();
        assert_ne!(stamp(&path), before);
        assert_eq!(stamp(folder.path()), None);
    }
}
