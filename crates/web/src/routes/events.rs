//! The event stream of a page.

use std::convert::Infallible;
use std::sync::Arc;

use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderMap, HeaderName, header};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use companion::Ending;
use front::{Change, Interest, Item, NumberedChange, Reader, Snapshot, Topic, off_thread};
use serde::Serialize;
use tokio::sync::watch;
use tokio::time::{Instant, Interval, MissedTickBehavior};

use super::{Server, ServerState};
use crate::stream_slots::StreamSlot;
use crate::{to_wire, wire};

const LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");

/// A comment, which clients ignore. It keeps an idle connection open.
const COMMENT: Bytes = Bytes::from_static(b":\n\n");

/// A page computes the counts of its status line itself.
const INTEREST: Interest = Interest::of(&[Topic::Review, Topic::Conversation, Topic::Shared]);

pub(super) async fn events(State(server): ServerState, headers: HeaderMap) -> Response {
    let last = headers.get(LAST_EVENT_ID).and_then(|id| id.to_str().ok());
    let stream = PageStream::new(server, last);
    let body = Body::from_stream(futures_util::stream::unfold(
        stream,
        |mut stream| async move {
            let frame = stream.next().await?;
            Some((Ok::<_, Infallible>(frame), stream))
        },
    ));
    ([(header::CONTENT_TYPE, "text/event-stream")], body).into_response()
}

/// The stream of one page.
struct PageStream {
    server: Arc<Server>,
    reader: Reader,
    slot: StreamSlot,
    ending: watch::Receiver<Ending>,
    /// Whether the page was told of the ending, after which nothing follows.
    ended: bool,
    silence: Interval,
}

impl PageStream {
    fn new(server: Arc<Server>, last: Option<&str>) -> PageStream {
        let seen = last.and_then(|id| number(id, &server.api.instance));
        let keep_alive = server.api.keep_alive;
        let mut silence = tokio::time::interval_at(Instant::now() + keep_alive, keep_alive);
        silence.set_missed_tick_behavior(MissedTickBehavior::Delay);
        PageStream {
            reader: server.api.front.read(INTEREST, seen),
            slot: server.slots.take(),
            ending: server.api.ending.clone(),
            ended: false,
            silence,
            server,
        }
    }

    /// Waits for the next frame; `None` at the end of the stream.
    async fn next(&mut self) -> Option<Bytes> {
        if self.ended {
            return None;
        }
        let item = tokio::select! {
            biased;
            ending = self.ending.wait_for(|ending| *ending != Ending::No) => {
                self.ended = true;
                return Some(last_event(*ending.ok()?));
            }
            () = self.slot.revoked() => return None,
            item = self.reader.next() => item.ok()?,
            _ = self.silence.tick() => return Some(COMMENT),
        };
        self.silence.reset();
        match item {
            Item::Snapshot(snapshot) => self.encode_snapshot(snapshot).await,
            Item::Change(change) => Some(change.encoded(|change| self.encode(change))),
        }
    }

    async fn encode_snapshot(&self, snapshot: Box<Snapshot>) -> Option<Bytes> {
        let server = self.server.clone();
        let encode = move || {
            let live = to_wire::live(&server.api, &snapshot);
            frame(&server.api.instance, snapshot.number, "snapshot", &live)
        };
        off_thread(encode).await.ok()
    }

    /// Encodes a change. Nothing in it depends on the page, because all pages share the bytes.
    fn encode(&self, numbered: &NumberedChange) -> Bytes {
        let (instance, number) = (&self.server.api.instance, numbered.number);
        match &numbered.change {
            Change::Opened(proposal) => {
                frame(instance, number, "opened", &to_wire::summary(proposal))
            }
            Change::Revised(proposal) => {
                frame(instance, number, "revised", &to_wire::summary(proposal))
            }
            Change::Drafted(id) => {
                frame(instance, number, "changed", &wire::Changed { id: id.get() })
            }
            Change::Closed(id, outcome) => {
                let closed = wire::Closed {
                    id: id.get(),
                    why: outcome.as_str().to_owned(),
                };
                frame(instance, number, "closed", &closed)
            }
            Change::Agents(agents) => {
                frame(instance, number, "sessions", &to_wire::sessions(agents))
            }
            Change::Faults(faults) => frame(instance, number, "faults", &to_wire::faults(faults)),
            Change::Editors(editors) => {
                frame(instance, number, "editors", &to_wire::editors(editors))
            }
            Change::Shared(shared) => frame(instance, number, "context", &to_wire::context(shared)),
            Change::Logged(entry) => frame(instance, number, "log", &to_wire::log_entry(entry)),
            Change::Conversation(change) => {
                let change = ::wire::conversation::change(change);
                frame(instance, number, "chat", &change)
            }
            // Not in `INTEREST`.
            Change::Counts(_) => COMMENT,
        }
    }
}

/// The last event of a run, so that a page does not wait for a companion that was stopped. It has no
/// id: a page that comes back continues after the last change.
fn last_event(ending: Ending) -> Bytes {
    let why = match ending {
        Ending::Restart { .. } => "restarting",
        Ending::Exit | Ending::No => "stopped",
    };
    format!("event: ending\ndata: {{\"why\":\"{why}\"}}\n\n").into()
}

/// A server-sent event. Its id consists of the run and the number of the change.
fn frame(instance: &str, number: u64, kind: &str, data: &impl Serialize) -> Bytes {
    // Serialising can only fail for a path that is not Unicode, and `to_wire` converts those.
    let data = serde_json::to_string(data).unwrap_or_default();
    format!("id: {instance}:{number}\nevent: {kind}\ndata: {data}\n\n").into()
}

/// The number in an event's id, if the id is from this run.
fn number(id: &str, instance: &str) -> Option<u64> {
    let (run, number) = id.split_once(':')?;
    number.parse().ok().filter(|_| run == instance)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_is_written_on_one_line() {
        assert_eq!(
            frame("me", 2, "changed", &"two\nlines"),
            "id: me:2\nevent: changed\ndata: \"two\\nlines\"\n\n"
        );
    }

    #[test]
    fn an_id_counts_in_its_own_run_only() {
        for (id, expected) in [
            ("me:1", Some(1)),
            ("me:0", Some(0)),
            ("you:1", None),
            ("me", None),
            ("me:", None),
            ("me:-1", None),
            ("", None),
        ] {
            assert_eq!(number(id, "me"), expected, "{id}");
        }
    }
}
