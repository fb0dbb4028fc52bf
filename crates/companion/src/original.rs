//! The text that a file has now, to show beside what an agent proposes.
//!
//! The path comes from a peer, so anything may stand there: a device, a pipe without a
//! writer, a file of any size. Nothing here can block on such a thing, and nothing is
//! ever written. A file is opened first, so that whoever reads it can make room for its text.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use private::{RegularFile, Unreadable};
use workbench::{Original, Place};

use crate::place::locate;

/// A file that says that it is smaller is read up to this: some of them, such as those of `/proc`,
/// do not know their size, and most are small.
const LEAST_ROOM: u64 = 64 << 10;

/// Why a file cannot be shown; the agent's terminal can still decide.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unshowable {
    /// A folder, a device, a pipe.
    #[error("{0} is not a regular file")]
    Special(String),
    /// Another encoding, or no text at all.
    #[error("{0} is not UTF-8 text")]
    NotText(String),
    /// More than is read.
    #[error("{path} is larger than {limit} bytes")]
    Large {
        /// The path as the agent sent it.
        path: String,
        /// In bytes.
        limit: u64,
    },
    /// More than there was when it was opened.
    #[error("{0} grew while it was read")]
    Growing(String),
    /// The system does not let us.
    #[error("{path} cannot be read ({why})")]
    Unreadable {
        /// The path as the agent sent it.
        path: String,
        /// What the system said.
        why: ErrorKind,
    },
}

/// The path of the file that an agent named; a relative name is taken from the first root.
pub fn path(named: &str, roots: &[PathBuf]) -> PathBuf {
    match roots.first() {
        Some(root) => root.join(named),
        None => PathBuf::from(named),
    }
}

/// The file that an agent named, open; or none, if there is no such file.
#[derive(Debug)]
pub struct OriginalFile {
    named: String,
    place: Place,
    file: Option<RegularFile>,
    limit: u64,
}

impl OriginalFile {
    /// Opens the file that an agent named. Of one with more than `limit` bytes nothing is read.
    pub fn open(named: &str, roots: &[PathBuf], limit: u64) -> Result<OriginalFile, Unshowable> {
        let shown = || named.to_owned();
        let path = path(named, roots);
        let file = match RegularFile::open(&path) {
            Ok(file) if file.length() > limit => {
                return Err(Unshowable::Large {
                    path: shown(),
                    limit,
                });
            }
            Ok(file) => Some(file),
            Err(Unreadable::Io(error)) if is_absent(error.kind()) => None,
            Err(Unreadable::Io(error)) => {
                return Err(Unshowable::Unreadable {
                    path: shown(),
                    why: error.kind(),
                });
            }
            Err(Unreadable::Special | Unreadable::Large { .. }) => {
                return Err(Unshowable::Special(shown()));
            }
        };
        Ok(OriginalFile {
            named: shown(),
            place: place(&path, roots),
            file,
            limit,
        })
    }

    /// Where it is, to find out whether agents may know it.
    pub fn place(&self) -> &Place {
        &self.place
    }

    /// How many bytes it says that it has; 0 if there is no such file.
    pub fn length(&self) -> u64 {
        self.file.as_ref().map_or(0, RegularFile::length)
    }

    /// How many bytes its text can take. No more of it is read.
    pub fn room(&self) -> u64 {
        let file = self.file.as_ref();
        file.map_or(0, |file| file.length().max(LEAST_ROOM).min(self.limit))
    }

    /// Reads it. If one of `known` is the same text, that one is returned, so that several
    /// proposals for one file have one copy of it.
    pub fn read(self, known: &[Arc<str>]) -> Result<Original, Unshowable> {
        let room = self.room();
        let named = self.named;
        let Some(file) = self.file else {
            return Ok(Original::Absent);
        };
        let bytes = match file.read(room) {
            Ok(bytes) => bytes,
            Err(Unreadable::Io(error)) => {
                return Err(Unshowable::Unreadable {
                    path: named,
                    why: error.kind(),
                });
            }
            Err(Unreadable::Special | Unreadable::Large { .. }) => {
                return Err(Unshowable::Growing(named));
            }
        };
        let Some(text) = String::from_utf8(bytes)
            .ok()
            .filter(|it| !it.contains('\0'))
        else {
            return Err(Unshowable::NotText(named));
        };
        let same = known.iter().find(|known| ***known == *text).cloned();
        Ok(Original::Text(same.unwrap_or_else(|| text.into())))
    }
}

/// Where a file is that may not exist yet: then its folder decides.
fn place(path: &Path, roots: &[PathBuf]) -> Place {
    locate(path, roots).unwrap_or_else(|_| {
        let folder = path.parent().and_then(|it| it.canonicalize().ok());
        let real = folder.zip(path.file_name());
        Place {
            path: path.to_owned(),
            real: real.map_or_else(|| path.to_owned(), |(folder, name)| folder.join(name)),
        }
    })
}

/// A name that no file system can hold (too long, a NUL inside) belongs to no file.
fn is_absent(why: ErrorKind) -> bool {
    matches!(
        why,
        ErrorKind::NotFound
            | ErrorKind::NotADirectory
            | ErrorKind::InvalidFilename
            | ErrorKind::InvalidInput
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(named: &str, roots: &[PathBuf], limit: u64) -> Result<Original, Unshowable> {
        OriginalFile::open(named, roots, limit)?.read(&[])
    }

    fn here(bytes: &[u8]) -> Result<Original, Unshowable> {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("f"), bytes).unwrap();
        read("f", &[folder.path().to_owned()], 100)
    }

    #[test]
    fn text_comes_as_it_is() {
        for text in ["", "a", "\u{feff}a\r\nb\r", "é\n"] {
            assert_eq!(here(text.as_bytes()), Ok(Original::Text(text.into())));
        }
    }

    #[test]
    fn what_is_not_text_or_too_large_cannot_be_shown() {
        for bytes in [&b"\xff\xfe"[..], b"caf\xe9", b"a\0b"] {
            assert_eq!(here(bytes), Err(Unshowable::NotText("f".into())));
        }
        assert!(matches!(here(&[b'x'; 101]), Err(Unshowable::Large { .. })));
    }

    #[test]
    fn no_more_is_read_than_there_is_room_for() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("f");
        let roots = [folder.path().to_owned()];
        std::fs::write(&path, "x".repeat(100_000)).unwrap();
        let file = OriginalFile::open("f", &roots, 200_000).unwrap();
        assert_eq!(file.room(), 100_000);
        std::fs::write(&path, "x".repeat(100_001)).unwrap();
        assert_eq!(file.read(&[]), Err(Unshowable::Growing("f".into())));
        assert_eq!(OriginalFile::open("g", &roots, 1).unwrap().room(), 0);
    }

    #[test]
    fn a_text_that_is_known_is_not_kept_twice() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("f"), "same").unwrap();
        let file = OriginalFile::open("f", &[folder.path().to_owned()], 100).unwrap();
        let known: [Arc<str>; 2] = ["else".into(), "same".into()];
        let Ok(Original::Text(text)) = file.read(&known) else {
            panic!("it has a text");
        };
        assert!(Arc::ptr_eq(&text, &known[1]));
    }

    #[test]
    fn nothing_blocks_and_nothing_special_is_opened() {
        assert_eq!(
            read("/dev/zero", &[], 10),
            Err(Unshowable::Special("/dev/zero".into()))
        );
        assert_eq!(read("/", &[], 10), Err(Unshowable::Special("/".into())));
        for absent in ["/no/such", "", "\0", "/etc/passwd/x", &"x".repeat(5000)] {
            let roots = [PathBuf::from("/no/such/root")];
            assert_eq!(read(absent, &roots, 10), Ok(Original::Absent), "{absent:?}");
        }
    }
}
