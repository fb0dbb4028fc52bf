//! The events of a session, as they come.

use std::collections::VecDeque;
use std::time::Duration;

use http_body_util::BodyExt;
use hyper::body::Incoming;
use hyper::header::{ACCEPT, CONTENT_TYPE, HeaderMap, HeaderName};
use tokio::time::timeout;

use super::{DaemonClient, query, session_path};
use crate::error::DaemonError;
use crate::event::{Event, EventError};
use crate::http::{Connection, Link};
use crate::sse::{self, Item, Parser};
use crate::wire::{ClientId, Epoch, SessionId};

const EPOCH: HeaderName = HeaderName::from_static("x-qwen-event-epoch");
const STREAM_ID: HeaderName = HeaderName::from_static("x-qwen-sse-stream-id");
const LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");

/// How many bytes of a frame that cannot be read are kept to show.
const LONGEST_EXCERPT: usize = 200;

/// A place in a session's events: a number, and the generation that it belongs to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cursor {
    /// The newest event that has been seen; 0 for none.
    pub last_event_id: u64,
    /// The generation. Unknown right after a session was created.
    pub epoch: Option<Epoch>,
}

/// Why a stream is opened; only for the daemon's own records.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ConnectReason {
    /// The first one.
    #[default]
    Initial,
    /// To go on after an earlier process.
    Resume,
    /// The last one ended.
    StreamEnd,
    /// The last one broke.
    TransportError,
    /// The last one could not be continued.
    StateResync,
}

impl ConnectReason {
    fn name(self) -> &'static str {
        match self {
            Self::Initial => "initial",
            Self::Resume => "resume",
            Self::StreamEnd => "stream_end",
            Self::TransportError => "transport_error",
            Self::StateResync => "state_resync",
        }
    }
}

/// How to listen.
#[derive(Clone, Debug, Default)]
pub struct Subscription {
    /// Where to go on. Without it only what happens from now on is sent.
    pub cursor: Option<Cursor>,
    /// Whether to tell model and mode as they are now.
    pub snapshot: bool,
    /// How many frames the daemon may hold back for a slow reader, 16 to 2048.
    pub max_queued: Option<u16>,
    /// The largest frame to take; [`sse::MAX_FRAME`] if `None`.
    pub max_frame: Option<usize>,
    /// Why.
    pub reason: ConnectReason,
    /// The daemon's name for the stream before this one.
    pub previous_stream: Option<String>,
}

/// What a stream brings.
#[derive(Clone, Debug, PartialEq)]
pub enum Signal {
    /// An event.
    Event(Event),
    /// A sign of life.
    Heartbeat,
    /// A frame that is not an event, or too large to be taken. It is gone.
    Unreadable {
        /// Its number, if that could be read.
        id: Option<u64>,
        /// What is wrong with it.
        why: String,
        /// Its beginning.
        excerpt: String,
    },
}

/// An open event stream. Dropping it closes the connection.
#[derive(Debug)]
pub struct EventStream {
    link: Link,
    /// The generation of its numbers.
    pub epoch: Option<Epoch>,
    /// The daemon's name for it.
    pub stream_id: Option<String>,
    /// How many events had bytes that are not text.
    pub mended: u64,
    body: Incoming,
    parser: Parser,
    ready: VecDeque<Signal>,
    _connection: Connection,
}

impl DaemonClient {
    /// Opens the event stream of a session. The time limit is for the answer's head only.
    pub async fn events(
        &self,
        session: &SessionId,
        subscription: &Subscription,
        client: Option<&ClientId>,
    ) -> Result<EventStream, DaemonError> {
        let parts = [
            ("snapshot", subscription.snapshot.then(|| "1".into())),
            (
                "maxQueued",
                subscription.max_queued.map(|it| it.to_string()),
            ),
            ("connectReason", Some(subscription.reason.name().into())),
            ("previousStreamId", subscription.previous_stream.clone()),
        ];
        let path = session_path(session, "/events") + &query(&parts);
        let mut call = self
            .get(path)
            .client(client)
            .header(ACCEPT, "text/event-stream");
        if let Some(cursor) = &subscription.cursor {
            call = call.header(LAST_EVENT_ID, &cursor.last_event_id.to_string());
            // A generation without a number means nothing to the daemon.
            if let Some(epoch) = &cursor.epoch {
                call = call.header(EPOCH, epoch.as_str());
            }
        }
        let (headers, body, connection) = self.link.open(call).await?;
        let text = |name: &HeaderName| text(&headers, name);
        let kind = text(&CONTENT_TYPE).unwrap_or_default();
        if !kind.to_ascii_lowercase().starts_with("text/event-stream") {
            let why = format!("an event stream was answered with `{kind}`");
            return Err(self.link.strange(why));
        }
        Ok(EventStream {
            link: self.link.clone(),
            epoch: text(&EPOCH).and_then(|it| Epoch::new(it).ok()),
            stream_id: text(&STREAM_ID).map(str::to_owned),
            mended: 0,
            body,
            parser: Parser::new(subscription.max_frame.unwrap_or(sse::MAX_FRAME)),
            ready: VecDeque::new(),
            _connection: connection,
        })
    }
}

impl EventStream {
    /// The next signal; `None` when the daemon has ended the stream. A daemon that sends nothing at
    /// all for `patience`, not even a heartbeat, counts as gone.
    ///
    /// It may be dropped while it waits; nothing is lost.
    pub async fn next(&mut self, patience: Duration) -> Result<Option<Signal>, DaemonError> {
        loop {
            if let Some(signal) = self.ready.pop_front() {
                return Ok(Some(signal));
            }
            // Any byte is a sign of life: a large frame may take its time.
            match timeout(patience, self.body.frame()).await {
                Err(_) => return Err(self.link.silent(patience)),
                Ok(None) => return Ok(None),
                Ok(Some(Err(error))) => return Err(self.link.cut(&error)),
                Ok(Some(Ok(frame))) => {
                    if let Ok(bytes) = frame.into_data() {
                        self.parser.push(bytes);
                        self.drain();
                    }
                }
            }
        }
    }

    fn drain(&mut self) {
        while let Some(item) = self.parser.pull() {
            let signal = match item {
                Item::Comment => Signal::Heartbeat,
                Item::Oversized { id, bytes } => Signal::Unreadable {
                    id,
                    why: format!("a frame of {bytes} bytes is too large"),
                    excerpt: String::new(),
                },
                Item::Frame(frame) => {
                    let (event, mended) = Event::from_frame(&frame);
                    self.mended += u64::from(mended);
                    event.map_or_else(|error| unreadable(&frame, &error), Signal::Event)
                }
            };
            self.ready.push_back(signal);
        }
    }
}

fn unreadable(frame: &sse::Frame, error: &EventError) -> Signal {
    let excerpt = &frame.data[..frame.data.len().min(LONGEST_EXCERPT)];
    Signal::Unreadable {
        id: frame.id,
        why: error.to_string(),
        excerpt: String::from_utf8_lossy(excerpt).into_owned(),
    }
}

fn text<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Option<&'a str> {
    headers.get(name)?.to_str().ok()
}
