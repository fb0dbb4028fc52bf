//! Requests of the agent to the user, and the user's answers.
//!
//! An answer becomes a vote here and nowhere else. Only an option that was offered can be chosen,
//! and an answer that does not fit the request is sent as a rejection. A rejection is always safe;
//! allowing something that was not asked never is.

use std::collections::BTreeMap;
use std::future::Future;

use serde::Deserialize;
use serde_json::Value;
use tokio::task::JoinSet;

use super::forwarder::ForwarderMessage;
use super::{CallError, IdeConnection, LiveConnection};
use crate::error::DaemonError;
use crate::wire::{
    InteractionKind, OptionKind, PendingInteraction, PermissionOption, PermissionOutcome,
    PermissionRequest, PermissionVote, Question, RequestId, ToolContent, ToolKind, ToolLocation,
    VoteResult,
};

/// A permission, or answers to questions, that the agent asks the user for.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct InteractionRequest {
    /// The id to answer with.
    pub id: RequestId,
    /// A title of one line.
    pub title: String,
    /// What the tool does, roughly. It does not tell questions from permissions; `questions` does.
    pub kind: Option<ToolKind>,
    /// The tool call that waits. Unknown if the request was found in the status after a reconnect.
    pub tool_call_id: Option<String>,
    /// The tool's name. Unknown if the request was found in the status.
    pub tool_name: Option<String>,
    /// What the tool would do: text, or diffs of files.
    pub content: Vec<ToolContent>,
    /// The files that are affected, as paths on the daemon's host.
    pub locations: Vec<ToolLocation>,
    /// The arguments of the tool call.
    pub input: Option<Value>,
    /// The questions, if the agent wants answers and not a permission.
    pub questions: Option<Vec<Question>>,
    /// The options to choose from.
    pub options: Vec<PermissionOption>,
    /// Whether a background task asks. That also happens outside of any turn.
    pub background: bool,
}

/// The user's answer to a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum UserAnswer {
    /// Allow this once.
    Allow,
    /// Allow, and do not ask again.
    AllowAlways,
    /// Reject.
    Decline,
    /// An option, by its id.
    Choose(String),
    /// For each question in order: the chosen labels, or a text of the user's own.
    Reply(Vec<Vec<String>>),
}

/// What became of an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct AnswerOutcome {
    /// What was sent. An answer that does not fit the request is sent as a rejection.
    pub outcome: PermissionOutcome,
    /// Whether the vote was counted. It is lost if another client was faster, which is normal.
    pub vote: VoteResult,
}

impl InteractionRequest {
    /// From an event. `None` if it offers no option, so that nobody could answer it.
    pub(crate) fn asked(request: PermissionRequest) -> Option<InteractionRequest> {
        if request.options.is_empty() {
            return None;
        }
        let questions = request.questions();
        let call = request.tool_call;
        let tool_name = call.tool_name().map(str::to_owned);
        Some(InteractionRequest {
            id: request.request_id,
            title: call.title.or(tool_name.clone()).unwrap_or_default(),
            kind: call.kind,
            tool_call_id: Some(call.tool_call_id),
            tool_name,
            content: call.content.unwrap_or_default(),
            locations: call.locations.unwrap_or_default(),
            input: call.raw_input,
            questions,
            options: request.options,
            background: request.rest.contains_key("backgroundTurn"),
        })
    }

    /// From the status of the session. `None` if nobody could answer it.
    pub(super) fn pending(pending: PendingInteraction) -> Option<InteractionRequest> {
        let wants_answers = pending.kind == Some(InteractionKind::UserQuestion);
        if pending.options.is_empty() || (wants_answers && pending.questions.is_none()) {
            return None;
        }
        let action = pending.action.unwrap_or_default();
        let text = |value: Option<&Value>| value.and_then(Value::as_str).map(str::to_owned);
        let title = text(action.get("title")).or(text(pending.rest.get("title")));
        Some(InteractionRequest {
            id: pending.request_id,
            title: title.unwrap_or_default(),
            kind: text(action.get("type")).map(ToolKind::from),
            tool_call_id: None,
            tool_name: None,
            content: list(action.get("content")),
            locations: list(action.get("locations")),
            input: action.get("input").cloned(),
            questions: pending.questions,
            options: pending.options,
            background: false,
        })
    }

    /// The vote to send for an answer.
    pub fn vote(&self, answer: &UserAnswer) -> PermissionVote {
        let chosen = match answer {
            UserAnswer::Reply(replies) => return self.reply(replies),
            // Questions are answered by replies only.
            _ if self.questions.is_some() => None,
            UserAnswer::Decline => None,
            UserAnswer::Allow => self.option_of(&OptionKind::AllowOnce),
            UserAnswer::AllowAlways => self.option_of(&OptionKind::AllowAlways),
            UserAnswer::Choose(id) => self
                .options
                .iter()
                .find(|option| option.option_id == *id)
                // Rejecting once is sent as `cancelled`, which every daemon understands.
                .filter(|option| option.kind != Some(OptionKind::RejectOnce)),
        };
        chosen.map_or_else(PermissionVote::cancel, |option| {
            PermissionVote::select(&option.option_id)
        })
    }

    fn reply(&self, replies: &[Vec<String>]) -> PermissionVote {
        let (Some(questions), Some(submit)) =
            (&self.questions, self.option_of(&OptionKind::AllowOnce))
        else {
            return PermissionVote::cancel();
        };
        let mut answers = BTreeMap::new();
        for (at, (question, reply)) in questions.iter().zip(replies).enumerate() {
            let reply: Vec<&str> = reply
                .iter()
                .map(|it| it.trim())
                .filter(|it| !it.is_empty())
                .collect();
            if !reply.is_empty() {
                let key = question.rest.get("answerKey").and_then(Value::as_str);
                let key = key.map_or_else(|| at.to_string(), str::to_owned);
                answers.insert(key, reply.join(", "));
            }
        }
        if answers.is_empty() {
            return PermissionVote::cancel();
        }
        PermissionVote {
            answers,
            ..PermissionVote::select(&submit.option_id)
        }
    }

    fn option_of(&self, kind: &OptionKind) -> Option<&PermissionOption> {
        self.options
            .iter()
            .find(|option| option.kind.as_ref() == Some(kind))
    }
}

/// The elements that can be deserialised; the others are skipped.
fn list<'a, T: Deserialize<'a>>(value: Option<&'a Value>) -> Vec<T> {
    let items = value.and_then(Value::as_array).into_iter().flatten();
    items.filter_map(|item| T::deserialize(item).ok()).collect()
}

impl IdeConnection {
    /// Answers a request. Several requests can be answered at the same time. If the request is not
    /// open (any more), the vote is lost and nothing is sent.
    ///
    /// After an error the request is open again and can be answered once more.
    pub async fn answer(
        &self,
        request: &RequestId,
        answer: &UserAnswer,
    ) -> Result<AnswerOutcome, CallError> {
        let live = self.live()?;
        let Some(ballot) = live.requests.begin(request, answer) else {
            return Ok(lost());
        };
        // In a task of its own: a vote that has begun must not be cancelled with the caller.
        let request = request.clone();
        let voting = tokio::spawn(async move { live.cast(&request, &ballot).await });
        let cut = || CallError::NotConnected;
        Ok(voting.await.map_err(|_| cut())??)
    }

    /// Waits for the answer of `person` and sends it. `None` and a panic count as
    /// [`UserAnswer::Decline`].
    ///
    /// If the request is closed by another client, or the connection ends, `person` is dropped and
    /// the vote is lost; it is also dropped with this call. A dialog should therefore close itself
    /// when its future is dropped.
    pub async fn decide<F>(
        &self,
        request: &RequestId,
        person: F,
    ) -> Result<AnswerOutcome, CallError>
    where
        F: Future<Output = Option<UserAnswer>> + Send + 'static,
    {
        let live = self.live()?;
        let Some(closed) = live.requests.closing(request) else {
            return Ok(lost());
        };
        // A set, because it ends its tasks when it is dropped, also with this call.
        let mut deciding = JoinSet::new();
        deciding.spawn(person);
        let decided = tokio::select! {
            decided = deciding.join_next() => decided,
            () = closed => return Ok(lost()),
        };
        let decided = decided.and_then(Result::ok).flatten();
        let answer = decided.unwrap_or(UserAnswer::Decline);
        self.answer(request, &answer).await
    }
}

impl LiveConnection {
    async fn cast(
        &self,
        request: &RequestId,
        ballot: &PermissionVote,
    ) -> Result<AnswerOutcome, DaemonError> {
        let vote = self.session.vote(request, ballot).await;
        match &vote {
            Ok(VoteResult::Taken) => {}
            Ok(VoteResult::Lost) => {
                // The event that closed the request may have been sent before we connected. If the
                // forwarder is gone, it has closed all requests.
                let _ = self.messages.send(ForwarderMessage::Lost(request.clone()));
            }
            Err(_) => self.requests.reopen(request),
        }
        Ok(AnswerOutcome {
            outcome: ballot.outcome.clone(),
            vote: vote?,
        })
    }
}

fn lost() -> AnswerOutcome {
    AnswerOutcome {
        outcome: PermissionOutcome::Cancelled,
        vote: VoteResult::Lost,
    }
}

#[cfg(test)]
mod tests;
