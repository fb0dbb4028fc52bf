//! Detects that a file was replaced or changed, without reading it.

use std::fs;
use std::path::Path;
use std::time::SystemTime;

use crate::platform;

/// The metadata that changes when a file is replaced or rewritten, or when others may read it.
///
/// Equal stamps mean that the file was not touched since. Different stamps only mean that the
/// content may have changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stamp {
    is_file: bool,
    length: u64,
    modified: Option<SystemTime>,
    /// When it or its mode was changed, where the system tells.
    changed: Option<(i64, i64)>,
    /// The device and the inode on Unix, which every atomic replacement changes; nothing on
    /// Windows.
    identity: (u64, u64),
}

/// The stamp of the file at `path`; `None` when there is no file, when its metadata cannot be
/// read, and for a symlink or a folder.
pub fn stamp(path: &Path) -> Option<Stamp> {
    Stamp::of_file(&fs::symlink_metadata(path).ok()?)
}

/// The same, but of the file that a symlink leads to.
pub fn stamp_of_target(path: &Path) -> Option<Stamp> {
    Stamp::of_file(&fs::metadata(path).ok()?)
}

impl Stamp {
    /// The stamp of whatever this is the metadata of, also of a folder.
    pub fn of(metadata: &fs::Metadata) -> Stamp {
        Stamp {
            is_file: metadata.is_file(),
            length: metadata.len(),
            modified: metadata.modified().ok(),
            changed: platform::changed(metadata),
            identity: platform::identity(metadata),
        }
    }

    fn of_file(metadata: &fs::Metadata) -> Option<Stamp> {
        metadata.is_file().then(|| Stamp::of(metadata))
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

    #[cfg(unix)]
    #[test]
    fn a_change_of_the_mode_shows() {
        use std::os::unix::fs::PermissionsExt as _;

        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        fs::write(&path, "a").unwrap();
        let before = stamp(&path);
        fs::set_permissions(&path, fs::Permissions::from_mode(0o200)).unwrap();
        assert_ne!(stamp(&path), before);
    }
}
