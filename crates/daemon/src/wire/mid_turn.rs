//! Messages to the agent while it works. It reads them after its next tool call.

use serde::{Deserialize, Serialize};

use super::{ContentBlock, PromptId, Rest};

/// The body of `POST /session/{id}/mid-turn-message`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct MidTurnMessage {
    /// The text.
    pub message: String,
    /// An id that the client chooses. Sending a message twice under one id sends it once.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message_id: Option<PromptId>,
    /// Pictures and attachments that belong to it. Text is not allowed here.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub content: Vec<ContentBlock>,
}

impl From<&str> for MidTurnMessage {
    fn from(text: &str) -> Self {
        text.to_owned().into()
    }
}

impl From<String> for MidTurnMessage {
    fn from(message: String) -> Self {
        Self {
            message,
            ..Self::default()
        }
    }
}

/// The response to a message.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct MidTurnReceipt {
    /// Whether the daemon has taken it. It takes none while no turn runs.
    pub accepted: bool,
    /// Its id. The events about the queue of prompts name it, too; and if the turn ends before the agent
    /// reads it, it becomes a prompt with this id.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message_id: Option<PromptId>,
    /// Why it was not taken, for example `session_idle`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Unknown fields, kept as they came.
    #[serde(flatten)]
    pub rest: Rest,
}

/// The response of `GET /session/{id}/mid-turn-messages`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct MidTurnQueue {
    /// The messages that the agent has not read. Those of clients without an id are not among them.
    #[serde(default)]
    pub messages: Vec<WaitingMessage>,
    /// The latest that were read or removed.
    #[serde(default)]
    pub settled_message_ids: Vec<PromptId>,
    /// The latest that became prompts.
    #[serde(default)]
    pub promoted_message_ids: Vec<PromptId>,
    /// Unknown fields, kept as they came.
    #[serde(flatten)]
    pub rest: Rest,
}

/// A message that the agent has not read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct WaitingMessage {
    /// Its id.
    pub message_id: PromptId,
    /// Its text.
    #[serde(default)]
    pub text: String,
    /// Pictures and attachments that belong to it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub content: Option<Vec<ContentBlock>>,
    /// Unknown fields, kept as they came.
    #[serde(flatten)]
    pub rest: Rest,
}
