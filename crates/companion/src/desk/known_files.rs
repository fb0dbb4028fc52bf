//! Which of the open files exist.
//!
//! Nobody tells us when a file goes, so somebody has to look, and a look can take for ever: a
//! network mount whose server is gone holds whoever touches it. So the desk's owner never
//! looks itself. It takes what was seen last, and other threads look:
//!
//! | the file | what the owner takes | what is looked at |
//! |---|---|---|
//! | was there | it is there, without waiting | once in each round |
//! | was not there | it is not there, without waiting | each time it is the newest, and in each round |
//! | is new | nothing is published until it was looked at, for at most [`PATIENCE`] | at once |
//! | is new and the look hangs | it is not there | the hanging look may still come back |
//!
//! One thread looks at one file after the other. Another one is started only when a look takes
//! longer than [`PATIENCE`], so a file that hangs holds up itself and no other.

use std::collections::{HashMap, VecDeque};
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::Instant;

/// How long a context waits for the first look at a file. A look at a healthy disk takes
/// microseconds; a person does not notice this much.
pub(super) const PATIENCE: Duration = Duration::from_millis(100);

/// Threads that may look at once, counting those that hang.
const MOST_THREADS: usize = 64;

/// How to find out about files.
#[derive(Clone)]
pub(crate) struct Looking {
    /// Whether there is a file. It may take as long as it likes.
    pub(crate) is_file: Arc<dyn Fn(&Path) -> bool + Send + Sync>,
    /// Runs work that can block on another thread.
    pub(crate) spawn: fn(Box<dyn FnOnce() + Send>),
}

impl Default for Looking {
    fn default() -> Looking {
        Looking {
            is_file: Arc::new(Path::is_file),
            spawn: |work| drop(tokio::task::spawn_blocking(work)),
        }
    }
}

/// What is known about files.
pub(super) struct KnownFiles {
    looking: Looking,
    seen: HashMap<PathBuf, Seen>,
    /// Looks that have not come back, with the time at which they were asked for.
    pending: HashMap<PathBuf, Instant>,
    /// The same, oldest first; those that have come back go when somebody looks for the oldest.
    oldest_first: VecDeque<(PathBuf, Instant)>,
    shared: Arc<Shared>,
    /// Counts the contexts that were made.
    turn: u64,
    /// Whether this turn has asked for a file at all. The first one is the newest.
    has_asked: bool,
    /// Whether this turn has asked for a file that was never looked at.
    asked_for_new: bool,
    /// Since when the context waits for looks.
    waiting_since: Option<Instant>,
}

struct Seen {
    exists: bool,
    /// The turn in which it was last asked for.
    turn: u64,
}

/// What the looking threads share with the owner. There is at most one item for each pending
/// look.
#[derive(Default)]
struct Shared {
    work: Mutex<LookQueue>,
    returned: Arc<Notify>,
}

#[derive(Default)]
struct LookQueue {
    queue: VecDeque<PathBuf>,
    results: Vec<(PathBuf, bool)>,
    threads: usize,
}

impl KnownFiles {
    pub(super) fn new(looking: Looking) -> KnownFiles {
        KnownFiles {
            looking,
            seen: HashMap::new(),
            pending: HashMap::new(),
            oldest_first: VecDeque::new(),
            shared: Arc::default(),
            turn: 0,
            has_asked: false,
            asked_for_new: false,
            waiting_since: None,
        }
    }

    /// Notified when a look has come back.
    pub(super) fn returned(&self) -> Arc<Notify> {
        self.shared.returned.clone()
    }

    /// A new context is about to be made.
    pub(super) fn begin_turn(&mut self) {
        self.turn += 1;
        self.has_asked = false;
        self.asked_for_new = false;
    }

    /// Whether there is a file, as far as is known. Never blocks.
    pub(super) fn exists(&mut self, path: &Path) -> bool {
        let is_newest = !std::mem::replace(&mut self.has_asked, true);
        if let Some(seen) = self.seen.get_mut(path) {
            seen.turn = self.turn;
            let exists = seen.exists;
            // The person may have written it just now.
            if !exists && is_newest {
                self.look(path);
            }
            return exists;
        }
        let since = self.look(path);
        self.asked_for_new |= since.elapsed() < PATIENCE;
        false
    }

    /// Whether the context that was just made should wait, because it asked for a file that was
    /// never looked at. However many new files there are, it waits for [`PATIENCE`] in all.
    pub(super) fn is_worth_waiting(&mut self) -> bool {
        if self.asked_for_new {
            let since = *self.waiting_since.get_or_insert_with(Instant::now);
            if since.elapsed() < PATIENCE {
                return true;
            }
        }
        self.waiting_since = None;
        false
    }

    /// Until when the context waits, if it does.
    pub(super) fn waits_until(&self) -> Option<Instant> {
        self.waiting_since.map(|since| since + PATIENCE)
    }

    /// The context waits no longer.
    pub(super) fn stop_waiting(&mut self) {
        self.waiting_since = None;
    }

    /// Takes in the looks that have come back, and says whether anything is different now.
    pub(super) fn collect(&mut self) -> bool {
        let results = std::mem::take(&mut self.shared.lock().results);
        let mut changed = false;
        for (path, exists) in results {
            self.pending.remove(&path);
            let turn = self.turn;
            let before = self.seen.insert(path, Seen { exists, turn });
            changed |= before.is_none_or(|before| before.exists != exists);
        }
        changed
    }

    /// Looks again at the files that the last context asked for, and forgets the others.
    pub(super) fn refresh(&mut self) {
        let turn = self.turn;
        self.seen.retain(|_, seen| seen.turn == turn);
        let paths: Vec<_> = self.seen.keys().cloned().collect();
        for path in paths {
            self.look(&path);
        }
    }

    /// Has a file looked at, unless that is under way, and says since when it is.
    fn look(&mut self, path: &Path) -> Instant {
        let pending = self.pending.get(path).copied();
        let since = pending.unwrap_or_else(|| {
            let now = Instant::now();
            self.pending.insert(path.to_owned(), now);
            self.oldest_first.push_back((path.to_owned(), now));
            self.shared.lock().queue.push_back(path.to_owned());
            now
        });
        self.ensure_thread();
        since
    }

    /// Starts a thread if there is something to look at and none that will.
    fn ensure_thread(&mut self) {
        let hangs = self.oldest_pending() >= Some(PATIENCE);
        let mut work = self.shared.lock();
        let is_needed =
            !work.queue.is_empty() && (work.threads == 0 || (work.threads < MOST_THREADS && hangs));
        work.threads += usize::from(is_needed);
        drop(work);
        if is_needed {
            let (shared, is_file) = (self.shared.clone(), self.looking.is_file.clone());
            (self.looking.spawn)(Box::new(move || shared.look_at_all(&*is_file)));
        }
    }
}

impl KnownFiles {
    /// How long the oldest look has been pending, if there is one.
    fn oldest_pending(&mut self) -> Option<Duration> {
        while let Some((path, since)) = self.oldest_first.front() {
            // A look that came back may have been asked for again since.
            if self.pending.get(path) == Some(since) {
                return Some(since.elapsed());
            }
            self.oldest_first.pop_front();
        }
        None
    }
}

impl Shared {
    /// A looking thread: one file after the other, until there is none left.
    fn look_at_all(&self, is_file: &dyn Fn(&Path) -> bool) {
        loop {
            let mut work = self.lock();
            let Some(path) = work.queue.pop_front() else {
                work.threads -= 1;
                return;
            };
            drop(work);
            let exists = is_file(&path);
            self.lock().results.push((path, exists));
            self.returned.notify_one();
        }
    }

    fn lock(&self) -> MutexGuard<'_, LookQueue> {
        crate::locked(&self.work)
    }
}

impl fmt::Debug for KnownFiles {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("KnownFiles")
            .field("seen", &self.seen.len())
            .field("pending", &self.pending.len())
            .finish_non_exhaustive()
    }
}
