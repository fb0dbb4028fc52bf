//! Events of the daemon: one JSON envelope each.
//!
//! A [`DaemonEvent`] keeps the text it came as, so nothing is lost, and parses only the envelope:
//! id, type, prompt, originator. The data is parsed on demand by [`DaemonEvent::body`], which never
//! fails: an unknown type is [`EventBody::Unknown`], a known type whose data cannot be parsed is
//! [`EventBody::Malformed`], and both still have their raw data.

mod body;
mod data;

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de, ser};
use serde_json::Value;
use serde_json::value::RawValue;

use crate::json::{self, ObjectFields};
use crate::sse::SseFrame;
use crate::wire::{ClientId, PromptId};

pub use body::EventBody;
pub(crate) use body::is_about_session;
pub use data::{
    AgentChanged, ApprovalModeChanged, ArtifactChange, ArtifactChanged, BackgroundTurn,
    ChannelDeliveryResult, ClientEvicted, DeviceFlowAuthorized, DeviceFlowCancelled,
    DeviceFlowFailed, DeviceFlowStarted, DeviceFlowThrottled, ExtensionsChanged, FolderChanged,
    FollowupSuggestion, GitBranchChanged, GitStatusChanged, GithubSetupCompleted, GithubWorkflow,
    GitignoreChange, HistoryTruncated, LanguageChanged, McpBudgetWarning, McpServerAdded,
    McpServerChanged, McpServerRemoved, McpServerRestartRefused, McpServerRestarted,
    McpServersRefused, MemoryChanged, MidTurnMessageRead, MidTurnMessagesRead, ModelSwitchFailed,
    ModelSwitched, PermissionForbidden, PermissionPartialVote, PermissionResolved, PromptCancelled,
    RecordingDegraded, RefusedMcpServer, ReloadedEnvironment, ReplayComplete, ResyncRequired,
    SessionBranched, SessionClosed, SessionDied, SessionMetadataUpdated, SessionRewound,
    SessionSnapshot, SettingsChanged, SettingsReloaded, SlowClientWarning, SourceChanged,
    StreamError, TerminalSequence, ToolToggled, TrustChangeRequested, TurnComplete, TurnError,
    UserShellCommand, UserShellResult, WorkspaceInitialized,
};

/// The daemon is written in JavaScript, whose numbers are exact up to here.
const LARGEST_ID: u64 = (1 << 53) - 1;

/// One event of a session: the envelope, and the text that it came as.
#[derive(Clone)]
pub struct DaemonEvent {
    id: Option<u64>,
    kind: EventKind,
    /// The whole envelope as JSON.
    text: Arc<str>,
    /// Positions of these values in `text`. The first two are rarely asked for; making ids of them
    /// for every event would cost more than all other parsing.
    prompt_id: Option<Range<usize>>,
    originator: Option<Range<usize>>,
    data: Range<usize>,
}

/// The `type` of an event. A known type is a static string and needs no allocation.
#[derive(Clone)]
enum EventKind {
    Known(&'static str),
    Unknown(Arc<str>),
}

impl EventKind {
    /// Reads a type. The known ones need not be decoded first: no name of theirs has an escape.
    fn read(json: &str) -> Result<EventKind, serde_json::Error> {
        let inside = json.strip_prefix('"').and_then(|it| it.strip_suffix('"'));
        if let Some(name) = inside.and_then(body::known) {
            return Ok(EventKind::Known(name));
        }
        let name = json::string(json)?;
        Ok(body::known(&name).map_or_else(|| EventKind::Unknown(name.into()), EventKind::Known))
    }
}

/// Why a frame is not an event.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EventError {
    /// Not a JSON object with a type and data.
    #[error("not an event: {0}")]
    Unreadable(String),
    /// The envelope has another version than 1.
    #[error("the envelope has version {0}")]
    Version(u64),
    /// The id is 0, or larger than JavaScript can represent exactly.
    #[error("{0} is not the number of an event")]
    Id(u64),
}

impl From<json::NotAnObject> for EventError {
    fn from(broken: json::NotAnObject) -> Self {
        serde_json::Error::from(broken).into()
    }
}

impl From<serde_json::Error> for EventError {
    fn from(error: serde_json::Error) -> Self {
        Self::Unreadable(error.to_string())
    }
}

/// The fields of an envelope that are used here, as JSON.
#[derive(Default)]
struct RawEnvelope<'a> {
    id: Option<&'a str>,
    version: Option<&'a str>,
    kind: Option<&'a str>,
    prompt_id: Option<&'a str>,
    originator: Option<&'a str>,
    data: Option<&'a str>,
}

impl<'a> RawEnvelope<'a> {
    fn read(text: &'a str) -> Result<Self, EventError> {
        let mut envelope = RawEnvelope::default();
        for field in ObjectFields::of(text)? {
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
                // What follows is metadata that is not used here.
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

impl DaemonEvent {
    /// Reads the data of a frame. The second value tells whether invalid UTF-8 was replaced.
    pub fn from_frame(frame: &SseFrame) -> (Result<DaemonEvent, EventError>, bool) {
        // Validating is several times faster than replacing, and nearly all frames are valid.
        let text = std::str::from_utf8(&frame.data)
            .map_or_else(|_| String::from_utf8_lossy(&frame.data), Cow::Borrowed);
        let invalid_utf8 = matches!(text, Cow::Owned(_));
        let event = Self::read(&text).map(|mut event| {
            event.id = event
                .id
                .or(frame.id.filter(|id| (1..=LARGEST_ID).contains(id)));
            event
        });
        (event, invalid_utf8)
    }

    /// Reads an envelope. The data is not parsed.
    pub fn read(text: &str) -> Result<DaemonEvent, EventError> {
        let envelope = RawEnvelope::read(text)?;
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
        let kind = EventKind::read(envelope.kind.ok_or_else(|| missing("type"))?)?;
        let data = envelope.data.ok_or_else(|| missing("data"))?;
        let range = |part: &str| range_of(text, part);
        Ok(DaemonEvent {
            id,
            kind,
            text: text.into(),
            prompt_id: envelope.prompt_id.map(range),
            originator: envelope.originator.map(range),
            data: range(data),
        })
    }

    /// The event id. Synthetic events have none.
    pub fn id(&self) -> Option<u64> {
        self.id
    }

    /// The `type` field.
    pub fn kind(&self) -> &str {
        match &self.kind {
            EventKind::Known(name) => name,
            EventKind::Unknown(name) => name,
        }
    }

    /// The prompt whose turn it belongs to.
    pub fn prompt_id(&self) -> Option<PromptId> {
        let id = json::string(&self.text[self.prompt_id.clone()?]).ok()?;
        PromptId::new(id).ok()
    }

    /// The client whose request caused it.
    pub fn originator(&self) -> Option<ClientId> {
        let id = json::string(&self.text[self.originator.clone()?]).ok()?;
        ClientId::new(id).ok()
    }

    /// The whole envelope as it was received.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The `data` field as JSON, as it was received.
    pub fn data(&self) -> &str {
        &self.text[self.data.clone()]
    }

    /// One field of the data. Works also for an event whose data is [`EventBody::Malformed`].
    pub fn field(&self, name: &str) -> Option<Value> {
        let data: Value = serde_json::from_str(self.data()).ok()?;
        data.get(name).cloned()
    }

    /// Parses the data.
    pub fn body(&self) -> EventBody {
        EventBody::read(self.kind(), self.data())
    }

    /// Whether this version knows the type.
    pub fn is_known(&self) -> bool {
        matches!(self.kind, EventKind::Known(_))
    }
}

/// The position in `text` of `part`, which must borrow from it.
fn range_of(text: &str, part: &str) -> Range<usize> {
    let start = part.as_ptr().addr() - text.as_ptr().addr();
    start..start + part.len()
}

/// The types whose data holds what must not get into a log: values of settings, names of accounts.
const PRIVATE: [&str; 2] = ["settings_changed", "auth_device_flow_authorized"];

impl std::fmt::Debug for DaemonEvent {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut shown = f.debug_struct("DaemonEvent");
        shown.field("id", &self.id).field("kind", &self.kind());
        if !PRIVATE.contains(&self.kind()) {
            shown.field("data", &self.data());
        }
        shown.finish_non_exhaustive()
    }
}

impl PartialEq for DaemonEvent {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl Serialize for DaemonEvent {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let raw: &RawValue = serde_json::from_str(&self.text).map_err(ser::Error::custom)?;
        raw.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for DaemonEvent {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let envelope = Value::deserialize(deserializer)?;
        DaemonEvent::read(&envelope.to_string()).map_err(de::Error::custom)
    }
}

#[cfg(test)]
mod round_trips;
#[cfg(test)]
mod tests;
