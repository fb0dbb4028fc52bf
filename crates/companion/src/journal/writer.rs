//! The thread that writes the journal, and what it has left to write.
//!
//! The queue holds one entry per file, the newest, so it cannot grow with the number of changes.
//! What cannot be written stays in it and is tried again, until it is on disk or something newer
//! takes its place.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use tokio::sync::watch;
use workbench::{Focus, Proposal};

use super::saved::{
    SavedCounter, SavedDocument, SavedProposal, SavedSession, SavedSessions, SavedVerdict,
};

/// When to try again what could not be written.
const RETRY: Duration = Duration::from_secs(1);

/// How the names of the files of proposals and verdicts begin. The rest of the name is the same for
/// both, so that they are found for each other.
pub(super) const PROPOSAL: &str = "proposal-";
pub(super) const VERDICT: &str = "verdict-";

/// Why what has happened would not survive a crash.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct JournalTrouble(Arc<str>);

/// What a file has to contain; `None` removes it.
pub(super) type Entry = Option<FileContents>;

/// How far the writer is.
#[derive(Clone, Debug, Default)]
pub(crate) struct Progress {
    /// All entries up to this number would survive the end of the process, or were tried. Removals
    /// are not among them.
    pub(crate) in_place: u64,
    /// All entries up to this number were tried.
    pub(super) tried: u64,
    /// What went wrong, and the number of the oldest entry that is not on disk.
    pub(super) failed: Option<(u64, JournalTrouble)>,
}

#[derive(Debug)]
pub(super) struct Writer {
    folder: PathBuf,
    progress: watch::Sender<Progress>,
    queue: Mutex<Queue>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct Queue {
    entries: BTreeMap<String, Numbered>,
    /// How many entries there ever were.
    queued: u64,
    /// When to try again what is left; absent if nothing is.
    retry_at: Option<Instant>,
    closed: bool,
}

#[derive(Debug)]
struct Numbered {
    number: u64,
    entry: Entry,
}

#[derive(Debug)]
pub(super) enum FileContents {
    Sessions(Vec<SavedSession>, u64),
    Counter(u64),
    Proposal(Box<Proposal>),
    Verdict(SavedVerdict),
    Documents(Vec<(Focus, u64)>),
}

impl Writer {
    /// Starts the thread. It ends when the writer is closed.
    pub(super) fn start(folder: PathBuf) -> std::io::Result<Arc<Writer>> {
        let writer = Arc::new(Writer {
            folder,
            progress: watch::Sender::new(Progress::default()),
            queue: Mutex::default(),
            changed: Condvar::new(),
        });
        std::thread::Builder::new().name("journal".into()).spawn({
            let writer = writer.clone();
            move || writer.run()
        })?;
        Ok(writer)
    }

    pub(super) fn enqueue(&self, name: String, entry: Entry) {
        let mut queue = self.lock();
        queue.queued += 1;
        let number = queue.queued;
        queue.entries.insert(name, Numbered { number, entry });
        drop(queue);
        self.changed.notify_all();
    }

    /// The number of the last entry so far, and the progress from now on.
    pub(super) fn follow(&self) -> (u64, watch::Receiver<Progress>) {
        (self.lock().queued, self.progress.subscribe())
    }

    pub(super) fn trouble(&self) -> Option<JournalTrouble> {
        let progress = self.progress.borrow();
        progress.failed.as_ref().map(|(_, trouble)| trouble.clone())
    }

    /// Returns when everything queued so far was tried. Blocks.
    pub(super) fn flush(&self) {
        let mut queue = self.lock();
        while self.is_behind(&queue) {
            queue = self.wait(queue, None);
        }
    }

    /// The thread ends when it has tried everything.
    pub(super) fn close(&self) {
        self.lock().closed = true;
        self.changed.notify_all();
    }

    /// The thread ends at once, and nobody waits for what was queued.
    pub(super) fn leave(&self) {
        let mut queue = self.lock();
        queue.entries.clear();
        queue.retry_at = None;
        queue.closed = true;
        let queued = queue.queued;
        drop(queue);
        self.changed.notify_all();
        self.report(Progress {
            in_place: queued,
            tried: queued,
            failed: None,
        });
    }

    fn is_behind(&self, queue: &Queue) -> bool {
        self.progress.borrow().tried < queue.queued
    }

    fn lock(&self) -> MutexGuard<'_, Queue> {
        crate::locked(&self.queue)
    }

    /// Gives up the lock until something has changed, or until that time.
    fn wait<'a>(
        &self,
        queue: MutexGuard<'a, Queue>,
        until: Option<Instant>,
    ) -> MutexGuard<'a, Queue> {
        let whole = "no thread panics while it holds a lock";
        let Some(until) = until else {
            return self.changed.wait(queue).expect(whole);
        };
        let left = until.saturating_duration_since(Instant::now());
        self.changed.wait_timeout(queue, left).expect(whole).0
    }

    fn run(&self) {
        let mut queue = self.lock();
        loop {
            let is_due = queue.retry_at.is_some_and(|at| at <= Instant::now());
            if self.is_behind(&queue) || is_due {
                let entries = std::mem::take(&mut queue.entries);
                let tried = queue.queued;
                drop(queue);
                let (left, failed) = self.write(entries, tried);
                queue = self.lock();
                if !queue.closed {
                    for (name, older) in left {
                        queue.entries.entry(name).or_insert(older);
                    }
                }
                queue.retry_at = failed.is_some().then(|| Instant::now() + RETRY);
                self.report(Progress {
                    in_place: tried,
                    tried,
                    failed,
                });
                self.changed.notify_all();
            } else if queue.closed {
                return;
            } else {
                let until = queue.retry_at;
                queue = self.wait(queue, until);
            }
        }
    }

    /// Writes and removes files; returns what is left to do, and why. `last` is the number of the
    /// newest entry.
    ///
    /// The order makes sure that a decision is never lost, wherever it stops: a verdict is on disk
    /// before its proposal goes, and the proposal is gone before the verdict goes.
    fn write(
        &self,
        entries: BTreeMap<String, Numbered>,
        last: u64,
    ) -> (BTreeMap<String, Numbered>, Option<(u64, JournalTrouble)>) {
        let mut batch = Batch::default();
        let (written, removed): (Vec<_>, Vec<_>) = entries
            .into_iter()
            .partition(|(_, numbered)| numbered.entry.is_some());
        let (proposals, others): (Vec<_>, Vec<_>) = removed
            .into_iter()
            .partition(|(name, _)| name.starts_with(PROPOSAL));
        let mut unsynced = Vec::new();
        for (name, numbered) in written {
            let json = numbered.entry.as_ref().map(FileContents::to_json);
            let put = private::write(&self.folder, &name, &json.unwrap_or_default());
            if let Some((name, numbered)) = batch.account_for(name, numbered, put)
                && name.starts_with(VERDICT)
            {
                unsynced.push((name, numbered));
            }
        }
        // An agent ends with the machine at the latest, so its verdict does not wait for the disk.
        self.progress.send_modify(|it| it.in_place = last);
        for (name, numbered) in unsynced {
            // The person is told of the decision, so it has to outlast the machine, too.
            let synced = private::sync(&self.folder, &name);
            batch.account_for(name, numbered, synced);
        }
        for (name, numbered) in proposals.into_iter().chain(others) {
            if counterpart(&name).is_some_and(|other| batch.left.contains_key(&other)) {
                batch.leave(name, numbered);
            } else {
                let removed = self.remove(&name);
                batch.account_for(name, numbered, removed);
            }
        }
        let failed = batch.why.map(|error| {
            let oldest = batch.left.values().map(|it| it.number).min();
            (
                oldest.unwrap_or(last),
                JournalTrouble(error.to_string().into()),
            )
        });
        (batch.left, failed)
    }

    fn remove(&self, name: &str) -> Result<(), private::Error> {
        let path = self.folder.join(name);
        // A system that can be read only refuses also what there is nothing to do for.
        match private::remove(&path) {
            Err(_) if is_absent(&path) => Ok(()),
            result => result,
        }
    }

    /// Says how far it is, and tells the log when trouble begins, changes and ends.
    fn report(&self, progress: Progress) {
        let before = self.progress.send_replace(progress.clone());
        let [before, now] = [before, progress].map(|it| it.failed.map(|(_, trouble)| trouble));
        match now {
            Some(now) if before.as_ref() != Some(&now) => {
                tracing::warn!(error = %now, "cannot keep the journal; a crash now would lose what is pending");
            }
            None if before.is_some() => tracing::info!("the journal is written again"),
            _ => {}
        }
    }
}

/// What becomes of entries that are written in one go.
#[derive(Default)]
struct Batch {
    left: BTreeMap<String, Numbered>,
    /// The first thing that went wrong.
    why: Option<private::Error>,
}

impl Batch {
    /// Returns the entry if that went well, and keeps it for later if not.
    fn account_for(
        &mut self,
        name: String,
        numbered: Numbered,
        result: Result<(), private::Error>,
    ) -> Option<(String, Numbered)> {
        match result {
            Ok(()) => Some((name, numbered)),
            Err(error) => {
                self.why.get_or_insert(error);
                self.leave(name, numbered);
                None
            }
        }
    }

    fn leave(&mut self, name: String, numbered: Numbered) {
        self.left.insert(name, numbered);
    }
}

/// The file of the verdict about a proposal, and the other way round.
fn counterpart(name: &str) -> Option<String> {
    let verdict = name
        .strip_prefix(PROPOSAL)
        .map(|rest| format!("{VERDICT}{rest}"));
    verdict.or_else(|| Some(format!("{PROPOSAL}{}", name.strip_prefix(VERDICT)?)))
}

fn is_absent(path: &std::path::Path) -> bool {
    let looked = std::fs::symlink_metadata(path);
    looked.is_err_and(|error| error.kind() == std::io::ErrorKind::NotFound)
}

impl FileContents {
    fn to_json(&self) -> Vec<u8> {
        let json = match self {
            FileContents::Sessions(sessions, next_proposal) => serde_json::to_vec(&SavedSessions {
                next_proposal: *next_proposal,
                sessions: sessions.clone(),
            }),
            FileContents::Counter(next_proposal) => serde_json::to_vec(&SavedCounter {
                next_proposal: *next_proposal,
            }),
            FileContents::Proposal(proposal) => {
                serde_json::to_vec(&SavedProposal::from(&**proposal))
            }
            FileContents::Verdict(verdict) => serde_json::to_vec(verdict),
            FileContents::Documents(documents) => {
                // JSON cannot hold a name that is not Unicode, and agents are never told one.
                let unicode = |(focus, _): &&(Focus, u64)| {
                    focus.place.path.to_str().is_some() && focus.place.real.to_str().is_some()
                };
                let documents = documents.iter().filter(unicode).cloned();
                let documents: Vec<_> = documents.map(SavedDocument::from).collect();
                serde_json::to_vec(&documents)
            }
        };
        // Strings and numbers can always be written as JSON.
        json.unwrap_or_default()
    }
}
