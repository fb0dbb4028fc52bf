//! The status of a conversation: connection, model, mode, queue and more.

use conversation::view::{Choice, ConnectionState, ConversationStatus, QueuedPrompt, Usage};
use serde::{Serialize, Serializer};

use super::transcript::PathJson;

pub(super) struct StatusJson<'a>(pub(super) &'a ConversationStatus);

impl Serialize for StatusJson<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let status = self.0;
        StatusFields {
            connection: (&status.connection).into(),
            place: status.place.as_ref().map(|place| PlaceJson {
                machine: place.machine.as_deref(),
                workspace: (&place.workspace).into(),
                version: place.version.as_deref(),
                locality: place.locality(),
            }),
            managed: status.managed,
            title: status.title.as_deref(),
            busy: status.busy,
            queue: status.queue.iter().map(QueuedJson::from).collect(),
            model: status.model.as_deref(),
            models: status.models.iter().map(ChoiceJson::from).collect(),
            mode: status.mode.as_deref(),
            unasking: status.is_unasking().then_some(true),
            modes: status.modes.iter().map(ChoiceJson::from).collect(),
            commands: &status.commands,
            usage: status.usage.map(UsageJson::from),
            suggestion: status.suggestion.as_deref(),
        }
        .serialize(serializer)
    }
}

#[derive(Serialize)]
struct StatusFields<'a> {
    connection: ConnectionJson<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    place: Option<PlaceJson<'a>>,
    managed: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    title: Option<&'a str>,
    busy: bool,
    queue: Vec<QueuedJson<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    model: Option<&'a str>,
    models: Vec<ChoiceJson<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    mode: Option<&'a str>,
    /// Absent or true, so that front ends need to look for nothing but its being there.
    #[serde(skip_serializing_if = "Option::is_none")]
    unasking: Option<bool>,
    modes: Vec<ChoiceJson<'a>>,
    commands: &'a [(String, Option<String>)],
    #[serde(skip_serializing_if = "Option::is_none")]
    usage: Option<UsageJson>,
    #[serde(skip_serializing_if = "Option::is_none")]
    suggestion: Option<&'a str>,
}

#[derive(Serialize)]
#[serde(
    rename_all = "camelCase",
    rename_all_fields = "camelCase",
    tag = "state"
)]
enum ConnectionJson<'a> {
    Off,
    Starting,
    Connecting,
    CatchingUp,
    Live,
    Reconnecting,
    Lost {
        why: &'static str,
        can_retry: bool,
    },
    Failed {
        trouble: &'static str,
        why: &'a str,
        #[serde(skip_serializing_if = "Option::is_none")]
        hint: Option<&'a str>,
    },
}

impl<'a> From<&'a ConnectionState> for ConnectionJson<'a> {
    fn from(connection: &'a ConnectionState) -> Self {
        match connection {
            ConnectionState::Off => Self::Off,
            ConnectionState::Starting => Self::Starting,
            ConnectionState::Connecting => Self::Connecting,
            ConnectionState::CatchingUp => Self::CatchingUp,
            ConnectionState::Live => Self::Live,
            ConnectionState::Reconnecting => Self::Reconnecting,
            ConnectionState::Lost(reason) => Self::Lost {
                why: reason.words(),
                can_retry: reason.can_retry(),
            },
            ConnectionState::Failed(trouble) => Self::Failed {
                trouble: trouble.kind.as_str(),
                why: &trouble.why,
                hint: trouble.hint.as_deref(),
            },
        }
    }
}

#[derive(Serialize)]
struct PlaceJson<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    machine: Option<&'a str>,
    workspace: PathJson<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    version: Option<&'a str>,
    /// What a person should know about the place, as lines of text.
    locality: [String; 2],
}

#[derive(Serialize)]
struct QueuedJson<'a> {
    prompt: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<&'a str>,
}

impl<'a> From<&'a QueuedPrompt> for QueuedJson<'a> {
    fn from(queued: &'a QueuedPrompt) -> Self {
        QueuedJson {
            prompt: &queued.prompt,
            text: queued.text.as_deref(),
        }
    }
}

#[derive(Serialize)]
struct ChoiceJson<'a> {
    id: &'a str,
    name: &'a str,
}

impl<'a> From<&'a Choice> for ChoiceJson<'a> {
    fn from(choice: &'a Choice) -> Self {
        ChoiceJson {
            id: &choice.id,
            name: &choice.name,
        }
    }
}

#[derive(Serialize)]
pub(super) struct UsageJson {
    used: u64,
    size: u64,
}

impl From<Usage> for UsageJson {
    fn from(usage: Usage) -> Self {
        UsageJson {
            used: usage.used,
            size: usage.size,
        }
    }
}
