//! A handle that removes the discovery files, for exits that do not run the owner's code.

use std::collections::BTreeSet;
use std::fmt;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::leftovers::remove_if_ours;

/// Removes the files of a [`Beacon`](crate::Beacon), from any thread.
///
/// It is for a panic hook and for the task that waits for signals. It reads files and allocates,
/// so it must not be called from a raw signal handler. Only files that still carry one of our
/// tokens are removed, and the beacon writes none afterwards.
#[derive(Clone)]
pub struct Remover {
    state: Arc<RemoverState>,
}

impl Remover {
    pub(crate) fn new() -> Remover {
        Remover {
            state: Arc::default(),
        }
    }

    /// Removes the files, and returns those that cannot be removed now. Calling it again does
    /// nothing, so that a companion that has taken up the same port and tokens in the meantime keeps
    /// its files.
    pub fn remove(&self) -> Vec<PathBuf> {
        // The order matters: a beacon that is writing at this moment checks this flag afterwards,
        // and removes its file itself if the list below does not contain it.
        self.state.done.store(true, Ordering::SeqCst);
        let tracked = std::mem::take(&mut *self.tracked());
        let is_left = |path: &PathBuf| remove_if_ours(path, &tracked.tokens).is_err();
        tracked.files.into_iter().filter(is_left).collect()
    }

    /// Keeps the files on disk and forgets them, for a successor that is about to write the same.
    pub(crate) fn forget(&self) {
        self.state.done.store(true, Ordering::SeqCst);
        drop(std::mem::take(&mut *self.tracked()));
    }

    /// Whether the files were removed or forgotten: from then on none may be written.
    pub(crate) fn is_done(&self) -> bool {
        self.state.done.load(Ordering::SeqCst)
    }

    /// Sets which files may exist from now on. Tokens are only ever added, because a file that
    /// could not be rewritten still carries an old one.
    pub(crate) fn track(&self, files: BTreeSet<PathBuf>, tokens: impl Iterator<Item = String>) {
        let mut tracked = self.tracked();
        tracked.files = files;
        tracked.tokens.extend(tokens);
    }

    /// Adds what else files of ours can carry.
    pub(crate) fn add_tokens(&self, tokens: impl IntoIterator<Item = String>) {
        self.tracked().tokens.extend(tokens);
    }

    /// All tokens that a file of ours can carry.
    pub(crate) fn tokens(&self) -> BTreeSet<String> {
        self.tracked().tokens.clone()
    }

    /// The lock is never held across anything that can fail or block, so that a panic hook on the
    /// same thread cannot deadlock. The hook must not panic either, so a poisoned lock is taken
    /// as it is.
    fn tracked(&self) -> MutexGuard<'_, TrackedFiles> {
        self.state
            .tracked
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Remover {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Remover")
            .field("done", &self.is_done())
            .finish_non_exhaustive()
    }
}

#[derive(Default)]
struct RemoverState {
    /// Set once; no file is written afterwards.
    done: AtomicBool,
    tracked: Mutex<TrackedFiles>,
}

#[derive(Default)]
struct TrackedFiles {
    files: BTreeSet<PathBuf>,
    tokens: BTreeSet<String>,
}
