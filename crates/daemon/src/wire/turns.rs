//! Prompts and their turns.

use serde::{Deserialize, Serialize};

use super::{ClientId, ContentBlock, Epoch, PromptId, QueueState, Rest, StopReason, TurnState};
use crate::error::ErrorCode;

/// The body of `POST /session/{id}/prompt`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PromptRequest {
    /// The content of the prompt; at least one block.
    pub prompt: Vec<ContentBlock>,
    /// The time limit of the turn. Ignored unless the daemon was started with a deadline.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deadline_ms: Option<u64>,
}

impl PromptRequest {
    /// A prompt of these blocks, without a deadline.
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

impl From<String> for PromptRequest {
    fn from(text: String) -> Self {
        Self::new(vec![ContentBlock::text(text)])
    }
}

impl From<Vec<ContentBlock>> for PromptRequest {
    fn from(blocks: Vec<ContentBlock>) -> Self {
        Self::new(blocks)
    }
}

/// The response to a prompt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PromptResponse {
    /// The prompt is queued or running; the end of its turn comes as an event.
    Accepted(AcceptedPrompt),
    /// The turn has ended already. Only old daemons, whose prompt route blocks, send this.
    Finished(StopReason),
}

/// A prompt that is queued or running.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct AcceptedPrompt {
    /// The prompt id.
    pub prompt_id: PromptId,
    /// The newest event id when it was accepted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_event_id: Option<u64>,
    /// The epoch of that id.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub event_epoch: Option<Epoch>,
    /// Unknown fields, kept as they came.
    #[serde(flatten)]
    pub rest: Rest,
}

/// The daemon's record of a turn.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct TurnStatus {
    /// The prompt of the turn. Absent if the current turn was requested and none has run yet.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prompt_id: Option<PromptId>,
    /// The state of the turn.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub state: Option<TurnState>,
    /// Why it ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stop_reason: Option<StopReason>,
    /// The error, if it failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<TurnFailure>,
    /// The whole text of the model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub result_text: Option<String>,
    /// When it ended, in milliseconds since the Unix epoch.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ended_at: Option<u64>,
    /// The client that sent the prompt.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub originator_client_id: Option<ClientId>,
    /// Unknown fields, kept as they came.
    #[serde(flatten)]
    pub rest: Rest,
}

/// The error of a turn.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct TurnFailure {
    /// The error message.
    #[serde(default)]
    pub message: String,
    /// The error code of the agent or the daemon.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub code: Option<ErrorCode>,
    /// Unknown fields, kept as they came.
    #[serde(flatten)]
    pub rest: Rest,
}

/// A prompt in the queue, in a list or in a `pending_prompt_*` event.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct PendingPrompt {
    /// The prompt id.
    pub prompt_id: PromptId,
    /// Its state in the queue.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub state: Option<QueueState>,
    /// The prompt's text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// Unknown fields, kept as they came.
    #[serde(flatten)]
    pub rest: Rest,
}
