//! Pieces of content: what a prompt is made of, and what tools show.
//!
//! Both are open sets of objects with a `type`, so what is not text is kept as it came and read
//! through accessors. A block of an unknown type costs nothing and is passed on unharmed.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::Rest;
use crate::json::{Fields, string};

/// A piece of a message.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "Rest", into = "Rest")]
pub enum ContentBlock {
    /// Plain text; nearly all of a conversation.
    Text {
        /// The text.
        text: String,
        /// Everything else.
        rest: Rest,
    },
    /// Anything else, as it came.
    Other(Rest),
}

impl ContentBlock {
    /// Plain text.
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text {
            text: text.into(),
            rest: Rest::new(),
        }
    }

    /// A pointer to something the agent can read by itself; paths are paths of the daemon's host.
    pub fn resource_link(name: impl Into<String>, uri: impl Into<String>) -> Self {
        Self::other(json!({"type": "resource_link", "name": name.into(), "uri": uri.into()}))
    }

    /// A text that travels with the prompt.
    pub fn resource(
        uri: impl Into<String>,
        mime_type: impl Into<String>,
        text: impl Into<String>,
    ) -> Self {
        let resource =
            json!({"uri": uri.into(), "mimeType": mime_type.into(), "text": text.into()});
        Self::other(json!({"type": "resource", "resource": resource}))
    }

    /// An image, base64-encoded.
    pub fn image(data: impl Into<String>, mime_type: impl Into<String>) -> Self {
        Self::other(json!({"type": "image", "data": data.into(), "mimeType": mime_type.into()}))
    }

    /// The `type`.
    pub fn kind(&self) -> &str {
        match self {
            Self::Text { .. } => "text",
            Self::Other(fields) => str_of(fields, "type").unwrap_or_default(),
        }
    }

    /// The text, if this is a text block.
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text { text, .. } => Some(text),
            Self::Other(_) => None,
        }
    }

    /// Reads a block; a plain text without making a map of it first.
    pub(super) fn read(json: &str) -> Result<Self, serde_json::Error> {
        let (mut is_text, mut text) = (false, None);
        for field in Fields::of(json)? {
            match field? {
                ("type", "\"text\"") => is_text = true,
                ("text", value) => text = Some(string(value)),
                _ => return serde_json::from_str(json),
            }
        }
        match (is_text, text) {
            (true, Some(Ok(text))) => Ok(Self::text(text)),
            _ => serde_json::from_str(json),
        }
    }

    fn other(value: Value) -> Self {
        match value {
            Value::Object(fields) => Self::Other(fields),
            _ => Self::Other(Rest::new()),
        }
    }
}

impl From<&str> for ContentBlock {
    fn from(text: &str) -> Self {
        Self::text(text)
    }
}

impl From<Rest> for ContentBlock {
    fn from(mut fields: Rest) -> Self {
        if str_of(&fields, "type") == Some("text")
            && let Some(Value::String(text)) = fields.get_mut("text").map(Value::take)
        {
            fields.remove("text");
            fields.remove("type");
            return Self::Text { text, rest: fields };
        }
        Self::Other(fields)
    }
}

impl From<ContentBlock> for Rest {
    fn from(block: ContentBlock) -> Rest {
        match block {
            ContentBlock::Text { text, mut rest } => {
                rest.insert("type".into(), "text".into());
                rest.insert("text".into(), text.into());
                rest
            }
            ContentBlock::Other(fields) => fields,
        }
    }
}

/// Something a tool shows: text, or a change to a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ToolContent(pub Rest);

/// A change to a file that a tool shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Diff<'a> {
    /// The file, on the daemon's host.
    pub path: &'a str,
    /// What stood there; `None` for a new file.
    pub old_text: Option<&'a str>,
    /// What shall stand there.
    pub new_text: &'a str,
}

impl ToolContent {
    /// The `type`.
    pub fn kind(&self) -> &str {
        str_of(&self.0, "type").unwrap_or_default()
    }

    /// The text, if it shows text.
    pub fn as_text(&self) -> Option<&str> {
        let content = self.0.get("content")?.as_object()?;
        str_of(content, "text")
    }

    /// The change, if it shows one.
    pub fn as_diff(&self) -> Option<Diff<'_>> {
        if self.kind() != "diff" {
            return None;
        }
        Some(Diff {
            path: str_of(&self.0, "path")?,
            old_text: str_of(&self.0, "oldText"),
            new_text: str_of(&self.0, "newText")?,
        })
    }
}

fn str_of<'a>(fields: &'a Rest, name: &str) -> Option<&'a str> {
    fields.get(name)?.as_str()
}
