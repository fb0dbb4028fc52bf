//! What a page or an editor's window is told: the whole list, and nothing besides.

use serde::Serialize;

/// A path on the machine that the daemon runs on. It need not mean anything where it is shown, so
/// whoever shows it should say whose it is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct HostPath {
    /// The path.
    pub daemon_path: String,
    /// The line, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u64>,
}

/// Something that a tool shows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase", tag = "type")]
pub enum Shown {
    /// Text.
    Text {
        /// The text.
        text: String,
    },
    /// A change to a file.
    #[serde(rename_all = "camelCase")]
    Diff {
        /// The file.
        path: HostPath,
        /// What stands there; absent for a new file.
        #[serde(skip_serializing_if = "Option::is_none")]
        old_text: Option<String>,
        /// What shall stand there.
        new_text: String,
    },
}

/// A tool call, or what changed about one.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct AppTool {
    /// Which call.
    pub id: String,
    /// What to call it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The tool.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// What it does, roughly.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// How far it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<String>,
    /// What it shows; replaces what it showed before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub content: Option<Vec<Shown>>,
    /// The files it touches; replace those from before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub files: Option<Vec<HostPath>>,
    /// The command it runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
}

/// Something to choose.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct AppOption {
    /// What to send back.
    pub id: String,
    /// What to show.
    pub title: String,
    /// What it means.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
}

/// A question.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct AppQuestion {
    /// The question.
    pub question: String,
    /// A short heading.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub header: Option<String>,
    /// Proposed answers with what they mean; another text is always allowed.
    pub answers: Vec<(String, Option<String>)>,
    /// Whether several may be chosen.
    pub several: bool,
}

/// A step of a plan, and how far it is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct AppStep {
    /// The step.
    pub text: String,
    /// How far it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<String>,
}

/// Who says something.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Speaker {
    /// The person here.
    Me,
    /// A person at another client, or at this one before it was started again.
    Other,
    /// The agent.
    Agent,
    /// The agent, to itself.
    Thought,
}

/// An event for a page or an editor. All text in it is untrusted: it must be shown as text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(
    rename_all = "camelCase",
    rename_all_fields = "camelCase",
    tag = "event"
)]
#[allow(
    missing_docs,
    reason = "the names are the document; see IdeEvent for what they stand for"
)]
pub enum AppEvent {
    Connected {
        #[serde(skip_serializing_if = "Option::is_none")]
        daemon_version: Option<String>,
        workspace: HostPath,
    },
    StartOver {
        events: Vec<AppEvent>,
        busy: bool,
        incomplete: bool,
    },
    Said {
        speaker: Speaker,
        text: String,
    },
    Tool(AppTool),
    Plan {
        steps: Vec<AppStep>,
    },
    Commands {
        commands: Vec<(String, Option<String>)>,
    },
    Usage {
        used: u64,
        size: u64,
    },
    Asked {
        request: String,
        title: String,
        tool: AppTool,
        options: Vec<AppOption>,
        #[serde(skip_serializing_if = "Option::is_none")]
        questions: Option<Vec<AppQuestion>>,
        background: bool,
    },
    Closed {
        request: String,
        by_me: bool,
    },
    Declined {
        request: String,
    },
    VoteCounted {
        request: String,
        #[serde(skip_serializing_if = "Option::is_none")]
        received: Option<u64>,
        #[serde(skip_serializing_if = "Option::is_none")]
        needed: Option<u64>,
    },
    TurnEnded {
        #[serde(skip_serializing_if = "Option::is_none")]
        prompt: Option<String>,
        how: TurnResult,
        #[serde(skip_serializing_if = "Option::is_none")]
        why: Option<String>,
        background: bool,
    },
    Queue {
        prompt: String,
        #[serde(skip_serializing_if = "Option::is_none")]
        text: Option<String>,
        state: String,
    },
    ModelChanged {
        model: String,
    },
    ModelRefused {
        #[serde(skip_serializing_if = "Option::is_none")]
        model: Option<String>,
    },
    ModeChanged {
        mode: String,
    },
    Titled {
        title: String,
    },
    Suggestion {
        text: String,
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

impl AppEvent {
    /// Whether what is said after it is another text. Before an event that is shown elsewhere, or not
    /// at all, the text goes on.
    pub(super) fn ends_text(&self) -> bool {
        match self {
            Self::Connected { .. }
            | Self::StartOver { .. }
            | Self::Said { .. }
            | Self::Tool(_)
            | Self::Plan { .. }
            | Self::Asked { .. }
            | Self::Declined { .. }
            | Self::TurnEnded { .. }
            | Self::Disconnected { .. } => true,
            Self::Commands { .. }
            | Self::Usage { .. }
            | Self::Closed { .. }
            | Self::VoteCounted { .. }
            | Self::Queue { .. }
            | Self::ModelChanged { .. }
            | Self::ModelRefused { .. }
            | Self::ModeChanged { .. }
            | Self::Titled { .. }
            | Self::Suggestion { .. }
            | Self::Interrupted
            | Self::Restored
            | Self::CaughtUp
            | Self::Gap => false,
        }
    }
}

/// How a turn ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum TurnResult {
    /// It is over.
    Complete,
    /// Somebody cancelled it.
    Cancelled,
    /// It failed.
    Failed,
    /// Nobody can tell.
    Unknown,
}
