//! Requests of the agent that wait for the person.

use conversation::names::OptionKind;
use conversation::requests::{AgentRequest, RequestOption, RequestOptions, RequestQuestion};
use serde::Serialize;

use super::transcript::ToolJson;

#[derive(Serialize)]
pub(super) struct RequestJson<'a> {
    request: &'a str,
    title: &'a str,
    tool: ToolJson<'a>,
    options: Vec<OptionJson<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    questions: Option<Vec<QuestionJson<'a>>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    unreviewed: Option<&'a str>,
    background: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    proposal: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    votes: Option<(u64, u64)>,
}

impl<'a> From<&'a AgentRequest> for RequestJson<'a> {
    fn from(request: &'a AgentRequest) -> Self {
        RequestJson {
            request: &request.id,
            title: &request.title,
            tool: (&request.tool).into(),
            options: options(&request.options),
            questions: questions(request.questions.as_deref()),
            unreviewed: request.unreviewed,
            background: request.background,
            proposal: request.proposal,
            votes: request.votes,
        }
    }
}

fn options(options: &RequestOptions) -> Vec<OptionJson<'_>> {
    options.as_slice().iter().map(OptionJson::from).collect()
}

fn questions(questions: Option<&[RequestQuestion]>) -> Option<Vec<QuestionJson<'_>>> {
    Some(questions?.iter().map(QuestionJson::from).collect())
}

#[derive(Serialize)]
struct OptionJson<'a> {
    id: &'a str,
    title: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    kind: Option<&'a str>,
    lasts: bool,
}

impl<'a> From<&'a RequestOption> for OptionJson<'a> {
    fn from(option: &'a RequestOption) -> Self {
        OptionJson {
            id: &option.id,
            title: &option.title,
            kind: option.kind.as_ref().map(OptionKind::as_str),
            lasts: option.lasts(),
        }
    }
}

#[derive(Serialize)]
struct QuestionJson<'a> {
    question: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    header: Option<&'a str>,
    answers: &'a [(String, Option<String>)],
    several: bool,
}

impl<'a> From<&'a RequestQuestion> for QuestionJson<'a> {
    fn from(question: &'a RequestQuestion) -> Self {
        QuestionJson {
            question: &question.question,
            header: question.header.as_deref(),
            answers: &question.answers,
            several: question.several,
        }
    }
}
