//! Creating, restoring and listing sessions.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{
    ApprovalMode, ClientId, ConfigState, Epoch, PendingInteraction, PromptId, PromptTerminalKind,
    Rest, SessionId, SessionScope, StopReason, TurnFailure,
};
use crate::error::ErrorCode;
use crate::event::DaemonEvent;

/// The body of `POST /session`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct NewSession {
    /// The folder to work in, one of those that the daemon serves. Its primary one if absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    /// Whether to share a session; the daemon's default is [`SessionScope::Single`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session_scope: Option<SessionScope>,
    /// The model to start with. The daemon also writes it into the user's settings.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model_service_id: Option<String>,
    /// The approval mode to start with.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub approval_mode: Option<ApprovalMode>,
    /// A session id chosen by the client, a UUID.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session_id: Option<SessionId>,
}

/// The response to creating a session, or to attaching to one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct OpenedSession {
    /// The session.
    pub session_id: SessionId,
    /// The folder that it works in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub workspace_cwd: Option<String>,
    /// Whether the session existed before.
    #[serde(default)]
    pub attached: bool,
    /// Our client id in this session.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub client_id: Option<ClientId>,
    /// When it was created, as the daemon writes times.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub created_at: Option<String>,
    /// Whether a turn is running.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub has_active_prompt: Option<bool>,
    /// Whether the requested model is in use.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model_applied: Option<bool>,
    /// The epoch of the session's event ids.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub event_epoch: Option<Epoch>,
    /// Unknown fields, kept as they came.
    #[serde(flatten)]
    pub rest: Rest,
}

/// The body of `POST /session/{id}/load` and `/resume`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RestoreSession {
    /// The folder that the session works in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    /// The approval mode to set.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub approval_mode: Option<ApprovalMode>,
    /// How much of the history to send.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub history_page_size: Option<u32>,
}

/// The response to loading or resuming a session.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct LoadedSession {
    /// The same fields as in the response to creating a session.
    #[serde(flatten)]
    pub opened: OpenedSession,
    /// Model and mode lists; empty for a session that was alive.
    #[serde(default)]
    pub state: ConfigState,
    /// Finished turns, with their chunks merged.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub compacted_replay: Vec<DaemonEvent>,
    /// The running turn, with the requests that are open.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub live_journal: Vec<DaemonEvent>,
    /// The newest event that the two lists contain. The cursor is *set* to it, even if it was
    /// higher.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_event_id: Option<u64>,
    /// How earlier prompts ended, if the session was not live.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub prompt_terminals: Vec<PromptTerminal>,
    /// Whether there is more history than was sent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub history_has_more: Option<bool>,
    /// Whether the history is incomplete.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub partial: Option<bool>,
    /// Whether the history had to be shortened.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub replay_degraded: Option<bool>,
}

/// How an earlier prompt ended, as the transcript holds it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct PromptTerminal {
    /// The prompt.
    pub prompt_id: PromptId,
    /// How it ended.
    pub terminal: PromptTerminalKind,
    /// Why it stopped, if it ran to its end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stop_reason: Option<StopReason>,
    /// The error code, if it did not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub code: Option<ErrorCode>,
    /// Unknown fields, kept as they came.
    #[serde(flatten)]
    pub rest: Rest,
}

/// A session in the list of sessions, or the response of its status route.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct SessionSummary {
    /// The session.
    pub session_id: SessionId,
    /// The folder that it works in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub workspace_cwd: Option<String>,
    /// The title.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub display_name: Option<String>,
    /// When it was created, as the daemon writes times.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub created_at: Option<String>,
    /// When it was last active, as the daemon writes times.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub updated_at: Option<String>,
    /// How many clients are registered.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub client_count: Option<u64>,
    /// Whether a turn is running.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub has_active_prompt: Option<bool>,
    /// Whether the last turn failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub has_turn_error: Option<bool>,
    /// The error of the last turn.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub turn_error: Option<TurnFailure>,
    /// The open requests as raw JSON: one that cannot be parsed must not hide the others.
    #[serde(default)]
    pub pending_interactions: Vec<Value>,
    /// Unknown fields, kept as they came.
    #[serde(flatten)]
    pub rest: Rest,
}

impl SessionSummary {
    /// The open requests that can be parsed.
    pub fn interactions(&self) -> impl Iterator<Item = PendingInteraction> {
        let interactions = self.pending_interactions.iter();
        interactions.filter_map(|it| PendingInteraction::deserialize(it).ok())
    }
}

/// A page of the list of sessions.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct SessionPage {
    /// The sessions, newest first.
    #[serde(default)]
    pub sessions: Vec<SessionSummary>,
    /// The cursor of the next page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
    /// Unknown fields, kept as they came.
    #[serde(flatten)]
    pub rest: Rest,
}

/// Which page of a list to fetch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PageRequest {
    /// How many entries at most.
    pub size: Option<u32>,
    /// The `next_cursor` of the page before.
    pub cursor: Option<String>,
}

/// Which page of a transcript to fetch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TranscriptRequest {
    /// How many records at most.
    pub limit: Option<u32>,
    /// The `next_cursor` of the page before.
    pub cursor: Option<String>,
    /// Fetches only records older than this one.
    pub before_record_id: Option<String>,
}

/// A page of a transcript. Its events have no ids, and their data is flat.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct TranscriptPage {
    /// The session.
    pub session_id: SessionId,
    /// The records of this page, as events.
    #[serde(default)]
    pub events: Vec<DaemonEvent>,
    /// The cursor of the next page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
    /// Whether there is a next page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub has_more: Option<bool>,
    /// Unknown fields, kept as they came.
    #[serde(flatten)]
    pub rest: Rest,
}

/// The response to a heartbeat.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Heartbeat {
    /// When this client was last seen, in milliseconds since the Unix epoch.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_seen_at: Option<u64>,
    /// Unknown fields, kept as they came.
    #[serde(flatten)]
    pub rest: Rest,
}

/// The response to a change of the metadata.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct SessionMetadata {
    /// The title after the change.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub display_name: Option<String>,
    /// Unknown fields, kept as they came.
    #[serde(flatten)]
    pub rest: Rest,
}
