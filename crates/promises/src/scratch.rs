//! Files for what only reads files.

use std::path::{Path, PathBuf};

use tempfile::TempDir;

/// A folder for one thread, which every case fills anew.
pub(crate) struct Scratch(TempDir);

impl Scratch {
    /// In memory where there is such a folder: a file system would be most of a case's time.
    pub(crate) fn new() -> Scratch {
        let memory = Path::new("/dev/shm");
        let folder = if memory.is_dir() {
            tempfile::tempdir_in(memory)
        } else {
            tempfile::tempdir()
        };
        Scratch(folder.unwrap())
    }

    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }

    pub(crate) fn write(&self, name: &str, content: &[u8]) -> PathBuf {
        let path = self.path().join(name);
        std::fs::write(&path, content).unwrap();
        path
    }
}
