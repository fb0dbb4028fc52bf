//! The ignore files of the workspace, and the privacy filter that is built from them.
//!
//! The filter itself is pure and knows no disk; this is the part that reads. A workspace can be
//! hostile, so whatever is where an ignore file belongs can only narrow what is shown: what cannot
//! be read as patterns closes the whole folder.

use std::path::PathBuf;

use workbench::{Fault, PatternList, Privacy, Scope};

use crate::settings_file::{self, Sight};

/// The sources of the privacy filter, read again when they change.
#[derive(Debug)]
pub struct IgnoreFiles {
    roots: Vec<PathBuf>,
    /// The patterns of the configuration, and what is wrong with it.
    configured: (Vec<PatternList>, Vec<Fault>),
    /// What the files looked like when they were last read; `None` if everything is to be read
    /// again.
    seen: Option<Vec<Sight>>,
    /// What was read last.
    latest: Sources,
    /// What was in force before that and perhaps hides more, until the files have settled.
    lingering: Sources,
}

/// How many lists, and how many faults, may linger. The oldest go: a file that changes at every look
/// is none that is being written.
const MOST_LINGERING: usize = 16;

/// What the filter is made of.
#[derive(Debug, Default)]
struct Sources {
    lists: Vec<PatternList>,
    faults: Vec<Fault>,
}

impl Sources {
    fn is_empty(&self) -> bool {
        self.lists.is_empty() && self.faults.is_empty()
    }

    /// Adds what `before` hides and `latest` perhaps does not.
    fn add_what_hides_more(&mut self, before: Sources, latest: &Sources) {
        let lists = before.lists.into_iter().filter(|list| {
            let mut others = latest.lists.iter().chain(&self.lists);
            !others.any(|other| other.covers(list))
        });
        let lists: Vec<_> = lists.collect();
        self.lists.extend(lists);
        let faults = before.faults.into_iter().filter(|fault| {
            let mut others = latest.faults.iter().chain(&self.faults);
            !others.any(|other| other.scope == fault.scope)
        });
        let faults: Vec<_> = faults.collect();
        self.faults.extend(faults);
        let too_many = self.lists.len().saturating_sub(MOST_LINGERING);
        self.lists.drain(..too_many);
        let too_many = self.faults.len().saturating_sub(MOST_LINGERING);
        self.faults.drain(..too_many);
    }
}

impl IgnoreFiles {
    /// The ignore files of these roots, none of which has been read, without any configuration.
    pub fn new(roots: Vec<PathBuf>) -> IgnoreFiles {
        IgnoreFiles {
            roots,
            configured: Default::default(),
            seen: None,
            latest: Sources::default(),
            lingering: Sources::default(),
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
    ///
    /// Editors and other programs empty a file before they write it, or remove it before another
    /// one takes its name. So what hides more counts at once, and what hides less when two looks in
    /// a row have found the same files.
    pub fn changed(&mut self) -> Option<Privacy> {
        let now: Vec<_> = self.files().map(|file| Sight::of(&file)).collect();
        if self.seen.as_ref() == Some(&now) {
            let is_settled = !self.lingering.is_empty();
            self.lingering = Sources::default();
            return is_settled.then(|| self.filter());
        }
        self.seen = Some(now);
        let (lists, faults) = self.sources();
        let before = std::mem::replace(&mut self.latest, Sources { lists, faults });
        self.lingering.add_what_hides_more(before, &self.latest);
        Some(self.filter())
    }

    /// The filter of what was read last, and of what lingers.
    fn filter(&self) -> Privacy {
        let lists = [&self.latest.lists[..], &self.lingering.lists].concat();
        let faults = [&self.latest.faults[..], &self.lingering.faults].concat();
        Privacy::new(&self.roots, &lists, &faults)
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
        assert_eq!(files.changed().unwrap().judge(&place), ignored);
        assert_eq!(files.changed().unwrap().judge(&place), CLOSED);
        assert!(files.changed().is_none());

        std::fs::remove_file(&file).unwrap();
        assert_eq!(files.changed().unwrap().judge(&place), CLOSED);
        assert_eq!(files.changed().unwrap().judge(&place), Visibility::Shown);
        assert!(files.changed().is_none());

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

    #[test]
    fn a_file_that_is_being_written_shows_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().to_owned();
        let file = root.join(Privacy::IGNORE_FILE);
        let place = |name: &str| Place::direct(root.join(name));
        let (log, txt) = (place("a.log"), place("a.txt"));
        let ignored = Visibility::HeldBack(Reason::Ignored);
        let mut files = IgnoreFiles::new(vec![root.clone()]);
        std::fs::write(&file, "*.log\n").unwrap();
        files.changed().unwrap();

        // Emptied, then half of it, then all: nothing of the old is shown in between, and the
        // new counts as soon as it is there.
        for text in ["", "*.t", "*.txt\n"] {
            std::fs::write(&file, text).unwrap();
            let privacy = files.changed().unwrap();
            assert_eq!(privacy.judge(&log), ignored, "{text:?}");
            let is_there = text.ends_with('\n');
            assert_eq!(privacy.judge(&txt) == ignored, is_there, "{text:?}");
        }
        let privacy = files.changed().unwrap();
        assert_eq!(privacy.judge(&log), Visibility::Shown);
        assert_eq!(privacy.judge(&txt), ignored);
        assert!(files.changed().is_none());

        // What only hides more has nothing to wait for.
        std::fs::write(&file, "# both\n*.log\n*.txt\n").unwrap();
        assert_eq!(files.changed().unwrap().judge(&log), ignored);
        assert!(files.changed().is_none());
    }

    #[test]
    fn a_file_that_never_settles_takes_no_more_room() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join(Privacy::IGNORE_FILE);
        let mut files = IgnoreFiles::new(vec![folder.path().to_owned()]);
        for n in 0..100 {
            std::fs::write(&file, format!("{}{n}\n", "x".repeat(n))).unwrap();
            files.changed().unwrap();
        }
        assert_eq!(files.lingering.lists.len(), MOST_LINGERING);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn what_cannot_be_read_closes_the_folder() {
        use std::os::unix::fs::symlink;

        type Make = fn(&std::path::Path);
        let table: [(&str, Make, &str); 7] = [
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
                // It says that it is empty.
                "a link to a large file of the kernel",
                |at| symlink("/proc/kallsyms", at).unwrap(),
                "larger than 1 MiB",
            ),
            (
                "a pipe that nobody writes to",
                |at| {
                    let made = std::process::Command::new("mkfifo").arg(at).status();
                    assert!(made.unwrap().success());
                },
                "not a regular file",
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
}
