//! Small files that say what may be shared: ignore files and configuration.
//!
//! Whatever is where such a file belongs was meant to say something. So only a file that does not
//! exist says nothing; one that cannot be read is an error, never an empty text.

use std::io::{self, ErrorKind};
use std::path::Path;
use std::time::SystemTime;

use workbench::Position;

/// A larger file is neither configuration nor a list of patterns.
const LARGEST: u64 = 1 << 20;

/// Why a file cannot be read as text.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{why}")]
pub struct Unreadable {
    why: String,
    /// The place of what is no text, if it was read that far.
    pub position: Option<Position>,
}

/// The text of the file; `None` if there is no such file.
pub fn read(path: &Path) -> Result<Option<String>, Unreadable> {
    match std::fs::metadata(path) {
        Ok(facts) if !facts.is_file() => return Err(unreadable("it is not a regular file")),
        Ok(facts) if facts.len() > LARGEST => return Err(unreadable("it is larger than 1 MiB")),
        Ok(_) => {}
        Err(error) if is_absent(path, &error) => return Ok(None),
        Err(error) => return Err(unreadable(describe(&error))),
    }
    let bytes = std::fs::read(path).map_err(|error| unreadable(describe(&error)))?;
    String::from_utf8(bytes).map(Some).map_err(|error| {
        let readable = error.utf8_error().valid_up_to();
        let text = String::from_utf8_lossy(&error.as_bytes()[..readable]).into_owned();
        Unreadable {
            why: "it is not UTF-8 text".into(),
            position: Some(Position::of(&text, readable)),
        }
    })
}

/// What can be seen of a file without reading it. It is another one after every change of its
/// content and of who may read it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stamp {
    /// There is no such file.
    Absent,
    /// It cannot be looked at.
    Hidden(ErrorKind),
    /// It is there.
    Present {
        /// When its content was changed.
        modified: Option<SystemTime>,
        /// When it or its mode was changed, where the system tells.
        changed: Option<(i64, i64)>,
        /// Its size in bytes.
        size: u64,
    },
}

impl Stamp {
    /// Looks at a file.
    pub fn of(path: &Path) -> Stamp {
        match std::fs::metadata(path) {
            Ok(facts) => Stamp::Present {
                modified: facts.modified().ok(),
                changed: changed(&facts),
                size: facts.len(),
            },
            Err(error) if is_absent(path, &error) => Stamp::Absent,
            Err(error) => Stamp::Hidden(error.kind()),
        }
    }
}

/// A link to nothing is not absent: it was meant to say something.
fn is_absent(path: &Path, error: &io::Error) -> bool {
    error.kind() == ErrorKind::NotFound && std::fs::symlink_metadata(path).is_err()
}

#[cfg(unix)]
#[allow(clippy::unnecessary_wraps)]
fn changed(facts: &std::fs::Metadata) -> Option<(i64, i64)> {
    use std::os::unix::fs::MetadataExt as _;
    Some((facts.ctime(), facts.ctime_nsec()))
}

#[cfg(not(unix))]
fn changed(_facts: &std::fs::Metadata) -> Option<(i64, i64)> {
    None
}

fn unreadable(why: impl Into<String>) -> Unreadable {
    Unreadable {
        why: why.into(),
        position: None,
    }
}

/// The system's words, without its error number.
fn describe(error: &io::Error) -> String {
    match error.kind() {
        ErrorKind::NotFound => "it is a link to a file that does not exist".into(),
        ErrorKind::PermissionDenied => "you may not read it".into(),
        _ => error.to_string(),
    }
}
