//! The text that a file has now, to show beside what an agent proposes.
//!
//! The path comes from a peer, so anything may stand there: a device, a pipe without a
//! writer, a file of any size. Nothing here can block on such a thing, and nothing is
//! ever written.

use std::fs::File;
use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};

use workbench::Original;

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

/// Reads the file that an agent named.
pub fn read(named: &str, roots: &[PathBuf], limit: u64) -> Result<Original, Unshowable> {
    let path = path(named, roots);
    let shown = || named.to_owned();
    let failed = |error: std::io::Error| Unshowable::Unreadable {
        path: shown(),
        why: error.kind(),
    };
    // Looking before opening keeps us from touching devices, whose mere opening can have effects.
    match std::fs::metadata(&path) {
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            return Ok(Original::Absent);
        }
        // A name that no file system can hold (too long, a NUL inside) belongs to no file.
        Err(error)
            if matches!(
                error.kind(),
                ErrorKind::InvalidFilename | ErrorKind::InvalidInput
            ) =>
        {
            return Ok(Original::Absent);
        }
        Err(error) => return Err(failed(error)),
        Ok(facts) if !facts.is_file() => return Err(Unshowable::Special(shown())),
        Ok(facts) if facts.len() > limit => {
            return Err(Unshowable::Large {
                path: shown(),
                limit,
            });
        }
        Ok(_) => {}
    }
    let file = open(&path).map_err(failed)?;
    if !file.metadata().map_err(failed)?.is_file() {
        return Err(Unshowable::Special(shown()));
    }
    let mut bytes = Vec::new();
    file.take(limit + 1)
        .read_to_end(&mut bytes)
        .map_err(failed)?;
    if bytes.len() as u64 > limit {
        return Err(Unshowable::Large {
            path: shown(),
            limit,
        });
    }
    let text = String::from_utf8(bytes).map_err(|_| Unshowable::NotText(shown()))?;
    if text.contains('\0') {
        return Err(Unshowable::NotText(shown()));
    }
    Ok(Original::Text(text))
}

#[cfg(unix)]
fn open(path: &Path) -> std::io::Result<File> {
    use std::os::unix::fs::OpenOptionsExt;

    // The file may have become a pipe since it was looked at; opening must not wait for a writer.
    const O_NONBLOCK: i32 = if cfg!(target_os = "linux") {
        0o4000
    } else {
        0x4
    };
    File::options()
        .read(true)
        .custom_flags(O_NONBLOCK)
        .open(path)
}

#[cfg(not(unix))]
fn open(path: &Path) -> std::io::Result<File> {
    File::open(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn here(bytes: &[u8]) -> Result<Original, Unshowable> {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("f"), bytes).unwrap();
        read("f", &[folder.path().to_owned()], 100)
    }

    #[test]
    fn text_comes_as_it_is() {
        for text in ["", "a", "\u{feff}a\r\nb\r", "é\n"] {
            assert_eq!(here(text.as_bytes()), Ok(Original::Text(text.to_owned())));
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
