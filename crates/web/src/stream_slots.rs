//! Limits how many event streams are open at once.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::sync::{Arc, Mutex, MutexGuard};

use tokio::sync::oneshot;

/// One more stream ends the oldest.
const MOST: usize = 32;

/// The slots of all open streams.
#[derive(Debug, Default)]
pub(crate) struct StreamSlots(Mutex<Taken>);

#[derive(Debug, Default)]
struct Taken {
    next: u64,
    /// Dropping one of these ends the stream that holds the slot.
    slots: BTreeMap<u64, oneshot::Sender<Infallible>>,
}

/// The slot of one stream. Dropping it frees the slot.
#[derive(Debug)]
pub(crate) struct StreamSlot {
    number: u64,
    slots: Arc<StreamSlots>,
    revoked: oneshot::Receiver<Infallible>,
}

impl StreamSlots {
    /// Takes a slot. If all are taken, the oldest stream loses its own.
    pub(crate) fn take(self: &Arc<Self>) -> StreamSlot {
        let (slot, revoked) = oneshot::channel();
        let mut taken = self.lock();
        let number = taken.next;
        taken.next += 1;
        taken.slots.insert(number, slot);
        if taken.slots.len() > MOST {
            taken.slots.pop_first();
        }
        StreamSlot {
            number,
            slots: self.clone(),
            revoked,
        }
    }

    fn lock(&self) -> MutexGuard<'_, Taken> {
        self.0
            .lock()
            .expect("a panic anywhere ends the whole program")
    }
}

impl StreamSlot {
    /// Returns when a newer stream needs the slot.
    pub(crate) async fn revoked(&mut self) {
        let _ = (&mut self.revoked).await;
    }
}

impl Drop for StreamSlot {
    fn drop(&mut self) {
        self.slots.lock().slots.remove(&self.number);
    }
}
