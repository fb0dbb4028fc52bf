//! Reading the feed.

use std::sync::Arc;

use tokio::sync::watch;

use crate::error::FrontError;
use crate::feed::{Interest, Next, NumberedChange};
use crate::front::Front;
use crate::snapshot::Snapshot;

/// What a reader receives.
#[derive(Clone, Debug)]
pub enum Item {
    /// The complete state: at the beginning, and after the reader has fallen behind.
    Snapshot(Box<Snapshot>),
    /// One change.
    Change(Arc<NumberedChange>),
}

/// A position in the feed. A reader that is not polled costs nothing.
#[derive(Debug)]
pub struct Reader {
    front: Front,
    interest: Interest,
    newest: watch::Receiver<u64>,
    /// The number of the last change that was received; `None` before the first snapshot.
    seen: Option<u64>,
}

impl Reader {
    pub(crate) fn new(front: Front, interest: Interest, seen: Option<u64>) -> Reader {
        front.0.feed.join(interest);
        Reader {
            newest: front.0.feed.watch(),
            // A number that was never assigned belongs to another run.
            seen: seen.filter(|seen| *seen <= front.0.feed.newest()),
            front,
            interest,
        }
    }

    /// Waits for the next item. Cancel safe.
    pub async fn next(&mut self) -> Result<Item, FrontError> {
        loop {
            // Marked before the feed is read, so that no change in between is missed.
            self.newest.mark_unchanged();
            let Some(seen) = self.seen else {
                let snapshot = self.front.take_snapshot().await?;
                self.seen = Some(snapshot.number);
                return Ok(Item::Snapshot(Box::new(snapshot)));
            };
            match self.front.0.feed.after(seen, self.interest) {
                Next::Change(change) => {
                    self.seen = Some(change.number);
                    return Ok(Item::Change(change));
                }
                Next::Nothing(newest) => self.seen = Some(newest),
                Next::Behind => {
                    self.seen = None;
                    continue;
                }
            }
            // The feed holds the sender and we hold the feed, so this cannot fail.
            let _ = self.newest.changed().await;
        }
    }
}

impl Drop for Reader {
    fn drop(&mut self) {
        self.front.0.feed.leave(self.interest);
    }
}
