//! What a later run has to know: which session was the last one here, so that it goes on with it, and
//! whether the daemon was one of our own, so that it starts one again after a crash or a restart.

use std::path::{Path, PathBuf};

const FILE: &str = "conversation";
const OWN: &str = "own-daemon";
/// No id is longer.
const LARGEST: u64 = 4096;

/// A private folder to remember in.
#[derive(Clone, Debug)]
pub(crate) struct Memory(PathBuf);

impl Memory {
    pub(crate) fn new(folder: &Path) -> Memory {
        Memory(folder.to_owned())
    }

    /// The id of the last session.
    pub(crate) fn load(&self) -> Option<String> {
        let bytes = private::read(&self.0.join(FILE), LARGEST).ok()??;
        String::from_utf8(bytes).ok()
    }

    pub(crate) fn save(&self, session: &str) {
        if let Err(error) = private::write(&self.0, FILE, session.as_bytes()) {
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
