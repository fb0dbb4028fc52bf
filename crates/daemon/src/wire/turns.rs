//! Prompts and the turns they cause.

use serde::{Deserialize, Serialize};

use super::{ClientId, ContentBlock, Epoch, PromptId, QueueState, Rest, StopReason, TurnState};
use crate::error::Code;

/// A prompt, as it is sent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PromptRequest {
    /// What the person says; at least one block.
    pub prompt: Vec<ContentBlock>,
    /// After how long to give up. Ignored unless the daemon was started with a deadline.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deadline_ms: Option<u64>,
}

impl PromptRequest {
    /// A prompt of these blocks.
    pub fn new(prompt: Vec<ContentBlock>) -> Self {
        Self {
            prompt,
            deadline_ms: None,
        }
    }
}

impl From<&str> for PromptRequest {
    fn from(text: &str) -> Self {
        Self::new(vec![text.into()])
    }
}

/// What the daemon answers to a prompt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Admission {
    /// It is queued or running; its end comes as an event.
    Accepted(Accepted),
    /// It is already over. Only daemons older than the non-blocking prompt answer so.
    Finished(StopReason),
}

/// An accepted prompt.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Accepted {
    /// Its id.
    pub prompt_id: PromptId,
    /// The newest event when it was accepted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_event_id: Option<u64>,
    /// The generation of that event's number.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub event_epoch: Option<Epoch>,
    /// Everything else.
    #[serde(flatten)]
    pub rest: Rest,
}

/// What the daemon remembers about a turn.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TurnStatus {
    /// Its prompt. Absent when no turn has run yet and the current one was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prompt_id: Option<PromptId>,
    /// How far it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub state: Option<TurnState>,
    /// Why it ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stop_reason: Option<StopReason>,
    /// How it failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<TurnErrorInfo>,
    /// What the model said, all of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub result_text: Option<String>,
    /// When it ended, in milliseconds of the Unix epoch.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ended_at: Option<u64>,
    /// Who sent the prompt.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub originator_client_id: Option<ClientId>,
    /// Everything else.
    #[serde(flatten)]
    pub rest: Rest,
}

/// How a turn failed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TurnErrorInfo {
    /// In words.
    #[serde(default)]
    pub message: String,
    /// By code.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub code: Option<Code>,
    /// Everything else.
    #[serde(flatten)]
    pub rest: Rest,
}

/// A prompt that waits or runs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PendingPrompt {
    /// Which.
    pub prompt_id: PromptId,
    /// How far it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub state: Option<QueueState>,
    /// Its text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// Everything else.
    #[serde(flatten)]
    pub rest: Rest,
}
