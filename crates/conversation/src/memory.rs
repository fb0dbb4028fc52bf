//! What a later run has to know: which session was the last one here, and in which mode, so that it
//! goes on with it; and whether the daemon was one of our own, so that it starts one again after a
//! crash or a restart.

use std::path::{Path, PathBuf};

const FILE: &str = "conversation";
const OWN: &str = "own-daemon";
/// No id with its mode is longer.
const LARGEST: u64 = 4096;

/// The last session of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct LastSession {
    pub(crate) id: String,
    /// The mode that was chosen while this program was in it. Agents forget it with their process.
    pub(crate) mode: Option<String>,
}

/// A private folder to remember in.
#[derive(Clone, Debug)]
pub(crate) struct Memory(PathBuf);

impl Memory {
    pub(crate) fn new(folder: &Path) -> Memory {
        Memory(folder.to_owned())
    }

    /// The last session: its id on a line and, if one was chosen, its mode on the next.
    pub(crate) fn load(&self) -> Option<LastSession> {
        let bytes = private::read(&self.0.join(FILE), LARGEST).ok()??;
        let text = String::from_utf8(bytes).ok()?;
        let mut lines = text.lines();
        let id = lines.next()?.to_owned();
        let mode = lines.next().map(str::to_owned);
        Some(LastSession { id, mode })
    }

    pub(crate) fn save(&self, session: &LastSession) {
        let lines = [Some(session.id.as_str()), session.mode.as_deref()];
        let text = lines.into_iter().flatten().collect::<Vec<_>>().join("\n");
        if let Err(error) = private::write(&self.0, FILE, text.as_bytes()) {
            tracing::warn!(%error, "cannot remember the conversation; a later run begins another one");
        }
    }

    /// Whether the last run had a daemon of its own and did not come to its proper end.
    pub(crate) fn had_own_daemon(&self) -> bool {
        matches!(private::read(&self.0.join(OWN), 0), Ok(Some(_)))
    }

    pub(crate) fn note_own_daemon(&self, has_one: bool) {
        let noted = if has_one {
            private::write(&self.0, OWN, b"")
        } else {
            private::remove(&self.0.join(OWN))
        };
        if let Err(error) = noted {
            tracing::warn!(%error, "cannot remember whether there is a daemon of our own");
        }
    }
}
