//! Content blocks of prompts and messages, and the output of tools.
//!
//! Both are open sets of objects with a `type`, so what is not text is kept as it came and read
//! through accessors. A block of an unknown type is passed on unchanged.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{Attachment, Rest};
use crate::json::{ObjectFields, string};

/// A content block of a prompt or a message.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "Rest", into = "Rest")]
pub enum ContentBlock {
    /// Plain text, which nearly all blocks are.
    Text {
        /// The text.
        text: String,
        /// Unknown fields, kept as they came.
        rest: Rest,
    },
    /// A block of another type, as it came.
    Other(Rest),
}

impl ContentBlock {
    /// A text block.
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text {
            text: text.into(),
            rest: Rest::new(),
        }
    }

    /// The name and the address of something that the agent can look at itself.
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

    /// A file that the session has.
    pub fn attachment(attachment: &Attachment) -> Self {
        Self::other(json!(attachment))
    }

    /// The `type` field.
    pub fn kind(&self) -> &str {
        match self {
            Self::Text { .. } => "text",
            Self::Other(fields) => str_of(fields, "type").unwrap_or_default(),
        }
    }

    /// The text of a text block.
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text { text, .. } => Some(text),
            Self::Other(_) => None,
        }
    }

    /// What it holds.
    pub fn content(&self) -> BlockContent<'_> {
        match self {
            Self::Text { text, .. } => BlockContent::Text(text),
            Self::Other(fields) => BlockContent::read(fields).unwrap_or(BlockContent::Unknown),
        }
    }

    /// Parses a block. A plain text block is parsed without building a map first.
    pub(super) fn read(json: &str) -> Result<Self, serde_json::Error> {
        let (mut is_text, mut text) = (false, None);
        for field in ObjectFields::of(json)? {
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

/// What a block holds, read from its fields. Every one of them is untrusted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum BlockContent<'a> {
    /// Text.
    Text(&'a str),
    /// A picture.
    Image(Media<'a>),
    /// A sound.
    Audio(Media<'a>),
    /// The name and the address of something elsewhere.
    Link(ResourceLink<'a>),
    /// Something that came with the message.
    Resource(EmbeddedResource<'a>),
    /// A block of a type that this version does not know, or without the fields of its type.
    Unknown,
}

/// A picture or a sound.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Media<'a> {
    /// Its type, for example `image/png`.
    pub mime_type: &'a str,
    /// The bytes in base64; nobody has checked them.
    pub data: &'a str,
}

/// The name and the address of something elsewhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ResourceLink<'a> {
    /// What to call it.
    pub name: &'a str,
    /// Where it is, from the daemon's side.
    pub uri: &'a str,
    /// Its type, if the sender tells.
    pub mime_type: Option<&'a str>,
}

/// Something that came with a message. It has a text or bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EmbeddedResource<'a> {
    /// Where it comes from.
    pub uri: &'a str,
    /// Its type, if the sender tells.
    pub mime_type: Option<&'a str>,
    /// The text, if it is text.
    pub text: Option<&'a str>,
    /// The bytes in base64, if it is not; nobody has checked them.
    pub blob: Option<&'a str>,
}

impl<'a> BlockContent<'a> {
    fn read(fields: &'a Rest) -> Option<Self> {
        Some(match str_of(fields, "type")? {
            "text" => Self::Text(str_of(fields, "text")?),
            "image" => Self::Image(Media::read(fields)?),
            "audio" => Self::Audio(Media::read(fields)?),
            "resource_link" => Self::Link(ResourceLink {
                name: str_of(fields, "name").unwrap_or_default(),
                uri: str_of(fields, "uri")?,
                mime_type: str_of(fields, "mimeType"),
            }),
            "resource" => {
                let resource = fields.get("resource")?.as_object()?;
                Self::Resource(EmbeddedResource {
                    uri: str_of(resource, "uri")?,
                    mime_type: str_of(resource, "mimeType"),
                    text: str_of(resource, "text"),
                    blob: str_of(resource, "blob"),
                })
            }
            _ => return None,
        })
    }
}

impl<'a> Media<'a> {
    fn read(fields: &'a Rest) -> Option<Self> {
        Some(Media {
            mime_type: str_of(fields, "mimeType")?,
            data: str_of(fields, "data")?,
        })
    }
}

/// Output of a tool call: a content block, or a diff of a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ToolContent(pub Rest);

/// A change to a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Diff<'a> {
    /// The file, as a path on the daemon's host.
    pub path: &'a str,
    /// The text before; `None` for a new file.
    pub old_text: Option<&'a str>,
    /// The text after.
    pub new_text: &'a str,
}

impl ToolContent {
    /// The `type` field.
    pub fn kind(&self) -> &str {
        str_of(&self.0, "type").unwrap_or_default()
    }

    /// The text, if it is text.
    pub fn as_text(&self) -> Option<&str> {
        let content = self.0.get("content")?.as_object()?;
        str_of(content, "text")
    }

    /// What its content block holds, if it has one.
    pub fn block(&self) -> Option<BlockContent<'_>> {
        let content = self.0.get("content")?.as_object()?;
        Some(BlockContent::read(content).unwrap_or(BlockContent::Unknown))
    }

    /// The diff, if it is one.
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
