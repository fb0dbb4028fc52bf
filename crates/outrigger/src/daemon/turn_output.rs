//! Prints a turn: what the agent says to stdout, everything else to stderr.

use std::collections::HashMap;

use ::daemon::connection::{CloseReason, IdeEvent};
use ::daemon::wire::{PromptId, SessionUpdate, ToolCall, ToolStatus};
use conversation::BackendEvent;
use conversation::backend::daemon::Translator;
use conversation::names;
use conversation::tools::{self, ToolOutput};
use conversation::view::{Notice, Speaker};

use crate::output::{Lines, note, print_error, print_line, speech};

/// Prints the events of one turn.
pub(super) struct TurnOutput {
    prompt: Option<PromptId>,
    /// What the agent has said and was printed.
    said: String,
    /// Tool calls by id; updates hold only what changed.
    tools: HashMap<String, ToolCall>,
    /// What happens beside the agent's words and tools, in the words in which a page is told.
    beside: Translator,
    /// What the command of a person has printed so far.
    printed: Vec<ToolOutput>,
}

impl TurnOutput {
    /// For the turn of this prompt. An old daemon does not tell its id.
    pub(super) fn new(prompt: Option<PromptId>, beside: Translator) -> Self {
        Self {
            prompt,
            said: String::new(),
            tools: HashMap::new(),
            beside,
            printed: Vec::new(),
        }
    }

    pub(super) fn print(&mut self, event: &IdeEvent) {
        match event {
            event if is_of_no_turn(event) => self.tell_beside(event, true),
            IdeEvent::Update { update, prompt, .. } if self.is_ours(prompt.as_ref()) => {
                self.update(update, event);
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

    fn update(&mut self, update: &SessionUpdate, event: &IdeEvent) {
        match update {
            SessionUpdate::AgentMessage(chunk) => match chunk.content.as_text() {
                Some(text) => self.say(text),
                None => self.tell_beside(event, true),
            },
            SessionUpdate::ToolCall(call) | SessionUpdate::ToolCallUpdate(call) => self.tool(call),
            SessionUpdate::Plan(plan) => {
                for entry in &plan.entries {
                    let status = entry.status.as_ref().map_or("", |it| it.as_str());
                    note(format_args!("plan: {} ({status})", entry.content));
                }
            }
            SessionUpdate::Other(_) => self.tell_beside(event, true),
            _ => {}
        }
    }

    /// Says what an event amounts to. Of the past only what is still so.
    fn tell_beside(&mut self, event: &IdeEvent, is_new: bool) {
        let lasts = |it: &BackendEvent| *it == BackendEvent::Notice(Notice::NotRecorded);
        let mut told = self.beside.translate(event);
        told.retain(|it| is_new || lasts(it));
        for event in told {
            match event {
                BackendEvent::Notice(notice) => note(notice.words()),
                BackendEvent::Attached { attachment, .. } => {
                    note(format_args!("attached: {}", attachment.describe()));
                }
                BackendEvent::Said {
                    speaker: Speaker::Other,
                    text,
                } => {
                    note(format_args!("somebody says to the agent: {text}"));
                }
                BackendEvent::Rewound { .. } => {
                    note("somebody took the conversation back to an earlier point");
                }
                BackendEvent::Tool(call) => self.command(call),
                _ => {}
            }
        }
    }

    /// The command of a person. What it prints is shown at its end.
    fn command(&mut self, call: tools::ToolCall) {
        if let Some(command) = call.command {
            note(format_args!("a person runs: {command}"));
        }
        if let Some(content) = call.content {
            self.printed = content;
        }
        let status = match call.status {
            None | Some(names::ToolStatus::InProgress) => return,
            Some(status) => status,
        };
        let mut lines = Lines::new();
        for output in std::mem::take(&mut self.printed) {
            if let ToolOutput::Text(text) = output {
                lines.quote("  | ", &text);
            }
        }
        print_error(&lines);
        note(format_args!("the command of a person: {}", status.as_str()));
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
            if is_of_no_turn(event) {
                self.tell_beside(event, false);
            }
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

/// Whether an event is about the conversation, or about what a person does beside its turns.
fn is_of_no_turn(event: &IdeEvent) -> bool {
    match event {
        IdeEvent::Other(_) => true,
        IdeEvent::Update { update, .. } => matches!(update, SessionUpdate::ShellOutput(_)),
        _ => false,
    }
}
