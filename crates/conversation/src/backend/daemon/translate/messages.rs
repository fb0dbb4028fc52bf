//! What people and the agent say, what they attach to it, and what cannot be shown.

use daemon::sanitiser::Held;
use daemon::wire::{BlockContent, ContentBlock, MessageChunk, ToolContent};

use super::{Translator, ends_text};
use crate::attachment::Attachment;
use crate::backend::BackendEvent;
use crate::tools::ToolOutput;
use crate::view::{Notice, Speaker};

/// How many kinds of things that are not shown are named. A faulty daemon could make up any number.
const MOST_KINDS: usize = 32;

/// The largest picture that is shown, in characters of base64. Larger ones are named.
const LARGEST_PICTURE: usize = 2 * 1024 * 1024;

impl Translator {
    /// A part of a message, of whatever type.
    pub(super) fn message(
        &mut self,
        speaker: Speaker,
        chunk: &MessageChunk,
        told: &mut Vec<BackendEvent>,
    ) {
        if let Some(text) = chunk.content.as_text() {
            return self.say(speaker, text, told);
        }
        let is_person = matches!(speaker, Speaker::Me | Speaker::Other);
        match self.attachment(chunk.content.content(), is_person) {
            Some(attachment) => {
                let attached = BackendEvent::Attached {
                    speaker,
                    attachment,
                };
                self.tell(Some(attached), told);
            }
            None => self.unshown_block(&chunk.content, told),
        }
    }

    /// What the agent says, or one of its tasks in the background. The daemon tells them apart by the
    /// source of the message.
    pub(super) fn agent_message(&mut self, chunk: &MessageChunk, told: &mut Vec<BackendEvent>) {
        let is_text = chunk.content.as_text().is_some();
        match chunk.source() {
            // It is told twice like its text, and named once.
            Some(
                "background_task_completed"
                | "background_notification"
                | "background_notification_turn_started",
            ) if !is_text => self.unshown_block(&chunk.content, told),
            // The name of the task, which the message before it had.
            Some("background_notification_turn_started") => {}
            Some("background_task_completed" | "background_notification") => {
                let text = self.sanitiser.text(chunk.text());
                if !text.is_empty() && self.task.as_ref() != Some(&text) {
                    self.task = Some(text.clone());
                    let speaker = Speaker::Task;
                    self.tell(Some(BackendEvent::Said { speaker, text }), told);
                }
            }
            _ => self.message(Speaker::Agent, chunk, told),
        }
    }

    fn unshown_block(&mut self, block: &ContentBlock, told: &mut Vec<BackendEvent>) {
        self.not_shown(block.kind(), || serde_json::to_string(block), told);
    }

    /// Something came that is not shown. That is said once for each kind, so that nobody takes what
    /// they see for everything that happened. What it holds is for whoever finds out why, in the log.
    pub(super) fn not_shown(
        &mut self,
        kind: &str,
        data: impl Fn() -> serde_json::Result<String>,
        told: &mut Vec<BackendEvent>,
    ) {
        let kind = self.line(kind);
        tracing::debug!(
            kind,
            data = self.line(&data().unwrap_or_default()),
            "not shown in a conversation"
        );
        if self.unshown.len() < MOST_KINDS && self.unshown.insert(kind.clone()) {
            let notice = Notice::NotShown { kind };
            self.tell(Some(BackendEvent::Notice(notice)), told);
        }
    }

    /// Tells what somebody says: all of what a person says, who says it at once; of a piece of the
    /// agent's as much as cannot be the beginning of a secret.
    pub(super) fn say(&mut self, speaker: Speaker, piece: &str, told: &mut Vec<BackendEvent>) {
        let is_person = matches!(speaker, Speaker::Me | Speaker::Other);
        if is_person || self.held.as_ref().is_some_and(|(it, _)| *it != speaker) {
            told.extend(self.end_of_text());
        }
        let text = if is_person {
            self.sanitiser.text(piece)
        } else {
            let (_, held) = self.held.get_or_insert_with(|| (speaker, Held::default()));
            self.sanitiser.piece(held, piece)
        };
        if !text.is_empty() {
            told.push(BackendEvent::Said { speaker, text });
        }
    }

    /// Tells an event, and before it what was held back if the text does not go on after it.
    pub(super) fn tell(&mut self, event: Option<BackendEvent>, told: &mut Vec<BackendEvent>) {
        if event.as_ref().is_some_and(ends_text) {
            told.extend(self.end_of_text());
        }
        told.extend(event);
    }

    pub(super) fn end_of_text(&mut self) -> Option<BackendEvent> {
        let (speaker, mut held) = self.held.take()?;
        let text = self.sanitiser.rest(&mut held);
        (!text.is_empty()).then_some(BackendEvent::Said { speaker, text })
    }

    /// What a block is beside text; `None` for what is not shown.
    fn attachment(&self, block: BlockContent<'_>, is_person: bool) -> Option<Attachment> {
        match block {
            BlockContent::Image(image) => {
                let is_shown = Attachment::is_picture(image.mime_type) && is_base64(image.data);
                is_shown.then(|| Attachment::Image {
                    mime_type: image.mime_type.to_owned(),
                    data: (image.data.len() <= LARGEST_PICTURE).then(|| image.data.to_owned()),
                })
            }
            BlockContent::Link(link) => Some(Attachment::Link {
                name: self.line(link.name),
                uri: self.line(link.uri),
            }),
            BlockContent::Resource(resource) => Some(Attachment::File {
                uri: self.line(resource.uri),
                // A person who attached a file knows it, and a conversation may hold many.
                text: resource
                    .text
                    .filter(|_| !is_person)
                    .map(|text| self.sanitiser.content(text)),
            }),
            // Text goes another way; sounds and unknown types are not shown.
            _ => None,
        }
    }

    /// What a tool shows.
    pub(super) fn output(&self, content: &[ToolContent]) -> Vec<ToolOutput> {
        let shown = content.iter().filter_map(|content| self.shown(content));
        shown.take(self.sanitiser.limits().entries).collect()
    }

    fn shown(&self, content: &ToolContent) -> Option<ToolOutput> {
        if let Some(diff) = content.as_diff() {
            return Some(ToolOutput::Diff {
                path: self.path(diff.path, None),
                old_text: diff.old_text.map(|it| self.sanitiser.content(it)),
                new_text: self.sanitiser.content(diff.new_text),
            });
        }
        if let Some(text) = content.as_text() {
            return Some(ToolOutput::Text(self.sanitiser.content(text)));
        }
        let attachment = self.attachment(content.block()?, false)?;
        Some(ToolOutput::Attachment(attachment))
    }

    /// Names the parts of a tool's output that are not shown.
    pub(super) fn unshown_output(&mut self, content: &[ToolContent], told: &mut Vec<BackendEvent>) {
        for part in content {
            if part.as_diff().is_some() || part.as_text().is_some() {
                continue;
            }
            let block = part.block();
            if block.is_none_or(|it| self.attachment(it, false).is_none()) {
                let block = part.0.get("content").and_then(|it| it.get("type"));
                let kind = block.and_then(|it| it.as_str()).unwrap_or(part.kind());
                self.not_shown(kind, || serde_json::to_string(part), told);
            }
        }
    }
}

/// Whether this is the notation of bytes that a page may take into an address of its own.
fn is_base64(data: &str) -> bool {
    let digits = data.trim_end_matches('=');
    let is_digit = |it: u8| it.is_ascii_alphanumeric() || matches!(it, b'+' | b'/');
    !data.is_empty() && data.len() - digits.len() <= 2 && digits.bytes().all(is_digit)
}
