//! Verdicts on their way to one session: kept until they have left, delivered once.
//!
//! A verdict may be decided while its session has no stream (the published clients are
//! away for a second whenever a stream ends), so it waits here. It is handed to one
//! stream at a time and comes back if that stream dies before the bytes have left. It does not
//! leave before it is in the journal: after a crash, what an agent has acted on must not be open
//! again.

use std::collections::{BTreeSet, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Instant;

use tokio::sync::Notify;
use workbench::{ProposalId, Verdict};

use crate::journal::Receipt;

/// A verdict on its way.
#[derive(Clone, Debug)]
pub(crate) struct Letter {
    pub(crate) proposal: ProposalId,
    /// The path as the agent sent it.
    pub(crate) path: Arc<str>,
    /// Shared, because the text can be large and a letter is kept until it has left.
    pub(crate) verdict: Arc<Verdict>,
    /// When it is in the journal.
    saved: Receipt,
}

impl Letter {
    pub(crate) fn new(
        proposal: ProposalId,
        path: &str,
        verdict: Verdict,
        saved: Receipt,
    ) -> Letter {
        Letter {
            proposal,
            path: path.into(),
            verdict: Arc::new(verdict),
            saved,
        }
    }
}

/// What a stream finds in the mailbox.
#[derive(Debug)]
pub(crate) enum Post {
    /// A letter that it has to carry.
    Letter(Letter),
    /// The next letter can be taken when it is in the journal.
    Unsaved(Receipt),
    /// Nothing, or nothing for this stream.
    Nothing,
}

/// What a stream is for. Context goes to listening streams only; clients register
/// their handlers too late to get it on the answer to a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum StreamKind {
    /// The answer to an `openDiff`, kept open for its verdict.
    Reply,
    /// The session's own stream, opened by GET.
    Listening,
}

/// One stream of a session. A newer one ranks higher, and listening ones above replies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct StreamId(StreamKind, u64);

impl StreamId {
    pub(crate) fn kind(self) -> StreamKind {
        self.0
    }
}

/// The mailbox of one session, shared between the desk and the session's streams.
#[derive(Debug, Default)]
pub(crate) struct Mailbox {
    inner: Mutex<Inner>,
    /// Wakes the streams.
    bell: Notify,
    /// Wakes the desk when there is a [`Report`] to take.
    reports: Arc<Notify>,
}

/// What the streams of a session report to the desk. They leave it here because they report
/// while they are dropped, when nobody can wait for room in a channel. It cannot grow: it names
/// no more verdicts than were posted, and only the last stream that ended.
#[derive(Debug, Default)]
pub(crate) struct Report {
    /// Verdicts that have left.
    pub(crate) delivered: Vec<ProposalId>,
    /// When a stream ended, if one has.
    pub(crate) stream_ended: Option<Instant>,
}

#[derive(Debug, Default)]
struct Inner {
    waiting: VecDeque<Letter>,
    /// Handed to a stream, not yet known to have left.
    in_flight: Vec<Letter>,
    /// Proposals that the person has not decided yet.
    undecided: BTreeSet<ProposalId>,
    streams: BTreeSet<StreamId>,
    next_stream: u64,
    report: Report,
}

impl Mailbox {
    /// An empty mailbox that notifies `reports` when its streams have reported something.
    pub(crate) fn new(reports: Arc<Notify>) -> Mailbox {
        Mailbox {
            reports,
            ..Mailbox::default()
        }
    }

    /// What the streams have reported since the last call.
    pub(crate) fn take_report(&self) -> Report {
        std::mem::take(&mut self.lock().report)
    }

    /// Adds a stream. When there are more than `most` of its kind, the oldest is ended.
    pub(crate) fn attach(&self, kind: StreamKind, most: usize) -> StreamId {
        let mut inner = self.lock();
        let id = StreamId(kind, inner.next_stream);
        inner.next_stream += 1;
        inner.streams.insert(id);
        let same: Vec<_> = inner
            .streams
            .iter()
            .filter(|s| s.0 == kind)
            .copied()
            .collect();
        if same.len() > most
            && let Some(oldest) = same.first()
        {
            inner.streams.remove(oldest);
        }
        drop(inner);
        self.bell.notify_waiters();
        id
    }

    /// Removes a stream that has ended. Its undelivered letter, if any, goes back with
    /// [`Mailbox::fail`].
    pub(crate) fn detach(&self, stream: StreamId) {
        let mut inner = self.lock();
        inner.streams.remove(&stream);
        inner.report.stream_ended = Some(Instant::now());
        drop(inner);
        self.bell.notify_waiters();
        self.reports.notify_one();
    }

    /// Whether the stream may go on: newer ones have not displaced it.
    pub(crate) fn is_attached(&self, stream: StreamId) -> bool {
        self.lock().streams.contains(&stream)
    }

    /// Whether the session has a stream of its own open, which is where contexts go.
    pub(crate) fn is_listening(&self) -> bool {
        self.lock()
            .streams
            .last()
            .is_some_and(|s| s.0 == StreamKind::Listening)
    }

    /// Whether the session has a stream of any kind open.
    pub(crate) fn is_connected(&self) -> bool {
        !self.lock().streams.is_empty()
    }

    /// A proposal was opened; its stream, if it has one of its own, stays open for the verdict.
    pub(crate) fn expect(&self, proposal: ProposalId) {
        self.lock().undecided.insert(proposal);
    }

    /// A proposal went away without a verdict.
    pub(crate) fn forget(&self, proposal: ProposalId) {
        self.lock().undecided.remove(&proposal);
        self.bell.notify_waiters();
    }

    /// Whether there is still something to come for `proposal`.
    pub(crate) fn awaits(&self, proposal: ProposalId) -> bool {
        let inner = self.lock();
        inner.undecided.contains(&proposal)
            || inner
                .waiting
                .iter()
                .chain(&inner.in_flight)
                .any(|letter| letter.proposal == proposal)
    }

    /// Queues a verdict for delivery.
    pub(crate) fn post(&self, letter: Letter) {
        let mut inner = self.lock();
        inner.undecided.remove(&letter.proposal);
        inner.waiting.push_back(letter);
        drop(inner);
        self.bell.notify_waiters();
    }

    /// Discards every verdict about `path`, because the agent no longer waits for it. A stale
    /// one would decide the *next* proposal for that path, since clients match by path alone.
    pub(crate) fn discard(&self, path: &str) -> Vec<Letter> {
        let mut inner = self.lock();
        let mut discarded = Vec::new();
        inner
            .waiting
            .retain(|letter| keep_unless(&mut discarded, letter, path));
        inner
            .in_flight
            .retain(|letter| keep_unless(&mut discarded, letter, path));
        discarded
    }

    /// The next letter, if `stream` is the one to carry it: the newest listening stream, or the
    /// newest reply when nobody listens.
    pub(crate) fn take(&self, stream: StreamId) -> Post {
        let mut inner = self.lock();
        if inner.streams.last() != Some(&stream) {
            return Post::Nothing;
        }
        let Some(letter) = inner.waiting.pop_front() else {
            return Post::Nothing;
        };
        if !letter.saved.is_in_place() {
            let saved = letter.saved.clone();
            inner.waiting.push_front(letter);
            return Post::Unsaved(saved);
        }
        inner.in_flight.push(letter.clone());
        Post::Letter(letter)
    }

    /// The letter has left the process.
    pub(crate) fn confirm(&self, proposal: ProposalId) {
        let mut inner = self.lock();
        if let Some(at) = inner.position_in_flight(proposal) {
            inner.in_flight.remove(at);
            inner.report.delivered.push(proposal);
        }
        drop(inner);
        self.bell.notify_waiters();
        self.reports.notify_one();
    }

    /// The stream died with the letter; it goes to the next stream, before all others.
    pub(crate) fn fail(&self, proposal: ProposalId) {
        let mut inner = self.lock();
        if let Some(at) = inner.position_in_flight(proposal) {
            let letter = inner.in_flight.remove(at);
            inner.waiting.push_front(letter);
        }
        drop(inner);
        self.bell.notify_waiters();
    }

    /// Ends all streams. What was not delivered stays.
    pub(crate) fn end_streams(&self) {
        self.lock().streams.clear();
        self.bell.notify_waiters();
    }

    /// Discards everything that was not delivered, because the session is gone for good.
    pub(crate) fn discard_all(&self) -> Vec<Letter> {
        let mut inner = self.lock();
        inner.undecided.clear();
        let mut letters: Vec<_> = inner.waiting.drain(..).collect();
        letters.append(&mut inner.in_flight);
        inner.streams.clear();
        drop(inner);
        self.bell.notify_waiters();
        letters
    }

    /// Resolves when anything has changed since the call was made.
    pub(crate) fn changed(&self) -> tokio::sync::futures::Notified<'_> {
        self.bell.notified()
    }

    /// The letters that have not left yet, the next one first.
    pub(crate) fn letters(&self) -> Vec<Letter> {
        let inner = self.lock();
        let letters = inner.in_flight.iter().chain(&inner.waiting);
        letters.cloned().collect()
    }

    /// How many letters have not left yet.
    pub(crate) fn undelivered(&self) -> usize {
        let inner = self.lock();
        inner.waiting.len() + inner.in_flight.len()
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        crate::locked(&self.inner)
    }
}

impl Inner {
    fn position_in_flight(&self, proposal: ProposalId) -> Option<usize> {
        self.in_flight
            .iter()
            .position(|letter| letter.proposal == proposal)
    }
}

fn keep_unless(discarded: &mut Vec<Letter>, letter: &Letter, path: &str) -> bool {
    let stale = &*letter.path == path;
    if stale {
        discarded.push(letter.clone());
    }
    !stale
}

#[cfg(test)]
mod tests {
    use tokio::sync::watch;

    use super::*;
    use crate::journal::Progress;

    fn letter(n: u64, path: &str) -> Letter {
        let saved = Receipt::settled_already();
        Letter::new(ProposalId::new(n), path, Verdict::Rejected, saved)
    }

    fn taken(mailbox: &Mailbox, stream: StreamId) -> Option<u64> {
        match mailbox.take(stream) {
            Post::Letter(letter) => Some(letter.proposal.get()),
            _ => None,
        }
    }

    #[test]
    fn a_letter_waits_for_a_stream_and_leaves_once() {
        let mailbox = Mailbox::default();
        mailbox.post(letter(1, "/a"));
        let stream = mailbox.attach(StreamKind::Listening, 4);
        assert_eq!(taken(&mailbox, stream), Some(1));
        assert_eq!(taken(&mailbox, stream), None);
        mailbox.confirm(ProposalId::new(1));
        mailbox.fail(ProposalId::new(1));
        assert_eq!(taken(&mailbox, stream), None);
        assert_eq!(mailbox.undelivered(), 0);
    }

    #[test]
    fn a_letter_that_did_not_leave_goes_to_the_next_stream_first() {
        let mailbox = Mailbox::default();
        let first = mailbox.attach(StreamKind::Listening, 4);
        mailbox.post(letter(1, "/a"));
        mailbox.post(letter(2, "/b"));
        assert_eq!(taken(&mailbox, first), Some(1));
        mailbox.fail(ProposalId::new(1));
        mailbox.detach(first);
        let second = mailbox.attach(StreamKind::Listening, 4);
        assert_eq!(taken(&mailbox, second), Some(1));
        assert_eq!(taken(&mailbox, second), Some(2));
    }

    #[test]
    fn a_letter_that_is_not_in_the_journal_waits_and_holds_up_those_behind_it() {
        let (progress, seen) = watch::channel(Progress::default());
        let mailbox = Mailbox::default();
        let stream = mailbox.attach(StreamKind::Listening, 4);
        let saved = Receipt::for_entry(2, seen);
        let first = ProposalId::new(1);
        mailbox.post(Letter::new(first, "/a", Verdict::Rejected, saved));
        mailbox.post(letter(2, "/b"));
        assert!(matches!(mailbox.take(stream), Post::Unsaved(_)));
        progress.send_modify(|it| it.in_place = 1);
        assert_eq!(taken(&mailbox, stream), None);
        assert_eq!(mailbox.undelivered(), 2);
        progress.send_modify(|it| it.in_place = 2);
        assert_eq!(taken(&mailbox, stream), Some(1));
        assert_eq!(taken(&mailbox, stream), Some(2));
    }

    #[test]
    fn the_newest_listening_stream_carries_letters_and_replies_only_when_nobody_listens() {
        let mailbox = Mailbox::default();
        let old = mailbox.attach(StreamKind::Listening, 4);
        let new = mailbox.attach(StreamKind::Listening, 4);
        let reply = mailbox.attach(StreamKind::Reply, 4);
        mailbox.post(letter(1, "/a"));
        assert_eq!(taken(&mailbox, reply), None);
        assert_eq!(taken(&mailbox, old), None);
        mailbox.detach(new);
        assert_eq!(taken(&mailbox, old), Some(1));
        mailbox.detach(old);
        mailbox.post(letter(2, "/b"));
        assert_eq!(taken(&mailbox, reply), Some(2));
    }

    #[test]
    fn a_discarded_letter_does_not_come_back() {
        let mailbox = Mailbox::default();
        let stream = mailbox.attach(StreamKind::Listening, 4);
        mailbox.post(letter(1, "/a"));
        assert_eq!(taken(&mailbox, stream), Some(1));
        mailbox.post(letter(2, "/a"));
        mailbox.post(letter(3, "/b"));
        assert_eq!(mailbox.discard("/a").len(), 2);
        mailbox.fail(ProposalId::new(1));
        assert_eq!(taken(&mailbox, stream), Some(3));
    }

    #[test]
    fn too_many_streams_displace_the_oldest() {
        let mailbox = Mailbox::default();
        let oldest = mailbox.attach(StreamKind::Listening, 2);
        let reply = mailbox.attach(StreamKind::Reply, 2);
        mailbox.attach(StreamKind::Listening, 2);
        assert!(mailbox.is_attached(oldest));
        mailbox.attach(StreamKind::Listening, 2);
        assert!(!mailbox.is_attached(oldest));
        assert!(mailbox.is_attached(reply));
    }

    #[test]
    fn a_reply_is_over_when_its_proposal_is() {
        let mailbox = Mailbox::default();
        let id = ProposalId::new(1);
        assert!(!mailbox.awaits(id));
        mailbox.expect(id);
        assert!(mailbox.awaits(id));
        let stream = mailbox.attach(StreamKind::Reply, 2);
        mailbox.post(letter(1, "/a"));
        assert!(mailbox.awaits(id));
        mailbox.take(stream);
        assert!(mailbox.awaits(id));
        mailbox.confirm(id);
        assert!(!mailbox.awaits(id));
    }
}
