//! The event stream of a session.

use std::time::Duration;

use http_body_util::BodyExt;
use hyper::body::Incoming;
use hyper::header::{ACCEPT, CONTENT_TYPE, HeaderMap, HeaderName};
use tokio::time::timeout;

use super::{DaemonClient, query, session_path};
use crate::error::DaemonError;
use crate::event::{DaemonEvent, EventError};
use crate::http::{ConnectionGuard, HttpClient};
use crate::sse::{self, SseItem, SseParser};
use crate::wire::{ClientId, Epoch, SessionId};

const EPOCH: HeaderName = HeaderName::from_static("x-qwen-event-epoch");
const STREAM_ID: HeaderName = HeaderName::from_static("x-qwen-sse-stream-id");
const LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");

/// How many bytes of an unreadable frame are kept for diagnosis.
const LONGEST_EXCERPT: usize = 200;

/// A position in a session's event stream. Event ids are only comparable within one epoch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EventCursor {
    /// The newest event that was received; 0 for none.
    pub last_event_id: u64,
    /// The epoch of that id. Unknown right after a session was created.
    pub epoch: Option<Epoch>,
}

/// Why a stream is opened. The daemon only records it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum StreamReason {
    /// The first stream of this client.
    #[default]
    Initial,
    /// The first stream after an earlier process.
    Resume,
    /// The daemon ended the stream before.
    StreamEnd,
    /// The connection of the stream before broke.
    TransportError,
    /// The stream before could not be continued; the history was loaded.
    StateResync,
}

impl StreamReason {
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

/// Parameters of an event stream.
#[derive(Clone, Debug, Default)]
pub struct Subscription {
    /// Where to continue. Without it only new events are sent.
    pub cursor: Option<EventCursor>,
    /// Whether to send a `session_snapshot` with the current model and approval mode first.
    pub snapshot: bool,
    /// How many frames the daemon may queue for a slow reader, 16 to 2048.
    pub max_queued: Option<u16>,
    /// The largest frame that is read; [`sse::MAX_FRAME`] if `None`.
    pub max_frame: Option<usize>,
    /// Sent as `connectReason`.
    pub reason: StreamReason,
    /// The stream id of the stream before, sent as `previousStreamId`.
    pub previous_stream: Option<String>,
}

/// One item of an event stream.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum StreamItem {
    /// A frame that holds an event.
    Event(DaemonEvent),
    /// An SSE comment, which the daemon sends every 15 seconds.
    Heartbeat,
    /// A frame that is not an event, or is larger than the limit. Its content is lost.
    Unreadable {
        /// The event id, if it could be read.
        id: Option<u64>,
        /// The error, for people.
        why: String,
        /// The beginning of the frame; empty if it was too large.
        excerpt: String,
    },
}

/// An open event stream. Dropping it closes the connection.
#[derive(Debug)]
pub struct EventStream {
    http: HttpClient,
    /// The epoch of its event ids.
    pub epoch: Option<Epoch>,
    /// The daemon's id for this stream.
    pub stream_id: Option<String>,
    /// How many events had invalid UTF-8, which was replaced.
    pub invalid_utf8: u64,
    body: Incoming,
    parser: SseParser,
    _connection: ConnectionGuard,
}

impl DaemonClient {
    /// `GET /session/{id}/events`. The timeout applies to the response head only.
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
        let mut request = self
            .get(path)
            .client(client)
            .header(ACCEPT, "text/event-stream");
        if let Some(cursor) = &subscription.cursor {
            request = request.header(LAST_EVENT_ID, &cursor.last_event_id.to_string());
            // The daemon ignores an epoch without an event id.
            if let Some(epoch) = &cursor.epoch {
                request = request.header(EPOCH, epoch.as_str());
            }
        }
        let (headers, body, connection) = self.http.open_stream(request).await?;
        let text = |name: &HeaderName| text(&headers, name);
        let kind = text(&CONTENT_TYPE).unwrap_or_default();
        if !kind.to_ascii_lowercase().starts_with("text/event-stream") {
            let why = format!("an event stream was answered with `{kind}`");
            return Err(self.http.invalid_response(why));
        }
        Ok(EventStream {
            http: self.http.clone(),
            epoch: text(&EPOCH).and_then(|it| Epoch::new(it).ok()),
            stream_id: text(&STREAM_ID).map(str::to_owned),
            invalid_utf8: 0,
            body,
            parser: SseParser::new(subscription.max_frame.unwrap_or(sse::MAX_FRAME)),
            _connection: connection,
        })
    }
}

impl EventStream {
    /// The next item; `None` when the daemon has ended the stream. If nothing at all arrives within
    /// `limit`, not even a heartbeat, that is [`DaemonError::Timeout`].
    ///
    /// Cancel safe: dropping the future loses nothing.
    pub async fn next(&mut self, limit: Duration) -> Result<Option<StreamItem>, DaemonError> {
        loop {
            if let Some(item) = self.parser.pull() {
                return Ok(Some(self.read(item)));
            }
            // Any byte is a sign of life: a large frame may take its time.
            match timeout(limit, self.body.frame()).await {
                Err(_) => return Err(self.http.timed_out(limit)),
                Ok(None) => return Ok(None),
                Ok(Some(Err(error))) => return Err(self.http.connection_lost(&error)),
                Ok(Some(Ok(frame))) => {
                    if let Ok(bytes) = frame.into_data() {
                        self.parser.push(bytes);
                    }
                }
            }
        }
    }

    fn read(&mut self, item: SseItem) -> StreamItem {
        match item {
            SseItem::Comment => StreamItem::Heartbeat,
            SseItem::Oversized { id, bytes } => StreamItem::Unreadable {
                id,
                why: format!("a frame of {bytes} bytes is too large"),
                excerpt: String::new(),
            },
            SseItem::Frame(frame) => {
                let (event, invalid_utf8) = DaemonEvent::from_frame(&frame);
                self.invalid_utf8 += u64::from(invalid_utf8);
                event.map_or_else(|error| unreadable(&frame, &error), StreamItem::Event)
            }
        }
    }
}

fn unreadable(frame: &sse::SseFrame, error: &EventError) -> StreamItem {
    let excerpt = &frame.data[..frame.data.len().min(LONGEST_EXCERPT)];
    StreamItem::Unreadable {
        id: frame.id,
        why: error.to_string(),
        excerpt: String::from_utf8_lossy(excerpt).into_owned(),
    }
}

fn text<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Option<&'a str> {
    headers.get(name)?.to_str().ok()
}
