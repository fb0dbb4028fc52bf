//! Regular files of anybody's, whose name or content somebody else may have chosen.
//!
//! A workspace can be hostile, and an agent names any path. Where a text is expected there may be a
//! pipe without a writer, a device, a file that grows while it is read, or one of `/proc`, which says
//! that it is empty and never ends. So a file is looked at before it is opened, because opening a
//! device can have effects; it is opened without waiting; it is looked at once more when it is open,
//! because it may be another one by then; and never more is read than the caller has room for.
//!
//! Links are followed. Files of ours that nobody else may replace are read with
//! [`read`](crate::read) instead.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::Path;

use crate::{Stamp, platform};

/// An open file that is a regular one.
#[derive(Debug)]
pub struct RegularFile {
    file: File,
    metadata: fs::Metadata,
}

/// Why a file is not read.
#[derive(Debug, thiserror::Error)]
pub enum Unreadable {
    /// A folder, a device, a pipe.
    #[error("it is not a regular file")]
    Special,
    /// It has more than may be read.
    #[error("it is larger than {}", size(*.limit))]
    Large {
        /// What may be read, in bytes.
        limit: u64,
    },
    /// The operating system refused.
    #[error(transparent)]
    Io(#[from] io::Error),
}

impl Unreadable {
    /// Whether there is no such file, or only a link to none.
    pub fn is_absent(&self) -> bool {
        matches!(self, Unreadable::Io(error) if error.kind() == io::ErrorKind::NotFound)
    }
}

/// Reads the file at `path`, which may have `limit` bytes at most.
pub fn read_regular(path: &Path, limit: u64) -> Result<Vec<u8>, Unreadable> {
    RegularFile::open(path)?.read(limit)
}

impl RegularFile {
    /// Opens the file at `path`, if it is a regular one. Never waits for a writer.
    pub fn open(path: &Path) -> Result<RegularFile, Unreadable> {
        if !fs::metadata(path)?.is_file() {
            return Err(Unreadable::Special);
        }
        let file = platform::open_without_waiting(path)?;
        let metadata = file.metadata()?;
        if !metadata.is_file() {
            return Err(Unreadable::Special);
        }
        Ok(RegularFile { file, metadata })
    }

    /// What the file system says that it has, in bytes. It may have more.
    pub fn length(&self) -> u64 {
        self.metadata.len()
    }

    /// Which file it is, and in which state it was when it was opened.
    pub fn stamp(&self) -> Stamp {
        Stamp::of(&self.metadata)
    }

    /// Everything that is in it. It is an error if that is more than `limit` bytes, of which no more
    /// than one too many are read.
    pub fn read(self, limit: u64) -> Result<Vec<u8>, Unreadable> {
        if self.metadata.len() > limit {
            return Err(Unreadable::Large { limit });
        }
        let mut bytes = Vec::new();
        self.file
            .take(limit.saturating_add(1))
            .read_to_end(&mut bytes)?;
        if bytes.len() as u64 > limit {
            return Err(Unreadable::Large { limit });
        }
        Ok(bytes)
    }
}

/// A size as people write it: whole units where it is a number of them.
fn size(bytes: u64) -> String {
    const KIB: u64 = 1024;
    const MIB: u64 = 1024 * KIB;
    match bytes {
        MIB.. if bytes.is_multiple_of(MIB) => format!("{} MiB", bytes / MIB),
        KIB.. if bytes.is_multiple_of(KIB) => format!("{} KiB", bytes / KIB),
        _ => format!("{bytes} bytes"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_read_up_to_the_limit() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("f");
        fs::write(&path, "1234").unwrap();
        assert_eq!(read_regular(&path, 4).unwrap(), b"1234");
        let refused = read_regular(&path, 3).unwrap_err();
        assert!(matches!(refused, Unreadable::Large { limit: 3 }));
        assert!(read_regular(&folder.path().join("g"), 3).is_err_and(|it| it.is_absent()));
    }

    #[test]
    fn what_grows_after_it_was_opened_is_read_no_further() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("f");
        fs::write(&path, "1234").unwrap();
        let file = RegularFile::open(&path).unwrap();
        fs::write(&path, "123456").unwrap();
        assert_eq!(file.length(), 4);
        assert!(matches!(file.read(4), Err(Unreadable::Large { limit: 4 })));
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn nothing_special_is_waited_for_or_read_without_end() {
        let folder = tempfile::tempdir().unwrap();
        let pipe = folder.path().join("pipe");
        let made = std::process::Command::new("mkfifo").arg(&pipe).status();
        assert!(made.unwrap().success());
        for path in [&pipe, folder.path(), Path::new("/dev/zero")] {
            let refused = read_regular(path, 10).unwrap_err();
            assert!(matches!(refused, Unreadable::Special), "{path:?}");
        }
        // It claims to be an empty regular file, and says something about all of our memory.
        let more_than_it_says = Path::new("/proc/self/smaps");
        let refused = read_regular(more_than_it_says, 100).unwrap_err();
        assert!(matches!(refused, Unreadable::Large { .. }), "{refused}");
    }

    #[test]
    fn sizes_are_said_in_whole_units() {
        for (bytes, said) in [(10, "10 bytes"), (4 << 10, "4 KiB"), (1 << 20, "1 MiB")] {
            assert_eq!(size(bytes), said);
        }
        assert_eq!(size((1 << 20) + 1), "1048577 bytes");
    }
}
