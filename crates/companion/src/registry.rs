//! The companions of this user on this machine: where each keeps its state, and which are alive.
//!
//! Every companion owns one private folder. It holds a lock on a file in there for as long
//! as it lives, so that whether it is alive is known from the operating system and not
//! guessed from a process id that may belong to somebody else by now. The folder outlives
//! the companion: one that is started again for the same roots takes up port, tokens,
//! sessions and pending proposals from it.

use std::collections::BTreeMap;
use std::fs::{File, TryLockError};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use serde::{Deserialize, Serialize};

use crate::journal::{Journal, Saved};
use crate::token::{Token, random_hex};

const RECORD: &str = "companion.json";
const LOCK: &str = "lock";
/// Beside the folder of all companions: held by a process that finds out who serves its folders, and starts to.
const START_LOCK: &str = "starting.lock";
/// Largest record that is read.
const LARGEST: u64 = 1 << 20;
/// What nobody came back for in this time is cleared away.
const EXPIRY: Duration = Duration::from_hours(7 * 24);
/// A probe holds the lock for a moment; a companion that starts just then tries again.
const TRIES: usize = 20;
/// How often to try for the slot of a companion that is about to end, which takes a second at most,
/// and for the turn to start one.
const PATIENT_TRIES: usize = 10_000;

/// What is known of a companion, alive or not. Readable by its user only: it holds secrets.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Record {
    /// Its process.
    pub pid: u32,
    /// Where it listens.
    pub port: u16,
    /// The folders it serves.
    pub roots: Vec<PathBuf>,
    /// The folders it was started for. Editors bring more folders and take them along.
    #[serde(default)]
    pub started_for: Vec<PathBuf>,
    /// What the editor that started it asked for, as far as it holds for all editors; absent if no
    /// editor did. It is compared, and means nothing else.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub editor_settings: Option<String>,
    /// Whether it is about to end: nobody should turn to it any more.
    #[serde(default)]
    pub ending: bool,
    /// The editor's name as agents show it.
    pub editor: String,
    /// The version of the program.
    pub version: String,
    /// When it was started, in unix milliseconds.
    pub started_at: u64,
    /// What each agent presents, by the agent's slug.
    pub tokens: Vec<(String, Token)>,
    /// What the person's own commands present.
    pub secret: Token,
    /// What the page presents.
    pub page: Token,
    /// The discovery files that it wrote.
    pub files: Vec<PathBuf>,
    /// Processes that agents may take for their editor, each with the time it was started.
    #[serde(default)]
    pub guests: BTreeMap<u32, Option<u64>>,
}

/// Why the registry cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A folder or file is not as it should be.
    #[error(transparent)]
    Private(#[from] private::Error),
    /// The lock cannot be taken for a reason other than that somebody holds it.
    #[error("cannot lock {path}: {source}")]
    Lock {
        /// The lock file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// The system gives no random numbers.
    #[error("the system gives no random numbers: {0}")]
    Random(#[from] getrandom::Error),
    /// The journal's thread cannot be started.
    #[error("cannot start the journal: {0}")]
    Journal(std::io::Error),
}

/// All companions of this user.
#[derive(Clone, Debug)]
pub struct Registry {
    folder: PathBuf,
}

/// A folder that this process holds for its companion.
#[derive(Debug)]
pub struct Slot {
    folder: PathBuf,
    /// Held for as long as the companion lives. Absent in a program that this process became
    /// while it held the lock: the lock is still held, by a descriptor that nobody knows.
    lock: Option<File>,
}

/// The turn to start a companion. Others that want to start one wait until it is dropped.
#[derive(Debug)]
pub struct Turn {
    _lock: File,
}

impl Registry {
    /// The registry in `state`, the folder where this user's programs keep their state.
    pub fn open(state: &Path) -> Result<Registry, Error> {
        let folder = private::ensure_folder(state, &["outrigger", "companions"])?;
        Ok(Registry { folder })
    }

    /// Waits for the turn to start a companion. Two processes that start at the same moment for the
    /// same folder would both find that nobody serves it; so whoever looks and then starts does
    /// both within its turn, and the second one finds the first.
    pub fn turn(&self) -> Result<Turn, Error> {
        let path = self.folder.with_file_name(START_LOCK);
        let lock = lock_file(&path).and_then(|lock| Ok((try_lock(&lock, PATIENT_TRIES)?, lock)));
        match lock {
            Ok((true, lock)) => Ok(Turn { _lock: lock }),
            Ok((false, _)) => Err(Error::Lock {
                path,
                source: std::io::ErrorKind::WouldBlock.into(),
            }),
            Err(source) => Err(Error::Lock { path, source }),
        }
    }

    /// Takes the folder of the companion that served `roots` before, if it is not alive, or a new
    /// one. Of several it is the youngest. One that is about to end is waited for.
    ///
    /// With `returning`, a companion of this very process counts as the one before: the process
    /// has become a new program, and the lock that it [left to itself](Slot::hand_down) is held.
    pub fn claim(
        &self,
        roots: &[PathBuf],
        returning: bool,
    ) -> Result<(Slot, Option<Record>), Error> {
        let known = self.folders().into_iter();
        let known = known.filter_map(|folder| Some((read_record(&folder)?, folder)));
        let mut known: Vec<_> = known
            .filter(|(record, _)| record.roots == roots || record.started_for == roots)
            .collect();
        known.sort_by_key(|(record, _)| std::cmp::Reverse(record.started_at));
        for (record, folder) in known {
            if returning && record.pid == std::process::id() && is_held(&folder) {
                return Ok((Slot { folder, lock: None }, Some(record)));
            }
            let tries = if record.ending { PATIENT_TRIES } else { TRIES };
            if let Some(slot) = Slot::hold(folder, tries)? {
                return Ok((slot, Some(record)));
            }
        }
        let name = random_hex::<8>()?;
        let folder = private::ensure_folder(&self.folder, &[&name])?;
        match Slot::hold(folder.clone(), TRIES)? {
            Some(slot) => Ok((slot, None)),
            None => Err(Error::Lock {
                path: folder.join(LOCK),
                source: std::io::ErrorKind::WouldBlock.into(),
            }),
        }
    }

    /// The companions that are alive and not about to end.
    pub fn running(&self) -> Vec<Record> {
        let alive = self.folders().into_iter().filter(|folder| is_held(folder));
        let records = alive.filter_map(|folder| read_record(&folder));
        let mut records: Vec<_> = records.filter(|record| !record.ending).collect();
        records.sort_by_key(|record| record.started_at);
        records
    }

    /// The companion that serves `folder`: the one with the closest root, the youngest of several.
    pub fn serving(&self, folder: &Path) -> Option<Record> {
        self.covering(&[folder.to_owned()]).pop()
    }

    /// The companions that serve all of `folders`, the best one last: the one with the root that is
    /// closest to the first folder, then the youngest.
    pub fn covering(&self, folders: &[PathBuf]) -> Vec<Record> {
        let mut covering: Vec<_> = self
            .running()
            .into_iter()
            .filter_map(|record| {
                let depths = folders.iter().map(|folder| record.depth(folder));
                let depths = depths.collect::<Option<Vec<_>>>()?;
                Some((*depths.first()?, record))
            })
            .collect();
        covering.sort_by_key(|(depth, record)| (*depth, record.started_at));
        covering.into_iter().map(|(_, record)| record).collect()
    }

    /// Companions that died without cleaning up after themselves. Folders that nobody came back
    /// for in a week are removed on the way.
    pub fn abandoned(&self) -> Vec<Record> {
        let mut abandoned = Vec::new();
        for folder in self.folders() {
            // Holding the slot keeps a companion that starts just now from being taken for a dead one.
            let Ok(Some(slot)) = Slot::hold(folder.clone(), 1) else {
                continue;
            };
            if is_expired(&folder) {
                let _ = std::fs::remove_dir_all(&folder);
            }
            abandoned.extend(read_record(&folder));
            drop(slot);
        }
        abandoned
    }

    fn folders(&self) -> Vec<PathBuf> {
        let entries = std::fs::read_dir(&self.folder)
            .into_iter()
            .flatten()
            .flatten();
        let folders = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
        let mut folders: Vec<_> = folders.map(|entry| entry.path()).collect();
        folders.sort();
        folders
    }
}

impl Record {
    /// How deep the closest root above `folder` is; `None` if the folder is not served.
    fn depth(&self, folder: &Path) -> Option<usize> {
        let above = self.roots.iter().filter(|root| folder.starts_with(root));
        above.map(|root| root.components().count()).max()
    }
}

/// Takes the lock if it is free, trying `tries` times.
fn try_lock(lock: &File, tries: usize) -> std::io::Result<bool> {
    for left in (0..tries).rev() {
        match lock.try_lock() {
            Ok(()) => return Ok(true),
            Err(TryLockError::WouldBlock) if left > 0 => {
                std::thread::sleep(Duration::from_millis(1));
            }
            Err(TryLockError::WouldBlock) => {}
            Err(TryLockError::Error(source)) => return Err(source),
        }
    }
    Ok(false)
}

impl Slot {
    /// Takes the lock if it is free, trying `tries` times.
    fn hold(folder: PathBuf, tries: usize) -> Result<Option<Slot>, Error> {
        let path = folder.join(LOCK);
        let failed = |source| Error::Lock {
            path: path.clone(),
            source,
        };
        let lock = lock_file(&path).map_err(failed)?;
        let is_ours = try_lock(&lock, tries).map_err(failed)?;
        Ok(is_ours.then_some(Slot {
            folder,
            lock: Some(lock),
        }))
    }

    /// The private folder of this companion.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Writes down what others need to find this companion, and a later run to take over.
    pub fn record(&self, record: &Record) -> Result<(), Error> {
        let json = serde_json::to_vec_pretty(record).unwrap_or_default();
        Ok(private::write(&self.folder, RECORD, &json)?)
    }

    /// Keeps the lock held when this process becomes another program, so that there is no moment
    /// in which the companion seems to be gone.
    pub fn hand_down(self) {
        #[cfg(unix)]
        if let Some(lock) = self.lock {
            use std::os::fd::IntoRawFd;

            if rustix::io::fcntl_setfd(&lock, rustix::io::FdFlags::empty()).is_ok() {
                // The descriptor is left open on purpose; it holds the lock.
                let _ = lock.into_raw_fd();
            }
        }
    }

    /// What the last holder of this slot left behind, and a journal to go on with.
    pub fn journal(&self) -> Result<(Saved, Journal), Error> {
        let saved = Journal::load(&self.folder);
        let journal = Journal::open(&self.folder).map_err(Error::Journal)?;
        Ok((saved, journal))
    }
}

fn lock_file(path: &Path) -> std::io::Result<File> {
    File::options()
        .create(true)
        .truncate(false)
        .write(true)
        .open(path)
}

fn is_held(folder: &Path) -> bool {
    File::open(folder.join(LOCK))
        .is_ok_and(|lock| matches!(lock.try_lock_shared(), Err(TryLockError::WouldBlock)))
}

fn is_expired(folder: &Path) -> bool {
    let written = std::fs::metadata(folder.join(RECORD)).and_then(|facts| facts.modified());
    // A folder without a record belongs to a companion that did not get as far as writing one.
    let Ok(written) = written else { return false };
    SystemTime::now()
        .duration_since(written)
        .is_ok_and(|age| age > EXPIRY)
}

fn read_record(folder: &Path) -> Option<Record> {
    let bytes = private::read(&folder.join(RECORD), LARGEST).ok()??;
    serde_json::from_slice(&bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(roots: &[&str], started_at: u64) -> Record {
        Record {
            pid: 1,
            port: 7,
            roots: roots.iter().map(PathBuf::from).collect(),
            started_for: roots.iter().map(PathBuf::from).collect(),
            editor_settings: None,
            ending: false,
            editor: "none".into(),
            version: "0".into(),
            started_at,
            tokens: Vec::new(),
            secret: Token::random().unwrap(),
            page: Token::random().unwrap(),
            files: Vec::new(),
            guests: BTreeMap::new(),
        }
    }

    fn start(registry: &Registry, roots: &[&str], at: u64) -> (Slot, Option<Record>) {
        let record = record(roots, at);
        let (slot, previous) = registry.claim(&record.roots, false).unwrap();
        slot.record(&record).unwrap();
        (slot, previous)
    }

    #[test]
    fn a_companion_is_alive_for_as_long_as_it_holds_its_slot() {
        let state = tempfile::tempdir().unwrap();
        let registry = Registry::open(state.path()).unwrap();
        let (slot, previous) = start(&registry, &["/w"], 1);
        assert!(previous.is_none());
        assert_eq!(registry.running().len(), 1);
        assert!(registry.abandoned().is_empty());
        drop(slot);
        assert!(registry.running().is_empty());
        assert_eq!(registry.abandoned().len(), 1);
    }

    #[test]
    fn the_next_one_for_the_same_roots_takes_over_and_two_at_once_do_not_fight() {
        let state = tempfile::tempdir().unwrap();
        let registry = Registry::open(state.path()).unwrap();
        let (first, _) = start(&registry, &["/w"], 1);
        let (second, previous) = start(&registry, &["/w"], 2);
        assert!(previous.is_none());
        assert_eq!(registry.running().len(), 2);
        drop((first, second));
        let (_third, previous) = start(&registry, &["/w"], 3);
        assert!(previous.is_some());
        let (_other, previous) = start(&registry, &["/v"], 4);
        assert!(previous.is_none());
    }

    #[test]
    fn a_folder_is_served_by_the_closest_root_then_by_the_youngest() {
        let state = tempfile::tempdir().unwrap();
        let registry = Registry::open(state.path()).unwrap();
        let _slots = [
            start(&registry, &["/w"], 1),
            start(&registry, &["/w/deep"], 2),
            start(&registry, &["/w"], 3),
        ];
        let serving = |folder: &str| {
            registry
                .serving(Path::new(folder))
                .map(|record| record.started_at)
        };
        assert_eq!(serving("/w/x"), Some(3));
        assert_eq!(serving("/w/deep/x"), Some(2));
        assert_eq!(serving("/w/deeper"), Some(3));
        assert_eq!(serving("/elsewhere"), None);
    }

    #[test]
    fn a_companion_covers_folders_if_each_lies_below_one_of_its_roots() {
        let state = tempfile::tempdir().unwrap();
        let registry = Registry::open(state.path()).unwrap();
        let _slots = [
            start(&registry, &["/w", "/v"], 1),
            start(&registry, &["/w/deep"], 2),
        ];
        for (folders, covering) in [
            (&["/w"][..], &[1][..]),
            (&["/w/deep/x"], &[1, 2]),
            (&["/w/deep", "/v/x"], &[1]),
            (&["/v", "/elsewhere"], &[]),
            (&["/wx"], &[]),
        ] {
            let asked: Vec<_> = folders.iter().map(PathBuf::from).collect();
            let found = registry.covering(&asked);
            let found: Vec<_> = found.iter().map(|record| record.started_at).collect();
            assert_eq!(found, covering, "{folders:?}");
        }
    }

    #[test]
    fn folders_that_editors_brought_do_not_hide_a_slot_from_the_next_run() {
        let state = tempfile::tempdir().unwrap();
        let registry = Registry::open(state.path()).unwrap();
        let (slot, _) = start(&registry, &["/w"], 1);
        let mut grown = record(&["/w"], 2);
        grown.roots.push("/w/sub".into());
        slot.record(&grown).unwrap();
        let folder = slot.folder().to_owned();
        drop(slot);
        for roots in [vec!["/w"], vec!["/w", "/w/sub"]] {
            let roots: Vec<_> = roots.into_iter().map(PathBuf::from).collect();
            let (slot, previous) = registry.claim(&roots, false).unwrap();
            assert_eq!((slot.folder(), previous.is_some()), (&*folder, true));
        }
    }

    #[test]
    fn one_that_is_about_to_end_serves_nobody_and_its_slot_is_waited_for() {
        let state = tempfile::tempdir().unwrap();
        let registry = Registry::open(state.path()).unwrap();
        let (slot, _) = start(&registry, &["/w"], 1);
        let ending = Record {
            ending: true,
            ..record(&["/w"], 1)
        };
        slot.record(&ending).unwrap();
        assert!(registry.serving(Path::new("/w")).is_none());
        let folder = slot.folder().to_owned();
        let next = std::thread::spawn({
            let registry = registry.clone();
            move || registry.claim(&["/w".into()], false).unwrap()
        });
        drop(slot);
        let (slot, previous) = next.join().unwrap();
        assert_eq!((slot.folder(), previous.is_some()), (&*folder, true));
    }

    #[test]
    fn of_those_who_start_at_once_one_finds_nobody_and_the_others_find_it() {
        let state = tempfile::tempdir().unwrap();
        let registry = Registry::open(state.path()).unwrap();
        let roots = [PathBuf::from("/w")];
        let starts: Vec<_> = (0..8)
            .map(|at| {
                let (registry, roots) = (registry.clone(), roots.clone());
                std::thread::spawn(move || {
                    let _turn = registry.turn().unwrap();
                    registry
                        .covering(&roots)
                        .pop()
                        .is_none()
                        .then(|| start(&registry, &["/w"], at))
                })
            })
            .collect();
        let started: Vec<_> = starts
            .into_iter()
            .filter_map(|it| it.join().unwrap())
            .collect();
        assert_eq!(started.len(), 1);
    }

    #[cfg(unix)]
    #[test]
    fn secrets_are_for_this_user_only() {
        use std::os::unix::fs::PermissionsExt;

        let state = tempfile::tempdir().unwrap();
        let registry = Registry::open(state.path()).unwrap();
        let (slot, _) = start(&registry, &["/w"], 1);
        let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(&slot.folder), 0o700);
        assert_eq!(mode(&slot.folder.join(RECORD)), 0o600);
    }
}
