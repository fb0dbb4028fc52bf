//! Reviewing without a plugin: the proposal as a document of its own.
//!
//! A *sheet* is a private file that holds the proposed text, far from anything of the
//! person's. It can be edited like any file; saving it accepts what it says. Code actions
//! on it take single hunks back or bring them in again.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::{Value, json};
use workbench::{Proposal, ProposalId, Review, Texts};

use crate::buffer::{Buffer, Encoding};
use crate::uri;

/// The folder of all sheets, below the companion's own.
pub(crate) const SHEETS: &str = "reviews";

/// A larger text is not taken from a sheet: no agent sends a larger one.
const LARGEST: u64 = 64 << 20;

/// Accepts what the sheet says.
pub(crate) const ACCEPT: &str = "outrigger.accept";
/// Rejects the proposal.
pub(crate) const REJECT: &str = "outrigger.reject";
/// Brings a hunk of the proposal in again.
pub(crate) const KEEP_HUNK: &str = "outrigger.keepHunk";
/// Takes a hunk of the proposal back.
pub(crate) const DROP_HUNK: &str = "outrigger.dropHunk";

/// A proposal that is shown as a document.
#[derive(Debug)]
pub(crate) struct Sheet {
    /// Which proposal.
    pub(crate) proposal: ProposalId,
    /// The document.
    pub(crate) uri: String,
    folder: PathBuf,
    file: PathBuf,
    texts: Arc<Texts>,
}

impl Sheet {
    /// Writes the sheet of a proposal below `folder`, which is private.
    pub(crate) fn lay(folder: &Path, proposal: &Proposal) -> Result<Sheet, private::Error> {
        // The name is the file's own, so that editors colour it as they would the file.
        let name = Path::new(&proposal.path)
            .file_name()
            .and_then(|name| name.to_str());
        let name = name
            .filter(|name| !name.starts_with('.'))
            .unwrap_or("proposal");
        let folder = private::ensure_folder(folder, &[SHEETS, &proposal.id.to_string()])?;
        private::write(&folder, name, proposal.current().as_bytes())?;
        let file = folder.join(name);
        Ok(Sheet {
            proposal: proposal.id,
            uri: uri::from_path(&file),
            folder,
            file,
            texts: proposal.texts.clone(),
        })
    }

    /// Where the sheet is.
    pub(crate) fn path(&self) -> &Path {
        &self.file
    }

    /// Whether the sheet is the document at `path`, which an editor may spell without links.
    pub(crate) fn is_at(&self, path: &Path) -> bool {
        path == self.file || self.file.canonicalize().is_ok_and(|file| path == file)
    }

    /// Puts back the byte order mark of the proposal, which many editors keep apart from the text.
    pub(crate) fn with_mark(&self, text: String) -> String {
        const MARK: char = '\u{feff}';
        if self.texts.proposed.starts_with(MARK) && !text.starts_with(MARK) {
            format!("{MARK}{text}")
        } else {
            text
        }
    }

    /// What the sheet says on disk.
    pub(crate) fn saved_text(&self) -> Option<String> {
        let bytes = private::read_regular(&self.file, LARGEST).ok()?;
        String::from_utf8(bytes).ok()
    }

    /// What can be done at `line` of the sheet.
    pub(crate) fn actions(&self, buffer: &Buffer, line: u32) -> Vec<Value> {
        let id = self.proposal.get();
        let mut actions = vec![
            action("Accept all", ACCEPT, &json!([id])),
            action("Reject", REJECT, &json!([id])),
        ];
        if self.without_hunk(buffer, line).is_some() {
            actions.push(action("Drop this hunk", DROP_HUNK, &json!([id, line])));
        }
        if self.with_hunk(buffer, line).is_some() {
            actions.push(action("Keep this hunk", KEEP_HUNK, &json!([id, line])));
        }
        actions
    }

    /// The text of the sheet without the change at `line`.
    pub(crate) fn without_hunk(&self, buffer: &Buffer, line: u32) -> Option<String> {
        let original = self.texts.original.text().unwrap_or_default();
        let review = Review::of(original, buffer.text());
        let here = review
            .hunks()
            .iter()
            .find(|hunk| touches(&hunk.after, line))?
            .number;
        let keep: BTreeSet<_> = review
            .hunks()
            .iter()
            .map(|hunk| hunk.number)
            .filter(|number| *number != here)
            .collect();
        review.merge(original, buffer.text(), &keep).ok()
    }

    /// The text of the sheet with what the agent proposed at `line`.
    pub(crate) fn with_hunk(&self, buffer: &Buffer, line: u32) -> Option<String> {
        let review = Review::of(buffer.text(), &self.texts.proposed);
        let here = review
            .hunks()
            .iter()
            .find(|hunk| touches(&hunk.before, line))?
            .number;
        review
            .merge(buffer.text(), &self.texts.proposed, &BTreeSet::from([here]))
            .ok()
    }
}

impl Drop for Sheet {
    fn drop(&mut self) {
        // Best effort: what stays is private, and the folder goes with the companion's state.
        let _ = private::remove(&self.file);
        let _ = std::fs::remove_dir(&self.folder);
    }
}

/// A hunk that removes lines has no line of its own; it is found at the line before or after.
fn touches(lines: &std::ops::Range<usize>, line: u32) -> bool {
    let line = line as usize;
    lines.contains(&line) || (lines.is_empty() && (line == lines.start || line + 1 == lines.start))
}

fn action(title: &str, command: &str, arguments: &Value) -> Value {
    json!({
        "title": title,
        "kind": "quickfix",
        "command": { "title": title, "command": command, "arguments": arguments },
    })
}

/// The smallest edit that turns a document into `new`, as the protocol writes it.
pub(crate) fn smallest_edit(buffer: &Buffer, new: &str, encoding: Encoding) -> Value {
    let old = buffer.text();
    let head = old.chars().zip(new.chars());
    let mut head: usize = head
        .take_while(|(a, b)| a == b)
        .map(|(c, _)| c.len_utf8())
        .sum();
    // Between a carriage return and its line feed there is no position.
    let is_inside = |at: usize| old[..at].ends_with('\r') && old[at..].starts_with('\n');
    if is_inside(head) {
        head -= 1;
    }
    let tails = old[head..].chars().rev().zip(new[head..].chars().rev());
    let mut tail: usize = tails
        .take_while(|(a, b)| a == b)
        .map(|(c, _)| c.len_utf8())
        .sum();
    if is_inside(old.len() - tail) {
        tail -= 1;
    }
    let position = |offset| {
        let at = buffer.position(offset, encoding);
        json!({ "line": at.line, "character": at.character })
    };
    json!({
        "range": { "start": position(head), "end": position(old.len() - tail) },
        "newText": &new[head..new.len() - tail],
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use workbench::{Agent, Original, ProposalRequest, SessionId, Standing, VerdictCapabilities};

    const ORIGINAL: &str = "one\ntwo\nthree\nfour\n";
    const PROPOSED: &str = "ONE\ntwo\nfour\nfive\n";

    fn sheet(folder: &Path) -> Sheet {
        let texts = Texts::new(Original::Text(ORIGINAL.into()), PROPOSED.into());
        let request = ProposalRequest {
            session: SessionId::new("s"),
            agent: Agent::Qwen,
            path: "/w/a.txt".into(),
            texts,
            standing: Standing::Open,
            capabilities: VerdictCapabilities {
                takes_empty_text: false,
                takes_edited_text: true,
            },
        };
        let proposal = Proposal::new(ProposalId::new(3), request, 0);
        Sheet::lay(folder, &proposal).unwrap()
    }

    fn titles(actions: &[Value]) -> Vec<&str> {
        actions
            .iter()
            .map(|action| action["title"].as_str().unwrap())
            .collect()
    }

    #[test]
    fn hunks_can_be_dropped_and_brought_back() {
        let folder = tempfile::tempdir().unwrap();
        let sheet = sheet(folder.path());
        assert_eq!(sheet.saved_text().as_deref(), Some(PROPOSED));
        let whole = Buffer::new(PROPOSED.into());
        assert_eq!(
            titles(&sheet.actions(&whole, 0)),
            ["Accept all", "Reject", "Drop this hunk"]
        );
        let dropped = sheet.without_hunk(&whole, 0).unwrap();
        assert_eq!(dropped, "one\ntwo\nfour\nfive\n");
        let less = Buffer::new(dropped);
        assert_eq!(
            titles(&sheet.actions(&less, 0)),
            ["Accept all", "Reject", "Keep this hunk"]
        );
        assert_eq!(sheet.with_hunk(&less, 0).as_deref(), Some(PROPOSED));
    }

    #[test]
    fn a_sheet_goes_when_it_is_no_longer_needed() {
        let folder = tempfile::tempdir().unwrap();
        let sheet = sheet(folder.path());
        let file = sheet.file.clone();
        assert!(file.exists());
        drop(sheet);
        assert!(!file.exists());
    }

    #[test]
    fn edits_are_as_small_as_can_be() {
        for (old, new, range, text) in [
            ("a\nb\nc\n", "a\nX\nc\n", [1, 0, 1, 1], "X"),
            ("aé\n", "aéü\n", [0, 2, 0, 2], "ü"),
            ("", "x", [0, 0, 0, 0], "x"),
            ("aa", "a", [0, 1, 0, 2], ""),
        ] {
            let edit = smallest_edit(&Buffer::new(old.into()), new, Encoding::Utf16);
            let [l1, c1, l2, c2] = range;
            assert_eq!(
                edit["range"],
                json!({ "start": { "line": l1, "character": c1 }, "end": { "line": l2, "character": c2 } }),
                "{old:?}"
            );
            assert_eq!(edit["newText"], text);
        }
    }
}
