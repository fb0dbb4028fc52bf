//! The variants of `session_update`.

use serde::de::Error as _;
use serde::{Deserialize, Serialize};
use serde_json::{Error, Value};

use super::{ApprovalMode, ContentBlock, PlanStatus, Rest, ToolContent, ToolKind, ToolStatus};
use crate::json::{self, ObjectFields};

/// An ACP session update.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SessionUpdate {
    /// A chunk of a user's message. The daemon echoes each block of every prompt, also of our own.
    UserMessage(MessageChunk),
    /// A chunk of the agent's message.
    AgentMessage(MessageChunk),
    /// A chunk of the model's reasoning.
    AgentThought(MessageChunk),
    /// A new tool call; its arguments may still be missing.
    ToolCall(ToolCall),
    /// A change to a tool call. Only the changed fields are set.
    ToolCallUpdate(ToolCall),
    /// The whole plan.
    Plan(Plan),
    /// The whole list of slash commands.
    AvailableCommands(AvailableCommands),
    /// The agent changed the approval mode by itself.
    CurrentMode(CurrentMode),
    /// How much of the context window is used.
    Usage(ContextUsage),
    /// The title of the session.
    SessionInfo(SessionInfo),
    /// A piece of the output of a command that a person runs through the daemon.
    ShellOutput(ShellOutput),
    /// A variant that this version does not know.
    Other(Rest),
}

impl SessionUpdate {
    /// Deserialises the object that `update` begins with.
    pub(crate) fn read(data: &str) -> Result<Self, Error> {
        let update = ObjectFields::of(data)?.find("update")?.unwrap_or(data);
        let pieces = UpdateFields::of(update)?;
        match &*json::string(pieces.tag)? {
            USER => pieces.chunk().map(Self::UserMessage),
            AGENT => pieces.chunk().map(Self::AgentMessage),
            THOUGHT => pieces.chunk().map(Self::AgentThought),
            "tool_call" => read(update, Self::ToolCall),
            "tool_call_update" => read(update, Self::ToolCallUpdate),
            "plan" => read(update, Self::Plan),
            "available_commands_update" => read(update, Self::AvailableCommands),
            "current_mode_update" => read(update, Self::CurrentMode),
            "usage_update" => read(update, Self::Usage),
            "session_info_update" => read(update, Self::SessionInfo),
            "shell_output" => read(update, Self::ShellOutput),
            _ => read(update, Self::Other),
        }
    }

    /// The update as a JSON object again.
    pub fn to_value(&self) -> Result<Value, Error> {
        match self {
            Self::UserMessage(it) => it.to_value(USER),
            Self::AgentMessage(it) => it.to_value(AGENT),
            Self::AgentThought(it) => it.to_value(THOUGHT),
            Self::ToolCall(it) | Self::ToolCallUpdate(it) => serde_json::to_value(it),
            Self::Plan(it) => serde_json::to_value(it),
            Self::AvailableCommands(it) => serde_json::to_value(it),
            Self::CurrentMode(it) => serde_json::to_value(it),
            Self::Usage(it) => serde_json::to_value(it),
            Self::SessionInfo(it) => serde_json::to_value(it),
            Self::ShellOutput(it) => serde_json::to_value(it),
            Self::Other(it) => serde_json::to_value(it),
        }
    }
}

/// The field that tells the variants apart, and the variants that are parsed without `serde`.
const TAG: &str = "sessionUpdate";
const USER: &str = "user_message_chunk";
const AGENT: &str = "agent_message_chunk";
const THOUGHT: &str = "agent_thought_chunk";

/// The object that `update` begins with.
fn read<'a, T: Deserialize<'a>>(
    update: &'a str,
    variant: fn(T) -> SessionUpdate,
) -> Result<SessionUpdate, Error> {
    let mut reader = serde_json::Deserializer::from_str(update);
    T::deserialize(&mut reader).map(variant)
}

/// The fields of an update as JSON. Most updates are message chunks, so a chunk is built from these
/// fields and not parsed a second time.
struct UpdateFields<'a> {
    tag: &'a str,
    content: Option<&'a str>,
    meta: Option<&'a str>,
    rest: Vec<json::RawField<'a>>,
}

impl<'a> UpdateFields<'a> {
    /// The fields of the object that `update` begins with.
    fn of(update: &'a str) -> Result<Self, Error> {
        let (mut tag, mut content, mut meta, mut rest) = (None, None, None, Vec::new());
        for field in ObjectFields::starting(update)? {
            let (name, value) = field?;
            match name {
                TAG => tag = Some(value),
                "content" => content = Some(value),
                "_meta" => meta = Some(value),
                _ => rest.push((name, value)),
            }
        }
        Ok(Self {
            tag: tag.ok_or_else(|| Error::missing_field(TAG))?,
            content,
            meta,
            rest,
        })
    }

    fn chunk(self) -> Result<MessageChunk, Error> {
        let content = self
            .content
            .ok_or_else(|| Error::missing_field("content"))?;
        let meta = self.meta.map(serde_json::from_str).transpose()?;
        let mut rest = Rest::new();
        for (name, value) in self.rest {
            let name = json::string(&format!("\"{name}\""))?.into_owned();
            rest.insert(name, serde_json::from_str(value)?);
        }
        Ok(MessageChunk {
            content: ContentBlock::read(content)?,
            meta: meta.flatten(),
            rest,
        })
    }
}

/// A chunk of a message.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct MessageChunk {
    /// The content. An empty text at the end of a model call carries the token usage in `meta`.
    pub content: ContentBlock,
    /// The `_meta` field: the source of the chunk, token usage and more.
    pub meta: Option<Rest>,
    /// Unknown fields, kept as they came.
    pub rest: Rest,
}

impl MessageChunk {
    /// The text; empty for other content.
    pub fn text(&self) -> &str {
        self.content.as_text().unwrap_or_default()
    }

    /// The source of the chunk, if the daemon gives it (`bridge-echo`, `slash_command`, …).
    pub fn source(&self) -> Option<&str> {
        self.meta.as_ref()?.get("source")?.as_str()
    }

    fn to_value(&self, variant: &str) -> Result<Value, Error> {
        let mut fields = self.rest.clone();
        fields.insert(TAG.into(), variant.into());
        fields.insert("content".into(), serde_json::to_value(&self.content)?);
        if let Some(meta) = &self.meta {
            fields.insert("_meta".into(), meta.clone().into());
        }
        Ok(Value::Object(fields))
    }
}

/// A tool call, or a change to one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ToolCall {
    /// The id of the call.
    pub tool_call_id: String,
    /// The title to show.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// What the tool does, roughly.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<ToolKind>,
    /// The state of the call.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<ToolStatus>,
    /// Text and diffs to show.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub content: Option<Vec<ToolContent>>,
    /// The files that are affected, as paths on the daemon's host.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub locations: Option<Vec<ToolLocation>>,
    /// The arguments.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub raw_input: Option<Value>,
    /// The result, in a form that depends on the tool.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub raw_output: Option<Value>,
    /// The `_meta` field: the tool's name and more.
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<Rest>,
    /// Unknown fields, kept as they came.
    #[serde(flatten)]
    pub rest: Rest,
}

impl ToolCall {
    /// The tool's name, from `_meta`.
    pub fn tool_name(&self) -> Option<&str> {
        self.meta.as_ref()?.get("toolName")?.as_str()
    }

    /// Applies a later update of this call. Fields that `news` leaves out stay as they are.
    pub fn merge(&mut self, news: ToolCall) {
        fn take<T>(old: &mut Option<T>, new: Option<T>) {
            if new.is_some() {
                *old = new;
            }
        }
        take(&mut self.title, news.title);
        take(&mut self.kind, news.kind);
        take(&mut self.status, news.status);
        take(&mut self.content, news.content);
        take(&mut self.locations, news.locations);
        take(&mut self.raw_input, news.raw_input);
        take(&mut self.raw_output, news.raw_output);
        for (name, value) in news.meta.into_iter().flatten() {
            self.meta.get_or_insert_default().insert(name, value);
        }
        self.rest.extend(news.rest);
    }
}

/// A position in a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ToolLocation {
    /// The file, as a path on the daemon's host.
    pub path: String,
    /// The line, if the tool names one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u64>,
    /// Unknown fields, kept as they came.
    #[serde(flatten)]
    pub rest: Rest,
}

/// The agent's plan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Plan {
    /// The steps. They replace all earlier ones.
    pub entries: Vec<PlanEntry>,
    /// Unknown fields, kept as they came.
    #[serde(flatten)]
    pub rest: Rest,
}

/// A step of a plan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct PlanEntry {
    /// The text of the step.
    pub content: String,
    /// The state of the step.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<PlanStatus>,
    /// Unknown fields, kept as they came.
    #[serde(flatten)]
    pub rest: Rest,
}

/// A slash command.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct AvailableCommands {
    /// The commands. They replace all earlier ones.
    pub available_commands: Vec<AvailableCommand>,
    /// Unknown fields, kept as they came.
    #[serde(flatten)]
    pub rest: Rest,
}

/// A command that can be typed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct AvailableCommand {
    /// The name without the slash.
    pub name: String,
    /// A description to show.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Unknown fields, kept as they came.
    #[serde(flatten)]
    pub rest: Rest,
}

/// A change of the approval mode by the agent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct CurrentMode {
    /// The mode after the change.
    pub current_mode_id: ApprovalMode,
    /// Unknown fields, kept as they came.
    #[serde(flatten)]
    pub rest: Rest,
}

/// How much of the context window is used, in tokens.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ContextUsage {
    /// Tokens in use.
    pub used: u64,
    /// Size of the context window.
    pub size: u64,
    /// Unknown fields, kept as they came.
    #[serde(flatten)]
    pub rest: Rest,
}

/// The title of a session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct SessionInfo {
    /// The title.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Unknown fields, kept as they came.
    #[serde(flatten)]
    pub rest: Rest,
}

/// A piece of the output of a command.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ShellOutput {
    /// The piece, with whatever control characters the command has printed.
    pub output: String,
    /// Unknown fields, kept as they came.
    #[serde(flatten)]
    pub rest: Rest,
}
