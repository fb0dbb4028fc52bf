//! An event stream to one session: the newest context, every verdict, a sign of life.
//!
//! At most one part is on its way at a time. A reader that has stalled therefore costs
//! one context and not a queue of old ones, and a verdict counts as delivered only when
//! it has left the process.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use bytes::Bytes;
use tokio::sync::watch;
use tokio::time::{Instant, Interval, MissedTickBehavior};
use workbench::{ProposalId, SessionId};

use crate::desk::{Desk, Published};
use crate::mailbox::{Kind, Letter, Mailbox, StreamId};
use crate::server::Flushes;

/// A comment: clients ignore it, but it keeps them from giving up on a silent stream.
const SIGN_OF_LIFE: Bytes = Bytes::from_static(b":\n\n");

/// How the companion is about to end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Ending {
    /// It is not.
    #[default]
    No,
    /// For good.
    Exit,
    /// To come back at once: clients are told how long to wait before they knock again.
    Restart {
        /// The delay that clients are asked to keep.
        retry: Duration,
    },
}

/// Everything a stream needs from its surroundings.
pub(crate) struct Connections {
    pub(crate) desk: Desk,
    pub(crate) session: SessionId,
    pub(crate) mailbox: Arc<Mailbox>,
    pub(crate) context: watch::Receiver<Published>,
    pub(crate) ending: watch::Receiver<Ending>,
    pub(crate) flushes: Flushes,
    pub(crate) keep_alive: Duration,
}

/// The body of a stream that the session opened to listen.
pub(crate) fn listening(to: Connections, stream: StreamId) -> Body {
    let mut feed = Feed::new(to, stream);
    // The whole context stands at the start of every stream, so a client that was away has it.
    feed.to.context.mark_changed();
    feed.into_body()
}

/// The body of the answer to an `openDiff` of a session that does not listen: the `result`
/// first, the verdict on the same stream when there is one.
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
    /// Goes out before everything else.
    first: Option<Bytes>,
    /// The proposal that this stream was kept open for.
    about: Option<ProposalId>,
    /// What is on its way: the flush count at that time, and the verdict if it was one.
    sent: Option<(u64, Option<ProposalId>)>,
    silence: Interval,
    said_goodbye: bool,
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
            said_goodbye: false,
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
                self.settle();
            }
            if let Some(first) = self.first.take() {
                return Some(self.send(first, None));
            }
            match self.wait().await {
                Next::Letter(letter) => {
                    return Some(self.send(letter.frame, Some(letter.proposal)));
                }
                Next::Frame(frame) => return Some(self.send(frame, None)),
                Next::Again => {}
                Next::End => return None,
            }
        }
    }

    async fn wait(&mut self) -> Next {
        let listening = self.stream.kind() == Kind::Listening;
        let mailbox = self.to.mailbox.clone();
        // Registered before the look into the mailbox, so that nothing posted in between is missed.
        let changed = mailbox.changed();
        if let Some(letter) = mailbox.take(self.stream) {
            return Next::Letter(letter);
        }
        let over = self.about.is_some_and(|proposal| !mailbox.awaits(proposal));
        if over || self.said_goodbye || !mailbox.is_attached(self.stream) {
            return Next::End;
        }
        tokio::select! {
            biased;
            () = changed => Next::Again,
            ending = self.to.ending.wait_for(|ending| *ending != Ending::No) => {
                self.said_goodbye = true;
                match ending.map(|ending| *ending) {
                    Ok(Ending::Restart { retry }) => {
                        Next::Frame(format!("retry: {}\n\n", retry.as_millis()).into())
                    }
                    _ => Next::End,
                }
            }
            changed = self.to.context.changed(), if listening => match changed {
                Ok(()) => Next::Frame(self.to.context.borrow_and_update().frame.clone()),
                Err(_) => Next::End,
            },
            _ = self.silence.tick() => Next::Frame(SIGN_OF_LIFE),
        }
    }

    fn send(&mut self, frame: Bytes, verdict: Option<ProposalId>) -> Bytes {
        self.sent = Some((self.to.flushes.mark(), verdict));
        self.silence.reset();
        frame
    }

    /// Settles what was on its way: it has left, or it goes back.
    fn settle(&mut self) {
        if let Some((mark, Some(proposal))) = self.sent.take() {
            if self.to.flushes.since(mark) {
                self.to.mailbox.confirm(proposal);
                self.to.desk.tell(move |state| state.delivered(proposal));
            } else {
                self.to.mailbox.fail(proposal);
            }
        }
    }
}

impl Drop for Feed {
    fn drop(&mut self) {
        self.settle();
        self.to.mailbox.detach(self.stream);
        let session = self.to.session.clone();
        self.to.desk.tell(move |state| state.stream_ended(&session));
    }
}
