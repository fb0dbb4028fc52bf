//! Questions of the daemon to a person, and the answers.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{InteractionKind, OptionKind, RequestId, Rest, SessionId, ToolCall};

/// The agent wants to do something, or wants to know something.
///
/// Reading one fails unless it can be answered: it needs an id, a tool call and options.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PermissionRequest {
    /// What to answer to.
    pub request_id: RequestId,
    /// The session that asks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session_id: Option<SessionId>,
    /// What the agent wants to do, with its arguments.
    pub tool_call: ToolCall,
    /// The answers on offer.
    pub options: Vec<PermissionOption>,
    /// Everything else.
    #[serde(flatten)]
    pub rest: Rest,
}

impl PermissionRequest {
    /// The questions, if this asks for answers rather than for leave.
    ///
    /// The tool's kind does not tell; the daemon marks questions in the call's metadata. The copy
    /// of the questions there is the trusted one, the tool's input is the fallback.
    pub fn questions(&self) -> Option<Vec<Question>> {
        let meta = self.tool_call.meta.as_ref()?;
        let is = |name: &str, value: &str| meta.get(name).and_then(Value::as_str) == Some(value);
        if !is("qwenInteractionKind", "user_question") && !is("toolName", "ask_user_question") {
            return None;
        }
        let input = self.tool_call.raw_input.as_ref();
        let lists = [
            meta.get("qwenQuestions"),
            input.and_then(|it| it.get("questions")),
        ];
        lists
            .into_iter()
            .flatten()
            .find_map(|list| Vec::<Question>::deserialize(list).ok())
    }
}

/// An answer on offer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PermissionOption {
    /// What to send.
    pub option_id: String,
    /// What it means.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<OptionKind>,
    /// What to show; events call it `name`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// What to show; the status route calls it `label`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// Everything else.
    #[serde(flatten)]
    pub rest: Rest,
}

impl PermissionOption {
    /// What to show.
    pub fn title(&self) -> &str {
        let title = self.name.as_deref().or(self.label.as_deref());
        title.unwrap_or(&self.option_id)
    }
}

/// A question with its proposed answers; free text is always allowed too.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Question {
    /// The question.
    pub question: String,
    /// A short heading.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub header: Option<String>,
    /// Proposed answers.
    #[serde(default)]
    pub options: Vec<QuestionOption>,
    /// Whether several may be chosen.
    #[serde(default)]
    pub multi_select: bool,
    /// Everything else.
    #[serde(flatten)]
    pub rest: Rest,
}

/// A proposed answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct QuestionOption {
    /// The answer.
    pub label: String,
    /// What it means.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Everything else.
    #[serde(flatten)]
    pub rest: Rest,
}

/// Something that waits for a person, as the status route tells it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PendingInteraction {
    /// What to answer to.
    pub request_id: RequestId,
    /// What kind of answer is wanted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<InteractionKind>,
    /// What the agent wants to do.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub action: Option<Value>,
    /// What the agent wants to know.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub questions: Option<Vec<Question>>,
    /// The answers on offer.
    #[serde(default)]
    pub options: Vec<PermissionOption>,
    /// Everything else.
    #[serde(flatten)]
    pub rest: Rest,
}

/// How a request was or shall be answered.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", tag = "outcome")]
pub enum Outcome {
    /// With one of its options.
    #[serde(rename_all = "camelCase")]
    Selected {
        /// Which.
        option_id: String,
    },
    /// Not at all; the agent takes it as a no.
    Cancelled,
}

/// An answer, as it is sent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Ballot {
    /// The choice.
    pub outcome: Outcome,
    /// Answers to questions, by the question's place as text: `"0"`, `"1"`, …. Several labels are
    /// joined with `", "`.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub answers: BTreeMap<String, String>,
}

impl Ballot {
    /// Chooses an option.
    pub fn select(option_id: impl Into<String>) -> Self {
        Self {
            outcome: Outcome::Selected {
                option_id: option_id.into(),
            },
            answers: BTreeMap::new(),
        }
    }

    /// Declines.
    pub fn cancel() -> Self {
        Self {
            outcome: Outcome::Cancelled,
            answers: BTreeMap::new(),
        }
    }

    /// Chooses an option and answers the questions in their order.
    pub fn answer(option_id: impl Into<String>, answers: impl IntoIterator<Item = String>) -> Self {
        let answers = answers.into_iter().enumerate();
        Self {
            answers: answers.map(|(at, text)| (at.to_string(), text)).collect(),
            ..Self::select(option_id)
        }
    }
}

/// What became of a vote. The truth about the request is the event `permission_resolved`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Vote {
    /// It was taken.
    Taken,
    /// The request is unknown, or was resolved before. This is normal.
    Lost,
}
