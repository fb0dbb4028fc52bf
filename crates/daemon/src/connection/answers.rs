//! Requests of the agent to the person, and what the person may answer.
//!
//! An answer is turned into a vote here and nowhere else: only what was offered can be chosen, and
//! whatever does not fit the request counts as a no. A no is always safe; a yes to something that
//! was not asked never is.

use std::collections::BTreeMap;
use std::future::Future;

use serde::Deserialize;
use serde_json::Value;

use super::pump::Message;
use super::{CallError, IdeConnection, Live};
use crate::error::DaemonError;
use crate::wire::{
    Ballot, InteractionKind, OptionKind, Outcome, PendingInteraction, PermissionOption,
    PermissionRequest, Question, RequestId, ToolContent, ToolKind, ToolLocation, Vote,
};

/// What the agent wants from the person.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// What to answer to.
    pub id: RequestId,
    /// What it is about, in a line.
    pub title: String,
    /// What the tool does, roughly. It does not tell a question from a permission.
    pub kind: Option<ToolKind>,
    /// The tool call that waits; unknown if the request was found after a reconnect.
    pub tool_call_id: Option<String>,
    /// The tool's name, if it is known.
    pub tool_name: Option<String>,
    /// What the tool would do: text, or changes to files.
    pub content: Vec<ToolContent>,
    /// The files it is about, on the daemon's host.
    pub locations: Vec<ToolLocation>,
    /// The tool's arguments.
    pub input: Option<Value>,
    /// The questions, if answers are wanted rather than leave.
    pub questions: Option<Vec<Question>>,
    /// What can be chosen.
    pub options: Vec<PermissionOption>,
    /// Whether a background task asks, which happens outside of any turn too.
    pub background: bool,
}

/// What a person answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// Yes, this time.
    Allow,
    /// Yes, and do not ask again.
    AllowAlways,
    /// No.
    Decline,
    /// One of the options, by its id.
    Choose(String),
    /// To each question in its order, the labels that were chosen or a text of one's own.
    Reply(Vec<Vec<String>>),
}

/// What became of an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answered {
    /// What was voted; an answer that did not fit the request is a no.
    pub outcome: Outcome,
    /// Whether it counts. A vote that somebody else was faster with is lost, which is normal.
    pub vote: Vote,
}

impl Request {
    /// The request in an event; `None` if nobody could answer it.
    pub(super) fn asked(request: PermissionRequest) -> Option<Request> {
        if request.options.is_empty() {
            return None;
        }
        let questions = request.questions();
        let call = request.tool_call;
        let tool_name = call.tool_name().map(str::to_owned);
        Some(Request {
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

    /// The request in a status; `None` if nobody could answer it.
    pub(super) fn pending(pending: PendingInteraction) -> Option<Request> {
        let wants_answers = pending.kind == Some(InteractionKind::UserQuestion);
        if pending.options.is_empty() || (wants_answers && pending.questions.is_none()) {
            return None;
        }
        let action = pending.action.unwrap_or_default();
        let text = |value: Option<&Value>| value.and_then(Value::as_str).map(str::to_owned);
        let title = text(action.get("title")).or(text(pending.rest.get("title")));
        Some(Request {
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

    /// The vote that an answer amounts to.
    pub fn ballot(&self, answer: &Answer) -> Ballot {
        let chosen = match answer {
            Answer::Reply(replies) => return self.reply(replies),
            // Nothing but replies answers a question.
            _ if self.questions.is_some() => None,
            Answer::Decline => None,
            Answer::Allow => self.option_of(&OptionKind::AllowOnce),
            Answer::AllowAlways => self.option_of(&OptionKind::AllowAlways),
            Answer::Choose(id) => self
                .options
                .iter()
                .find(|option| option.option_id == *id)
                // A no for this time has a form of its own that every version understands.
                .filter(|option| option.kind != Some(OptionKind::RejectOnce)),
        };
        chosen.map_or_else(Ballot::cancel, |option| Ballot::select(&option.option_id))
    }

    fn reply(&self, replies: &[Vec<String>]) -> Ballot {
        let (Some(questions), Some(submit)) =
            (&self.questions, self.option_of(&OptionKind::AllowOnce))
        else {
            return Ballot::cancel();
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
            return Ballot::cancel();
        }
        Ballot {
            answers,
            ..Ballot::select(&submit.option_id)
        }
    }

    fn option_of(&self, kind: &OptionKind) -> Option<&PermissionOption> {
        self.options
            .iter()
            .find(|option| option.kind.as_ref() == Some(kind))
    }
}

/// What can be read of a list.
fn list<'a, T: Deserialize<'a>>(value: Option<&'a Value>) -> Vec<T> {
    let items = value.and_then(Value::as_array).into_iter().flatten();
    items.filter_map(|item| T::deserialize(item).ok()).collect()
}

impl IdeConnection {
    /// Answers a request. Several can be answered at the same time; one that is not open (any more)
    /// loses, and nothing is sent for it.
    ///
    /// After an error the request is open again, and can be answered once more.
    pub async fn answer(
        &self,
        request: &RequestId,
        answer: &Answer,
    ) -> Result<Answered, CallError> {
        let live = self.live()?;
        let Some(ballot) = live.requests.begin(request, answer) else {
            return Ok(lost());
        };
        // In a task of its own: a vote that was begun is brought to its end.
        let request = request.clone();
        let voting = tokio::spawn(async move { live.cast(&request, &ballot).await });
        let cut = || CallError::NotConnected;
        Ok(voting.await.map_err(|_| cut())??)
    }

    /// Lets a person decide: waits for `person`, and votes. `None`, and a panic, count as a no.
    ///
    /// When the request is closed by somebody else, or the connection ends, `person` is dropped and
    /// the vote is lost; a dialog should therefore close itself when it is dropped.
    pub async fn decide<F>(&self, request: &RequestId, person: F) -> Result<Answered, CallError>
    where
        F: Future<Output = Option<Answer>> + Send + 'static,
    {
        let live = self.live()?;
        let Some(closed) = live.requests.closing(request) else {
            return Ok(lost());
        };
        let mut deciding = tokio::spawn(person);
        let decided = tokio::select! {
            decided = &mut deciding => decided,
            () = closed => {
                deciding.abort();
                return Ok(lost());
            }
        };
        let answer = decided.ok().flatten().unwrap_or(Answer::Decline);
        self.answer(request, &answer).await
    }
}

impl Live {
    async fn cast(&self, request: &RequestId, ballot: &Ballot) -> Result<Answered, DaemonError> {
        let vote = self.session.vote(request, ballot).await;
        match &vote {
            Ok(Vote::Taken) => {}
            Ok(Vote::Lost) => {
                // The event that says so may have come before the connection did. If the pump is
                // gone, it has closed everything.
                let _ = self.messages.send(Message::Lost(request.clone()));
            }
            Err(_) => self.requests.reopen(request),
        }
        Ok(Answered {
            outcome: ballot.outcome.clone(),
            vote: vote?,
        })
    }
}

fn lost() -> Answered {
    Answered {
        outcome: Outcome::Cancelled,
        vote: Vote::Lost,
    }
}

#[cfg(test)]
mod tests;
