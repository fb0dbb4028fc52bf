//! The parts of the language server protocol that are used here, and the `outrigger/*` methods.
//!
//! Everything optional stays optional: editors leave out what they do not have. The methods of
//! our own are described, with examples, in `docs/editor-protocol.md`.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::buffer::Position;
use crate::daemon_options::DaemonOptions;

/// Names of the methods that are ours. The editor sends the first group, we send the last, and
/// `status` goes both ways.
pub(crate) mod method {
    /// The selections of a document changed.
    pub(crate) const SELECTION_CHANGED: &str = "outrigger/selectionChanged";
    /// The diagnostics of a document changed.
    pub(crate) const DIAGNOSTICS_CHANGED: &str = "outrigger/diagnosticsChanged";
    /// The person decided a proposal.
    pub(crate) const PROPOSAL_VERDICT: &str = "outrigger/proposal/verdict";
    /// Which proposals are pending.
    pub(crate) const PROPOSAL_LIST: &str = "outrigger/proposal/list";
    /// The person changed the text of a proposal.
    pub(crate) const PROPOSAL_UPDATE: &str = "outrigger/proposal/update";
    /// Stop or resume telling agents anything.
    pub(crate) const PAUSE: &str = "outrigger/pause";
    /// The person has stopped the companion in this editor, which is about to leave.
    pub(crate) const STOP: &str = "outrigger/stop";
    /// A link to the page.
    pub(crate) const PAGE: &str = "outrigger/page";

    /// Who is connected and what is pending.
    pub(crate) const STATUS: &str = "outrigger/status";

    /// Show a proposal.
    pub(crate) const PROPOSAL_OPEN: &str = "outrigger/proposal/open";
    /// Say what the text of a proposal is now.
    pub(crate) const PROPOSAL_TEXT: &str = "outrigger/proposal/text";
    /// Stop showing a proposal, and say what its text is now.
    pub(crate) const PROPOSAL_CLOSE: &str = "outrigger/proposal/close";
    /// Connect to the daemon.
    pub(crate) const DAEMON_CONNECT: &str = "outrigger/daemon/connect";
    /// Part from it.
    pub(crate) const DAEMON_DISCONNECT: &str = "outrigger/daemon/disconnect";
    /// Start one.
    pub(crate) const DAEMON_START: &str = "outrigger/daemon/start";
    /// Say something.
    pub(crate) const DAEMON_PROMPT: &str = "outrigger/daemon/prompt";
    /// End the running turn.
    pub(crate) const DAEMON_CANCEL: &str = "outrigger/daemon/cancel";
    /// Use another model.
    pub(crate) const DAEMON_MODEL: &str = "outrigger/daemon/model";
    /// Ask more or less often.
    pub(crate) const DAEMON_MODE: &str = "outrigger/daemon/mode";
    /// Answer a request.
    pub(crate) const DAEMON_ANSWER: &str = "outrigger/daemon/answer";
    /// List conversations.
    pub(crate) const DAEMON_EARLIER: &str = "outrigger/daemon/earlier";
    /// Find files to attach.
    pub(crate) const DAEMON_FILES: &str = "outrigger/daemon/files";
    /// Follow the conversation, or stop.
    pub(crate) const DAEMON_FOLLOW: &str = "outrigger/daemon/follow";
    /// The whole conversation with a daemon.
    pub(crate) const DAEMON_ALL: &str = "outrigger/daemon/all";
    /// One step of it.
    pub(crate) const DAEMON_CHANGE: &str = "outrigger/daemon/change";
    /// The companion runs.
    pub(crate) const READY: &str = "outrigger/ready";
}

/// The person stops the companion.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct Stop {
    /// Whether the editor starts it again at once.
    #[serde(default)]
    pub(crate) restart: bool,
}

/// The parameters of `initialize` that matter here.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct Initialize {
    pub(crate) process_id: Option<u32>,
    pub(crate) client_info: Option<ClientInfo>,
    pub(crate) root_path: Option<String>,
    pub(crate) root_uri: Option<String>,
    pub(crate) workspace_folders: Option<Vec<Folder>>,
    #[serde(deserialize_with = "null_is_default")]
    pub(crate) capabilities: Capabilities,
    pub(crate) initialization_options: Option<Value>,
}

#[derive(Clone, Debug, Default, Deserialize)]
pub(crate) struct ClientInfo {
    pub(crate) name: String,
}

#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Folder {
    pub(crate) uri: String,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct Capabilities {
    #[serde(deserialize_with = "null_is_default")]
    pub(crate) general: General,
    #[serde(deserialize_with = "null_is_default")]
    pub(crate) window: Window,
    #[serde(deserialize_with = "null_is_default")]
    pub(crate) workspace: Workspace,
    pub(crate) experimental: Option<Value>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct General {
    #[serde(deserialize_with = "null_is_default")]
    pub(crate) position_encodings: Vec<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct Window {
    pub(crate) show_document: Option<ShowDocumentSupport>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct ShowDocumentSupport {
    #[serde(deserialize_with = "null_is_default")]
    pub(crate) support: bool,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct Workspace {
    #[serde(deserialize_with = "null_is_default")]
    pub(crate) apply_edit: bool,
}

/// Editors write `null` for what they do not have as readily as they leave it out.
fn null_is_default<'de, D, T>(deserializer: D) -> Result<T, D::Error>
where
    D: serde::Deserializer<'de>,
    T: Default + Deserialize<'de>,
{
    Ok(Option::deserialize(deserializer)?.unwrap_or_default())
}

/// What a plugin may say in `initializationOptions`. It comes from the person's own settings.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "camelCase", default)]
pub struct Options {
    /// Let only these agents in.
    pub agents: Option<Vec<String>>,
    /// More patterns of files that agents are not told about.
    pub ignore: Vec<String>,
    /// Whether the person trusts this workspace, in an editor that has such a notion.
    pub trusted: Option<bool>,
    /// Whether to offer conversations with a daemon, and which ones.
    pub daemon: DaemonOptions,
}

#[derive(Clone, Copy, Debug, Deserialize, Serialize)]
pub(crate) struct WirePosition {
    pub(crate) line: u32,
    pub(crate) character: u32,
}

impl From<WirePosition> for Position {
    fn from(at: WirePosition) -> Position {
        Position {
            line: at.line,
            character: at.character,
        }
    }
}

#[derive(Clone, Copy, Debug, Deserialize, Serialize)]
pub(crate) struct Range {
    pub(crate) start: WirePosition,
    pub(crate) end: WirePosition,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Named {
    pub(crate) uri: String,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct DidOpen {
    pub(crate) text_document: TextDocument,
}

#[derive(Debug, Deserialize)]
pub(crate) struct TextDocument {
    pub(crate) uri: String,
    pub(crate) text: String,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct DidChange {
    pub(crate) text_document: Named,
    pub(crate) content_changes: Vec<Change>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Change {
    pub(crate) range: Option<Range>,
    pub(crate) text: String,
}

/// Any message that is about one document, and perhaps a place in it.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct AboutDocument {
    pub(crate) text_document: Named,
    pub(crate) position: Option<WirePosition>,
    pub(crate) range: Option<Range>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SelectionChanged {
    pub(crate) text_document: Named,
    /// The first one is where the person is.
    pub(crate) selections: Vec<Selection>,
}

/// A selected range; `active` is the end where the cursor is.
#[derive(Clone, Copy, Debug, Deserialize)]
pub(crate) struct Selection {
    pub(crate) anchor: WirePosition,
    pub(crate) active: WirePosition,
}

#[derive(Debug, Deserialize)]
pub(crate) struct FilesRenamed {
    pub(crate) files: Vec<RenamedFile>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct RenamedFile {
    pub(crate) old_uri: String,
    pub(crate) new_uri: String,
}

#[derive(Debug, Deserialize)]
pub(crate) struct FilesDeleted {
    pub(crate) files: Vec<Named>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct FoldersChanged {
    pub(crate) event: FoldersEvent,
}

#[derive(Debug, Deserialize)]
pub(crate) struct FoldersEvent {
    pub(crate) added: Vec<Folder>,
    pub(crate) removed: Vec<Folder>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Pause {
    pub(crate) paused: bool,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Execute {
    pub(crate) command: String,
    #[serde(default)]
    pub(crate) arguments: Vec<Value>,
}

/// A proposal as plugins see it.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Proposal {
    pub(crate) id: u64,
    /// The path as the agent sent it.
    pub(crate) path: String,
    pub(crate) uri: String,
    /// The agent's name, for people.
    pub(crate) agent: String,
    /// The same, told apart from others of its kind.
    pub(crate) who: String,
    pub(crate) session: String,
    /// Absent for a file that does not exist yet.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) original: Option<String>,
    pub(crate) proposed: String,
    /// Those of the agent's text.
    pub(crate) hunks: Vec<::wire::Hunk>,
    /// Those of `proposed`, if the person has made something else of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) draft_hunks: Option<Vec<::wire::Hunk>>,
    /// How many lines the agent's text adds, and how many it removes.
    pub(crate) added: usize,
    pub(crate) removed: usize,
    /// Whether the document is open and has changes that were not saved.
    pub(crate) dirty: bool,
    /// Whether another text, or some of the hunks, can be accepted.
    pub(crate) editable: bool,
    /// That the file is kept from agents, so that the edit is accepted whole or not at all, in words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) withheld: Option<String>,
    /// Counts up from 1 whenever the file has changed and the proposal has new texts.
    pub(crate) revision: u32,
    /// That the file has changed since the agent read it, in words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) stale: Option<String>,
    /// How many places of `proposed` are in conflict with what was changed in the meantime; absent
    /// if there are none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) conflicts: Option<usize>,
}

/// Who is connected and what is pending.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Status {
    pub(crate) agents: Vec<ConnectedAgent>,
    pub(crate) pending: usize,
    pub(crate) held_back: usize,
    pub(crate) paused: bool,
    /// What closes folders to agents.
    pub(crate) faults: Vec<::wire::Fault>,
    /// The same for people, in one line and in a few words.
    pub(crate) summary: String,
    pub(crate) short: String,
}

/// An agent, and whether it listens at this moment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct ConnectedAgent {
    pub(crate) name: String,
    /// The name, told apart from others of its kind.
    pub(crate) label: String,
    /// The version of the product, where it is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) version: Option<String>,
    pub(crate) connected: bool,
    pub(crate) presence: &'static str,
    /// What a person should know about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) note: Option<String>,
}

/// That a proposal is over.
#[derive(Debug, Serialize)]
pub(crate) struct Close {
    pub(crate) id: u64,
    /// How, if that is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) outcome: Option<&'static str>,
    /// The same for people.
    pub(crate) message: String,
}

/// The buttons under a proposal in an editor without a plugin.
pub(crate) const ACCEPT_BUTTON: &str = "Accept";
pub(crate) const REJECT_BUTTON: &str = "Reject";
pub(crate) const LATER_BUTTON: &str = "Later";

/// What an editor answers when it is asked to show a proposal.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Shown {
    pub(crate) opened: bool,
    pub(crate) reason: Option<String>,
}

/// What an editor answers when it is asked for the text of a proposal, or to close it: what the
/// person has made of it, if anything.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct EditedText {
    pub(crate) text: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Update {
    pub(crate) id: u64,
    pub(crate) text: String,
    /// The revision that it was made of; without it, the one that was shown last.
    pub(crate) revision: Option<u32>,
}

/// A decision: rejected, or accepted whole, with some hunks, or with another text.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Verdict {
    pub(crate) id: u64,
    pub(crate) accepted: bool,
    pub(crate) text: Option<String>,
    pub(crate) hunks: Option<Vec<usize>>,
    /// The revision that the person has seen; without it, the one that was shown last.
    pub(crate) revision: Option<u32>,
}
