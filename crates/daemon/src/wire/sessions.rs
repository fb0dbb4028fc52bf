//! Sessions: opening them, finding them, and what the daemon knows about them.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{
    ApprovalMode, ClientId, ConfigState, Epoch, PendingInteraction, PromptId, PromptTerminalKind,
    Rest, SessionId, SessionScope, StopReason, TurnErrorInfo,
};
use crate::error::Code;
use crate::event::Event;

/// What to ask for when a session is created.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct NewSession {
    /// The folder to work in; the daemon's first one if absent. It must be one of the daemon's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    /// Whether to share; the daemon's default is [`SessionScope::Single`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session_scope: Option<SessionScope>,
    /// The model to start with. Beware: the daemon writes it into the person's settings.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model_service_id: Option<String>,
    /// The approval mode to start with.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub approval_mode: Option<ApprovalMode>,
    /// An id of one's own, a UUID.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session_id: Option<SessionId>,
}

/// A session that was created or attached to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Opened {
    /// The session.
    pub session_id: SessionId,
    /// The folder it works in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub workspace_cwd: Option<String>,
    /// Whether it existed before.
    #[serde(default)]
    pub attached: bool,
    /// Who we are in this session.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub client_id: Option<ClientId>,
    /// When it was created, as the daemon writes times.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub created_at: Option<String>,
    /// Whether a turn is running.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub has_active_prompt: Option<bool>,
    /// Whether the model that was asked for is in use.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model_applied: Option<bool>,
    /// The generation of the session's event numbers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub event_epoch: Option<Epoch>,
    /// Everything else.
    #[serde(flatten)]
    pub rest: Rest,
}

/// How to restore a session.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Restore {
    /// The folder it works in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    /// The approval mode to set.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub approval_mode: Option<ApprovalMode>,
    /// How much history to send.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub history_page_size: Option<u32>,
}

/// A session that was loaded or resumed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Loaded {
    /// What creating a session would have told.
    #[serde(flatten)]
    pub opened: Opened,
    /// Model and mode lists; empty for a session that was alive.
    #[serde(default)]
    pub state: ConfigState,
    /// Finished turns, chunks put together.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub compacted_replay: Vec<Event>,
    /// The turn that is running, with everything that waits for a person.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub live_journal: Vec<Event>,
    /// The newest event that the two lists contain. The cursor is *set* to it, up or down.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_event_id: Option<u64>,
    /// How earlier prompts ended, for a session that was not alive.
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

/// How an earlier prompt ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PromptTerminal {
    /// Which prompt.
    pub prompt_id: PromptId,
    /// How.
    pub terminal: PromptTerminalKind,
    /// Why, if it ran to its end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stop_reason: Option<StopReason>,
    /// Why, if it did not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub code: Option<Code>,
    /// Everything else.
    #[serde(flatten)]
    pub rest: Rest,
}

/// What the daemon tells about a session in a list, or when asked for its status.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SessionSummary {
    /// The session.
    pub session_id: SessionId,
    /// The folder it works in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub workspace_cwd: Option<String>,
    /// Its title.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub display_name: Option<String>,
    /// When it was created.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub created_at: Option<String>,
    /// When something last happened in it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub updated_at: Option<String>,
    /// How many clients it has.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub client_count: Option<u64>,
    /// Whether a turn is running.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub has_active_prompt: Option<bool>,
    /// Whether the last turn failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub has_turn_error: Option<bool>,
    /// How.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub turn_error: Option<TurnErrorInfo>,
    /// What waits for a person, raw: one that cannot be read must not hide the others.
    #[serde(default)]
    pub pending_interactions: Vec<Value>,
    /// Everything else.
    #[serde(flatten)]
    pub rest: Rest,
}

impl SessionSummary {
    /// What waits for a person, as far as it can be answered.
    pub fn interactions(&self) -> impl Iterator<Item = PendingInteraction> {
        let interactions = self.pending_interactions.iter();
        interactions.filter_map(|it| PendingInteraction::deserialize(it).ok())
    }
}

/// A page of the list of sessions.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SessionPage {
    /// The sessions, newest first.
    #[serde(default)]
    pub sessions: Vec<SessionSummary>,
    /// How to ask for the next page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
    /// Everything else.
    #[serde(flatten)]
    pub rest: Rest,
}

/// Which page of a list to send.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PageRequest {
    /// How many entries at most.
    pub size: Option<u32>,
    /// Where to go on.
    pub cursor: Option<String>,
}

/// Which page of a transcript to send.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TranscriptRequest {
    /// How many records at most.
    pub limit: Option<u32>,
    /// Where to go on.
    pub cursor: Option<String>,
    /// Only what is older than this record.
    pub before_record_id: Option<String>,
}

/// A page of a transcript. Its events have no ids, and their data is flat.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Transcript {
    /// The session.
    pub session_id: SessionId,
    /// The events.
    #[serde(default)]
    pub events: Vec<Event>,
    /// How to ask for the next page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
    /// Whether there is a next page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub has_more: Option<bool>,
    /// Everything else.
    #[serde(flatten)]
    pub rest: Rest,
}

/// What a heartbeat answers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Heartbeat {
    /// When we were last seen, in milliseconds of the Unix epoch.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_seen_at: Option<u64>,
    /// Everything else.
    #[serde(flatten)]
    pub rest: Rest,
}

/// What a change of the metadata answers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Metadata {
    /// The title now.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub display_name: Option<String>,
    /// Everything else.
    #[serde(flatten)]
    pub rest: Rest,
}
