//! The stream on which a page hears what happens.

use std::convert::Infallible;
use std::sync::Arc;

use axum::body::Body;
use axum::extract::{Query, State as Shared};
use axum::http::{HeaderMap, HeaderName, header};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use chat::{Follower, Step};
use companion::Ending;
use serde::Deserialize;
use tokio::sync::watch;
use tokio::time::{Instant, Interval, MissedTickBehavior};

use super::{Here, Server};
use crate::announcements::{Announcements, Next};
use crate::seats::Seat;

const LAST_SEEN: HeaderName = HeaderName::from_static("last-event-id");

/// A comment, which keeps everybody on the way from giving up on a silent stream.
const SIGN_OF_LIFE: Bytes = Bytes::from_static(b":\n\n");

/// Where the page was in the conversation with a daemon.
#[derive(Debug, Deserialize)]
pub(super) struct Place {
    chat: Option<u64>,
}

pub(super) async fn events(
    Shared(server): Here,
    Query(place): Query<Place>,
    asked: HeaderMap,
) -> Response {
    let seen = asked.get(LAST_SEEN).and_then(|id| id.to_str().ok());
    let listener = Listener::new(&server, seen, place.chat);
    let body = Body::from_stream(futures_util::stream::unfold(
        listener,
        |mut listener| async move {
            let frame = listener.next().await?;
            Some((Ok::<_, Infallible>(frame), listener))
        },
    ));
    ([(header::CONTENT_TYPE, "text/event-stream")], body).into_response()
}

/// One page that listens.
struct Listener {
    announcements: Arc<Announcements>,
    newest: watch::Receiver<u64>,
    /// The number of the announcement that it has heard last; none if it knows nothing yet.
    heard: Option<u64>,
    /// The conversation with a daemon, if there is one.
    conversation: Option<Follower>,
    seat: Seat,
    ending: watch::Receiver<Ending>,
    silence: Interval,
}

impl Listener {
    fn new(server: &Server, seen: Option<&str>, chat: Option<u64>) -> Listener {
        let announcements = server.announcements.clone();
        let heard = seen.and_then(|seen| announcements.number(seen));
        // A number counts in its own run only.
        let chat = chat.filter(|_| heard.is_some());
        let keep_alive = server.api.keep_alive;
        let mut silence = tokio::time::interval_at(Instant::now() + keep_alive, keep_alive);
        silence.set_missed_tick_behavior(MissedTickBehavior::Delay);
        Listener {
            newest: announcements.watch(),
            heard,
            conversation: server.api.chat.as_ref().map(|it| it.follow(chat)),
            announcements,
            seat: server.seats.take(),
            ending: server.api.ending.clone(),
            silence,
        }
    }

    /// What to send next, as soon as there is something; nothing at the end.
    async fn next(&mut self) -> Option<Bytes> {
        loop {
            let Some(heard) = self.heard else {
                return Some(self.reset(self.announcements.newest()));
            };
            match self.announcements.after(heard) {
                Next::Frame(frame) => {
                    self.heard = Some(heard + 1);
                    self.silence.reset();
                    return Some(frame);
                }
                Next::Forgotten(newest) => return Some(self.reset(newest)),
                Next::Nothing => {}
            }
            tokio::select! {
                biased;
                _ = self.ending.wait_for(|ending| *ending != Ending::No) => return None,
                () = self.seat.lost() => return None,
                changed = self.newest.changed() => changed.ok()?,
                step = next_step(self.conversation.as_mut()) => {
                    self.silence.reset();
                    return Some(said(&step));
                }
                _ = self.silence.tick() => return Some(SIGN_OF_LIFE),
            }
        }
    }

    fn reset(&mut self, newest: u64) -> Bytes {
        self.heard = Some(newest);
        self.announcements.reset(newest)
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        self.announcements.expect_a_page();
    }
}

/// The next step of a conversation; none ever if there is no conversation.
async fn next_step(conversation: Option<&mut Follower>) -> Step {
    match conversation {
        Some(conversation) => conversation.next().await,
        None => std::future::pending().await,
    }
}

/// A step of a conversation as the page hears it. It has no id: its number is in it.
fn said(step: &Step) -> Bytes {
    let (kind, data) = match step {
        Step::All(all) => ("chat-all", serde_json::to_string(all)),
        Step::One(change) => ("chat", serde_json::to_string(change)),
    };
    // Strings and numbers can always be written.
    format!("event: {kind}\ndata: {}\n\n", data.unwrap_or_default()).into()
}
