//! The feed: numbered changes for all front ends.
//!
//! There is one ring buffer of changes for all readers. Each reader has a position in it and reads
//! at its own pace, so a slow one costs nothing here. A reader whose position is no longer in the
//! ring gets a snapshot, and continues from there.
//!
//! What agents see changes with every move of the cursor. Nobody reads that while no page is open,
//! so it is only collected while a reader wants it. An omitted change takes a number, so that a
//! reader that returns to an earlier number gets a snapshot.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock};
use std::time::{Duration, Instant};

use bytes::Bytes;
use tokio::sync::watch;

use crate::change::{Change, Topic};

/// How many changes are kept for readers that are behind, and their total size by estimate.
const KEPT: usize = 4096;
const KEPT_BYTES: usize = 4 << 20;
/// How many are kept while no page is open or expected. All other readers are in this process, and
/// are hardly ever behind.
const KEPT_WITHOUT_PAGE: usize = 256;

/// How long a reader that has left is expected back, because a page may be reloading.
const EXPECTED: Duration = Duration::from_mins(1);

/// A change and its number. Numbers rise; they may have gaps.
#[derive(Debug)]
pub struct NumberedChange {
    /// Counted from 1.
    pub number: u64,
    /// What has changed.
    pub change: Change,
    encoded: OnceLock<Bytes>,
}

impl NumberedChange {
    /// The encoded change. `encode` runs for the first reader only; all others share its bytes. So
    /// there can be one encoding per process: that of the page.
    pub fn encoded(&self, encode: impl FnOnce(&NumberedChange) -> Bytes) -> Bytes {
        self.encoded.get_or_init(|| encode(self)).clone()
    }
}

/// The topics that a reader wants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Interest(u8);

impl Interest {
    /// These topics, and no others.
    pub const fn of(topics: &[Topic]) -> Interest {
        let mut bits = 0;
        let mut at = 0;
        while at < topics.len() {
            bits |= topics[at] as u8;
            at += 1;
        }
        Interest(bits)
    }

    fn includes(self, topic: Topic) -> bool {
        self.0 & topic as u8 != 0
    }
}

/// The changes of one run.
#[derive(Debug)]
pub(crate) struct Feed {
    ring: Mutex<Ring>,
    newest: watch::Sender<u64>,
    /// How many readers there are, and how many of them want [`Topic::Shared`].
    readers: AtomicUsize,
    sharing: AtomicUsize,
    /// How many snapshots were begun.
    snapshots: AtomicU64,
}

/// Which changes are read, or expected to be read soon.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Demand {
    /// None: there are no readers.
    None,
    /// All but [`Topic::Shared`].
    Partial,
    /// All.
    Full,
}

#[derive(Debug, Default)]
struct Ring {
    changes: VecDeque<Arc<NumberedChange>>,
    bytes: usize,
    newest: u64,
    /// The largest number whose change was dropped from the ring.
    dropped: u64,
    /// The largest number that was assigned to an omitted change of [`Topic::Shared`].
    omitted: u64,
    /// Until when a reader that has left is expected back.
    expected: Option<Instant>,
}

/// What follows a position.
#[derive(Debug)]
pub(crate) enum Next {
    /// This change.
    Change(Arc<NumberedChange>),
    /// No change of interest up to this number.
    Nothing(u64),
    /// Changes of interest were dropped or omitted: the reader needs a snapshot.
    Behind,
}

impl Feed {
    pub(crate) fn new() -> Feed {
        Feed {
            ring: Mutex::default(),
            newest: watch::Sender::new(0),
            readers: AtomicUsize::new(0),
            sharing: AtomicUsize::new(0),
            snapshots: AtomicU64::new(0),
        }
    }

    /// The number of the newest change; 0 if there was none.
    pub(crate) fn newest(&self) -> u64 {
        *self.newest.borrow()
    }

    /// Notifies of newer changes.
    pub(crate) fn watch(&self) -> watch::Receiver<u64> {
        self.newest.subscribe()
    }

    /// Assigns a number to a change and notifies all readers.
    pub(crate) fn push(&self, change: Change) {
        let mut ring = self.lock();
        let kept = if self.has_page(&ring) {
            KEPT
        } else {
            KEPT_WITHOUT_PAGE
        };
        ring.newest += 1;
        let number = ring.newest;
        ring.bytes += change.size();
        ring.changes.push_back(Arc::new(NumberedChange {
            number,
            change,
            encoded: OnceLock::new(),
        }));
        while (ring.changes.len() > kept || ring.bytes > KEPT_BYTES)
            && let Some(oldest) = ring.changes.pop_front()
        {
            ring.bytes -= oldest.change.size();
            ring.dropped = oldest.number;
        }
        // Still under the lock, so that readers are notified in the order of the numbers.
        self.newest.send_replace(number);
    }

    /// Omits a change of [`Topic::Shared`] that no reader wants.
    pub(crate) fn omit(&self) {
        let mut ring = self.lock();
        ring.newest += 1;
        ring.omitted = ring.newest;
        self.newest.send_replace(ring.newest);
    }

    /// Drops all changes, because some were missed before they got here: every reader needs a
    /// snapshot.
    pub(crate) fn start_over(&self) {
        let mut ring = self.lock();
        ring.newest += 1;
        ring.changes.clear();
        ring.bytes = 0;
        ring.dropped = ring.newest;
        self.newest.send_replace(ring.newest);
    }

    pub(crate) fn demand(&self) -> Demand {
        if self.has_page(&self.lock()) {
            Demand::Full
        } else if self.readers.load(Ordering::Acquire) > 0 {
            Demand::Partial
        } else {
            Demand::None
        }
    }

    /// Whether a reader of all topics is there, or expected soon. Only pages read all of them.
    fn has_page(&self, ring: &Ring) -> bool {
        let is_expected = ring.expected.is_some_and(|until| Instant::now() < until);
        is_expected || self.sharing.load(Ordering::Acquire) > 0
    }

    /// Counts a snapshot that is about to be taken. Its reader may know a newer state than the last
    /// change of the feed, see `Pump`.
    pub(crate) fn snapshot_begins(&self) {
        self.snapshots.fetch_add(1, Ordering::AcqRel);
    }

    /// How many snapshots were begun so far.
    pub(crate) fn snapshots(&self) -> u64 {
        self.snapshots.load(Ordering::Acquire)
    }

    /// Expects a reader of all topics within the next minute.
    pub(crate) fn expect_reader(&self) {
        self.lock().expected = Some(Instant::now() + EXPECTED);
    }

    pub(crate) fn join(&self, interest: Interest) {
        self.readers.fetch_add(1, Ordering::AcqRel);
        if interest.includes(Topic::Shared) {
            self.sharing.fetch_add(1, Ordering::AcqRel);
        }
    }

    pub(crate) fn leave(&self, interest: Interest) {
        if interest.includes(Topic::Shared) {
            self.expect_reader();
            self.sharing.fetch_sub(1, Ordering::AcqRel);
        }
        self.readers.fetch_sub(1, Ordering::AcqRel);
    }

    /// What a reader at `position` receives next.
    pub(crate) fn after(&self, position: u64, interest: Interest) -> Next {
        let ring = self.lock();
        let omitted = interest.includes(Topic::Shared) && position < ring.omitted;
        if position < ring.dropped || omitted {
            return Next::Behind;
        }
        let first = ring.changes.partition_point(|it| it.number <= position);
        let mut later = ring.changes.range(first..);
        later
            .find(|it| interest.includes(it.change.topic()))
            .map_or(Next::Nothing(ring.newest), |it| Next::Change(it.clone()))
    }

    fn lock(&self) -> MutexGuard<'_, Ring> {
        self.ring
            .lock()
            .expect("a panic anywhere ends the whole program")
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use workbench::ProposalId;

    use super::*;

    const REVIEW: Interest = Interest::of(&[Topic::Review]);
    const TALK: Interest = Interest::of(&[Topic::Conversation]);
    const ALL: Interest = Interest::of(&[Topic::Review, Topic::Conversation, Topic::Shared]);

    fn review(n: u64) -> Change {
        Change::Drafted(ProposalId::new(n))
    }

    fn conversation(text: &str) -> Change {
        Change::Conversation(conversation::Change::Append {
            id: 1,
            text: text.to_owned(),
        })
    }

    fn number(next: &Next) -> Result<u64, &Next> {
        match next {
            Next::Change(it) => Ok(it.number),
            other => Err(other),
        }
    }

    #[test]
    fn a_reader_gets_one_change_after_the_other_and_then_waits() {
        let feed = Feed::new();
        assert!(matches!(feed.after(0, ALL), Next::Nothing(0)));
        feed.push(review(7));
        feed.push(conversation("x"));
        assert_eq!(number(&feed.after(0, ALL)).unwrap(), 1);
        assert_eq!(number(&feed.after(1, ALL)).unwrap(), 2);
        assert!(matches!(feed.after(2, ALL), Next::Nothing(2)));
    }

    #[test]
    fn a_reader_receives_only_its_topics() {
        let feed = Feed::new();
        feed.push(conversation("x"));
        feed.push(review(1));
        assert_eq!(number(&feed.after(0, REVIEW)).unwrap(), 2);
        assert_eq!(number(&feed.after(0, TALK)).unwrap(), 1);
        assert!(matches!(feed.after(1, TALK), Next::Nothing(2)));
    }

    #[test]
    fn a_reader_behind_the_ring_learns_that_it_is_behind() {
        for (reader, kept) in [(ALL, KEPT), (REVIEW, KEPT_WITHOUT_PAGE)] {
            let feed = Feed::new();
            feed.join(reader);
            for n in 0..kept as u64 + 2 {
                feed.push(review(n));
            }
            for position in [0, 1] {
                let next = feed.after(position, reader);
                assert!(matches!(next, Next::Behind), "{position}");
            }
            assert_eq!(number(&feed.after(2, reader)).unwrap(), 3);
            feed.start_over();
            let newest = feed.newest();
            assert!(matches!(feed.after(newest - 1, reader), Next::Behind));
            assert!(matches!(feed.after(newest, reader), Next::Nothing(_)));
        }
    }

    #[test]
    fn large_changes_do_not_fill_the_memory() {
        let feed = Feed::new();
        let large = "x".repeat(KEPT_BYTES / 4);
        for _ in 0..10 {
            feed.push(conversation(&large));
        }
        let kept = feed.lock().changes.len();
        assert!((1..=4).contains(&kept), "{kept}");
        assert!(feed.lock().bytes <= KEPT_BYTES);
    }

    #[test]
    fn an_omitted_change_affects_only_readers_of_its_topic() {
        let feed = Feed::new();
        feed.push(review(1));
        feed.omit();
        assert!(matches!(feed.after(1, ALL), Next::Behind));
        assert!(matches!(feed.after(1, REVIEW), Next::Nothing(2)));
        assert!(matches!(feed.after(2, ALL), Next::Nothing(2)));
        // One after the other, too: each is a number of its own.
        feed.omit();
        assert!(matches!(feed.after(2, ALL), Next::Behind));
    }

    #[test]
    fn a_reader_that_left_is_expected_back_for_a_while() {
        let feed = Feed::new();
        assert_eq!(feed.demand(), Demand::None);
        feed.join(REVIEW);
        assert_eq!(feed.demand(), Demand::Partial);
        feed.join(ALL);
        assert_eq!(feed.demand(), Demand::Full);
        feed.leave(ALL);
        assert_eq!(feed.demand(), Demand::Full, "a page may be reloaded");
        feed.lock().expected = Some(Instant::now());
        assert_eq!(feed.demand(), Demand::Partial);
        feed.leave(REVIEW);
        assert_eq!(feed.demand(), Demand::None);
        feed.expect_reader();
        feed.start_over();
        assert_eq!(feed.demand(), Demand::Full);
    }

    #[test]
    fn a_change_is_encoded_once() {
        let feed = Feed::new();
        feed.push(review(1));
        let Next::Change(item) = feed.after(0, REVIEW) else {
            panic!("there is a change");
        };
        let bytes = item.encoded(|it| Bytes::from(it.number.to_string()));
        assert_eq!(bytes, "1");
        let again = item.encoded(|_| panic!("encoded twice"));
        assert_eq!(again, bytes);
    }

    proptest! {
        /// A reader that polls now and then either receives every change of interest, in order, or
        /// learns that it is behind.
        #[test]
        fn nothing_is_lost_silently(steps in prop::collection::vec(0_u8..5, 0..200)) {
            let feed = Feed::new();
            let (mut position, mut received, mut sent) = (0, Vec::new(), Vec::new());
            for step in steps {
                match step {
                    0 => feed.push(conversation("x")),
                    1 => feed.omit(),
                    2 => feed.start_over(),
                    3 => {
                        feed.push(review(1));
                        sent.push(feed.newest());
                    }
                    _ => match feed.after(position, REVIEW) {
                        Next::Change(it) => {
                            received.push(it.number);
                            position = it.number;
                        }
                        Next::Nothing(newest) => position = newest,
                        Next::Behind => {
                            position = feed.newest();
                            received.clone_from(&sent);
                        }
                    },
                }
            }
            prop_assert!(sent.starts_with(&received));
            while let Next::Change(it) = feed.after(position, REVIEW) {
                received.push(it.number);
                position = it.number;
            }
            if !matches!(feed.after(position, REVIEW), Next::Behind) {
                prop_assert_eq!(received, sent);
            }
        }
    }
}
