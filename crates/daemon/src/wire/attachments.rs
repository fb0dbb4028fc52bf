//! Files that are sent to a session once, and that prompts refer to.

use serde::{Deserialize, Serialize};

use super::{AttachmentId, Rest};

/// A file to send.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewAttachment {
    /// Its name. The daemon gives it another one if the session has one of this name.
    pub name: String,
    /// Its type, for example `image/png`. The daemon keeps an unknown one as mere bytes.
    pub mime_type: String,
    /// Its content; the daemon takes no more than 8 MiB.
    pub content: Vec<u8>,
}

/// A file that a session has.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Attachment {
    /// What kind of block it is in a prompt: `image` or `resource`.
    #[serde(rename = "type")]
    pub kind: String,
    /// Its id, which is the name that the daemon gave it.
    pub attachment_id: AttachmentId,
    /// Its type, as the daemon keeps it.
    pub mime_type: String,
    /// Its size.
    pub size: u64,
    /// Unknown fields, kept as they came.
    #[serde(flatten)]
    pub rest: Rest,
}

/// The content of a file that a session has.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct AttachmentContent {
    /// Its type, as the daemon keeps it.
    pub mime_type: Option<String>,
    /// Its content.
    pub content: Vec<u8>,
}
