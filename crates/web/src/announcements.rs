//! What pages are told while they are open.
//!
//! There is one ring of announcements for all pages, each written once, ready to be sent. A page
//! has a place in the ring and reads on when it can. So a page that does not read costs nothing
//! here, one that was away for a moment reads on where it was, and one that was away for too long
//! is told to look at everything again. While there is no page at all, nothing is written.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use bytes::Bytes;
use serde::Serialize;
use tokio::sync::watch;

/// How many announcements are kept, and how many bytes of them.
const MOST: usize = 1024;
const MOST_BYTES: usize = 4 << 20;

/// How long there are announcements for a page that is expected.
const EXPECTED: Duration = Duration::from_mins(1);

/// The announcements of one run of the companion.
#[derive(Debug)]
pub(crate) struct Announcements {
    /// Tells this run from the ones before and after it.
    instance: String,
    ring: Mutex<Ring>,
    newest: watch::Sender<u64>,
}

#[derive(Debug)]
struct Ring {
    frames: VecDeque<Bytes>,
    bytes: usize,
    /// The number of the first one that is kept, or of the next one if none is.
    first: u64,
    /// Until when a page may come that wants to read on.
    expected: Option<Instant>,
}

/// What comes after a place in the ring.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Next {
    /// This one.
    Frame(Bytes),
    /// Nothing yet.
    Nothing,
    /// What came next is forgotten; the newest announcement has this number.
    Forgotten(u64),
}

impl Announcements {
    pub(crate) fn new(instance: String) -> Announcements {
        Announcements {
            instance,
            ring: Mutex::new(Ring {
                frames: VecDeque::new(),
                bytes: 0,
                first: 1,
                expected: None,
            }),
            newest: watch::channel(0).0,
        }
    }

    /// What tells this run from others.
    pub(crate) fn instance(&self) -> &str {
        &self.instance
    }

    /// The number of the newest announcement; 0 if there was none.
    pub(crate) fn newest(&self) -> u64 {
        *self.newest.borrow()
    }

    /// A page has left, or has asked for everything: it will probably listen in a moment.
    pub(crate) fn expect_a_page(&self) {
        self.lock().expected = Some(Instant::now() + EXPECTED);
    }

    /// Whether somebody listens or is expected. If not, [`Announcements::start_over`] says enough.
    pub(crate) fn is_wanted(&self) -> bool {
        let expected = self.lock().expected;
        self.newest.receiver_count() > 0 || expected.is_some_and(|until| Instant::now() < until)
    }

    /// Tells when there is a newer one.
    pub(crate) fn watch(&self) -> watch::Receiver<u64> {
        self.newest.subscribe()
    }

    /// Tells all pages something.
    pub(crate) fn announce(&self, kind: &str, what: &impl Serialize) {
        let Ok(data) = serde_json::to_string(what) else {
            // Nothing of ours fails to be written but a name that is no text.
            return self.start_over();
        };
        let mut ring = self.lock();
        let number = ring.next();
        let frame = Bytes::from(self.frame(number, kind, &data));
        ring.bytes += frame.len();
        ring.frames.push_back(frame);
        while (ring.frames.len() > MOST || ring.bytes > MOST_BYTES)
            && let Some(oldest) = ring.frames.pop_front()
        {
            ring.bytes -= oldest.len();
            ring.first += 1;
        }
        drop(ring);
        self.newest.send_replace(number);
    }

    /// Makes all pages look at everything again.
    pub(crate) fn start_over(&self) {
        let mut ring = self.lock();
        let number = ring.next();
        *ring = Ring {
            frames: VecDeque::new(),
            bytes: 0,
            first: number + 1,
            expected: ring.expected,
        };
        drop(ring);
        self.newest.send_replace(number);
    }

    /// What comes after the announcement with this number.
    pub(crate) fn after(&self, number: u64) -> Next {
        let ring = self.lock();
        let newest = ring.next() - 1;
        if number == newest {
            return Next::Nothing;
        }
        let at = (number + 1).checked_sub(ring.first);
        let frame = at.and_then(|at| ring.frames.get(usize::try_from(at).ok()?));
        frame.map_or(Next::Forgotten(newest), |frame| Next::Frame(frame.clone()))
    }

    /// Tells one page to look at everything again, and to go on after this number.
    pub(crate) fn reset(&self, number: u64) -> Bytes {
        self.frame(number, "reset", "{}").into()
    }

    /// The number in an id of ours, if it is from this run and not from the future.
    pub(crate) fn number(&self, id: &str) -> Option<u64> {
        let (instance, number) = id.split_once(':')?;
        let number = number.parse().ok()?;
        (instance == self.instance && number <= self.newest()).then_some(number)
    }

    fn frame(&self, number: u64, kind: &str, data: &str) -> String {
        let instance = &self.instance;
        format!("id: {instance}:{number}\nevent: {kind}\ndata: {data}\n\n")
    }

    fn lock(&self) -> MutexGuard<'_, Ring> {
        // Nothing in here can be left half done.
        self.ring.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Ring {
    /// The number that the next announcement gets.
    fn next(&self) -> u64 {
        self.first + self.frames.len() as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn announcements() -> Announcements {
        Announcements::new("me".into())
    }

    fn text(next: &Next) -> &str {
        match next {
            Next::Frame(frame) => std::str::from_utf8(frame).unwrap(),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_reader_gets_one_after_the_other_and_then_waits() {
        let all = announcements();
        assert_eq!(all.after(0), Next::Nothing);
        all.announce("changed", &3);
        all.announce("changed", &"two\nlines");
        assert_eq!(text(&all.after(0)), "id: me:1\nevent: changed\ndata: 3\n\n");
        assert_eq!(
            text(&all.after(1)),
            "id: me:2\nevent: changed\ndata: \"two\\nlines\"\n\n"
        );
        assert_eq!(all.after(2), Next::Nothing);
    }

    #[test]
    fn a_reader_that_is_too_far_behind_is_told_so() {
        let all = announcements();
        for n in 0..MOST + 2 {
            all.announce("n", &n);
        }
        assert_eq!(all.after(0), Next::Forgotten(1026));
        assert_eq!(all.after(1), Next::Forgotten(1026));
        assert_eq!(text(&all.after(2)), "id: me:3\nevent: n\ndata: 2\n\n");
        all.start_over();
        assert_eq!(all.after(1026), Next::Forgotten(1027));
        assert_eq!(all.after(1027), Next::Nothing);
        all.announce("n", &1);
        assert!(text(&all.after(1027)).starts_with("id: me:1028\n"));
    }

    #[test]
    fn large_announcements_do_not_fill_the_memory() {
        let all = announcements();
        let large = "x".repeat(MOST_BYTES / 4);
        for _ in 0..10 {
            all.announce("n", &large);
        }
        assert_eq!(all.after(6), Next::Forgotten(10));
        assert!(matches!(all.after(7), Next::Frame(_)));
        all.announce("n", &"x".repeat(MOST_BYTES));
        assert_eq!(all.after(10), Next::Forgotten(11));
    }

    #[test]
    fn they_are_wanted_while_a_page_listens_or_is_expected() {
        let all = announcements();
        assert!(!all.is_wanted());
        let listener = all.watch();
        assert!(all.is_wanted());
        drop(listener);
        assert!(!all.is_wanted());
        all.expect_a_page();
        assert!(all.is_wanted());
        all.start_over();
        assert!(all.is_wanted());
        all.lock().expected = Some(Instant::now());
        assert!(!all.is_wanted());
    }

    #[test]
    fn an_id_counts_in_its_own_run_only() {
        let all = announcements();
        all.announce("n", &1);
        for (id, number) in [
            ("me:1", Some(1)),
            ("me:0", Some(0)),
            ("me:2", None),
            ("you:1", None),
            ("me", None),
            ("me:", None),
            ("me:-1", None),
            ("", None),
        ] {
            assert_eq!(all.number(id), number, "{id}");
        }
    }
}
