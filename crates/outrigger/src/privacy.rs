//! Reads the ignore files of the workspace and builds the privacy filter from them.

use std::path::PathBuf;
use std::time::SystemTime;

use workbench::{BadPattern, Privacy};

const IGNORE_FILE: &str = ".outriggerignore";
/// Larger files are not lists of patterns.
const LARGEST: u64 = 1 << 20;

/// The sources of the privacy filter, read again when they change.
#[derive(Debug)]
pub(crate) struct IgnoreFiles {
    roots: Vec<PathBuf>,
    patterns: Vec<String>,
    /// What the files looked like when they were last read.
    seen: Vec<Option<(SystemTime, u64)>>,
}

impl IgnoreFiles {
    pub(crate) fn new(roots: Vec<PathBuf>, patterns: Vec<String>) -> IgnoreFiles {
        IgnoreFiles {
            roots,
            patterns,
            seen: Vec::new(),
        }
    }

    /// Looks into other folders from now on; the next call of [`IgnoreFiles::changed`] has a new filter.
    pub(crate) fn set_roots(&mut self, roots: Vec<PathBuf>) {
        self.roots = roots;
        self.seen.clear();
    }

    /// A new filter if a file has changed since the last call, and always the first time.
    pub(crate) fn changed(&mut self) -> Option<Result<Privacy, BadPattern>> {
        let now: Vec<_> = self.files().map(|file| look(&file)).collect();
        if now == self.seen {
            return None;
        }
        self.seen = now;
        Some(self.build())
    }

    fn build(&self) -> Result<Privacy, BadPattern> {
        let mut texts = Vec::new();
        for (root, file) in self.roots.iter().zip(self.files()) {
            match std::fs::metadata(&file) {
                Ok(facts) if facts.is_file() && facts.len() <= LARGEST => {}
                Ok(_) => {
                    // Something stands there that says nothing; to share everything would be wrong.
                    texts.push((root.clone(), "*".to_owned()));
                    continue;
                }
                Err(_) => continue,
            }
            match std::fs::read(&file) {
                Ok(bytes) => {
                    texts.push((root.clone(), String::from_utf8_lossy(&bytes).into_owned()));
                }
                Err(error) => {
                    tracing::warn!(%error, path = %file.display(), "cannot read the patterns; nothing of this folder is shared");
                    texts.push((root.clone(), "*".to_owned()));
                }
            }
        }
        Privacy::new(&self.roots, &texts, &self.patterns)
    }

    fn files(&self) -> impl Iterator<Item = PathBuf> {
        self.roots.iter().map(|root| root.join(IGNORE_FILE))
    }
}

fn look(file: &PathBuf) -> Option<(SystemTime, u64)> {
    let facts = std::fs::metadata(file).ok()?;
    Some((facts.modified().ok()?, facts.len()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use workbench::{Place, Reason, Sight};

    #[test]
    fn patterns_are_read_again_when_they_change_and_never_fail_open() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().to_owned();
        let place = Place::direct(root.join("a.txt"));
        let mut files = IgnoreFiles::new(vec![root.clone()], Vec::new());

        let privacy = files.changed().unwrap().unwrap();
        assert_eq!(privacy.judge(&place), Sight::Shown);
        assert!(files.changed().is_none());

        std::fs::write(root.join(IGNORE_FILE), "*.txt\n").unwrap();
        let privacy = files.changed().unwrap().unwrap();
        assert_eq!(privacy.judge(&place), Sight::HeldBack(Reason::Ignored));

        std::fs::remove_file(root.join(IGNORE_FILE)).unwrap();
        assert_eq!(
            files.changed().unwrap().unwrap().judge(&place),
            Sight::Shown
        );

        std::fs::create_dir(root.join(IGNORE_FILE)).unwrap();
        let privacy = files.changed().unwrap().unwrap();
        assert_eq!(privacy.judge(&place), Sight::HeldBack(Reason::Ignored));
    }
}
