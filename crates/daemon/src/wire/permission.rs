//! Permission requests, and votes on them.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{InteractionKind, OptionKind, RequestId, Rest, SessionId, ToolCall};

/// The agent asks for a permission, or for answers to questions.
///
/// Deserialising fails unless it can be answered: it needs an id, a tool call and options.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct PermissionRequest {
    /// The id to answer with.
    pub request_id: RequestId,
    /// The session whose agent asks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session_id: Option<SessionId>,
    /// The tool call that needs the permission, with its arguments.
    pub tool_call: ToolCall,
    /// The options to choose from.
    pub options: Vec<PermissionOption>,
    /// Unknown fields, kept as they came.
    #[serde(flatten)]
    pub rest: Rest,
}

impl PermissionRequest {
    /// The questions, if the agent wants answers and not a permission.
    ///
    /// The published daemon marks a question in the call's metadata, and the questions there are the
    /// trusted copy; those in the tool's input are the fallback. Its specification marks it by the
    /// tool's kind instead, with the questions in the input.
    pub fn questions(&self) -> Option<Vec<Question>> {
        const TOOL: &str = "ask_user_question";
        let call = &self.tool_call;
        let meta = |name| call.meta.as_ref()?.get(name);
        let is = |name, value: &str| meta(name).and_then(Value::as_str) == Some(value);
        let is_specified = call.kind.as_ref().is_some_and(|kind| kind.as_str() == TOOL);
        if !is_specified && !is("qwenInteractionKind", "user_question") && !is("toolName", TOOL) {
            return None;
        }
        let input = call.raw_input.as_ref();
        let lists = [
            meta("qwenQuestions"),
            input.and_then(|it| it.get("questions")),
        ];
        lists
            .into_iter()
            .flatten()
            .filter_map(|list| Vec::<Question>::deserialize(list).ok())
            .find(|list| !list.is_empty())
    }
}

/// An option of a permission request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct PermissionOption {
    /// The id to send in a vote.
    pub option_id: String,
    /// The meaning of the option.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<OptionKind>,
    /// The text to show, in events.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The text to show, in the status route.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// Unknown fields, kept as they came.
    #[serde(flatten)]
    pub rest: Rest,
}

impl PermissionOption {
    /// The text to show.
    pub fn title(&self) -> &str {
        let title = self.name.as_deref().or(self.label.as_deref());
        title.unwrap_or(&self.option_id)
    }
}

/// A question with suggested answers. Free text is always allowed too.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Question {
    /// The text of the question.
    pub question: String,
    /// A short heading.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub header: Option<String>,
    /// Suggested answers.
    #[serde(default)]
    pub options: Vec<QuestionOption>,
    /// Whether several answers may be chosen.
    #[serde(default)]
    pub multi_select: bool,
    /// Unknown fields, kept as they came.
    #[serde(flatten)]
    pub rest: Rest,
}

/// A suggested answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct QuestionOption {
    /// The text of the answer.
    pub label: String,
    /// An explanation to show.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Unknown fields, kept as they came.
    #[serde(flatten)]
    pub rest: Rest,
}

/// An open request, as the status route sends it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct PendingInteraction {
    /// The id to answer with.
    pub request_id: RequestId,
    /// Whether it asks for a permission or for answers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<InteractionKind>,
    /// The tool call that needs the permission.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub action: Option<Value>,
    /// The questions, if it asks for answers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub questions: Option<Vec<Question>>,
    /// The options to choose from.
    #[serde(default)]
    pub options: Vec<PermissionOption>,
    /// Unknown fields, kept as they came.
    #[serde(flatten)]
    pub rest: Rest,
}

/// The outcome of a request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", tag = "outcome")]
#[non_exhaustive]
pub enum PermissionOutcome {
    /// An option was chosen.
    #[serde(rename_all = "camelCase")]
    Selected {
        /// The id of the option.
        option_id: String,
    },
    /// No option was chosen. The agent takes it as a rejection.
    Cancelled,
}

/// The body of a vote on a permission request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PermissionVote {
    /// The choice.
    pub outcome: PermissionOutcome,
    /// Answers to questions. The key is the index of the question as text: `"0"`, `"1"`, …. Several
    /// labels are joined with `", "`.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub answers: BTreeMap<String, String>,
}

impl PermissionVote {
    /// Votes for an option.
    pub fn select(option_id: impl Into<String>) -> Self {
        Self {
            outcome: PermissionOutcome::Selected {
                option_id: option_id.into(),
            },
            answers: BTreeMap::new(),
        }
    }

    /// Votes to reject.
    pub fn cancel() -> Self {
        Self {
            outcome: PermissionOutcome::Cancelled,
            answers: BTreeMap::new(),
        }
    }

    /// Votes for an option, with answers to the questions in order.
    pub fn answer(option_id: impl Into<String>, answers: impl IntoIterator<Item = String>) -> Self {
        let answers = answers.into_iter().enumerate();
        Self {
            answers: answers.map(|(at, text)| (at.to_string(), text)).collect(),
            ..Self::select(option_id)
        }
    }
}

/// What became of a vote. How the request ends is told by the event `permission_resolved`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VoteResult {
    /// The daemon counted it.
    Taken,
    /// The request is unknown or was resolved before, which is normal with several clients.
    Lost,
}
