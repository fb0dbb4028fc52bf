//! How many pages may listen at once.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::oneshot;

/// The page that has listened for longest is asked to leave for one more.
const MOST: usize = 32;

/// The seats of those who listen.
#[derive(Debug, Default)]
pub(crate) struct Seats(Mutex<Taken>);

#[derive(Debug, Default)]
struct Taken {
    next: u64,
    /// Dropping one of these tells whoever sits there to leave.
    seats: BTreeMap<u64, oneshot::Sender<Infallible>>,
}

/// A seat; it is free again when this is dropped.
#[derive(Debug)]
pub(crate) struct Seat {
    number: u64,
    room: Arc<Seats>,
    asked_to_leave: oneshot::Receiver<Infallible>,
}

impl Seats {
    /// Takes a seat.
    pub(crate) fn take(self: &Arc<Self>) -> Seat {
        let (seat, asked_to_leave) = oneshot::channel();
        let mut taken = self.lock();
        let number = taken.next;
        taken.next += 1;
        taken.seats.insert(number, seat);
        if taken.seats.len() > MOST {
            taken.seats.pop_first();
        }
        Seat {
            number,
            room: self.clone(),
            asked_to_leave,
        }
    }

    fn lock(&self) -> MutexGuard<'_, Taken> {
        // Nothing in here can be left half done.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Seat {
    /// Returns when somebody else needs the seat.
    pub(crate) async fn lost(&mut self) {
        let _ = (&mut self.asked_to_leave).await;
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        self.room.lock().seats.remove(&self.number);
    }
}
