//! The folder that a companion holds, and the lock that says so.

use std::fs::{File, Metadata, TryLockError};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use super::{ABANDONED, COMPANIONS, Error, LOCK, RECORD, Record, Registry, TRIES};
use crate::journal::{Journal, Saved};

/// A folder that this process holds for its companion.
#[derive(Debug)]
pub struct Slot {
    /// Where this user's programs keep their state.
    state: PathBuf,
    /// The name of the folder.
    name: String,
    folder: PathBuf,
    /// Held for as long as the companion lives.
    lock: File,
}

impl Slot {
    pub(super) fn new(state: &Path, name: &str, lock: File) -> Slot {
        let mut folder = state.to_owned();
        folder.extend(COMPANIONS.iter().chain([&name]));
        Slot {
            state: state.to_owned(),
            name: name.to_owned(),
            folder,
            lock,
        }
    }

    /// Takes the lock of a folder, which is created if there is none, trying `tries` times. `None`
    /// if another process holds it.
    pub(super) fn hold(state: &Path, name: &str, tries: usize) -> Result<Option<Slot>, Error> {
        let below = [COMPANIONS[0], COMPANIONS[1], name];
        let path = private::ensure_folder(state, &below)?.join(LOCK);
        let failed = |source| Error::Lock {
            path: path.clone(),
            source,
        };
        let lock = lock_file(&path).map_err(failed)?;
        // Somebody may have cleared the folder away while we waited for it.
        let is_ours = try_lock(&lock, tries).map_err(failed)? && is_at(&lock, &path);
        Ok(is_ours.then(|| Slot::new(state, name, lock)))
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

    /// Whether somebody has deleted the lock, and another companion has made one since. What is in the
    /// folder belongs to that one.
    pub fn is_taken(&self) -> bool {
        let path = self.folder.join(LOCK);
        path.exists() && !is_at(&self.lock, &path)
    }

    /// Whether others can see that this companion is alive: its lock and its record are there.
    pub fn is_intact(&self) -> bool {
        is_at(&self.lock, &self.folder.join(LOCK)) && self.folder.join(RECORD).exists()
    }

    /// Makes a folder and a lock again where somebody has deleted them. What was in the folder has
    /// to be written again. `false` if another companion has taken the folder in the meantime.
    pub fn restore(&mut self) -> Result<bool, Error> {
        if is_at(&self.lock, &self.folder.join(LOCK)) {
            return Ok(true);
        }
        let held = Slot::hold(&self.state, &self.name, TRIES)?;
        Ok(held.map(|slot| *self = slot).is_some())
    }

    /// The youngest of the other companions that serve all folders of this one, if it was started
    /// later.
    pub fn rival(&self, record: &Record) -> Option<Record> {
        let other = Registry::open(&self.state).ok()?;
        let mut others = other.covering(&record.roots);
        others.retain(|other| (other.started_at, other.pid) > (record.started_at, record.pid));
        others.into_iter().max_by_key(|other| other.started_at)
    }

    /// Gives a sign of life, by which the next run knows how long ago this one ended.
    pub fn beat(&self) {
        // It is one of several signs, and without it the next run only trusts less.
        let _ = self.lock.set_modified(SystemTime::now());
    }

    /// The lock, for the program that this process becomes. It is held for as long as the file is
    /// open, so there is no moment in which the companion seems to be gone.
    pub fn into_lock(self) -> File {
        self.lock
    }

    /// What the last holder of this slot left behind, and a journal to go on with.
    pub fn journal(&self) -> Result<(Saved, Journal), Error> {
        let saved = Journal::load(&self.folder);
        let journal = Journal::open(&self.folder).map_err(Error::Journal)?;
        Ok((saved, journal))
    }
}

/// Takes the lock if it is free, trying `tries` times.
pub(super) fn try_lock(lock: &File, tries: usize) -> std::io::Result<bool> {
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

pub(super) fn lock_file(path: &Path) -> std::io::Result<File> {
    File::options()
        .create(true)
        .truncate(false)
        .write(true)
        .open(path)
}

pub(super) fn is_held(folder: &Path) -> bool {
    File::open(folder.join(LOCK))
        .is_ok_and(|lock| matches!(lock.try_lock_shared(), Err(TryLockError::WouldBlock)))
}

/// Whether the file at `path` is the one that is open.
pub(super) fn is_at(open: &File, path: &Path) -> bool {
    let Ok(found) = std::fs::symlink_metadata(path) else {
        return false;
    };
    open.metadata().is_ok_and(|open| is_same(&open, &found))
}

#[cfg(unix)]
fn is_same(one: &Metadata, other: &Metadata) -> bool {
    use std::os::unix::fs::MetadataExt;

    (one.dev(), one.ino()) == (other.dev(), other.ino())
}

/// A file that is open cannot be deleted here.
#[cfg(not(unix))]
fn is_same(_one: &Metadata, _other: &Metadata) -> bool {
    true
}

/// For how long the companion of this folder has written nothing. It writes when an agent comes,
/// proposes or leaves, and [gives signs](Slot::beat) in between.
///
/// The file whose time is nearest to now counts, before or after it. A clock that was put back a
/// little does no harm then; and once it was put back a lot, files of days to come say nothing.
pub(super) fn silence(folder: &Path) -> Option<Duration> {
    let entries = std::fs::read_dir(folder).ok()?.flatten();
    let own = entries.filter(|entry| entry.file_name() != ABANDONED);
    let written = own.filter_map(|entry| entry.metadata().ok()?.modified().ok());
    let now = SystemTime::now();
    let distance = |written| {
        let since = now.duration_since(written);
        since.unwrap_or_else(|ahead| ahead.duration())
    };
    written.map(distance).min()
}
