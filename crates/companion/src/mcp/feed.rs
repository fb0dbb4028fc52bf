//! An event stream to one session: the newest context, every verdict, a keep-alive comment.
//!
//! At most one event is on its way at a time. A reader that has stalled therefore costs
//! one context and not a queue of old ones, and a verdict counts as delivered only when
//! it has left the process.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use bytes::Bytes;
use tokio::sync::watch;
use tokio::time::{Instant, Interval, MissedTickBehavior};
use workbench::ProposalId;

use super::{heavy, ide};
use crate::journal::Receipt;
use crate::mailbox::{Letter, Mailbox, Post, StreamId, StreamKind};
use crate::server::Flushes;

/// A comment: clients ignore it, but it keeps them from giving up on a silent stream.
const KEEP_ALIVE: Bytes = Bytes::from_static(b":\n\n");

/// How the companion is about to end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Ending {
    /// It goes on.
    #[default]
    No,
    /// It ends and does not come back.
    Exit,
    /// It comes back at once: clients are told how long to wait before they reconnect.
    Restart {
        /// That delay, sent as the `retry` field of the stream.
        retry: Duration,
    },
}

/// What a stream is connected to.
pub(crate) struct Connections {
    pub(crate) mailbox: Arc<Mailbox>,
    /// The newest context as it stands on the wire, the same bytes for all streams.
    pub(crate) context: watch::Receiver<Bytes>,
    pub(crate) ending: watch::Receiver<Ending>,
    pub(crate) flushes: Flushes,
    pub(crate) keep_alive: Duration,
}

/// The body of a stream that a session opened with GET.
pub(crate) fn listening(to: Connections, stream: StreamId) -> Body {
    let mut feed = Feed::new(to, stream);
    // The whole context stands at the start of every stream, so a client that was away has it.
    feed.to.context.mark_changed();
    feed.into_body()
}

/// The body of the response to an `openDiff` of a session without a stream of its own: the
/// `result` first, and the verdict on the same stream as soon as there is one.
pub(crate) fn reply(
    to: Connections,
    stream: StreamId,
    result: Bytes,
    proposal: ProposalId,
) -> Body {
    let mut feed = Feed::new(to, stream);
    feed.first = Some(result);
    feed.about = Some(proposal);
    feed.into_body()
}

struct Feed {
    to: Connections,
    stream: StreamId,
    /// The result of the request that this stream responds to; it goes out first.
    first: Option<Bytes>,
    /// The proposal that this stream was kept open for.
    about: Option<ProposalId>,
    /// What is on its way: the flush count at that time, and the verdict if it was one.
    sent: Option<(u64, Option<ProposalId>)>,
    silence: Interval,
    ending_told: bool,
}

enum Next {
    Letter(Letter),
    Frame(Bytes),
    Again,
    End,
}

impl Feed {
    fn new(to: Connections, stream: StreamId) -> Feed {
        let mut silence = tokio::time::interval_at(Instant::now() + to.keep_alive, to.keep_alive);
        silence.set_missed_tick_behavior(MissedTickBehavior::Delay);
        Feed {
            to,
            stream,
            first: None,
            about: None,
            sent: None,
            silence,
            ending_told: false,
        }
    }

    fn into_body(self) -> Body {
        Body::from_stream(futures_util::stream::unfold(self, |mut feed| async move {
            let frame = feed.next().await?;
            Some((Ok::<_, Infallible>(frame), feed))
        }))
    }

    async fn next(&mut self) -> Option<Bytes> {
        loop {
            if let Some((mark, _)) = self.sent {
                self.to.flushes.wait(mark).await;
                self.account_for_sent();
            }
            if let Some(first) = self.first.take() {
                return Some(self.send(first, None));
            }
            match self.wait().await {
                Next::Letter(letter) => {
                    let size = letter.verdict.text().map_or(0, str::len);
                    let frame = heavy(size, || ide::verdict_frame(&letter.path, &letter.verdict));
                    return Some(self.send(frame, Some(letter.proposal)));
                }
                Next::Frame(frame) => return Some(self.send(frame, None)),
                Next::Again => {}
                Next::End => return None,
            }
        }
    }

    async fn wait(&mut self) -> Next {
        let listening = self.stream.kind() == StreamKind::Listening;
        let mailbox = self.to.mailbox.clone();
        // Registered before the mailbox is read, so that nothing posted in between is missed.
        let changed = mailbox.changed();
        let unsaved = match mailbox.take(self.stream) {
            Post::Letter(letter) => return Next::Letter(letter),
            Post::Unsaved(saved) => Some(saved),
            Post::Nothing => None,
        };
        let has_more = unsaved.is_some();
        let over = self.about.is_some_and(|proposal| !mailbox.awaits(proposal));
        if over || self.ending_told || !mailbox.is_attached(self.stream) {
            return Next::End;
        }
        tokio::select! {
            biased;
            () = changed => Next::Again,
            () = in_place(unsaved), if has_more => Next::Again,
            ending = self.to.ending.wait_for(|ending| *ending != Ending::No), if !has_more => {
                self.ending_told = true;
                match ending.map(|ending| *ending) {
                    Ok(Ending::Restart { retry }) => {
                        Next::Frame(format!("retry: {}\n\n", retry.as_millis()).into())
                    }
                    _ => Next::End,
                }
            }
            changed = self.to.context.changed(), if listening => match changed {
                Ok(()) => Next::Frame(self.to.context.borrow_and_update().clone()),
                Err(_) => Next::End,
            },
            _ = self.silence.tick() => Next::Frame(KEEP_ALIVE),
        }
    }

    fn send(&mut self, frame: Bytes, verdict: Option<ProposalId>) -> Bytes {
        self.sent = Some((self.to.flushes.mark(), verdict));
        self.silence.reset();
        frame
    }

    /// Accounts for the verdict that was on its way: it has left, or it goes back.
    fn account_for_sent(&mut self) {
        if let Some((mark, Some(proposal))) = self.sent.take() {
            if self.to.flushes.since(mark) {
                self.to.mailbox.confirm(proposal);
            } else {
                self.to.mailbox.fail(proposal);
            }
        }
    }
}

/// Resolves when the next verdict can leave.
async fn in_place(unsaved: Option<Receipt>) {
    if let Some(saved) = unsaved {
        saved.in_place().await;
    }
}

impl Drop for Feed {
    fn drop(&mut self) {
        self.account_for_sent();
        self.to.mailbox.detach(self.stream);
    }
}
