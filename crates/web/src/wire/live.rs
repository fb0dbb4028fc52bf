//! What a page shows beside the diffs, and what it is told while it is open.

use serde::{Deserialize, Serialize};

use super::{Proposal, Status};

/// Everything that a page shows beside the diffs.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Live {
    /// Tells this run of the companion from others.
    pub instance: String,
    /// The number of the last event that is contained in this.
    pub number: u64,
    /// The situation, as commands see it.
    pub status: Status,
    /// What waits for a decision, oldest first.
    pub proposals: Vec<Proposal>,
    /// What agents see, and what they do not.
    pub context: Context,
    /// What happened, newest last.
    pub log: Vec<LogEntry>,
    /// How to get an agent here.
    pub hints: Hints,
    /// The conversation; absent if conversations are switched off.
    #[serde(skip_serializing_if = "Option::is_none", skip_deserializing)]
    pub conversation: Option<::wire::conversation::Snapshot>,
}

/// What agents see, and what they do not.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Context {
    /// Whether they are told nothing for the time being.
    pub paused: bool,
    /// The files, newest first.
    pub files: Vec<SeenFile>,
    /// Open files that they are not told about; the newest of them.
    pub held_back: Vec<HeldBackFile>,
    /// How many bytes go to each agent.
    pub bytes: usize,
    /// Since when it is so; absent until something was open.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at: Option<u64>,
}

/// A file that agents see, with all that they see of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SeenFile {
    /// Where it is.
    pub path: String,
    /// Whether it is the one in front of the person.
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

/// A file that agents are not told about.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct HeldBackFile {
    /// Where it is.
    pub path: String,
    /// Why, in words.
    pub reason: String,
}

/// Something that happened.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct LogEntry {
    /// Its number. An entry that comes again under the same number has been brought up to date.
    pub number: u64,
    /// When, in Unix milliseconds.
    pub at: u64,
    /// `connected`, `disconnected`, `context`, `proposed`, `accepted`, `rejected`, `withdrawn`,
    /// `replaced`, `orphaned`, `paused` or `resumed`.
    pub kind: String,
    /// Which agent; absent for a context that went to all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// Which session of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// Which proposal.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub proposal: Option<u64>,
    /// Its path as the agent sent it, cut if it is very long.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// How many files a context named.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub files: Option<usize>,
    /// How large it was.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bytes: Option<usize>,
    /// How often it was sent with small changes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub times: Option<usize>,
}

/// How to get an agent here.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Hints {
    /// What to run, for each agent that is let in.
    pub commands: Vec<Hint>,
    /// What keeps agents from finding us, in words.
    pub problems: Vec<String>,
}

/// How to start one agent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Hint {
    /// Which agent.
    pub agent: String,
    /// What to type in a shell.
    pub command: String,
}

/// A proposal has another text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Changed {
    /// Its number.
    pub id: u64,
}

/// A proposal is over.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Closed {
    /// Its number.
    pub id: u64,
    /// `accepted`, `rejected`, `withdrawn`, `replaced` or `orphaned`.
    pub why: String,
}
