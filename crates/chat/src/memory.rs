//! Which conversation was the last one here, so that a later run goes on with it.

use std::path::{Path, PathBuf};

use daemon::wire::SessionId;

const FILE: &str = "conversation";
/// No id is longer.
const LARGEST: u64 = 4096;

/// A private folder to remember in.
#[derive(Clone, Debug)]
pub(crate) struct Memory(PathBuf);

impl Memory {
    pub(crate) fn new(folder: &Path) -> Memory {
        Memory(folder.to_owned())
    }

    pub(crate) fn load(&self) -> Option<SessionId> {
        let bytes = private::read(&self.0.join(FILE), LARGEST).ok()??;
        SessionId::new(String::from_utf8(bytes).ok()?).ok()
    }

    pub(crate) fn save(&self, session: &SessionId) {
        if let Err(error) = private::write(&self.0, FILE, session.as_str().as_bytes()) {
            tracing::warn!(%error, "cannot remember the conversation; a later run begins another one");
        }
    }
}
