//! Reading files in the daemon's folder: their text, their bytes, what they are, what is in a folder.

use serde::{Deserialize, Serialize};

use super::{FileKind, RelativePath, Rest};

/// Which part of a text to read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TextRange {
    /// The first line, counted from 1.
    pub line: Option<u64>,
    /// How many lines at most.
    pub limit: Option<u64>,
    /// How many bytes at most; the daemon gives no more than 262144.
    pub max_bytes: Option<u32>,
    /// The `next_cursor` of the part before.
    pub cursor: Option<String>,
}

/// A text file, or a part of one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct FileText {
    /// The file.
    pub path: RelativePath,
    /// The text, without a byte order mark. Its line ends are those of the file.
    pub content: String,
    /// The encoding of the file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub encoding: Option<String>,
    /// Whether the file begins with a byte order mark.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bom: Option<bool>,
    /// How its lines end: `lf` or `crlf`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line_ending: Option<String>,
    /// The size of the file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub size_bytes: Option<u64>,
    /// The size of this part.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub returned_bytes: Option<u64>,
    /// Whether this is only a part.
    #[serde(default)]
    pub truncated: bool,
    /// The hash of the whole file, with the name of the function before it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hash: Option<String>,
    /// How many lines the whole file has.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub original_line_count: Option<u64>,
    /// The cursor of the next part.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
    /// Whether there is a next part.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub has_more: Option<bool>,
    /// Unknown fields, kept as they came.
    #[serde(flatten)]
    pub rest: Rest,
}

/// Which bytes of a file to read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ByteRange {
    /// The first byte.
    pub offset: u64,
    /// How many bytes at most. Without it the daemon decides.
    pub max_bytes: Option<u64>,
}

/// Bytes of a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct FileBytes {
    /// The file.
    pub path: RelativePath,
    /// Where these bytes begin.
    #[serde(default)]
    pub offset: u64,
    /// The bytes.
    #[serde(rename = "contentBase64", with = "base64_text")]
    pub content: Vec<u8>,
    /// The size of the file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub size_bytes: Option<u64>,
    /// Whether this is only a part.
    #[serde(default)]
    pub truncated: bool,
    /// The hash of the whole file, if this is all of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hash: Option<String>,
    /// Unknown fields, kept as they came.
    #[serde(flatten)]
    pub rest: Rest,
}

/// Bytes as a text of base64.
mod base64_text {
    use base64::Engine as _;
    use base64::engine::general_purpose::STANDARD;
    use serde::de::Error as _;
    use serde::{Deserialize as _, Deserializer, Serializer};

    pub(super) fn serialize<S: Serializer>(bytes: &[u8], serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&STANDARD.encode(bytes))
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Vec<u8>, D::Error> {
        let text = String::deserialize(deserializer)?;
        STANDARD.decode(text).map_err(D::Error::custom)
    }
}

/// What a path is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct FileStat {
    /// The path.
    pub path: RelativePath,
    /// What is there.
    #[serde(rename = "type")]
    pub kind: FileKind,
    /// Its size.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub size_bytes: Option<u64>,
    /// When it was changed, in milliseconds since the Unix epoch.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub modified_ms: Option<f64>,
    /// Unknown fields, kept as they came.
    #[serde(flatten)]
    pub rest: Rest,
}

/// What is in a folder.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct FolderListing {
    /// The folder.
    pub path: RelativePath,
    /// What is in it, in no order.
    pub entries: Vec<FolderEntry>,
    /// Whether there is more in it.
    #[serde(default)]
    pub truncated: bool,
    /// Unknown fields, kept as they came.
    #[serde(flatten)]
    pub rest: Rest,
}

/// One thing in a folder.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct FolderEntry {
    /// Its name.
    pub name: String,
    /// What it is. A link is not followed.
    pub kind: FileKind,
    /// Whether the daemon's rules say that the agent does not look at it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ignored: Option<bool>,
    /// Unknown fields, kept as they came.
    #[serde(flatten)]
    pub rest: Rest,
}

/// Which files to find.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GlobRequest {
    /// The pattern, for example `**/*.rs`.
    pub pattern: String,
    /// The folder to look in; the whole workspace if absent.
    pub folder: Option<RelativePath>,
    /// Whether to find also what the agent does not look at.
    pub include_ignored: bool,
    /// How many at most. Without it the daemon decides.
    pub max_results: Option<u32>,
}

impl GlobRequest {
    /// The files and folders whose path holds this text, in capitals or not. Instead of a character
    /// that has a meaning in patterns, or that is not ASCII, any other fits too.
    pub fn holding(text: &str) -> GlobRequest {
        let mut holds = String::new();
        for char in text.chars() {
            match char {
                'a'..='z' | 'A'..='Z' => {
                    let (small, large) = (char.to_ascii_lowercase(), char.to_ascii_uppercase());
                    holds.extend(['[', small, large, ']']);
                }
                '0'..='9' | '.' | '_' | '-' | '/' | ' ' => holds.push(char),
                // It may have a meaning in a pattern, or another form in capitals.
                _ => holds.push('?'),
            }
        }
        GlobRequest {
            // In the name of the file, or in that of a folder above it.
            pattern: format!("{{**/*{holds}*,**/*{holds}*/**}}"),
            ..GlobRequest::default()
        }
    }
}

/// The files and folders that fit a pattern.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct GlobMatches {
    /// The pattern.
    pub pattern: String,
    /// Files and folders, from the workspace on and not from the folder that was looked in. Nothing
    /// says which of them is a folder.
    pub matches: Vec<RelativePath>,
    /// Whether there are more.
    #[serde(default)]
    pub truncated: bool,
    /// Unknown fields, kept as they came.
    #[serde(flatten)]
    pub rest: Rest,
}
