//! Requests of a page or an editor to a conversation.

use std::path::PathBuf;

use serde::Deserialize;

/// Which session to connect to: `"last"`, `"new"` or `{"earlier": key}`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Target {
    /// The session of the last connection, or else the one that all clients in this folder share.
    #[default]
    Last,
    /// A new session.
    New,
    /// One of the listed sessions, by its key.
    Earlier(u64),
}

impl From<Target> for conversation::Target {
    fn from(target: Target) -> Self {
        match target {
            Target::Last => Self::Last,
            Target::New => Self::New,
            Target::Earlier(key) => Self::Earlier(key),
        }
    }
}

/// What a person answers to a request: `{"option": id}`, `"decline"` or `{"answers": [[label, …], …]}`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Reply {
    /// One of the options, by its id.
    Option(String),
    /// No, this time.
    Decline,
    /// For each question in order, the chosen labels or a text of the person's own.
    Answers(Vec<Vec<String>>),
}

impl From<Reply> for conversation::Reply {
    fn from(reply: Reply) -> Self {
        match reply {
            Reply::Option(id) => Self::Option(id),
            Reply::Decline => Self::Decline,
            Reply::Answers(answers) => Self::Answers(answers),
        }
    }
}

/// A prompt, with the files and the selection to attach.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Prompt {
    text: String,
    #[serde(default)]
    files: Vec<PathBuf>,
    #[serde(default)]
    selection: bool,
    #[serde(default)]
    mentions: bool,
}

impl From<Prompt> for conversation::Prompt {
    fn from(prompt: Prompt) -> Self {
        Self {
            text: prompt.text,
            files: prompt.files,
            selection: prompt.selection,
            mentions: prompt.mentions,
        }
    }
}
