//! Events: what a stream tells, one envelope at a time.
//!
//! An [`Event`] keeps the text it came as, so nothing is ever lost, and reads only the envelope:
//! number, type, prompt, originator. What is inside is read on demand by [`Event::body`], which
//! never fails: an event of a type that is not known is [`Body::Unknown`], one that is known but not
//! as expected is [`Body::Malformed`], and both still have their raw data.

mod body;
mod data;

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de, ser};
use serde_json::Value;
use serde_json::value::RawValue;

use crate::json::{self, Fields};
use crate::sse::Frame;
use crate::wire::{ClientId, PromptId};

pub use body::Body;
pub use data::{
    ApprovalModeChanged, BackgroundTurn, ClientEvicted, HistoryTruncated, MetadataUpdated,
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
    /// The whole envelope, as JSON.
    text: Arc<str>,
    /// Where in `text` these stand, as JSON. Hardly anybody asks for the first two, and making ids of
    /// them for every event would cost more than all the rest.
    prompt_id: Option<Range<usize>>,
    originator: Option<Range<usize>>,
    data: Range<usize>,
}

/// The type of an event; the known ones cost no memory.
#[derive(Clone)]
enum Kind {
    Known(&'static str),
    Unknown(Arc<str>),
}

impl Kind {
    /// Reads a type. The known ones need not be decoded first: no name of theirs has an escape.
    fn read(json: &str) -> Result<Kind, serde_json::Error> {
        let inside = json.strip_prefix('"').and_then(|it| it.strip_suffix('"'));
        if let Some(name) = inside.and_then(body::known) {
            return Ok(Kind::Known(name));
        }
        let name = json::string(json)?;
        Ok(body::known(&name).map_or_else(|| Kind::Unknown(name.into()), Kind::Known))
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

impl From<json::Broken> for EventError {
    fn from(broken: json::Broken) -> Self {
        serde_json::Error::from(broken).into()
    }
}

impl From<serde_json::Error> for EventError {
    fn from(error: serde_json::Error) -> Self {
        Self::Unreadable(error.to_string())
    }
}

/// The fields of an envelope that mean something here, as JSON.
#[derive(Default)]
struct Envelope<'a> {
    id: Option<&'a str>,
    version: Option<&'a str>,
    kind: Option<&'a str>,
    prompt_id: Option<&'a str>,
    originator: Option<&'a str>,
    data: Option<&'a str>,
}

impl<'a> Envelope<'a> {
    fn read(text: &'a str) -> Result<Self, EventError> {
        let mut envelope = Envelope::default();
        for field in Fields::of(text)? {
            let (name, value) = field?;
            let place = match name {
                "id" => &mut envelope.id,
                "v" => &mut envelope.version,
                "type" => &mut envelope.kind,
                "promptId" => &mut envelope.prompt_id,
                "originatorClientId" => &mut envelope.originator,
                "data" => &mut envelope.data,
                _ => continue,
            };
            *place = Some(value);
            if envelope.is_complete() {
                // What follows is metadata that nobody has asked for.
                break;
            }
        }
        Ok(envelope)
    }

    fn is_complete(&self) -> bool {
        self.originator.is_some()
            && self.prompt_id.is_some()
            && self.data.is_some()
            && self.kind.is_some()
            && self.version.is_some()
            && self.id.is_some()
    }
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
        let envelope = Envelope::read(text)?;
        let missing = |what| EventError::Unreadable(format!("it has no {what}"));
        let version = envelope.version.ok_or_else(|| missing("version"))?;
        if version != "1" {
            return Err(EventError::Version(serde_json::from_str(version)?));
        }
        let id = match envelope.id {
            Some(id) => json::number(id.as_bytes())
                .map_or_else(|| serde_json::from_str(id), |id| Ok(Some(id)))?,
            None => None,
        };
        if let Some(id) = id
            && !(1..=LARGEST_ID).contains(&id)
        {
            return Err(EventError::Id(id));
        }
        let kind = Kind::read(envelope.kind.ok_or_else(|| missing("type"))?)?;
        let data = envelope.data.ok_or_else(|| missing("data"))?;
        let range = |part: &str| range_of(text, part);
        Ok(Event {
            id,
            kind,
            text: text.into(),
            prompt_id: envelope.prompt_id.map(range),
            originator: envelope.originator.map(range),
            data: range(data),
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
    pub fn prompt_id(&self) -> Option<PromptId> {
        let id = json::string(&self.text[self.prompt_id.clone()?]).ok()?;
        PromptId::new(id).ok()
    }

    /// The client whose request caused it.
    pub fn originator(&self) -> Option<ClientId> {
        let id = json::string(&self.text[self.originator.clone()?]).ok()?;
        ClientId::new(id).ok()
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

/// Where `part`, which borrows from `text`, stands in it.
fn range_of(text: &str, part: &str) -> Range<usize> {
    let start = part.as_ptr().addr() - text.as_ptr().addr();
    start..start + part.len()
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
