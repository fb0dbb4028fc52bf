//! Texts and answers that the person gives to a command.

use std::io::Read as _;
use std::path::Path;

use crate::failure::{Failure, FailureKind};

/// Reads a text from a file, or from stdin for `-`, exactly as it is.
pub(crate) fn read_text(path: &Path) -> Result<String, Failure> {
    let mut bytes = Vec::new();
    let read = if path == Path::new("-") {
        std::io::stdin().read_to_end(&mut bytes).map(drop)
    } else {
        std::fs::read(path).map(|read| bytes = read)
    };
    let path = path.display();
    read.map_err(|error| Failure::other(format!("cannot read {path}"), error))?;
    String::from_utf8(bytes).map_err(|_| {
        let message = format!("{path} is not UTF-8 text, and agents accept no other");
        Failure::new(FailureKind::Refused, message)
    })
}

/// Reads one line of stdin; an empty one at its end.
pub(crate) fn read_line() -> Result<String, Failure> {
    let mut line = String::new();
    let read = std::io::stdin().read_line(&mut line);
    read.map_err(|error| Failure::other("cannot read the answer", error))?;
    Ok(line)
}
