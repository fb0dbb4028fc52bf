//! What a session has used, and what can be typed in it.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{AvailableCommand, Rest, SessionId};

/// The response of `GET /session/{id}/context-usage`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ContextUsageReport {
    /// The session.
    pub session_id: SessionId,
    /// How the context window is used.
    pub usage: ContextWindow,
    /// The same as a text with markup, for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub formatted_text: Option<String>,
    /// Unknown fields, kept as they came.
    #[serde(flatten)]
    pub rest: Rest,
}

/// How the context window is used, in tokens.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ContextWindow {
    /// The model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model_name: Option<String>,
    /// How much is used.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub total_tokens: Option<u64>,
    /// How much fits.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context_window_size: Option<u64>,
    /// What uses it, by category, with the thresholds at which it is compressed. The categories differ
    /// by version.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub breakdown: Option<Rest>,
    /// The tools of the agent itself; only if asked for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub builtin_tools: Vec<ContextPart>,
    /// The tools of MCP servers; only if asked for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub mcp_tools: Vec<ContextPart>,
    /// The files that are always read; only if asked for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub memory_files: Vec<ContextFile>,
    /// The skills; only if asked for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub skills: Vec<ContextPart>,
    /// Whether the numbers are a guess, because the model was not asked yet.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub is_estimated: Option<bool>,
    /// Unknown fields, kept as they came.
    #[serde(flatten)]
    pub rest: Rest,
}

/// One thing in the context window.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ContextPart {
    /// Its name.
    pub name: String,
    /// How much it uses.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tokens: Option<u64>,
    /// Unknown fields, kept as they came.
    #[serde(flatten)]
    pub rest: Rest,
}

/// A file in the context window.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ContextFile {
    /// Its path, as the agent shows it.
    pub path: String,
    /// How much it uses.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tokens: Option<u64>,
    /// Unknown fields, kept as they came.
    #[serde(flatten)]
    pub rest: Rest,
}

/// The response of `GET /session/{id}/stats`: what was used since the session is live.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct SessionStats {
    /// The session.
    pub session_id: SessionId,
    /// How long it has been live.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duration_ms: Option<u64>,
    /// How many prompts it had.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prompt_count: Option<u64>,
    /// Requests and tokens, by model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub models: Option<Value>,
    /// Calls and their results, by tool.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tools: Option<Value>,
    /// Lines that were added to files and removed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub files: Option<Value>,
    /// Unknown fields, kept as they came.
    #[serde(flatten)]
    pub rest: Rest,
}

/// The response of `GET /session/{id}/supported-commands`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct SupportedCommands {
    /// The session.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session_id: Option<SessionId>,
    /// The slash commands.
    #[serde(default)]
    pub available_commands: Vec<AvailableCommand>,
    /// The names of the skills.
    #[serde(default)]
    pub available_skills: Vec<String>,
    /// Unknown fields, kept as they came.
    #[serde(flatten)]
    pub rest: Rest,
}
