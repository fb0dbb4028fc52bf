//! `outrigger focus`: where the person is, from any editor that can run a command.

use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use web::wire;

use super::client;
use crate::args::{FocusArgs, GlobalArgs};
use crate::failure::{CommandResult, Failure, FailureKind};
use crate::folders;
use crate::input::read_text;
use crate::output::{counted, note};

pub(crate) async fn focus(global: &GlobalArgs, args: &FocusArgs) -> CommandResult {
    let record = folders::companion(global)?;
    let place = Place::of(args)?;
    place.check()?;
    let focus = wire::Focus {
        path: folders::absolute(&place.file)?,
        line: place.line,
        column: place.column,
        selection: args.selection_from.as_deref().map(read_text).transpose()?,
    };
    let focused: wire::Focused = client(&record).post("/api/focus", &focus).await?;
    if let Some(reason) = focused.reason {
        note(format_args!(
            "agents are not told about this file: {reason}"
        ));
    }
    Ok(ExitCode::SUCCESS)
}

/// A place in a file. Lines and columns are counted from 1.
#[derive(Debug, PartialEq, Eq)]
struct Place {
    file: PathBuf,
    line: Option<u32>,
    column: Option<u32>,
}

impl Place {
    /// What was typed. A file of that very name goes before a place in another one.
    fn of(args: &FocusArgs) -> Result<Place, Failure> {
        let typed = Place {
            file: args.file.clone(),
            line: args.line,
            column: args.column,
        };
        let exists = |file: &str| Path::new(file).exists();
        let text = args.file.to_str().filter(|file| !exists(file));
        let Some((file, line, column)) = text.and_then(|text| split(text, &exists)) else {
            return Ok(typed);
        };
        if args.line.is_some() {
            let message = format!("{} has a line already", args.file.display());
            return Err(Failure::new(FailureKind::Usage, message)
                .hint("give the line once: behind the file, or with --line"));
        }
        Ok(Place {
            file: file.into(),
            line: Some(line),
            column,
        })
    }

    /// Whether the file has this place. A file that cannot be read is left to the companion.
    fn check(&self) -> Result<(), Failure> {
        let Some(line) = self.line else {
            return Ok(());
        };
        let Some(found) = Found::at(&self.file, line) else {
            return Ok(());
        };
        let file = folders::relative(&self.file).display();
        let missing = |message: String| Err(Failure::new(FailureKind::Refused, message));
        match (found, self.column) {
            (Found::End { lines }, _) => {
                let lines = counted(lines, "line");
                missing(format!("there is no line {line}: {file} has {lines}"))
            }
            (Found::Line { bytes, characters }, Some(column)) if column as usize > bytes + 1 => {
                let characters = counted(characters, "character");
                missing(format!(
                    "there is no column {column}: line {line} of {file} has {characters}"
                ))
            }
            (Found::Line { .. }, _) => Ok(()),
        }
    }
}

/// `FILE:LINE` and `FILE:LINE:COLUMN`, as compilers and grep write them, with or without a last
/// colon.
fn split<'a>(text: &'a str, exists: &dyn Fn(&str) -> bool) -> Option<(&'a str, u32, Option<u32>)> {
    let number = |text: &str| text.parse().ok().filter(|number| *number > 0);
    let text = text.strip_suffix(':').unwrap_or(text);
    let (rest, last) = text.rsplit_once(':')?;
    let last = number(last)?;
    let three = rest.rsplit_once(':').filter(|_| !exists(rest));
    let three = three.and_then(|(file, line)| {
        let line = number(line)?;
        (!file.is_empty()).then_some((file, line, Some(last)))
    });
    three.or_else(|| (!rest.is_empty()).then_some((rest, last, None)))
}

/// What is at a line of a file.
#[derive(Debug, PartialEq, Eq)]
enum Found {
    /// The line, without its end. Editors count columns in bytes or in characters.
    Line { bytes: usize, characters: usize },
    /// The file ends before.
    End { lines: usize },
}

impl Found {
    /// `None` if the file cannot be read.
    fn at(file: &Path, line: u32) -> Option<Found> {
        let mut reader = BufReader::new(std::fs::File::open(file).ok()?);
        let (mut lines, mut bytes, mut ended) = (0, Vec::new(), true);
        loop {
            bytes.clear();
            let read = reader.read_until(b'\n', &mut bytes).ok()?;
            if read == 0 {
                // Behind the last newline there is a place for the cursor, and no line yet.
                let behind = ended && lines + 1 == line as usize;
                return Some(if behind {
                    Found::Line {
                        bytes: 0,
                        characters: 0,
                    }
                } else {
                    Found::End { lines }
                });
            }
            lines += 1;
            ended = bytes.ends_with(b"\n");
            if lines == line as usize {
                while let Some(b'\n' | b'\r') = bytes.last() {
                    bytes.pop();
                }
                return Some(Found::Line {
                    bytes: bytes.len(),
                    characters: String::from_utf8_lossy(&bytes).chars().count(),
                });
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_behind_a_file() {
        for (text, expected) in [
            ("a.rs", None),
            ("a.rs:", None),
            ("a.rs:12", Some(("a.rs", 12, None))),
            ("a.rs:12:", Some(("a.rs", 12, None))),
            ("a.rs:12:4", Some(("a.rs", 12, Some(4)))),
            ("a.rs:12:4:", Some(("a.rs", 12, Some(4)))),
            ("a:b:7", Some(("a:b", 7, None))),
            ("a.rs:0", None),
            ("a.rs:x", None),
            (":12", None),
            ("a.rs:99999999999", None),
        ] {
            assert_eq!(split(text, &|_| false), expected, "{text}");
        }
    }

    #[test]
    fn a_file_with_a_colon_in_its_name_wins() {
        let exists = |file: &str| file == "a.rs:2";
        assert_eq!(split("a.rs:2:1", &exists), Some(("a.rs:2", 1, None)));
    }

    #[test]
    fn lines_of_a_file() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a");
        for (text, line, expected) in [
            ("one\ntwo\n", 2, Ok((3, 3))),
            ("one\r\ntwo", 1, Ok((3, 3))),
            ("é\n", 1, Ok((2, 1))),
            ("one\ntwo\n", 3, Ok((0, 0))),
            ("one\ntwo\n", 4, Err(2)),
            ("one\ntwo", 3, Err(2)),
            ("", 1, Ok((0, 0))),
            ("", 2, Err(0)),
        ] {
            std::fs::write(&file, text).unwrap();
            let found = match Found::at(&file, line).unwrap() {
                Found::Line { bytes, characters } => Ok((bytes, characters)),
                Found::End { lines } => Err(lines),
            };
            assert_eq!(found, expected, "{text:?} {line}");
        }
        assert_eq!(Found::at(&folder.path().join("none"), 1), None);
    }
}
