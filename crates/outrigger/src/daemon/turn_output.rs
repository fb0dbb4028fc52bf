//! Prints a turn: what the agent says to stdout, everything else to stderr.

use std::collections::{HashMap, HashSet};

use ::daemon::connection::{CloseReason, IdeEvent};
use ::daemon::wire::{BlockContent, MessageChunk, PromptId, SessionUpdate, ToolCall, ToolStatus};

use crate::output::{note, print_line, speech};

/// Prints the events of one turn.
#[derive(Default)]
pub(super) struct TurnOutput {
    prompt: Option<PromptId>,
    /// What the agent has said and was printed.
    said: String,
    /// Tool calls by id; updates hold only what changed.
    tools: HashMap<String, ToolCall>,
    /// The kinds of things that a terminal does not show and that were named.
    not_shown: HashSet<String>,
}

impl TurnOutput {
    /// For the turn of this prompt. An old daemon does not tell its id.
    pub(super) fn new(prompt: Option<PromptId>) -> Self {
        Self {
            prompt,
            ..Self::default()
        }
    }

    pub(super) fn print(&mut self, event: &IdeEvent) {
        match event {
            IdeEvent::Update { update, prompt, .. } if self.is_ours(prompt.as_ref()) => {
                self.update(update);
            }
            IdeEvent::HistoryLoaded { events, .. } => self.catch_up(events),
            IdeEvent::RequestClosed {
                reason: CloseReason::Elsewhere(_),
                ..
            } => note("answered elsewhere"),
            IdeEvent::RequestDeclined { why, .. } => {
                note(format_args!("declined a broken request: {why}"));
            }
            IdeEvent::ConnectionLost { why } => note(format_args!("interrupted: {why}")),
            IdeEvent::ConnectionRestored => note("the daemon is back"),
            IdeEvent::Gap { what } => note(what),
            _ => {}
        }
    }

    /// Ends the last line, if the agent did not.
    pub(super) fn finish(&self) {
        if !self.said.is_empty() && !self.said.ends_with('\n') {
            print_line("");
        }
    }

    /// Older daemons do not tell which turn an update belongs to.
    fn is_ours(&self, prompt: Option<&PromptId>) -> bool {
        prompt.is_none() || self.prompt.is_none() || prompt == self.prompt.as_ref()
    }

    fn update(&mut self, update: &SessionUpdate) {
        match update {
            SessionUpdate::AgentMessage(chunk) => self.message(chunk),
            SessionUpdate::ToolCall(call) | SessionUpdate::ToolCallUpdate(call) => self.tool(call),
            SessionUpdate::Plan(plan) => {
                for entry in &plan.entries {
                    let status = entry.status.as_ref().map_or("", |it| it.as_str());
                    note(format_args!("plan: {} ({status})", entry.content));
                }
            }
            SessionUpdate::Other(fields) => {
                let kind = fields.get("sessionUpdate").and_then(|it| it.as_str());
                self.not_shown(kind.unwrap_or("an update without a kind"));
            }
            _ => {}
        }
    }

    fn message(&mut self, chunk: &MessageChunk) {
        match chunk.content.content() {
            BlockContent::Text(text) => self.say(text),
            BlockContent::Link(link) => note(format_args!("{} ({})", link.name, link.uri)),
            BlockContent::Resource(resource) => note(format_args!("a file: {}", resource.uri)),
            _ => self.not_shown(chunk.content.kind()),
        }
    }

    /// Names something that a terminal does not show, once for each kind.
    fn not_shown(&mut self, kind: &str) {
        if self.not_shown.insert(kind.to_owned()) {
            note(format_args!("not shown here: {kind}"));
        }
    }

    fn say(&mut self, text: &str) {
        self.said += text;
        speech(text);
    }

    /// Notes a tool call when it begins to run and when it ends.
    fn tool(&mut self, update: &ToolCall) {
        let before = self
            .tools
            .get(&update.tool_call_id)
            .and_then(|it| it.status.clone());
        let call = self
            .tools
            .entry(update.tool_call_id.clone())
            .or_insert_with(|| update.clone());
        call.merge(update.clone());
        if call.status == before {
            return;
        }
        let title = call
            .title
            .as_deref()
            .or(call.tool_name())
            .unwrap_or("a tool");
        match &call.status {
            Some(ToolStatus::Pending) | None => {}
            Some(status) => note(format_args!("{title}: {status}")),
        }
    }

    /// The daemon sent the conversation again: prints what is new in this turn.
    fn catch_up(&mut self, events: &[IdeEvent]) {
        let mut said = String::new();
        for event in events {
            if let IdeEvent::Update {
                update: SessionUpdate::AgentMessage(chunk),
                prompt,
                ..
            } = event
                && self.prompt.is_some()
                && *prompt == self.prompt
            {
                said += chunk.text();
            }
        }
        if let Some(rest) = said.strip_prefix(&self.said) {
            let rest = rest.to_owned();
            self.say(&rest);
        } else if !said.is_empty() {
            note("the daemon sent the conversation again; this turn so far:");
            self.said.clear();
            self.say(&said);
        }
    }
}
