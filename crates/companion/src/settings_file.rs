//! Small files that say what may be shared: ignore files and configuration.
//!
//! Whatever is where such a file belongs was meant to say something. So only a file that does not
//! exist says nothing; one that cannot be read is an error, never an empty text.

use std::io::{self, ErrorKind};
use std::path::Path;

use private::Stamp;
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
    let bytes = match private::read_regular(path, LARGEST) {
        Ok(bytes) => bytes,
        Err(private::Unreadable::Io(error)) if is_absent(path, &error) => return Ok(None),
        Err(private::Unreadable::Io(error)) => return Err(unreadable(describe(&error))),
        Err(other) => return Err(unreadable(other.to_string())),
    };
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
pub enum Sight {
    /// There is no such file.
    Absent,
    /// It cannot be looked at.
    Hidden(ErrorKind),
    /// It is there.
    Present(Stamp),
}

impl Sight {
    /// Looks at a file.
    pub fn of(path: &Path) -> Sight {
        match std::fs::metadata(path) {
            Ok(facts) => Sight::Present(Stamp::of(&facts)),
            Err(error) if is_absent(path, &error) => Sight::Absent,
            Err(error) => Sight::Hidden(error.kind()),
        }
    }
}

/// A link to nothing is not absent: it was meant to say something.
fn is_absent(path: &Path, error: &io::Error) -> bool {
    error.kind() == ErrorKind::NotFound && std::fs::symlink_metadata(path).is_err()
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
