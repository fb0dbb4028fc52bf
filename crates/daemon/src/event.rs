//! Events: what a stream tells, one envelope at a time.
//!
//! An [`Event`] keeps the text it came as, so nothing is ever lost, and reads only the envelope:
//! number, type, prompt, originator. What is inside is read on demand by [`Event::body`], which
//! never fails: an event of a type that is not known is [`Body::Unknown`], one that is known but not
//! as expected is [`Body::Malformed`], and both still have their raw data.

mod body;

use std::borrow::Cow;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

use serde::{Deserialize, Deserializer, Serialize, Serializer, de, ser};
use serde_json::Value;
use serde_json::value::RawValue;

use crate::sse::Frame;
use crate::wire::{ClientId, PromptId};

pub use body::{
    ApprovalModeChanged, BackgroundTurn, Body, ClientEvicted, HistoryTruncated, MetadataUpdated,
    ModelSwitchFailed, ModelSwitched, PendingPromptNews, PermissionForbidden, PermissionResolved,
    PromptCancelled, ReplayComplete, ResyncRequired, SessionClosed, SessionDied, Snapshot,
    StreamError, Suggestion, TurnComplete, TurnError, VoteProgress,
};

/// Numbers above this cannot be told apart by a daemon written in JavaScript.
const LARGEST_ID: u64 = (1 << 53) - 1;

/// One event.
#[derive(Clone)]
pub struct Event {
    id: Option<u64>,
    kind: Kind,
    /// Where in `text` the prompt stands, and the prompt once somebody has asked for it. Hardly
    /// anybody does, and making ids of both for every event would double the cost of reading it.
    prompt_id: Noted<PromptId>,
    originator: Noted<ClientId>,
    /// The whole envelope, as JSON.
    text: Arc<str>,
    /// Where in `text` the data stands.
    data: Range<usize>,
}

/// A text inside the envelope that is made an id on demand.
#[derive(Clone)]
struct Noted<T> {
    place: Option<Place>,
    id: OnceLock<Option<T>>,
}

#[derive(Clone)]
enum Place {
    /// As it stands in the text.
    Within(Range<usize>),
    /// It has escapes, so it stands nowhere as it is meant.
    Apart(Box<str>),
}

impl<T> Noted<T> {
    fn new(text: &str, value: Option<Cow<'_, str>>) -> Self {
        let place = value.map(|value| match value {
            Cow::Borrowed(part) => Place::Within(range_of(text, part)),
            Cow::Owned(part) => Place::Apart(part.into()),
        });
        Self {
            place,
            id: OnceLock::new(),
        }
    }

    fn get(&self, text: &str, make: impl FnOnce(&str) -> Option<T>) -> Option<&T> {
        let id = self.id.get_or_init(|| match self.place.as_ref()? {
            Place::Within(range) => make(&text[range.clone()]),
            Place::Apart(part) => make(part),
        });
        id.as_ref()
    }
}

/// Where `part`, which borrows from `text`, stands in it.
fn range_of(text: &str, part: &str) -> Range<usize> {
    let start = part.as_ptr().addr() - text.as_ptr().addr();
    start..start + part.len()
}

/// The type of an event; the known ones cost no memory.
#[derive(Clone)]
enum Kind {
    Known(&'static str),
    Unknown(Arc<str>),
}

impl Kind {
    fn of(name: &str) -> Kind {
        body::known(name).map_or_else(|| Kind::Unknown(name.into()), Kind::Known)
    }
}

/// Why a frame is not an event.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EventError {
    /// Not a JSON object with a type and data.
    #[error("not an event: {0}")]
    Unreadable(String),
    /// An envelope of another version.
    #[error("the envelope has version {0}")]
    Version(u64),
    /// A number that cannot be one.
    #[error("{0} is not the number of an event")]
    Id(u64),
}

#[derive(Deserialize)]
struct Envelope<'a> {
    id: Option<u64>,
    v: u64,
    #[serde(rename = "type", borrow)]
    kind: Cow<'a, str>,
    #[serde(rename = "promptId", borrow)]
    prompt_id: Option<Cow<'a, str>>,
    #[serde(rename = "originatorClientId", borrow)]
    originator: Option<Cow<'a, str>>,
    #[serde(borrow)]
    data: &'a RawValue,
}

impl Event {
    /// Reads the data of a frame. The second value tells whether bytes that are not text had to be
    /// replaced.
    pub fn from_frame(frame: &Frame) -> (Result<Event, EventError>, bool) {
        // Checking is several times faster than mending, and nearly all frames are text.
        let text = std::str::from_utf8(&frame.data)
            .map_or_else(|_| String::from_utf8_lossy(&frame.data), Cow::Borrowed);
        let mended = matches!(text, Cow::Owned(_));
        let event = Self::read(&text).map(|mut event| {
            event.id = event
                .id
                .or(frame.id.filter(|id| (1..=LARGEST_ID).contains(id)));
            event
        });
        (event, mended)
    }

    /// Reads an envelope.
    pub fn read(text: &str) -> Result<Event, EventError> {
        let envelope: Envelope = serde_json::from_str(text)
            .map_err(|error| EventError::Unreadable(error.to_string()))?;
        if envelope.v != 1 {
            return Err(EventError::Version(envelope.v));
        }
        if let Some(id) = envelope.id
            && !(1..=LARGEST_ID).contains(&id)
        {
            return Err(EventError::Id(id));
        }
        Ok(Event {
            id: envelope.id,
            prompt_id: Noted::new(text, envelope.prompt_id),
            originator: Noted::new(text, envelope.originator),
            kind: Kind::of(&envelope.kind),
            text: text.into(),
            data: range_of(text, envelope.data.get()),
        })
    }

    /// Its number; synthetic events have none.
    pub fn id(&self) -> Option<u64> {
        self.id
    }

    /// Its type, as it stands on the wire.
    pub fn kind(&self) -> &str {
        match &self.kind {
            Kind::Known(name) => name,
            Kind::Unknown(name) => name,
        }
    }

    /// The prompt it belongs to.
    pub fn prompt_id(&self) -> Option<&PromptId> {
        self.prompt_id.get(&self.text, |id| PromptId::new(id).ok())
    }

    /// The client whose request caused it.
    pub fn originator(&self) -> Option<&ClientId> {
        self.originator.get(&self.text, |id| ClientId::new(id).ok())
    }

    /// The whole envelope, as it came.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The data, as it came.
    pub fn data(&self) -> &str {
        &self.text[self.data.clone()]
    }

    /// One field of the data, whatever else is wrong with it.
    pub fn field(&self, name: &str) -> Option<Value> {
        let data: Value = serde_json::from_str(self.data()).ok()?;
        data.get(name).cloned()
    }

    /// What it says.
    pub fn body(&self) -> Body {
        Body::read(self.kind(), self.data())
    }

    /// Whether its type is one that this version knows.
    pub fn is_known(&self) -> bool {
        matches!(self.kind, Kind::Known(_))
    }
}

impl std::fmt::Debug for Event {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Event")
            .field("id", &self.id)
            .field("kind", &self.kind())
            .field("data", &self.data())
            .finish_non_exhaustive()
    }
}

impl PartialEq for Event {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl Serialize for Event {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let raw: &RawValue = serde_json::from_str(&self.text).map_err(ser::Error::custom)?;
        raw.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Event {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let envelope = Value::deserialize(deserializer)?;
        Event::read(&envelope.to_string()).map_err(de::Error::custom)
    }
}

#[cfg(test)]
mod tests;
