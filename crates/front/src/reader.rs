//! Somebody who reads the feed.

use std::sync::Arc;

use tokio::sync::watch;

use crate::error::FrontError;
use crate::feed::{Interest, Next, Numbered};
use crate::front::Front;
use crate::snapshot::Snapshot;

/// What a reader hears next.
#[derive(Clone, Debug)]
pub enum Item {
    /// Everything at once: at the beginning, and after it has fallen behind.
    Snapshot(Box<Snapshot>),
    /// One change.
    Change(Arc<Numbered>),
}

/// Somebody who reads the feed. One that is not asked costs nothing.
#[derive(Debug)]
pub struct Reader {
    front: Front,
    interest: Interest,
    newest: watch::Receiver<u64>,
    /// The number up to which everything is known; none before the first snapshot.
    seen: Option<u64>,
}

impl Reader {
    pub(crate) fn new(front: Front, interest: Interest, seen: Option<u64>) -> Reader {
        front.0.feed.join(interest);
        Reader {
            newest: front.0.feed.watch(),
            // A number that was never given is of another run.
            seen: seen.filter(|seen| *seen <= front.0.feed.newest()),
            front,
            interest,
        }
    }

    /// What comes next, as soon as there is something. May be dropped while it waits.
    pub async fn next(&mut self) -> Result<Item, FrontError> {
        loop {
            // Marked before the look, so that nothing can come in between unnoticed.
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
            // The feed is ours too, so there is always somebody who could tell.
            let _ = self.newest.changed().await;
        }
    }
}

impl Drop for Reader {
    fn drop(&mut self) {
        self.front.0.feed.leave(self.interest);
    }
}
