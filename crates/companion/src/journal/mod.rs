//! What a companion has to remember if it is started again: sessions, pending proposals,
//! verdicts that have not been delivered.
//!
//! Each thing is one private file. A thread of its own writes them, so that a slow disk delays
//! nobody. The files protect against the end of the process. Verdicts are synced, so they protect
//! against that of the machine, too: somebody was told that their decision counts.

mod saved;
mod writer;

use std::path::Path;
use std::sync::Arc;

use serde::Deserialize;
use tokio::sync::watch;
use workbench::{Focus, Proposal, ProposalId};

pub use saved::Saved;
#[cfg(test)]
use saved::SavedClient;
use saved::{SavedCounter, SavedDocument, SavedProposal, SavedSessions};
pub(crate) use saved::{SavedSession, SavedVerdict};
pub use writer::JournalTrouble;
pub(crate) use writer::Progress;
use writer::{Entry, FileContents, PROPOSAL, VERDICT, Writer};

const SESSIONS: &str = "sessions.json";
const COUNTER: &str = "counter.json";
const DOCUMENTS: &str = "documents.json";
/// No file of ours can be larger: two texts at the largest size, escaped.
const LARGEST: u64 = 1 << 30;

/// No proposal ever gets a larger number: they count up from one, and a page has to hold them in a
/// number of JavaScript. What has one was not written by us.
const LARGEST_NUMBER: u64 = (1 << 53) - 1;

/// Where the desk writes what has to survive the process.
#[derive(Debug)]
pub struct Journal {
    writer: Option<Arc<Writer>>,
}

/// Says when everything that was queued before the receipt was taken is on disk.
#[derive(Clone, Debug)]
pub struct Receipt(Option<(u64, watch::Receiver<Progress>)>);

impl Receipt {
    /// For what is on disk already, or never will be.
    pub(crate) fn settled_already() -> Receipt {
        Receipt(None)
    }

    /// For the entry of this number.
    #[cfg(test)]
    pub(crate) fn for_entry(number: u64, progress: watch::Receiver<Progress>) -> Receipt {
        Receipt(Some((number, progress)))
    }

    /// Whether what was queued would survive the end of the process, or that was tried in vain.
    pub(crate) fn is_in_place(&self) -> bool {
        let queued = self.0.as_ref();
        queued.is_none_or(|(number, progress)| progress.borrow().in_place >= *number)
    }

    /// Resolves when it is so.
    pub(crate) async fn in_place(self) {
        if let Some((number, mut progress)) = self.0 {
            // An error means that the journal is closed, and it tries everything before that.
            let _ = progress.wait_for(|it| it.in_place >= number).await;
        }
    }

    /// Resolves when it is on disk, or when that was tried in vain; then it is tried again, but
    /// nobody should wait for it. At once if the journal writes nothing at all.
    pub async fn written(self) -> Result<(), JournalTrouble> {
        let Some((number, mut progress)) = self.0 else {
            return Ok(());
        };
        // An error means that the journal is closed, and it tries everything before that.
        let _ = progress.wait_for(|it| it.tried >= number).await;
        match &progress.borrow().failed {
            Some((oldest, trouble)) if *oldest <= number => Err(trouble.clone()),
            _ => Ok(()),
        }
    }

    /// Resolves at the same moment, for those who go on in either case: the trouble is shown with
    /// the state of the companion.
    pub async fn settled(self) {
        let _ = self.written().await;
    }
}

impl Journal {
    /// A journal that writes nothing.
    pub fn none() -> Journal {
        Journal { writer: None }
    }

    /// A journal in a private folder that exists.
    pub fn open(folder: &Path) -> std::io::Result<Journal> {
        let writer = Writer::start(folder.to_owned())?;
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
        if let Some(counter) = load::<SavedCounter>(&folder.join(COUNTER))
            && is_possible(counter.next_proposal)
        {
            saved.next_proposal = saved.next_proposal.max(counter.next_proposal);
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
            if name.starts_with(PROPOSAL) {
                saved
                    .proposals
                    .extend(load(&entry.path()).map(SavedProposal::into_proposal));
            } else if name.starts_with(VERDICT) {
                saved.verdicts.extend(load::<SavedVerdict>(&entry.path()));
            }
        }
        saved.drop_impossible_numbers();
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

    /// A number is never given twice.
    pub(crate) fn save_counter(&self, next_proposal: u64) {
        self.enqueue(COUNTER.into(), Some(FileContents::Counter(next_proposal)));
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
        Receipt(self.writer.as_ref().map(|writer| writer.follow()))
    }

    /// Why what has happened would not survive a crash; `None` if it would, as far as is known.
    pub(crate) fn trouble(&self) -> Option<JournalTrouble> {
        self.writer.as_ref()?.trouble()
    }

    /// Writes nothing from now on, not even what is queued.
    pub(crate) fn leave(&mut self) {
        if let Some(writer) = self.writer.take() {
            writer.leave();
        }
    }

    /// Returns when everything queued so far was tried. Blocks.
    fn flush(&self) {
        if let Some(writer) = &self.writer {
            writer.flush();
        }
    }

    fn enqueue(&self, name: String, entry: Entry) {
        if let Some(writer) = &self.writer {
            writer.enqueue(name, entry);
        }
    }
}

impl Saved {
    /// Leaves out what has a number that was never given. The next proposal could get none after it.
    fn drop_impossible_numbers(&mut self) {
        self.proposals.retain(|it| is_possible(it.id.get()));
        self.verdicts.retain(|it| is_possible(it.proposal));
        if !is_possible(self.next_proposal) {
            self.next_proposal = 0;
        }
    }
}

/// Whether a number can have been given, or will be given next.
fn is_possible(number: u64) -> bool {
    let is_possible = number <= LARGEST_NUMBER;
    if !is_possible {
        tracing::warn!(number, "ignoring an impossible number of an earlier run");
    }
    is_possible
}

impl Drop for Journal {
    fn drop(&mut self) {
        self.flush();
        if let Some(writer) = &self.writer {
            writer.close();
        }
    }
}

fn proposal_file(id: ProposalId) -> String {
    format!("{PROPOSAL}{id}.json")
}

fn verdict_file(id: ProposalId) -> String {
    format!("{VERDICT}{id}.json")
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
