//! What the person sees of a turn: the agent's words on stdout, everything else on stderr.

use std::collections::HashMap;

use ::daemon::connection::{Closing, IdeEvent};
use ::daemon::wire::{PromptId, SessionUpdate, ToolCall, ToolStatus};

use crate::output::{harmless, print};

/// Shows one turn.
#[derive(Default)]
pub(super) struct Screen {
    prompt: Option<PromptId>,
    /// What the agent has said so far.
    said: String,
    tools: HashMap<String, ToolCall>,
}

impl Screen {
    /// For the turn of this prompt.
    pub(super) fn new(prompt: Option<PromptId>) -> Self {
        Self {
            prompt,
            ..Self::default()
        }
    }

    pub(super) fn show(&mut self, event: &IdeEvent) {
        match event {
            IdeEvent::Update { update, prompt, .. } if self.is_ours(prompt.as_ref()) => {
                self.update(update);
            }
            IdeEvent::StartOver { events, .. } => self.catch_up(events),
            IdeEvent::Closed {
                how: Closing::Elsewhere(_),
                ..
            } => note("answered elsewhere"),
            IdeEvent::Declined { why, .. } => note(&format!("declined a broken request: {why}")),
            IdeEvent::Interrupted { why } => note(&format!("interrupted: {why}")),
            IdeEvent::Restored => note("the daemon is back"),
            IdeEvent::Gap { what } => note(what),
            _ => {}
        }
    }

    /// Ends the last line, if it needs it.
    pub(super) fn finish(&self) {
        if !self.said.is_empty() && !self.said.ends_with('\n') {
            print("\n");
        }
    }

    /// Older daemons do not tell which turn an update belongs to.
    fn is_ours(&self, prompt: Option<&PromptId>) -> bool {
        prompt.is_none() || self.prompt.is_none() || prompt == self.prompt.as_ref()
    }

    fn update(&mut self, update: &SessionUpdate) {
        match update {
            SessionUpdate::AgentMessage(chunk) => self.say(chunk.text()),
            SessionUpdate::ToolCall(call) | SessionUpdate::ToolCallUpdate(call) => self.tool(call),
            SessionUpdate::Plan(plan) => {
                for entry in &plan.entries {
                    let status = entry.status.as_ref().map_or("", |it| it.as_str());
                    note(&format!("plan: {} ({status})", entry.content));
                }
            }
            _ => {}
        }
    }

    fn say(&mut self, text: &str) {
        self.said += text;
        print(&harmless(text));
    }

    /// Tells about a tool when it begins for real and when it ends.
    fn tool(&mut self, news: &ToolCall) {
        let before = self
            .tools
            .get(&news.tool_call_id)
            .and_then(|it| it.status.clone());
        let call = self
            .tools
            .entry(news.tool_call_id.clone())
            .or_insert_with(|| news.clone());
        call.merge(news.clone());
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
            Some(status) => note(&format!("{title}: {status}")),
        }
    }

    /// The conversation was sent anew: shows what of this turn has not been shown.
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
            note("the conversation was sent anew; what was said in this turn:");
            self.said.clear();
            self.say(&said);
        }
    }
}

/// Says something beside the conversation.
pub(super) fn note(text: &str) {
    eprintln!("outrigger: {}", harmless(text));
}
