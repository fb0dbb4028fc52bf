//! Models and approval modes: what can be chosen, and the responses to a change.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{ApprovalMode, Rest, SessionId};

/// The models and approval modes of a session.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ConfigState {
    /// The models, if the daemon sent them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub models: Option<ModelList>,
    /// The approval modes, if the daemon sent them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub modes: Option<ModeList>,
    /// Unknown fields, kept as they came.
    #[serde(flatten)]
    pub rest: Rest,
}

impl ConfigState {
    /// Replaces the mode in force, if the lists are there.
    pub(crate) fn set_mode(&mut self, mode: Option<ApprovalMode>) {
        if let Some(modes) = &mut self.modes {
            modes.current_mode_id = mode;
        }
    }
}

/// The models that a session can use.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ModelList {
    /// The model in use.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub current_model_id: Option<String>,
    /// All models that can be chosen.
    #[serde(default)]
    pub available_models: Vec<ModelInfo>,
    /// Unknown fields, kept as they came.
    #[serde(flatten)]
    pub rest: Rest,
}

/// A model that can be chosen.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ModelInfo {
    /// The id to request it with, for example `some-model(openai)`.
    pub model_id: String,
    /// The name to show.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Unknown fields, kept as they came.
    #[serde(flatten)]
    pub rest: Rest,
}

/// The approval modes that a session can use.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ModeList {
    /// The mode in force.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub current_mode_id: Option<ApprovalMode>,
    /// All modes that can be chosen.
    #[serde(default)]
    pub available_modes: Vec<ModeInfo>,
    /// Unknown fields, kept as they came.
    #[serde(flatten)]
    pub rest: Rest,
}

/// An approval mode that can be chosen.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ModeInfo {
    /// The id to request it with.
    pub id: ApprovalMode,
    /// The name to show.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Unknown fields, kept as they came.
    #[serde(flatten)]
    pub rest: Rest,
}

/// The response of `GET /session/{id}/context`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct SessionContext {
    /// The session.
    pub session_id: SessionId,
    /// Models and approval modes.
    #[serde(default)]
    pub state: ConfigState,
    /// Unknown fields, kept as they came.
    #[serde(flatten)]
    pub rest: Rest,
}

/// The response to a change of the approval mode.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ApprovalModeSet {
    /// The mode now.
    pub mode: ApprovalMode,
    /// The mode before the change.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub previous: Option<ApprovalMode>,
    /// Whether it was also written into the settings.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub persisted: Option<bool>,
    /// Unknown fields, kept as they came.
    #[serde(flatten)]
    pub rest: Rest,
}

/// The response to a change of the model.
///
/// It holds the provider's base URL and a masked key, so it must not be shown or passed on. The
/// event `model_switched` holds what a client needs.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ModelSet(Value);

impl std::fmt::Debug for ModelSet {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("ModelSet(…)")
    }
}

impl ModelSet {
    /// The plain id of the model now in use.
    pub fn model_id(&self) -> Option<&str> {
        self.field("modelId")?.as_str()
    }

    /// How the provider is authenticated against, for example `openai`.
    pub fn auth_type(&self) -> Option<&str> {
        self.field("authType")?.as_str()
    }

    /// Whether the model was set up while the daemon runs, and not in its settings.
    pub fn is_runtime(&self) -> Option<bool> {
        self.field("isRuntime")?.as_bool()
    }

    fn field(&self, name: &str) -> Option<&Value> {
        self.0.pointer("/_meta/qwenModelSwitch")?.get(name)
    }
}
