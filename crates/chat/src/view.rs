//! What pages and editors are told of a conversation: the whole list.
//!
//! Everything in here was let out by the daemon crate's `Sanitiser`, or is our own words. All text
//! is untrusted and has to be shown as text.

use std::sync::Arc;

use daemon::sanitiser::{AppOption, AppQuestion, AppStep, AppTool, HostPath, Speaker, TurnResult};
use serde::Serialize;

/// The whole conversation at one moment.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Snapshot {
    /// The number of the last change that is part of it.
    pub seq: u64,
    /// Whether older entries were not kept.
    pub shortened: bool,
    /// How things stand.
    pub status: Status,
    /// What waits for the person, oldest first.
    pub requests: Vec<Request>,
    /// What was said and done, oldest first.
    pub entries: Vec<Arc<Entry>>,
}

/// One step from a [`Snapshot`] to the next.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(
    rename_all = "camelCase",
    rename_all_fields = "camelCase",
    tag = "change"
)]
pub enum Change {
    /// An entry is new, or is another one now.
    Put {
        /// Which.
        entry: Arc<Entry>,
    },
    /// An entry goes on.
    Append {
        /// Which.
        id: u64,
        /// How.
        text: String,
    },
    /// Entries with a smaller number are not kept any more.
    Shorten {
        /// The number of the oldest that is.
        first: u64,
    },
    /// All entries are gone; what follows is the conversation anew.
    Clear,
    /// Things stand differently.
    Status {
        /// How.
        status: Box<Status>,
    },
    /// Other requests wait for the person.
    Requests {
        /// All that do.
        requests: Vec<Request>,
    },
}

/// A change and its number; the numbers have no gaps.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Numbered {
    /// Its number.
    pub seq: u64,
    /// The change.
    #[serde(flatten)]
    pub change: Change,
}

/// Something that was said or done.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Entry {
    /// Its number; later ones have larger ones.
    pub id: u64,
    /// What it is.
    #[serde(flatten)]
    pub body: Body,
}

/// What an entry is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(
    rename_all = "camelCase",
    rename_all_fields = "camelCase",
    tag = "kind"
)]
pub enum Body {
    /// Somebody said something.
    Said {
        /// Who.
        speaker: Speaker,
        /// What.
        text: String,
    },
    /// A tool is used.
    Tool {
        /// Which, for what, and how far it is.
        tool: AppTool,
    },
    /// What the agent is going to do.
    Plan {
        /// Its steps.
        steps: Vec<AppStep>,
    },
    /// A turn ended in a way that is worth a line.
    Ended {
        /// How.
        how: TurnResult,
        /// Why, for people.
        #[serde(skip_serializing_if = "Option::is_none")]
        why: Option<String>,
        /// Whether nobody prompted it.
        background: bool,
    },
    /// Something that the person should know, in our words.
    Note {
        /// What.
        text: String,
    },
}

/// How things stand.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Status {
    /// Whether there is a connection.
    pub connection: Connection,
    /// Where the daemon works.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub place: Option<Locality>,
    /// Whether the daemon was started from here, and ends with us.
    pub managed: bool,
    /// What the conversation is called.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Whether a turn is running.
    pub busy: bool,
    /// Prompts that wait for their turn.
    pub queue: Vec<Queued>,
    /// The model in use.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The models to choose from.
    pub models: Vec<Choice>,
    /// What the agent may do without asking.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mode: Option<String>,
    /// The modes to choose from.
    pub modes: Vec<Choice>,
    /// What can be said with a slash before it, and what it does.
    pub commands: Vec<(String, Option<String>)>,
    /// How much of the model's window is used.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub usage: Option<Usage>,
    /// What the person might want to say next.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub suggestion: Option<String>,
}

/// Whether there is a connection.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(
    rename_all = "camelCase",
    rename_all_fields = "camelCase",
    tag = "state"
)]
pub enum Connection {
    /// Nobody asked for one.
    #[default]
    Off,
    /// A daemon is being started.
    Starting,
    /// It is being made.
    Connecting,
    /// It stands, and what happened before is on its way.
    CatchingUp,
    /// It stands.
    Live,
    /// It broke, and is being made again.
    Reconnecting,
    /// It is over.
    Lost {
        /// Why, for people.
        why: String,
        /// Whether it makes sense to try again.
        can_retry: bool,
    },
    /// It could not be made.
    Failed {
        /// Which kind of trouble, for programs.
        trouble: &'static str,
        /// Why, for people.
        why: String,
        /// What to do about it.
        #[serde(skip_serializing_if = "Option::is_none")]
        hint: Option<String>,
    },
}

/// Where the daemon works. Files, MCP servers, skills and credentials are those of that place.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Locality {
    /// The machine's name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub machine: Option<String>,
    /// The folder.
    pub workspace: HostPath,
    /// Its version.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
}

/// A prompt that waits for its turn.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Queued {
    /// Which.
    pub prompt: String,
    /// Its text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
}

/// Something to choose.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Choice {
    /// What to send back.
    pub id: String,
    /// What to show.
    pub name: String,
}

/// How much of the model's window is used, in tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Usage {
    /// So much.
    pub used: u64,
    /// Of so much.
    pub size: u64,
}

/// What the agent wants from the person.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Request {
    /// What to answer to.
    pub request: String,
    /// What it is about, in a line.
    pub title: String,
    /// What the tool would do.
    pub tool: AppTool,
    /// What can be chosen.
    pub options: Vec<AppOption>,
    /// The questions, if answers are wanted rather than leave.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub questions: Option<Vec<AppQuestion>>,
    /// Whether a background task asks.
    pub background: bool,
    /// The proposal in the review that is the same edit; a decision there answers this.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub proposal: Option<u64>,
    /// How many have agreed, and how many must, where several have to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub votes: Option<(u64, u64)>,
}

/// An earlier conversation in this folder.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Earlier {
    /// What to open it by.
    pub key: u64,
    /// What it is called.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// When something last happened in it, as the daemon says it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub updated_at: Option<String>,
    /// Whether a turn is running in it.
    pub busy: bool,
    /// Whether it is the one that is shown.
    pub current: bool,
}
