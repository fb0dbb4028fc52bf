//! Single events, for commands that print what happens.

use conversation::BackendEvent;
use serde::Serialize;

use super::request::RequestJson;
use super::status::UsageJson;
use super::transcript::{AttachmentJson, PathJson, SpeakerJson, StepJson, ToolJson, how};

/// Serialises an event; `None` for [`BackendEvent::Choices`], which commands do not print.
pub fn event(event: &BackendEvent) -> Option<impl Serialize + '_> {
    EventJson::of(event)
}

#[derive(Serialize)]
#[serde(
    rename_all = "camelCase",
    rename_all_fields = "camelCase",
    tag = "event"
)]
enum EventJson<'a> {
    Connected {
        #[serde(skip_serializing_if = "Option::is_none")]
        daemon_version: Option<&'a str>,
        workspace: PathJson<'a>,
    },
    StartOver {
        events: Vec<EventJson<'a>>,
        busy: bool,
        incomplete: bool,
    },
    Said {
        speaker: SpeakerJson,
        text: &'a str,
    },
    TurnBegan,
    Attached {
        speaker: SpeakerJson,
        #[serde(flatten)]
        attached: AttachmentJson<'a>,
    },
    Rewound {
        turn: usize,
        restored: &'a [String],
        failed: &'a [String],
    },
    Notice {
        text: String,
    },
    Tool(ToolJson<'a>),
    Plan {
        steps: Vec<StepJson<'a>>,
    },
    Commands {
        commands: &'a [(String, Option<String>)],
    },
    Usage(UsageJson),
    Asked(RequestJson<'a>),
    Closed {
        request: &'a str,
        by_me: bool,
    },
    Declined {
        request: &'a str,
    },
    VoteCounted {
        request: &'a str,
        #[serde(skip_serializing_if = "Option::is_none")]
        received: Option<u64>,
        #[serde(skip_serializing_if = "Option::is_none")]
        needed: Option<u64>,
    },
    TurnEnded {
        #[serde(skip_serializing_if = "Option::is_none")]
        prompt: Option<&'a str>,
        how: &'static str,
        #[serde(skip_serializing_if = "Option::is_none")]
        why: Option<String>,
        background: bool,
    },
    Queue {
        prompt: &'a str,
        #[serde(skip_serializing_if = "Option::is_none")]
        text: Option<&'a str>,
        state: &'a str,
    },
    ModelChanged {
        model: &'a str,
    },
    ModelRefused {
        #[serde(skip_serializing_if = "Option::is_none")]
        model: Option<&'a str>,
    },
    ModeChanged {
        mode: &'a str,
    },
    Titled {
        title: &'a str,
    },
    Suggestion {
        text: &'a str,
    },
    Interrupted,
    Restored,
    CaughtUp,
    Gap,
    Disconnected {
        reason: &'static str,
        can_reconnect: bool,
    },
}

impl<'a> EventJson<'a> {
    fn of(event: &'a BackendEvent) -> Option<Self> {
        Some(match event {
            // The models and modes are the answer of a command of their own.
            BackendEvent::Choices(_) => return None,
            BackendEvent::Connected { version, workspace } => Self::Connected {
                daemon_version: version.as_deref(),
                workspace: workspace.into(),
            },
            BackendEvent::History {
                events,
                busy,
                incomplete,
            } => Self::StartOver {
                events: events.iter().filter_map(Self::of).collect(),
                busy: *busy,
                incomplete: *incomplete,
            },
            BackendEvent::Said { speaker, text } => Self::Said {
                speaker: (*speaker).into(),
                text,
            },
            BackendEvent::TurnBegan => Self::TurnBegan,
            BackendEvent::Attached {
                speaker,
                attachment,
            } => Self::Attached {
                speaker: (*speaker).into(),
                attached: attachment.into(),
            },
            BackendEvent::Rewound { turn, files } => Self::Rewound {
                turn: *turn,
                restored: &files.restored,
                failed: &files.failed,
            },
            BackendEvent::Notice(notice) => Self::Notice {
                text: notice.words(),
            },
            BackendEvent::Tool(tool) => Self::Tool(tool.into()),
            BackendEvent::Plan(steps) => Self::Plan {
                steps: steps.iter().map(StepJson::from).collect(),
            },
            BackendEvent::Commands(commands) => Self::Commands { commands },
            BackendEvent::Usage(usage) => Self::Usage((*usage).into()),
            BackendEvent::RequestOpened { request, .. } => Self::Asked((&**request).into()),
            BackendEvent::RequestClosed { request, by_me, .. } => Self::Closed {
                request,
                by_me: *by_me,
            },
            BackendEvent::RequestDeclined { request } => Self::Declined { request },
            BackendEvent::VoteCounted {
                request,
                received,
                needed,
            } => Self::VoteCounted {
                request,
                received: *received,
                needed: *needed,
            },
            BackendEvent::TurnEnded {
                prompt,
                outcome,
                background,
            } => Self::TurnEnded {
                prompt: prompt.as_deref(),
                how: how(outcome),
                why: outcome.why(),
                background: *background,
            },
            BackendEvent::Queue {
                prompt,
                text,
                state,
            } => Self::Queue {
                prompt,
                text: text.as_deref(),
                state: state.as_str(),
            },
            BackendEvent::ModelChanged { model } => Self::ModelChanged { model },
            BackendEvent::ModelRefused { model } => Self::ModelRefused {
                model: model.as_deref(),
            },
            BackendEvent::ModeChanged { mode } => Self::ModeChanged { mode },
            BackendEvent::TitleChanged { title } => Self::Titled { title },
            BackendEvent::Suggestion { text } => Self::Suggestion { text },
            BackendEvent::ConnectionLost => Self::Interrupted,
            BackendEvent::ConnectionRestored => Self::Restored,
            BackendEvent::CaughtUp => Self::CaughtUp,
            BackendEvent::EventsLost => Self::Gap,
            BackendEvent::Disconnected(reason) => Self::Disconnected {
                reason: reason.as_str(),
                can_reconnect: reason.can_retry(),
            },
        })
    }
}
