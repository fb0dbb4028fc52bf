//! The entries of a transcript.

use conversation::attachment::Attachment;
use conversation::names::{StepStatus, ToolKind, ToolStatus};
use conversation::tools::{HostPath, ToolCall, ToolOutput};
use conversation::view::{EntryContent, PlanStep, Speaker, TranscriptEntry, TurnOutcome};
use serde::Serialize;

#[derive(Serialize)]
pub(super) struct EntryJson<'a> {
    id: u64,
    #[serde(flatten)]
    content: ContentJson<'a>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase", tag = "kind")]
enum ContentJson<'a> {
    Said {
        speaker: SpeakerJson,
        text: &'a str,
    },
    Attached {
        speaker: SpeakerJson,
        #[serde(flatten)]
        attached: AttachmentJson<'a>,
    },
    Tool {
        tool: ToolJson<'a>,
    },
    Plan {
        steps: Vec<StepJson<'a>>,
    },
    Ended {
        how: &'static str,
        #[serde(skip_serializing_if = "Option::is_none")]
        why: Option<String>,
        background: bool,
    },
    Note {
        text: &'a str,
    },
}

impl<'a> From<&'a TranscriptEntry> for EntryJson<'a> {
    fn from(entry: &'a TranscriptEntry) -> Self {
        let content = match &entry.content {
            EntryContent::Said { speaker, text } => ContentJson::Said {
                speaker: (*speaker).into(),
                text,
            },
            EntryContent::Attached {
                speaker,
                attachment,
            } => ContentJson::Attached {
                speaker: (*speaker).into(),
                attached: attachment.into(),
            },
            EntryContent::Tool(tool) => ContentJson::Tool { tool: tool.into() },
            EntryContent::Plan(steps) => ContentJson::Plan {
                steps: steps.iter().map(StepJson::from).collect(),
            },
            EntryContent::Ended {
                outcome,
                background,
            } => ContentJson::Ended {
                how: how(outcome),
                why: outcome.why(),
                background: *background,
            },
            EntryContent::Note(text) => ContentJson::Note { text },
        };
        EntryJson {
            id: entry.id,
            content,
        }
    }
}

/// How a turn ended. The end of the agent's process counts as a failure.
pub(super) fn how(outcome: &TurnOutcome) -> &'static str {
    match outcome {
        TurnOutcome::Complete { .. } => "complete",
        TurnOutcome::Cancelled => "cancelled",
        TurnOutcome::Failed { .. } | TurnOutcome::Interrupted => "failed",
        TurnOutcome::Unknown => "unknown",
    }
}

#[derive(Clone, Copy, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) enum SpeakerJson {
    Me,
    Other,
    Agent,
    Thought,
    Task,
}

impl From<Speaker> for SpeakerJson {
    fn from(speaker: Speaker) -> Self {
        match speaker {
            Speaker::Me => Self::Me,
            Speaker::Other => Self::Other,
            Speaker::Agent => Self::Agent,
            Speaker::Thought => Self::Thought,
            Speaker::Task => Self::Task,
        }
    }
}

#[derive(Serialize)]
pub(super) struct StepJson<'a> {
    text: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    status: Option<&'a str>,
}

impl<'a> From<&'a PlanStep> for StepJson<'a> {
    fn from(step: &'a PlanStep) -> Self {
        StepJson {
            text: &step.text,
            status: step.status.as_ref().map(StepStatus::as_str),
        }
    }
}

#[derive(Serialize)]
pub(super) struct ToolJson<'a> {
    id: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    title: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    kind: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    status: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    content: Option<Vec<OutputJson<'a>>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    files: Option<Vec<PathJson<'a>>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    command: Option<&'a str>,
}

impl<'a> From<&'a ToolCall> for ToolJson<'a> {
    fn from(tool: &'a ToolCall) -> Self {
        let content = tool.content.as_ref();
        let files = tool.files.as_ref();
        ToolJson {
            id: &tool.id,
            title: tool.title.as_deref(),
            tool: tool.tool.as_deref(),
            kind: tool.kind.as_ref().map(ToolKind::as_str),
            status: tool.status.as_ref().map(ToolStatus::as_str),
            content: content.map(|content| content.iter().map(OutputJson::from).collect()),
            files: files.map(|files| files.iter().map(PathJson::from).collect()),
            command: tool.command.as_deref(),
        }
    }
}

#[derive(Serialize)]
#[serde(
    rename_all = "camelCase",
    rename_all_fields = "camelCase",
    tag = "type"
)]
enum OutputJson<'a> {
    Text {
        text: &'a str,
    },
    Diff {
        path: PathJson<'a>,
        #[serde(skip_serializing_if = "Option::is_none")]
        old_text: Option<&'a str>,
        new_text: &'a str,
    },
    Attachment(AttachmentJson<'a>),
}

impl<'a> From<&'a ToolOutput> for OutputJson<'a> {
    fn from(output: &'a ToolOutput) -> Self {
        match output {
            ToolOutput::Text(text) => Self::Text { text },
            ToolOutput::Diff {
                path,
                old_text,
                new_text,
            } => Self::Diff {
                path: path.into(),
                old_text: old_text.as_deref(),
                new_text,
            },
            ToolOutput::Attachment(attachment) => Self::Attachment(attachment.into()),
        }
    }
}

/// What is not text, with a line about it for whoever can show only text.
#[derive(Serialize)]
pub(super) struct AttachmentJson<'a> {
    text: String,
    attachment: AttachmentKindJson<'a>,
}

#[derive(Serialize)]
#[serde(
    rename_all = "camelCase",
    rename_all_fields = "camelCase",
    tag = "type"
)]
enum AttachmentKindJson<'a> {
    Image {
        mime_type: &'a str,
        #[serde(skip_serializing_if = "Option::is_none")]
        data: Option<&'a str>,
    },
    Link {
        name: &'a str,
        uri: &'a str,
    },
    File {
        uri: &'a str,
        #[serde(skip_serializing_if = "Option::is_none")]
        content: Option<&'a str>,
    },
}

impl<'a> From<&'a Attachment> for AttachmentJson<'a> {
    fn from(attachment: &'a Attachment) -> Self {
        AttachmentJson {
            text: attachment.describe(),
            attachment: match attachment {
                Attachment::Image { mime_type, data } => AttachmentKindJson::Image {
                    mime_type,
                    data: data.as_deref(),
                },
                Attachment::Link { name, uri } => AttachmentKindJson::Link { name, uri },
                Attachment::File { uri, text } => AttachmentKindJson::File {
                    uri,
                    content: text.as_deref(),
                },
            },
        }
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct PathJson<'a> {
    /// Named so because the daemon's machine need not be the reader's.
    daemon_path: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<u64>,
}

impl<'a> From<&'a HostPath> for PathJson<'a> {
    fn from(path: &'a HostPath) -> Self {
        PathJson {
            daemon_path: &path.path,
            line: path.line,
        }
    }
}
