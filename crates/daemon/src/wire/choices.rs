//! What can be chosen in a session, and what choosing answers: models and approval modes.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{ApprovalMode, Rest, SessionId};

/// Models, modes and options of a session.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ConfigState {
    /// The models.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub models: Option<ModelList>,
    /// The approval modes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub modes: Option<ModeList>,
    /// Everything else.
    #[serde(flatten)]
    pub rest: Rest,
}

/// The models a session can use.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ModelList {
    /// The one in use.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub current_model_id: Option<String>,
    /// All.
    #[serde(default)]
    pub available_models: Vec<Model>,
    /// Everything else.
    #[serde(flatten)]
    pub rest: Rest,
}

/// A model.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Model {
    /// What to ask for, for example `some-model(openai)`.
    pub model_id: String,
    /// What to call it in front of a person.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Everything else.
    #[serde(flatten)]
    pub rest: Rest,
}

/// The approval modes a session can be in.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ModeList {
    /// The one it is in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub current_mode_id: Option<ApprovalMode>,
    /// All.
    #[serde(default)]
    pub available_modes: Vec<Mode>,
    /// Everything else.
    #[serde(flatten)]
    pub rest: Rest,
}

/// An approval mode.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Mode {
    /// What to ask for.
    pub id: ApprovalMode,
    /// What to call it in front of a person.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Everything else.
    #[serde(flatten)]
    pub rest: Rest,
}

/// The answer of the context route.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SessionContext {
    /// The session.
    pub session_id: SessionId,
    /// Models, modes and options.
    #[serde(default)]
    pub state: ConfigState,
    /// Everything else.
    #[serde(flatten)]
    pub rest: Rest,
}

/// What a change of the approval mode answers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ApprovalModeSet {
    /// The mode now.
    pub mode: ApprovalMode,
    /// The mode before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub previous: Option<ApprovalMode>,
    /// Whether it was written into settings.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub persisted: Option<bool>,
    /// Everything else.
    #[serde(flatten)]
    pub rest: Rest,
}

/// What a change of the model answers.
///
/// It holds the provider's base URL and a masked key. Nothing of it may be shown or passed on;
/// the event `model_switched` tells what a person needs.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ModelSwitch(Value);

impl std::fmt::Debug for ModelSwitch {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("ModelSwitch(…)")
    }
}

impl ModelSwitch {
    /// The plain id of the model now in use.
    pub fn model_id(&self) -> Option<&str> {
        self.0.pointer("/_meta/qwenModelSwitch/modelId")?.as_str()
    }
}
