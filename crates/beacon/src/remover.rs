//! A handle that takes the discovery files away, for ways out that do not pass by their owner.

use std::collections::BTreeSet;
use std::fmt;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::leftovers::take_down;

/// Removes the files of a [`Beacon`](crate::Beacon), from any thread.
///
/// It is made for a panic hook and for the task that waits for signals. It reads files and
/// allocates, so it is not for use inside a raw signal handler. Only files that still carry one
/// of our tokens are removed, and the beacon writes none afterwards.
#[derive(Clone)]
pub struct Remover {
    ledger: Arc<Ledger>,
}

impl Remover {
    pub(crate) fn new() -> Remover {
        Remover {
            ledger: Arc::default(),
        }
    }

    /// Removes the files. Calling it again does nothing, so that a companion that has taken up
    /// the same port and tokens in the meantime keeps its files.
    pub fn remove(&self) {
        // The order matters: a beacon that is just writing looks at this flag afterwards, and
        // takes its file away itself when it has missed the list below.
        self.ledger.out.store(true, Ordering::SeqCst);
        let entries = std::mem::take(&mut *self.entries());
        let tokens: Vec<_> = entries.tokens.iter().map(String::as_str).collect();
        for path in &entries.files {
            // There is nobody left to tell about a failure; the next start clears what is left.
            let _ = take_down(path, &tokens);
        }
    }

    /// Lets the files stand and forgets them, for a successor that is about to write the same ones.
    pub(crate) fn let_stand(&self) {
        self.ledger.out.store(true, Ordering::SeqCst);
        drop(std::mem::take(&mut *self.entries()));
    }

    /// Whether the files have been taken away for good.
    pub(crate) fn is_done(&self) -> bool {
        self.ledger.out.load(Ordering::SeqCst)
    }

    /// Sets which files may be there from now on. Tokens are only ever added, since a file that
    /// could not be rewritten still carries an old one.
    pub(crate) fn record(&self, files: BTreeSet<PathBuf>, tokens: impl Iterator<Item = String>) {
        let mut entries = self.entries();
        entries.files = files;
        entries.tokens.extend(tokens);
    }

    /// All tokens that a file of ours can carry.
    pub(crate) fn tokens(&self) -> BTreeSet<String> {
        self.entries().tokens.clone()
    }

    /// The lock is never held across anything that can fail or take time, so that a panic hook
    /// on the same thread cannot wait for itself. The hook must not panic either, so it takes
    /// the lock whatever state it is in.
    fn entries(&self) -> MutexGuard<'_, Entries> {
        self.ledger
            .entries
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
struct Ledger {
    /// Set once the files are to be gone for good.
    out: AtomicBool,
    entries: Mutex<Entries>,
}

#[derive(Default)]
struct Entries {
    files: BTreeSet<PathBuf>,
    tokens: BTreeSet<String>,
}
