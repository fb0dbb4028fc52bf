//! The ignore files of the workspace, and the privacy filter that is built from them.
//!
//! The filter itself is pure and knows no disk; this is the part that reads. A workspace can be
//! hostile, so whatever is where an ignore file belongs can only narrow what is shown: what cannot
//! be read as patterns closes the whole folder.

use std::path::PathBuf;

use workbench::{Fault, PatternList, Privacy, Scope};

use crate::settings_file::{self, Stamp};

/// The sources of the privacy filter, read again when they change.
#[derive(Debug)]
pub struct IgnoreFiles {
    roots: Vec<PathBuf>,
    /// The patterns of the configuration, and what is wrong with it.
    configured: (Vec<PatternList>, Vec<Fault>),
    /// What the files looked like when they were last read; `None` if everything is to be read
    /// again.
    seen: Option<Vec<Stamp>>,
}

impl IgnoreFiles {
    /// The ignore files of these roots, none of which has been read, without any configuration.
    pub fn new(roots: Vec<PathBuf>) -> IgnoreFiles {
        IgnoreFiles {
            roots,
            configured: Default::default(),
            seen: None,
        }
    }

    /// Reads the files of other roots from now on; the next call of [`IgnoreFiles::changed`]
    /// has a new filter.
    pub fn set_roots(&mut self, roots: Vec<PathBuf>) {
        self.roots = roots;
        self.seen = None;
    }

    /// Takes other patterns of the configuration, and what is wrong with it; the next call of
    /// [`IgnoreFiles::changed`] has a new filter.
    pub fn set_configuration(&mut self, patterns: Vec<PatternList>, faults: Vec<Fault>) {
        self.configured = (patterns, faults);
        self.seen = None;
    }

    /// A new filter if a file has changed since the last call, and always the first time.
    /// Reads the disk.
    pub fn changed(&mut self) -> Option<Privacy> {
        let now: Vec<_> = self.files().map(|file| Stamp::of(&file)).collect();
        if self.seen.as_ref() == Some(&now) {
            return None;
        }
        self.seen = Some(now);
        Some(self.read())
    }

    /// The filter as the files are now. Reads the disk.
    pub fn read(&self) -> Privacy {
        let (lists, faults) = self.sources();
        Privacy::new(&self.roots, &lists, &faults)
    }

    /// All patterns, those of the configuration first, and what is wrong with them as far as they
    /// could not even be read. Reads the disk.
    pub fn sources(&self) -> (Vec<PatternList>, Vec<Fault>) {
        let (mut lists, mut faults) = self.configured.clone();
        for (root, file) in self.roots.iter().zip(self.files()) {
            match settings_file::read(&file) {
                Ok(Some(text)) => lists.push(PatternList::from_ignore_file(root, &text)),
                Ok(None) => {}
                Err(error) => faults.push(Fault {
                    source: file.display().to_string(),
                    position: error.position,
                    message: format!("the patterns cannot be read: {error}"),
                    scope: Scope::Below(root.clone()),
                }),
            }
        }
        (lists, faults)
    }

    fn files(&self) -> impl Iterator<Item = PathBuf> {
        self.roots
            .iter()
            .map(|root| root.join(Privacy::IGNORE_FILE))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use workbench::{Place, Reason, Visibility};

    const CLOSED: Visibility = Visibility::HeldBack(Reason::Closed);

    #[test]
    fn patterns_are_read_again_when_they_change() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().to_owned();
        let place = Place::direct(root.join("a.txt"));
        let file = root.join(Privacy::IGNORE_FILE);
        let mut files = IgnoreFiles::new(vec![root]);

        assert_eq!(files.changed().unwrap().judge(&place), Visibility::Shown);
        assert!(files.changed().is_none());

        std::fs::write(&file, "*.txt\n").unwrap();
        let ignored = Visibility::HeldBack(Reason::Ignored);
        assert_eq!(files.changed().unwrap().judge(&place), ignored);

        std::fs::write(&file, "[z-a]\n").unwrap();
        assert_eq!(files.changed().unwrap().judge(&place), CLOSED);
        assert!(files.changed().is_none());

        std::fs::remove_file(&file).unwrap();
        assert_eq!(files.changed().unwrap().judge(&place), Visibility::Shown);

        let fault = Fault {
            source: "config".into(),
            position: None,
            message: "broken".into(),
            scope: Scope::Everywhere,
        };
        files.set_configuration(Vec::new(), vec![fault]);
        assert_eq!(files.changed().unwrap().judge(&place), CLOSED);
        assert!(files.changed().is_none());
    }

    #[cfg(unix)]
    #[test]
    fn what_cannot_be_read_closes_the_folder() {
        use std::os::unix::fs::symlink;

        type Make = fn(&std::path::Path);
        let table: [(&str, Make, &str); 5] = [
            (
                "a folder",
                |at| std::fs::create_dir(at).unwrap(),
                "not a regular file",
            ),
            (
                "a link to nothing",
                |at| symlink("nothing", at).unwrap(),
                "does not exist",
            ),
            ("a link to itself", |at| symlink(at, at).unwrap(), ""),
            (
                "too large",
                |at| std::fs::write(at, "a\n".repeat(1 << 20)).unwrap(),
                "larger than 1 MiB",
            ),
            (
                "no text",
                |at| std::fs::write(at, b"*.log\nb\xff\n").unwrap(),
                ":2:2: the patterns cannot be read: it is not UTF-8 text",
            ),
        ];
        for (name, make, part) in table {
            let folder = tempfile::tempdir().unwrap();
            let root = folder.path().to_owned();
            make(&root.join(Privacy::IGNORE_FILE));
            let privacy = IgnoreFiles::new(vec![root.clone()]).read();
            assert_eq!(
                privacy.judge(&Place::direct(root.join("a.txt"))),
                CLOSED,
                "{name}"
            );
            let [fault] = privacy.faults() else {
                panic!("{name}: {:?}", privacy.faults());
            };
            assert!(fault.to_string().contains(part), "{name}: {fault}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn a_change_of_the_mode_is_noticed() {
        use std::os::unix::fs::PermissionsExt as _;

        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("f");
        std::fs::write(&file, "a").unwrap();
        let before = Stamp::of(&file);
        assert_eq!(Stamp::of(&file), before);
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o200)).unwrap();
        assert_ne!(Stamp::of(&file), before);
    }
}
