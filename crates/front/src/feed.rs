//! The feed: numbered changes for everybody who shows something to the person.
//!
//! There is one ring of changes for all readers. A reader has a position in it and reads on when it
//! can, so a slow one costs nothing here. There is one rule for a reader that has fallen behind
//! what the ring holds: it gets a snapshot, and goes on from there.
//!
//! What agents see changes with every move of the cursor. Nobody looks at that while no page is
//! open, so it is only put together while a reader wants it; what was left out meanwhile is a
//! number without a change, which makes a reader that comes back start with a snapshot.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock};
use std::time::{Duration, Instant};

use bytes::Bytes;
use tokio::sync::watch;

use crate::change::{Change, Topic};

/// How many changes are kept for readers that are behind, and about how many bytes of them.
const KEPT: usize = 4096;
const KEPT_BYTES: usize = 4 << 20;

/// How long a reader that left is expected back: a page that is reloaded takes a moment.
const EXPECTED: Duration = Duration::from_mins(1);

/// A change and its number. Numbers rise; they may have gaps.
#[derive(Debug)]
pub struct Numbered {
    /// Its number, from 1.
    pub number: u64,
    /// The change.
    pub change: Change,
    encoded: OnceLock<Bytes>,
}

impl Numbered {
    /// The change as the encoder of many readers writes it: made once, then shared by all of them.
    pub fn encoded(&self, encode: impl FnOnce(&Numbered) -> Bytes) -> Bytes {
        self.encoded.get_or_init(|| encode(self)).clone()
    }
}

/// What a reader wants to hear of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Interest(u8);

impl Interest {
    /// Of these topics, and of no other.
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
    /// How many readers there are, and how many of them want to hear of what is shared.
    readers: AtomicUsize,
    sharing: AtomicUsize,
    /// How many snapshots were taken.
    snapshots: AtomicU64,
}

/// Who reads, or is expected to in a moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Audience {
    /// Nobody.
    Nobody,
    /// Readers who do not care for what is shared.
    Partial,
    /// Readers of everything.
    Full,
}

#[derive(Debug, Default)]
struct Ring {
    changes: VecDeque<Arc<Numbered>>,
    bytes: usize,
    newest: u64,
    /// The largest number whose change is not kept any more.
    dropped: u64,
    /// The largest number that stands for a change of what is shared that was left out.
    omitted: u64,
    /// Until when a reader may come back that wants to read on.
    expected: Option<Instant>,
}

/// What comes after a position.
#[derive(Debug)]
pub(crate) enum Next {
    /// This change.
    Change(Arc<Numbered>),
    /// Nothing of interest up to this number.
    Nothing(u64),
    /// Changes of interest are not kept any more.
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

    /// Tells when there is a newer change.
    pub(crate) fn watch(&self) -> watch::Receiver<u64> {
        self.newest.subscribe()
    }

    /// Gives a change its number and tells all readers.
    pub(crate) fn push(&self, change: Change) {
        let mut ring = self.lock();
        ring.newest += 1;
        let number = ring.newest;
        ring.bytes += change.size();
        ring.changes.push_back(Arc::new(Numbered {
            number,
            change,
            encoded: OnceLock::new(),
        }));
        while (ring.changes.len() > KEPT || ring.bytes > KEPT_BYTES)
            && let Some(oldest) = ring.changes.pop_front()
        {
            ring.bytes -= oldest.change.size();
            ring.dropped = oldest.number;
        }
        // Still under the lock, so that numbers are told in their order.
        self.newest.send_replace(number);
    }

    /// Something that is shared has changed and was not put together, because nobody wants it.
    pub(crate) fn omit(&self) {
        let mut ring = self.lock();
        ring.newest += 1;
        ring.omitted = ring.newest;
        self.newest.send_replace(ring.newest);
    }

    /// Changes were missed before they got here: every reader needs a snapshot.
    pub(crate) fn start_over(&self) {
        let mut ring = self.lock();
        ring.newest += 1;
        ring.changes.clear();
        ring.bytes = 0;
        ring.dropped = ring.newest;
        self.newest.send_replace(ring.newest);
    }

    pub(crate) fn audience(&self) -> Audience {
        let expected = self.lock().expected;
        let is_expected = expected.is_some_and(|until| Instant::now() < until);
        if self.sharing.load(Ordering::Acquire) > 0 || is_expected {
            Audience::Full
        } else if self.readers.load(Ordering::Acquire) > 0 {
            Audience::Partial
        } else {
            Audience::Nobody
        }
    }

    /// Somebody is about to take a snapshot, and will know something else than what was said last.
    pub(crate) fn snapshot_begins(&self) {
        self.snapshots.fetch_add(1, Ordering::AcqRel);
    }

    /// How many snapshots were begun.
    pub(crate) fn snapshots(&self) -> u64 {
        self.snapshots.load(Ordering::Acquire)
    }

    /// Somebody will probably read everything in a moment.
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

    /// What a reader at `position` hears next.
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
    fn a_reader_hears_only_of_what_interests_it() {
        let feed = Feed::new();
        feed.push(conversation("x"));
        feed.push(review(1));
        assert_eq!(number(&feed.after(0, REVIEW)).unwrap(), 2);
        assert_eq!(number(&feed.after(0, TALK)).unwrap(), 1);
        assert!(matches!(feed.after(1, TALK), Next::Nothing(2)));
    }

    #[test]
    fn a_reader_behind_the_ring_is_told_so() {
        let feed = Feed::new();
        for n in 0..KEPT as u64 + 2 {
            feed.push(review(n));
        }
        for position in [0, 1] {
            let next = feed.after(position, REVIEW);
            assert!(matches!(next, Next::Behind), "{position}");
        }
        assert_eq!(number(&feed.after(2, REVIEW)).unwrap(), 3);
        feed.start_over();
        let newest = feed.newest();
        assert!(matches!(feed.after(newest - 1, REVIEW), Next::Behind));
        assert!(matches!(feed.after(newest, REVIEW), Next::Nothing(_)));
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
    fn what_was_left_out_concerns_only_those_who_want_it() {
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
        assert_eq!(feed.audience(), Audience::Nobody);
        feed.join(REVIEW);
        assert_eq!(feed.audience(), Audience::Partial);
        feed.join(ALL);
        assert_eq!(feed.audience(), Audience::Full);
        feed.leave(ALL);
        assert_eq!(feed.audience(), Audience::Full, "a page may be reloaded");
        feed.lock().expected = Some(Instant::now());
        assert_eq!(feed.audience(), Audience::Partial);
        feed.leave(REVIEW);
        assert_eq!(feed.audience(), Audience::Nobody);
        feed.expect_reader();
        feed.start_over();
        assert_eq!(feed.audience(), Audience::Full);
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
        /// A reader that comes now and then either hears every change that interests it, in order,
        /// or is told that it is behind.
        #[test]
        fn nothing_is_lost_silently(steps in prop::collection::vec(0_u8..5, 0..200)) {
            let feed = Feed::new();
            let (mut position, mut heard, mut sent) = (0, Vec::new(), Vec::new());
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
                            heard.push(it.number);
                            position = it.number;
                        }
                        Next::Nothing(newest) => position = newest,
                        Next::Behind => {
                            position = feed.newest();
                            heard.clone_from(&sent);
                        }
                    },
                }
            }
            prop_assert!(sent.starts_with(&heard));
            while let Next::Change(it) = feed.after(position, REVIEW) {
                heard.push(it.number);
                position = it.number;
            }
            if !matches!(feed.after(position, REVIEW), Next::Behind) {
                prop_assert_eq!(heard, sent);
            }
        }
    }
}
