//! The companions of this user on this machine: where each keeps its state, and which are alive.
//!
//! Every companion owns one private folder. It holds a lock on a file in there for as long
//! as it lives, so that whether it is alive is known from the operating system and not
//! guessed from a process id that may belong to somebody else by now. The folder outlives
//! the companion: one that is started again for the same roots takes up what is in it.

mod slot;

use std::collections::BTreeMap;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::token::{Token, random_hex};
pub use slot::Slot;
use slot::{is_held, lock_file, silence, try_lock};

const RECORD: &str = "companion.json";
const LOCK: &str = "lock";
/// Written by the first who finds that a companion has died. Its age says how long nobody came back.
const ABANDONED: &str = "abandoned";
/// The folder of all companions, in the one where programs keep their state.
const COMPANIONS: [&str; 2] = ["outrigger", "companions"];
/// Beside the folder of all companions: held by a process that finds out who serves its folders, and starts to.
const START_LOCK: &str = "starting.lock";
/// Largest record that is read.
const LARGEST: u64 = 1 << 20;
/// What nobody came back for in this time, after it was found, is cleared away.
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
    /// Whether it ends to be started again at once.
    #[serde(default)]
    pub returns: bool,
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
    /// The discovery files that it wrote, and those of runs before that it could not remove yet.
    pub files: Vec<PathBuf>,
    /// What the files of runs before carry, while there are any.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub former_tokens: Vec<Token>,
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
    /// Where this user's programs keep their state.
    state: PathBuf,
    /// Where the companions do.
    folder: PathBuf,
}

/// The run before, in the same folder.
#[derive(Clone, Debug)]
pub struct Previous {
    /// What it wrote down.
    pub record: Record,
    /// For how long it has given no sign of life; absent if that is not known.
    pub silence: Option<Duration>,
}

/// The turn to start a companion. Others that want to start one wait until it is dropped.
#[derive(Debug)]
pub struct Turn {
    _lock: File,
}

impl Registry {
    /// The registry in `state`, the folder where this user's programs keep their state.
    pub fn open(state: &Path) -> Result<Registry, Error> {
        let folder = private::ensure_folder(state, &COMPANIONS)?;
        let state = state.to_owned();
        Ok(Registry { state, folder })
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
    pub fn claim(&self, roots: &[PathBuf]) -> Result<(Slot, Option<Previous>), Error> {
        let known = self.names().into_iter();
        let known = known.filter_map(|name| Some((read_record(&self.folder.join(&name))?, name)));
        let mut known: Vec<_> = known
            .filter(|(record, _)| record.roots == roots || record.started_for == roots)
            .collect();
        known.sort_by_key(|(record, _)| std::cmp::Reverse(record.started_at));
        for (record, name) in known {
            let tries = if record.ending { PATIENT_TRIES } else { TRIES };
            if let Some(slot) = Slot::hold(&self.state, &name, tries)? {
                let silence = silence(slot.folder());
                // Nobody looks at it while the slot is held, and later somebody else counts anew.
                let _ = private::remove(&slot.folder().join(ABANDONED));
                return Ok((slot, Some(Previous { record, silence })));
            }
        }
        let name = random_hex::<8>()?;
        match Slot::hold(&self.state, &name, TRIES)? {
            Some(slot) => Ok((slot, None)),
            None => Err(Error::Lock {
                path: self.folder.join(name).join(LOCK),
                source: std::io::ErrorKind::WouldBlock.into(),
            }),
        }
    }

    /// Goes on with the folder whose lock the program before us in this process
    /// [passed on](Slot::into_lock). `None` if there is no such folder any more.
    pub fn resume(&self, lock: File) -> Option<(Slot, Previous)> {
        let mut names = self.names().into_iter();
        let name = names.find(|name| slot::is_at(&lock, &self.folder.join(name).join(LOCK)))?;
        let slot = Slot::new(&self.state, &name, lock);
        let previous = Previous {
            record: read_record(slot.folder())?,
            silence: silence(slot.folder()),
        };
        Some((slot, previous))
    }

    /// The companions that are alive and not about to end.
    pub fn running(&self) -> Vec<Record> {
        let alive = self.folders().filter(|folder| is_held(folder));
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

    /// Has `clean_up` clean up after companions that died before they could do so themselves. What
    /// nobody came back for in a week is removed after that.
    pub fn clear_abandoned(&self, mut clean_up: impl FnMut(&Record)) {
        for name in self.names() {
            // Holding the slot keeps a companion that starts just now from being taken for a dead one.
            let Ok(Some(slot)) = Slot::hold(&self.state, &name, 1) else {
                continue;
            };
            if let Some(record) = read_record(slot.folder()) {
                clean_up(&record);
            }
            if is_expired(slot.folder()) {
                // What cannot be removed now is removed by the next one that tries.
                let _ = std::fs::remove_dir_all(slot.folder());
            }
        }
    }

    fn folders(&self) -> impl Iterator<Item = PathBuf> {
        let folders = self.names().into_iter();
        folders.map(|name| self.folder.join(name))
    }

    fn names(&self) -> Vec<String> {
        let entries = std::fs::read_dir(&self.folder)
            .into_iter()
            .flatten()
            .flatten();
        let folders = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
        let names = folders.filter_map(|entry| entry.file_name().into_string().ok());
        let mut names: Vec<_> = names.collect();
        names.sort();
        names
    }
}

impl Record {
    /// What its discovery files can carry.
    pub fn tokens_in_files(&self) -> impl Iterator<Item = &Token> {
        let own = self.tokens.iter().map(|(_, token)| token);
        own.chain(&self.former_tokens)
    }

    /// How deep the closest root above `folder` is; `None` if the folder is not served.
    fn depth(&self, folder: &Path) -> Option<usize> {
        let above = self.roots.iter().filter(|root| folder.starts_with(root));
        above.map(|root| root.components().count()).max()
    }
}

/// Whether nobody came back for a dead companion for too long. That is counted from when it was
/// found: the age of its own files says when it changed something last, which can be long before
/// its death.
fn is_expired(folder: &Path) -> bool {
    let found = std::fs::metadata(folder.join(ABANDONED)).and_then(|facts| facts.modified());
    let age = found.ok().and_then(|found| found.elapsed().ok());
    if age.is_none() {
        // Nobody has found it before, or the clock was put back: it is counted from now on.
        let _ = private::write(folder, ABANDONED, b"");
    }
    age.is_some_and(|age| age > EXPIRY)
}

fn read_record(folder: &Path) -> Option<Record> {
    let bytes = private::read(&folder.join(RECORD), LARGEST).ok()??;
    serde_json::from_slice(&bytes).ok()
}

#[cfg(test)]
mod tests;
