//! What a page shows beside the diffs, and the events that it receives.

use serde::{Deserialize, Serialize};

use super::{Proposal, Status};

/// Everything that a page shows beside the diffs.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Live {
    /// The id of this run of the companion.
    pub instance: String,
    /// The number of the last event that is contained in this.
    pub number: u64,
    /// The status, as for commands.
    pub status: Status,
    /// The pending proposals, oldest first.
    pub proposals: Vec<Proposal>,
    /// What agents see, and what they do not.
    pub context: Context,
    /// The log, newest entry last.
    pub log: Vec<LogEntry>,
    /// How to start an agent that finds the companion.
    pub hints: Hints,
    /// The conversation; absent if conversations are switched off.
    #[serde(skip_serializing_if = "Option::is_none", skip_deserializing)]
    pub conversation: Option<::wire::conversation::Snapshot>,
}

/// What agents see, and what they do not.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Context {
    /// Whether nothing is shared for the time being.
    pub paused: bool,
    /// The files, newest first.
    pub files: Vec<SeenFile>,
    /// The newest open files that are held back from them.
    pub held_back: Vec<HeldBackFile>,
    /// The size of the message to each agent.
    pub bytes: usize,
    /// When it was sent; absent until a file was open.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at: Option<u64>,
}

/// A file that agents see, with all that they see of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SeenFile {
    /// The path as the person sees it.
    pub path: String,
    /// Whether it has the focus.
    pub active: bool,
    /// One-based line of the cursor.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    /// One-based column of the cursor.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub column: Option<u32>,
    /// The selected text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub selection: Option<String>,
}

/// A file that is held back from agents.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct HeldBackFile {
    /// The path as the person sees it.
    pub path: String,
    /// The reason, in words.
    pub reason: String,
}

/// An entry of the log.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct LogEntry {
    /// Its number. An entry with a known number replaces the earlier one.
    pub number: u64,
    /// When it happened, in Unix milliseconds.
    pub at: u64,
    /// `connected`, `disconnected`, `context`, `proposed`, `accepted`, `rejected`, `withdrawn`,
    /// `replaced`, `orphaned`, `paused` or `resumed`.
    pub kind: String,
    /// Which agent; absent for a context that went to all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// Who it is, for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub who: Option<String>,
    /// Its session.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// The proposal that the entry is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub proposal: Option<u64>,
    /// Its path as the agent sent it, cut if it is very long.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// How many files a context named.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub files: Option<usize>,
    /// The size of the context in bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bytes: Option<usize>,
    /// How often it was sent with small changes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub times: Option<usize>,
}

/// How to start an agent that finds the companion.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Hints {
    /// A command for each agent that may connect.
    pub commands: Vec<Hint>,
    /// What keeps agents from finding the companion, in words.
    pub problems: Vec<String>,
}

/// How to start one agent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Hint {
    /// Which agent.
    pub agent: String,
    /// A command line for a shell.
    pub command: String,
}

/// A proposal has a new draft.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Changed {
    /// Its number.
    pub id: u64,
}

/// A proposal was closed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Closed {
    /// Its number.
    pub id: u64,
    /// `accepted`, `rejected`, `withdrawn`, `replaced` or `orphaned`.
    pub why: String,
}
