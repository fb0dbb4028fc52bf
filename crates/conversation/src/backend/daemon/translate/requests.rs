//! Tool calls, and what the agent asks the person.

use daemon::connection::InteractionRequest;
use daemon::wire::{Question, ToolCall as DaemonToolCall, ToolContent, ToolLocation};

use super::Translator;
use crate::backend::{BackendEvent, Edit};
use crate::mode::unreviewed_with;
use crate::requests::{AgentRequest, RequestOption, RequestOptions, RequestQuestion};
use crate::tools::{HostPath, ToolCall};

impl Translator {
    pub(super) fn tool_call(&mut self, call: &DaemonToolCall, told: &mut Vec<BackendEvent>) {
        let tool = self.tool(call);
        self.tell(Some(BackendEvent::Tool(tool)), told);
        self.unshown_output(call.content.as_deref().unwrap_or_default(), told);
    }

    fn tool(&self, call: &DaemonToolCall) -> ToolCall {
        ToolCall {
            id: self.line(&call.tool_call_id),
            title: self.line_of(call.title.as_deref()),
            tool: self.line_of(call.tool_name()),
            kind: call.kind.as_ref().map(|it| self.line(it.as_str()).into()),
            status: call.status.as_ref().map(|it| self.line(it.as_str()).into()),
            content: call.content.as_deref().map(|content| self.output(content)),
            files: call.locations.as_deref().map(|files| self.files(files)),
            command: self.command(call.raw_input.as_ref()),
        }
    }

    pub(super) fn request(&self, request: &InteractionRequest) -> AgentRequest {
        let most = self.sanitiser.limits().entries;
        let options = request.options.iter().map(|option| RequestOption {
            id: self.line(&option.option_id),
            title: self.line(option.title()),
            kind: option.kind.as_ref().map(|it| self.line(it.as_str()).into()),
        });
        let questions = request.questions.as_deref();
        AgentRequest {
            id: self.line(request.id.as_str()),
            title: self.line(&request.title),
            tool: ToolCall {
                id: self.line(request.tool_call_id.as_deref().unwrap_or_default()),
                tool: self.line_of(request.tool_name.as_deref()),
                kind: request
                    .kind
                    .as_ref()
                    .map(|it| self.line(it.as_str()).into()),
                content: Some(self.output(&request.content)),
                files: Some(self.files(&request.locations)),
                command: self.command(request.input.as_ref()),
                ..ToolCall::default()
            },
            options: options.collect::<RequestOptions>().limited_to(most),
            questions: questions.map(|list| {
                let list = list.iter().take(most);
                list.map(|question| self.question(question)).collect()
            }),
            unreviewed: request.tool_name.as_deref().and_then(unreviewed_with),
            background: request.background,
            proposal: None,
            votes: None,
        }
    }

    fn question(&self, question: &Question) -> RequestQuestion {
        let answers = question
            .options
            .iter()
            .take(self.sanitiser.limits().entries);
        RequestQuestion {
            question: self.line(&question.question),
            header: self.line_of(question.header.as_deref()),
            answers: answers
                .map(|it| {
                    (
                        self.line(&it.label),
                        self.line_of(it.description.as_deref()),
                    )
                })
                .collect(),
            several: question.multi_select,
        }
    }

    /// The one argument of a tool that a person has to see to decide, and that no content shows.
    fn command(&self, input: Option<&serde_json::Value>) -> Option<String> {
        let command = input?.get("command")?.as_str()?;
        Some(self.sanitiser.content(command))
    }

    fn files(&self, files: &[ToolLocation]) -> Vec<HostPath> {
        let files = files.iter().take(self.sanitiser.limits().entries);
        files.map(|file| self.path(&file.path, file.line)).collect()
    }
}

/// The edits of a request, whole: the review is on this machine, and a proposal must be the agent's
/// text.
pub(super) fn edits(request: &InteractionRequest) -> Vec<Edit> {
    let diffs = request.content.iter().filter_map(ToolContent::as_diff);
    let edit = |diff: daemon::wire::Diff<'_>| Edit {
        path: diff.path.to_owned(),
        before: diff.old_text.map(str::to_owned),
        after: diff.new_text.to_owned(),
    };
    diffs.map(edit).collect()
}
