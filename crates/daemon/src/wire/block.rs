//! Pieces of content: what a prompt is made of, and what tools show.
//!
//! Both are open sets of objects with a `type`, so they are kept as they came and read through
//! accessors. A block of an unknown type costs nothing and is passed on unharmed.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::Rest;

/// A piece of a message.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ContentBlock(pub Rest);

impl ContentBlock {
    /// Plain text.
    pub fn text(text: impl Into<String>) -> Self {
        Self::of(json!({"type": "text", "text": text.into()}))
    }

    /// A pointer to something the agent can read by itself; paths are paths of the daemon's host.
    pub fn resource_link(name: impl Into<String>, uri: impl Into<String>) -> Self {
        Self::of(json!({"type": "resource_link", "name": name.into(), "uri": uri.into()}))
    }

    /// A text that travels with the prompt.
    pub fn resource(
        uri: impl Into<String>,
        mime_type: impl Into<String>,
        text: impl Into<String>,
    ) -> Self {
        let resource =
            json!({"uri": uri.into(), "mimeType": mime_type.into(), "text": text.into()});
        Self::of(json!({"type": "resource", "resource": resource}))
    }

    /// An image, base64-encoded.
    pub fn image(data: impl Into<String>, mime_type: impl Into<String>) -> Self {
        Self::of(json!({"type": "image", "data": data.into(), "mimeType": mime_type.into()}))
    }

    /// The `type`.
    pub fn kind(&self) -> &str {
        str_of(&self.0, "type").unwrap_or_default()
    }

    /// The text, if this is a text block.
    pub fn as_text(&self) -> Option<&str> {
        (self.kind() == "text").then(|| str_of(&self.0, "text"))?
    }

    fn of(value: Value) -> Self {
        match value {
            Value::Object(fields) => Self(fields),
            _ => Self(Rest::new()),
        }
    }
}

impl From<&str> for ContentBlock {
    fn from(text: &str) -> Self {
        Self::text(text)
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
