//! Tools, requests and files, as far as they may be seen.

use super::Sanitiser;
use super::app::{AppEvent, AppOption, AppQuestion, AppTool, HostPath, Shown};
use crate::connection::Request;
use crate::wire::{OptionKind, Question, ToolCall, ToolContent, ToolLocation};

impl Sanitiser {
    pub(super) fn tool(&self, call: &ToolCall) -> AppTool {
        AppTool {
            id: self.line(&call.tool_call_id),
            title: self.lines(call.title.as_deref()),
            tool: self.lines(call.tool_name()),
            kind: call.kind.as_ref().map(|it| self.line(it.as_str())),
            status: call.status.as_ref().map(|it| self.line(it.as_str())),
            content: call.content.as_deref().map(|content| self.shown(content)),
            files: call.locations.as_deref().map(|files| self.files(files)),
            command: self.command(call.raw_input.as_ref()),
        }
    }

    pub(super) fn asked(&self, request: &Request) -> AppEvent {
        // The daemon puts the widest leave first, where a hasty key would give it.
        let mut options: Vec<_> = request.options.iter().collect();
        options.sort_by_key(|it| it.kind != Some(OptionKind::AllowOnce));
        let options = options
            .into_iter()
            .take(self.limits.entries)
            .map(|option| AppOption {
                id: self.line(&option.option_id),
                title: self.line(option.title()),
                kind: option.kind.as_ref().map(|it| self.line(it.as_str())),
            });
        let question = |question: &Question| {
            let answers = question.options.iter().take(self.limits.entries);
            AppQuestion {
                question: self.line(&question.question),
                header: self.lines(question.header.as_deref()),
                answers: answers
                    .map(|it| (self.line(&it.label), self.lines(it.description.as_deref())))
                    .collect(),
                several: question.multi_select,
            }
        };
        let questions = request.questions.as_ref();
        AppEvent::Asked {
            request: self.line(request.id.as_str()),
            title: self.line(&request.title),
            tool: AppTool {
                id: self.line(request.tool_call_id.as_deref().unwrap_or_default()),
                tool: self.lines(request.tool_name.as_deref()),
                kind: request.kind.as_ref().map(|it| self.line(it.as_str())),
                content: Some(self.shown(&request.content)),
                files: Some(self.files(&request.locations)),
                command: self.command(request.input.as_ref()),
                ..AppTool::default()
            },
            options: options.collect(),
            questions: questions.map(|list| {
                list.iter()
                    .take(self.limits.entries)
                    .map(question)
                    .collect()
            }),
            background: request.background,
        }
    }

    /// The one argument of a tool that a person has to see to decide, and that no content shows.
    fn command(&self, input: Option<&serde_json::Value>) -> Option<String> {
        let command = input?.get("command")?.as_str()?;
        Some(self.clean(command, self.limits.content))
    }

    fn shown(&self, content: &[ToolContent]) -> Vec<Shown> {
        let one = |content: &ToolContent| {
            if let Some(diff) = content.as_diff() {
                return Some(Shown::Diff {
                    path: self.path(diff.path, None),
                    old_text: diff.old_text.map(|it| self.clean(it, self.limits.content)),
                    new_text: self.clean(diff.new_text, self.limits.content),
                });
            }
            let text = self.clean(content.as_text()?, self.limits.content);
            Some(Shown::Text { text })
        };
        content
            .iter()
            .filter_map(one)
            .take(self.limits.entries)
            .collect()
    }

    fn files(&self, files: &[ToolLocation]) -> Vec<HostPath> {
        let files = files.iter().take(self.limits.entries);
        files.map(|file| self.path(&file.path, file.line)).collect()
    }

    pub(super) fn path(&self, path: &str, line: Option<u64>) -> HostPath {
        HostPath {
            daemon_path: self.line(path),
            line,
        }
    }
}
