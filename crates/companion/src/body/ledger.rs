//! Who holds how much of the memory for request bodies.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex};

use beacon::process::ProcessId;
use tokio::sync::Notify;
use workbench::{Agent, SessionId};

use crate::locked;

/// Bodies below this size are not worth the accounting.
const SMALL: usize = 1024;

/// Whose room a body takes: as narrow as it is known.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Sender {
    /// An agent that has no session yet.
    Agent(Agent),
    /// A session whose process is not known.
    Session(SessionId),
    /// A process, with all its sessions.
    Process(ProcessId),
}

/// The accounts of all bodies that are held.
#[derive(Clone, Debug)]
pub(crate) struct Ledger(Arc<Mutex<Accounts>>);

#[derive(Debug)]
struct Accounts {
    free: usize,
    next: u64,
    open: BTreeMap<u64, Entry>,
}

#[derive(Debug)]
struct Entry {
    sender: Sender,
    bytes: usize,
    /// Whether it is still being received, and so may have to give its room back.
    receiving: bool,
    revoked: Arc<Notify>,
}

/// The room of one body. Dropping it gives the room back.
#[derive(Debug)]
pub(crate) struct Account {
    ledger: Ledger,
    number: u64,
    revoked: Arc<Notify>,
}

impl Ledger {
    pub(super) fn new(bytes: usize) -> Ledger {
        Ledger(Arc::new(Mutex::new(Accounts {
            free: bytes,
            next: 0,
            open: BTreeMap::new(),
        })))
    }

    /// An account for a body of `sender`, with nothing in it.
    pub(super) fn open(&self, sender: Sender) -> Account {
        let revoked = Arc::<Notify>::default();
        let mut accounts = locked(&self.0);
        let number = accounts.next;
        accounts.next += 1;
        let entry = Entry {
            sender,
            bytes: 0,
            receiving: true,
            revoked: revoked.clone(),
        };
        accounts.open.insert(number, entry);
        Account {
            ledger: self.clone(),
            number,
            revoked,
        }
    }
}

impl Account {
    /// Whether there is room for `size` bytes in all; a sender that has more may lose some for it.
    pub(super) fn holds(&mut self, size: usize) -> bool {
        if size < SMALL {
            return true;
        }
        locked(&self.ledger.0).grow(self.number, size)
    }

    /// The body is complete: it is not going to be taken away.
    pub(super) fn settle(&mut self) {
        if let Some(entry) = locked(&self.ledger.0).open.get_mut(&self.number) {
            entry.receiving = false;
        }
    }

    /// Returns when another sender has got the room.
    pub(super) async fn revoked(&self) {
        self.revoked.notified().await;
    }
}

impl Drop for Account {
    fn drop(&mut self) {
        locked(&self.ledger.0).close(self.number);
    }
}

impl Accounts {
    fn grow(&mut self, number: u64, size: usize) -> bool {
        loop {
            // There is none any more if it was revoked.
            let Some(entry) = self.open.get_mut(&number) else {
                return false;
            };
            let more = size.saturating_sub(entry.bytes);
            if more <= self.free {
                self.free -= more;
                entry.bytes += more;
                return true;
            }
            let sender = entry.sender.clone();
            match self.largest_above(&sender, more) {
                Some(other) => self.revoke(other),
                None => return false,
            }
        }
    }

    /// The largest body that is being received from whoever holds most, if that is more than
    /// `sender` would hold with `more`.
    fn largest_above(&self, sender: &Sender, more: usize) -> Option<u64> {
        let mut held: HashMap<&Sender, usize> = HashMap::new();
        for entry in self.open.values() {
            *held.entry(&entry.sender).or_default() += entry.bytes;
        }
        let wanted = held.get(sender).copied().unwrap_or_default() + more;
        let revocable = self.open.iter();
        let revocable = revocable.filter(|(_, entry)| {
            entry.receiving && entry.bytes > 0 && held[&entry.sender] > wanted
        });
        revocable
            .max_by_key(|(_, entry)| (held[&entry.sender], entry.bytes))
            .map(|(number, _)| *number)
    }

    fn revoke(&mut self, number: u64) {
        if let Some(entry) = self.close(number) {
            entry.revoked.notify_one();
        }
    }

    fn close(&mut self, number: u64) -> Option<Entry> {
        let entry = self.open.remove(&number)?;
        self.free += entry.bytes;
        Some(entry)
    }
}
