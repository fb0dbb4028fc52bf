//! The ignore files of the workspace, and the privacy filter that is built from them.
//!
//! The filter itself is pure and knows no disk; this is the part that reads. A workspace can be
//! hostile, so whatever stands where an ignore file belongs can only narrow what is shown: what
//! cannot be read as patterns hides the whole folder.

use std::path::PathBuf;
use std::time::SystemTime;

use workbench::{BadPattern, Privacy};

/// A larger file is not a list of patterns.
const LARGEST: u64 = 1 << 20;

/// The sources of the privacy filter, read again when they change.
#[derive(Debug)]
pub struct IgnoreFiles {
    roots: Vec<PathBuf>,
    /// The patterns of the configuration, a list for each origin.
    patterns: Vec<Vec<String>>,
    /// What the files looked like when they were last read.
    seen: Vec<Option<(SystemTime, u64)>>,
}

impl IgnoreFiles {
    /// The ignore files of these roots, none of which has been read, and the patterns of the
    /// configuration.
    pub fn new(roots: Vec<PathBuf>, patterns: Vec<Vec<String>>) -> IgnoreFiles {
        IgnoreFiles {
            roots,
            patterns,
            seen: Vec::new(),
        }
    }

    /// Reads the files of other roots from now on; the next call of [`IgnoreFiles::changed`]
    /// has a new filter.
    pub fn set_roots(&mut self, roots: Vec<PathBuf>) {
        self.roots = roots;
        self.seen.clear();
    }

    /// Uses other patterns of the configuration from now on; the next call of
    /// [`IgnoreFiles::changed`] has a new filter.
    pub fn set_patterns(&mut self, patterns: Vec<Vec<String>>) {
        self.patterns = patterns;
        self.seen.clear();
    }

    /// A new filter if a file has changed since the last call, and always the first time.
    /// Reads the disk.
    pub fn changed(&mut self) -> Option<Result<Privacy, BadPattern>> {
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
                    // A folder, or far too large: somebody wanted to hide something, so everything is.
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
        self.roots
            .iter()
            .map(|root| root.join(Privacy::IGNORE_FILE))
    }
}

fn look(file: &PathBuf) -> Option<(SystemTime, u64)> {
    let facts = std::fs::metadata(file).ok()?;
    Some((facts.modified().ok()?, facts.len()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use workbench::{Place, Reason, Visibility};

    #[test]
    fn patterns_are_read_again_when_they_change_and_never_fail_open() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().to_owned();
        let place = Place::direct(root.join("a.txt"));
        let mut files = IgnoreFiles::new(vec![root.clone()], Vec::new());

        let privacy = files.changed().unwrap().unwrap();
        assert_eq!(privacy.judge(&place), Visibility::Shown);
        assert!(files.changed().is_none());

        std::fs::write(root.join(Privacy::IGNORE_FILE), "*.txt\n").unwrap();
        let privacy = files.changed().unwrap().unwrap();
        assert_eq!(privacy.judge(&place), Visibility::HeldBack(Reason::Ignored));

        std::fs::remove_file(root.join(Privacy::IGNORE_FILE)).unwrap();
        assert_eq!(
            files.changed().unwrap().unwrap().judge(&place),
            Visibility::Shown
        );

        std::fs::create_dir(root.join(Privacy::IGNORE_FILE)).unwrap();
        let privacy = files.changed().unwrap().unwrap();
        assert_eq!(privacy.judge(&place), Visibility::HeldBack(Reason::Ignored));
    }
}
