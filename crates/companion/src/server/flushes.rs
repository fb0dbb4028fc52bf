//! When what was written to a connection has left the process.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use tokio::sync::Notify;

/// Counts how often everything that was written to a connection has left the process.
///
/// HTTP gives no receipt for a part of a streamed answer. What can be known is that the
/// operating system has taken it, and hyper flushes the socket exactly when its own buffer
/// has become empty. A part that was handed over before such a flush has left; one that was
/// not flushed when the connection died may be sent again on the next one.
#[derive(Clone, Debug, Default)]
pub(crate) struct Flushes(Arc<FlushesInner>);

#[derive(Debug, Default)]
struct FlushesInner {
    count: AtomicU64,
    changed: Notify,
}

impl Flushes {
    /// The number of flushes so far: a mark to compare with later.
    pub(crate) fn mark(&self) -> u64 {
        self.0.count.load(Ordering::Acquire)
    }

    /// Whether a flush has happened since `mark`.
    pub(crate) fn since(&self, mark: u64) -> bool {
        self.mark() > mark
    }

    /// Waits for the first flush after `mark`.
    pub(crate) async fn wait(&self, mark: u64) {
        loop {
            let changed = self.0.changed.notified();
            if self.since(mark) {
                return;
            }
            changed.await;
        }
    }

    pub(super) fn happened(&self) {
        self.0.count.fetch_add(1, Ordering::AcqRel);
        self.0.changed.notify_waiters();
    }
}
