//! The bodies of the API. Times are Unix milliseconds. `docs/api.md` describes them.

mod live;

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

pub use ::wire::{Fault, Hunk};
pub use live::{Changed, Closed, Context, HeldBackFile, Hint, Hints, Live, LogEntry, SeenFile};

/// The status of one companion.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Status {
    /// Its process id.
    pub pid: u32,
    /// The port on 127.0.0.1 that it listens on.
    pub port: u16,
    /// The version of the program.
    pub version: String,
    /// The editor's name as agents show it.
    pub editor: String,
    /// The editors that are in it, the one that joined last at the end.
    #[serde(default)]
    pub editors: Vec<Editor>,
    /// The folders it serves.
    pub roots: Vec<PathBuf>,
    /// The agents that are connected.
    pub sessions: Vec<Session>,
    /// How many proposals are pending.
    pub proposals: usize,
    /// What the agents see, newest first.
    pub files: Vec<File>,
    /// How many open files are held back from agents.
    pub held_back: HeldBack,
    /// What closes folders to agents. Nothing of these is shared until it is mended.
    #[serde(default)]
    pub faults: Vec<Fault>,
    /// What keeps agents from finding the companion, in words.
    pub problems: Vec<String>,
    /// Why it cannot be restarted by a command, and what to do instead; absent if it can.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub no_restart: Option<String>,
    /// Why there are no conversations although they are switched on; absent otherwise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub no_conversation: Option<String>,
}

/// An editor that is in a companion.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Editor {
    /// Its name.
    pub name: String,
    /// Its process, if it said so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pid: Option<u32>,
}

/// The editors that are in a companion.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Editors {
    /// The editor's name as agents show it.
    pub editor: String,
    /// All of them, the one that joined last at the end.
    pub editors: Vec<Editor>,
}

/// A connected agent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Session {
    /// Its session id.
    pub id: String,
    /// Which agent: `qwen`, `gemini`, or `agent` if it did not say.
    pub agent: String,
    /// What tells it apart from others of its kind, for people.
    #[serde(default)]
    pub label: String,
    /// The version of the product, where it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// The `clientInfo` of its MCP client, which is not that of the product.
    pub client: Client,
    /// When it connected.
    pub since: u64,
    /// `connected`, `away`, or `gone`: it has ended, or is not expected back.
    #[serde(default)]
    pub presence: String,
    /// What a person should know about it, in a sentence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// Whether it has an event stream open.
    pub streaming: bool,
    /// Decisions that have not reached it yet.
    pub undelivered: usize,
}

/// The `clientInfo` of an MCP client.
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
    /// The path as the person sees it.
    pub path: PathBuf,
    /// Whether it has the focus.
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

/// How many open files are held back from agents, by reason.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct HeldBack {
    /// The sum over all reasons.
    pub total: usize,
    /// Files that look like secrets.
    pub secret: usize,
    /// Files that match an ignore pattern.
    pub ignored: usize,
    /// Files outside the workspace.
    pub outside: usize,
    /// Files of folders that a fault closes.
    #[serde(default)]
    pub closed: usize,
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
    /// Who it is, for people: the label of its session, or that it is the chat.
    #[serde(default)]
    pub who: String,
    /// The session that sent the request.
    pub session: String,
    /// When the request arrived.
    pub opened_at: u64,
    /// Whether the file does not exist yet.
    pub new_file: bool,
    /// How many hunks it has.
    pub hunks: usize,
    /// Counts up from 1 whenever the file has changed and the proposal has new texts.
    pub revision: u32,
    /// That the file has changed since the agent read it, in words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stale: Option<String>,
    /// How many places of the text are in conflict with what was changed in the meantime.
    #[serde(default)]
    pub conflicts: usize,
    /// How many lines they add.
    pub added: usize,
    /// How many lines they remove.
    pub removed: usize,
    /// Whether another text, or some of the hunks, can be accepted.
    pub editable: bool,
    /// That the file is kept from agents, so that the edit is accepted whole or not at all, in words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub withheld: Option<String>,
    /// Why it can only be decided in the agent's terminal, if so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub terminal_only: Option<String>,
}

/// A pending proposal with its texts.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Detail {
    /// The fields of the list entry.
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
    /// The person's draft, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub current: Option<String>,
    /// Where the draft differs from the original.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub current_hunks_at: Option<Vec<Hunk>>,
    /// A unified diff of the draft.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub current_diff: Option<String>,
}

/// The text that the person has edited, before a decision.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Draft {
    /// The whole text.
    pub content: String,
    /// The revision of the proposal that it was made of; without it, the present one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub revision: Option<u32>,
}

/// Where a draft differs from the original.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Drafted {
    /// The hunks of the draft.
    pub hunks_at: Vec<Hunk>,
}

/// How to accept a proposal: as it is, some hunks of it, or another text.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Accept {
    /// Accept only these hunks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hunks: Option<Vec<usize>>,
    /// Accept this text instead.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content: Option<String>,
    /// The revision that the person has seen; without it, the last one that a command has shown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub revision: Option<u32>,
}

/// The answer to a decision.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Decided {
    /// The agent that receives the verdict.
    pub agent: String,
    /// Whether the agent has a stream open; otherwise the verdict is kept for it.
    pub streaming: bool,
    /// Whether the agent may first read the file again, because it has changed, and propose its
    /// edit anew.
    #[serde(default)]
    pub may_read_again: bool,
    /// That the decision is not on disk yet, and why, as a sentence for the person; absent if it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unsaved: Option<String>,
}

/// The person's focus.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Focus {
    /// An absolute path.
    pub path: PathBuf,
    /// One-based line of the cursor.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    /// One-based column of the cursor; means nothing without `line`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub column: Option<u32>,
    /// The selected text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub selection: Option<String>,
}

/// Whether agents see the focused file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Focused {
    /// Whether agents see it.
    pub shown: bool,
    /// Why it is held back, if it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// A process below which agents find the companion, as if it were their editor.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct HostProcess {
    /// The process id.
    pub pid: u32,
}

/// A link to the page.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PageLink {
    /// Valid for one tab and ten minutes.
    pub url: String,
}

/// A ticket from a link.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Ticket {
    /// The fragment of the link, after the `#`.
    pub ticket: String,
}

/// The key that a page presents from then on.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PageKey {
    /// Sent as `Authorization: Bearer`.
    pub key: companion::Token,
}

/// Variables for the environment of an agent.
pub type Environment = BTreeMap<String, String>;

/// Why a request failed.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Problem {
    /// For programs: `unauthorized`, `forbidden`, `not_found`, `refused`, `stale`, `invalid`,
    /// `unavailable`.
    pub kind: String,
    /// For people, in one sentence.
    pub message: String,
    /// What the person can do about it, if `message` does not say it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
}
