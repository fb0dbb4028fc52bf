//! What a companion has to remember if it is started again: sessions, pending proposals,
//! verdicts that have not been delivered.
//!
//! Each thing is one private file. A thread of its own writes them, so that a slow disk delays
//! nobody. Its queue holds one entry per file, the newest, so it cannot grow with the number of
//! changes. The files protect against the end of the process, not of the machine, so nothing is
//! synced.

mod saved;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};

use serde::Deserialize;
use tokio::sync::watch;
use workbench::{Focus, Proposal, ProposalId};

pub use saved::Saved;
#[cfg(test)]
use saved::SavedClient;
use saved::{SavedDocument, SavedProposal, SavedSessions};
pub(crate) use saved::{SavedSession, SavedVerdict};

const SESSIONS: &str = "sessions.json";
const DOCUMENTS: &str = "documents.json";
/// No file of ours can be larger: two texts at the largest size, escaped.
const LARGEST: u64 = 1 << 30;

/// Where the desk writes what has to survive the process.
#[derive(Debug)]
pub struct Journal {
    writer: Option<Arc<Writer>>,
}

/// Says when everything that was queued before the receipt was taken is on disk.
#[derive(Debug)]
pub struct Receipt(Option<(u64, watch::Receiver<u64>)>);

impl Receipt {
    /// Resolves when it is on disk; at once if the journal writes nothing at all.
    pub async fn written(self) {
        if let Some((number, mut done)) = self.0 {
            // An error means that the journal is closed, and it writes everything before that.
            let _ = done.wait_for(|done| *done >= number).await;
        }
    }
}

#[derive(Debug)]
struct Writer {
    folder: PathBuf,
    /// The number of the last write that is done, with all before it.
    done: watch::Sender<u64>,
    work: Mutex<WriteQueue>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct WriteQueue {
    /// The newest contents of each file that has to be written; `None` removes the file.
    writes: BTreeMap<String, Option<FileContents>>,
    /// How many writes were ever queued.
    queued: u64,
    writing: bool,
    closed: bool,
}

#[derive(Debug)]
enum FileContents {
    Sessions(Vec<SavedSession>, u64),
    Proposal(Box<Proposal>),
    Verdict(SavedVerdict),
    Documents(Vec<(Focus, u64)>),
}

impl Journal {
    /// A journal that writes nothing.
    pub fn none() -> Journal {
        Journal { writer: None }
    }

    /// A journal in a private folder that exists.
    pub fn open(folder: &Path) -> std::io::Result<Journal> {
        let writer = Arc::new(Writer {
            folder: folder.to_owned(),
            done: watch::Sender::new(0),
            work: Mutex::default(),
            changed: Condvar::new(),
        });
        std::thread::Builder::new().name("journal".into()).spawn({
            let writer = writer.clone();
            move || writer.write_all()
        })?;
        Ok(Journal {
            writer: Some(writer),
        })
    }

    /// What the files in `folder` say. What cannot be read is left out and reported.
    pub fn load(folder: &Path) -> Saved {
        let mut saved = Saved::default();
        if let Some(sessions) = load::<SavedSessions>(&folder.join(SESSIONS)) {
            saved.sessions = sessions.sessions;
            saved.next_proposal = sessions.next_proposal;
        }
        if let Some(documents) = load::<Vec<SavedDocument>>(&folder.join(DOCUMENTS)) {
            saved.documents = documents
                .into_iter()
                .map(SavedDocument::into_focus)
                .collect();
            saved.documents.sort_by_key(|(_, at)| *at);
        }
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            let name = entry.file_name();
            let name = name.to_string_lossy();
            if name.starts_with("proposal-") {
                saved
                    .proposals
                    .extend(load(&entry.path()).map(SavedProposal::into_proposal));
            } else if name.starts_with("verdict-") {
                saved.verdicts.extend(load::<SavedVerdict>(&entry.path()));
            }
        }
        // A verdict is written before its proposal is removed; both can be there after a crash.
        saved.proposals.retain(|proposal| {
            !saved
                .verdicts
                .iter()
                .any(|verdict| verdict.proposal == proposal.id.get())
        });
        saved.proposals.sort_by_key(|proposal| proposal.id);
        saved.verdicts.sort_by_key(|verdict| verdict.proposal);
        let ids = saved.proposals.iter().map(|proposal| proposal.id.get());
        let ids = ids.chain(saved.verdicts.iter().map(|verdict| verdict.proposal));
        saved.next_proposal = ids.map(|id| id + 1).fold(saved.next_proposal, u64::max);
        saved
    }

    pub(crate) fn save_sessions(&self, sessions: Vec<SavedSession>, next_proposal: u64) {
        self.enqueue(
            SESSIONS.into(),
            Some(FileContents::Sessions(sessions, next_proposal)),
        );
    }

    pub(crate) fn save_proposal(&self, proposal: Proposal) {
        let name = proposal_file(proposal.id);
        self.enqueue(name, Some(FileContents::Proposal(Box::new(proposal))));
    }

    pub(crate) fn save_verdict(&self, verdict: SavedVerdict) {
        let id = ProposalId::new(verdict.proposal);
        self.enqueue(verdict_file(id), Some(FileContents::Verdict(verdict)));
        self.enqueue(proposal_file(id), None);
    }

    pub(crate) fn save_documents(&self, documents: Vec<(Focus, u64)>) {
        self.enqueue(DOCUMENTS.into(), Some(FileContents::Documents(documents)));
    }

    pub(crate) fn forget_documents(&self) {
        self.enqueue(DOCUMENTS.into(), None);
    }

    /// The proposal is over and its verdict, if it had one, has arrived.
    pub(crate) fn remove(&self, proposal: ProposalId) {
        self.enqueue(proposal_file(proposal), None);
        self.enqueue(verdict_file(proposal), None);
    }

    /// A receipt for everything queued so far.
    pub(crate) fn receipt(&self) -> Receipt {
        let number = |writer: &Arc<Writer>| (writer.lock().queued, writer.done.subscribe());
        Receipt(self.writer.as_ref().map(number))
    }

    /// Returns when everything queued so far is on disk. Blocks.
    fn flush(&self) {
        let Some(writer) = &self.writer else { return };
        let mut work = writer.lock();
        while work.writing || !work.writes.is_empty() {
            work = writer.wait(work);
        }
    }

    fn enqueue(&self, name: String, entry: Option<FileContents>) {
        if let Some(writer) = &self.writer {
            let mut work = writer.lock();
            work.queued += 1;
            work.writes.insert(name, entry);
            drop(work);
            writer.changed.notify_all();
        }
    }
}

impl Drop for Journal {
    fn drop(&mut self) {
        self.flush();
        if let Some(writer) = &self.writer {
            writer.lock().closed = true;
            writer.changed.notify_all();
        }
    }
}

impl Writer {
    fn lock(&self) -> MutexGuard<'_, WriteQueue> {
        crate::locked(&self.work)
    }

    /// Gives up the lock until something has changed.
    fn wait<'a>(&self, work: MutexGuard<'a, WriteQueue>) -> MutexGuard<'a, WriteQueue> {
        let waited = self.changed.wait(work);
        waited.expect("no thread panics while it holds a lock")
    }

    /// The thread: everything that is queued, then what came meanwhile.
    fn write_all(&self) {
        let mut work = self.lock();
        loop {
            if !work.writes.is_empty() {
                let writes = std::mem::take(&mut work.writes);
                let number = work.queued;
                work.writing = true;
                drop(work);
                // Names sort as documents, proposal, sessions, verdict; the last comes first, so
                // that a verdict is there before the proposal that it replaces is removed.
                for (name, entry) in writes.into_iter().rev() {
                    self.write_file(&name, entry);
                }
                self.done.send_replace(number);
                work = self.lock();
                work.writing = false;
                self.changed.notify_all();
            } else if work.closed {
                return;
            } else {
                work = self.wait(work);
            }
        }
    }

    fn write_file(&self, name: &str, entry: Option<FileContents>) {
        let result = match entry {
            Some(entry) => private::write(&self.folder, name, &entry.into_json()),
            None => private::remove(&self.folder.join(name)),
        };
        if let Err(error) = result {
            tracing::warn!(%error, "cannot keep the journal; a crash now would lose what is pending");
        }
    }
}

impl FileContents {
    fn into_json(self) -> Vec<u8> {
        let json = match self {
            FileContents::Sessions(sessions, next_proposal) => serde_json::to_vec(&SavedSessions {
                next_proposal,
                sessions,
            }),
            FileContents::Proposal(proposal) => {
                serde_json::to_vec(&SavedProposal::from(&*proposal))
            }
            FileContents::Verdict(verdict) => serde_json::to_vec(&verdict),
            FileContents::Documents(documents) => {
                // JSON cannot hold a name that is not Unicode, and agents are never told one.
                let unicode = |(focus, _): &(Focus, u64)| {
                    focus.place.path.to_str().is_some() && focus.place.real.to_str().is_some()
                };
                let documents = documents.into_iter().filter(unicode);
                let documents: Vec<_> = documents.map(SavedDocument::from).collect();
                serde_json::to_vec(&documents)
            }
        };
        // Strings and numbers can always be written as JSON.
        json.unwrap_or_default()
    }
}

fn proposal_file(id: ProposalId) -> String {
    format!("proposal-{id}.json")
}

fn verdict_file(id: ProposalId) -> String {
    format!("verdict-{id}.json")
}

fn load<T: for<'de> Deserialize<'de>>(path: &Path) -> Option<T> {
    let bytes = match private::read(path, LARGEST) {
        Ok(bytes) => bytes?,
        Err(error) => {
            tracing::warn!(%error, "cannot read what an earlier run left behind");
            return None;
        }
    };
    serde_json::from_slice(&bytes)
        .inspect_err(|error| tracing::warn!(path = %path.display(), %error, "ignoring a damaged file of an earlier run"))
        .ok()
}

#[cfg(test)]
#[cfg(unix)]
mod tests;
