//! What the API's requests and answers look like. Times are unix milliseconds.

mod live;

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

pub use ::wire::Hunk;
pub use live::{Changed, Closed, Context, HeldBackFile, Hint, Hints, Live, LogEntry, SeenFile};

/// The whole situation of one companion.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Status {
    /// Its process.
    pub pid: u32,
    /// Where it listens.
    pub port: u16,
    /// The version of the program.
    pub version: String,
    /// The editor's name as agents show it.
    pub editor: String,
    /// The folders it serves.
    pub roots: Vec<PathBuf>,
    /// The agents that are connected.
    pub sessions: Vec<Session>,
    /// How many proposals wait for a decision.
    pub proposals: usize,
    /// What the agents see, newest first.
    pub files: Vec<File>,
    /// What privacy keeps from them.
    pub held_back: HeldBack,
    /// What is wrong, in words, if anything: an agent that cannot find us, for example.
    pub problems: Vec<String>,
}

/// A connected agent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Session {
    /// Its id.
    pub id: String,
    /// Which agent: `qwen`, `gemini`, or `agent` if it did not say.
    pub agent: String,
    /// What its client says of itself.
    pub client: Client,
    /// Since when.
    pub since: u64,
    /// Whether it has a stream open to be told things on.
    pub streaming: bool,
    /// Decisions that have not reached it yet.
    pub undelivered: usize,
}

/// What an agent's client says of itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Client {
    /// Its name.
    pub name: String,
    /// Its version.
    pub version: String,
}

/// A file that agents see.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct File {
    /// Where it is.
    pub path: PathBuf,
    /// Whether it is the one in front of the person.
    pub active: bool,
    /// One-based line of the cursor.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    /// One-based column of the cursor.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub column: Option<u32>,
    /// How many characters of selected text they see.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub selected: Option<usize>,
}

/// How many open files are kept from the agents, by reason.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct HeldBack {
    /// All of them.
    pub total: usize,
    /// They look like secrets.
    pub secret: usize,
    /// The person's patterns match them.
    pub ignored: usize,
    /// They are outside the workspace.
    pub outside: usize,
}

/// A pending proposal in a list.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Proposal {
    /// Its number.
    pub id: u64,
    /// The path as the agent sent it.
    pub path: String,
    /// Which agent.
    pub agent: String,
    /// Which session of it.
    pub session: String,
    /// Since when.
    pub opened_at: u64,
    /// Whether the file does not exist yet.
    pub new_file: bool,
    /// How many hunks it has.
    pub hunks: usize,
    /// Whether another text, or some of the hunks, can be accepted.
    pub editable: bool,
    /// Why it can only be decided in the agent's terminal, if so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub terminal_only: Option<String>,
}

/// A pending proposal with everything in it.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Detail {
    /// The same as in the list.
    #[serde(flatten)]
    pub proposal: Proposal,
    /// A unified diff whose hunks carry their numbers.
    pub diff: String,
    /// The text that the file has now; absent for a new file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub original: Option<String>,
    /// The text that the agent proposes.
    pub proposed: String,
    /// Where it differs from the original.
    pub hunks_at: Vec<Hunk>,
    /// What the person has made of it so far, if that is something else.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub current: Option<String>,
    /// Where that differs from the original.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub current_hunks_at: Option<Vec<Hunk>>,
}

/// What the person has made of a proposal so far.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Draft {
    /// The whole text.
    pub content: String,
}

/// Where a draft differs from the original.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Drafted {
    /// The places.
    pub hunks_at: Vec<Hunk>,
}

/// How to accept a proposal: as it is, some hunks of it, or another text.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Accept {
    /// Only these hunks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hunks: Option<Vec<usize>>,
    /// This text instead.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content: Option<String>,
}

/// What became of a decision.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Decided {
    /// Which agent it goes to.
    pub agent: String,
    /// Whether the agent is there to receive it; otherwise it is kept for it.
    pub streaming: bool,
}

/// Where the person is.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Focus {
    /// An absolute path.
    pub path: PathBuf,
    /// One-based.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    /// One-based.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub column: Option<u32>,
    /// The selected text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub selection: Option<String>,
}

/// What agents are told about a file after a focus.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Focused {
    /// Whether agents see it.
    pub shown: bool,
    /// Why not, if not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// A process below which agents may find us, as if it were their editor.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct HostProcess {
    /// Its id.
    pub pid: u32,
}

/// A link to the page.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PageLink {
    /// Good for one tab and ten minutes.
    pub url: String,
}

/// What a page got with its link.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Ticket {
    /// What stands after the `#`.
    pub ticket: String,
}

/// What a page presents from then on.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PageKey {
    /// The key.
    pub key: companion::Token,
}

/// Variables for the environment of an agent.
pub type Environment = BTreeMap<String, String>;

/// Why a request failed.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Problem {
    /// For programs: `unauthorized`, `forbidden`, `not_found`, `refused`, `invalid`, `unavailable`.
    pub kind: String,
    /// For people.
    pub message: String,
    /// What to do about it, if there is more to say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
}
