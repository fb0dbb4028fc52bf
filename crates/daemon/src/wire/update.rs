//! The variants of `session_update`: what the agent says and does.

use serde::de::Error as _;
use serde::{Deserialize, Serialize};
use serde_json::{Error, Value};

use super::{ApprovalMode, ContentBlock, PlanStatus, Rest, ToolContent, ToolKind, ToolStatus};
use crate::json::{self, Fields};

/// One step of a conversation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SessionUpdate {
    /// What a person said. The daemon echoes each block of every prompt, also of one's own.
    UserMessage(MessageChunk),
    /// What the agent says.
    AgentMessage(MessageChunk),
    /// What the agent thinks.
    AgentThought(MessageChunk),
    /// A new tool call; its arguments may still be missing.
    ToolCall(ToolCall),
    /// News about a tool call: only what changed.
    ToolCallUpdate(ToolCall),
    /// The plan, all of it.
    Plan(Plan),
    /// The commands that can be typed, all of them.
    AvailableCommands(AvailableCommands),
    /// The agent changed the approval mode by itself.
    CurrentMode(CurrentMode),
    /// How full the context is.
    Usage(Usage),
    /// The session has a title.
    SessionInfo(SessionInfo),
    /// A variant that this version does not know, or one that it could not read.
    Other(Rest),
}

impl SessionUpdate {
    /// Reads the data of a `session_update`: nested as streams send it, or flat as transcripts do.
    pub(crate) fn read(data: &str) -> Result<Self, Error> {
        let update = Fields::of(data)?.find("update")?.unwrap_or(data);
        let pieces = Pieces::of(update)?;
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
            _ => read(update, Self::Other),
        }
    }

    /// The update as an object again.
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
            Self::Other(it) => serde_json::to_value(it),
        }
    }
}

/// What tells the variants apart, and the names of those that are read by hand.
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

/// The fields of an update, as JSON. Most of what a daemon sends are messages in small pieces, so
/// those are put together from here rather than read a second time.
struct Pieces<'a> {
    tag: &'a str,
    content: Option<&'a str>,
    meta: Option<&'a str>,
    rest: Vec<json::Field<'a>>,
}

impl<'a> Pieces<'a> {
    /// The fields of the object that `update` begins with.
    fn of(update: &'a str) -> Result<Self, Error> {
        let (mut tag, mut content, mut meta, mut rest) = (None, None, None, Vec::new());
        for field in Fields::starting(update)? {
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

/// A piece of a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MessageChunk {
    /// The piece. An empty text at the end of a model call carries the usage in `meta`.
    pub content: ContentBlock,
    /// Where it comes from, what it cost.
    pub meta: Option<Rest>,
    /// Everything else.
    pub rest: Rest,
}

impl MessageChunk {
    /// The text; empty for other content.
    pub fn text(&self) -> &str {
        self.content.as_text().unwrap_or_default()
    }

    /// Where the chunk comes from, if the daemon says so (`bridge-echo`, `slash_command`, …).
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

/// A tool call, or what changed about one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ToolCall {
    /// Which call.
    pub tool_call_id: String,
    /// What to call it in front of a person.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// What it does, roughly.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<ToolKind>,
    /// How far it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<ToolStatus>,
    /// What it shows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub content: Option<Vec<ToolContent>>,
    /// The files it touches, on the daemon's host.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub locations: Option<Vec<ToolLocation>>,
    /// Its arguments.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub raw_input: Option<Value>,
    /// Its result, in a form of its own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub raw_output: Option<Value>,
    /// The tool's name and more.
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<Rest>,
    /// Everything else.
    #[serde(flatten)]
    pub rest: Rest,
}

impl ToolCall {
    /// The tool's name.
    pub fn tool_name(&self) -> Option<&str> {
        self.meta.as_ref()?.get("toolName")?.as_str()
    }

    /// Takes over what `news` says about this call; what it leaves out stays as it is.
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

/// A place in a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolLocation {
    /// The file, on the daemon's host.
    pub path: String,
    /// The line.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u64>,
    /// Everything else.
    #[serde(flatten)]
    pub rest: Rest,
}

/// A plan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Plan {
    /// Its steps; they replace the earlier ones.
    pub entries: Vec<PlanEntry>,
    /// Everything else.
    #[serde(flatten)]
    pub rest: Rest,
}

/// A step of a plan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlanEntry {
    /// The step.
    pub content: String,
    /// How far it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<PlanStatus>,
    /// Everything else.
    #[serde(flatten)]
    pub rest: Rest,
}

/// Commands that can be typed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AvailableCommands {
    /// The commands.
    pub available_commands: Vec<AvailableCommand>,
    /// Everything else.
    #[serde(flatten)]
    pub rest: Rest,
}

/// A command that can be typed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AvailableCommand {
    /// Its name, without the slash.
    pub name: String,
    /// What it does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Everything else.
    #[serde(flatten)]
    pub rest: Rest,
}

/// The approval mode.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CurrentMode {
    /// The mode now.
    pub current_mode_id: ApprovalMode,
    /// Everything else.
    #[serde(flatten)]
    pub rest: Rest,
}

/// How full the context is, in tokens.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// Used.
    pub used: u64,
    /// There in all.
    pub size: u64,
    /// Everything else.
    #[serde(flatten)]
    pub rest: Rest,
}

/// What the session is called.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionInfo {
    /// Its title.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Everything else.
    #[serde(flatten)]
    pub rest: Rest,
}
