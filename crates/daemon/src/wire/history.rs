//! Going back in a session, and copying it.

use serde::{Deserialize, Serialize};

use super::{LoadedSession, Rest, RewindPointId, SessionId};

/// The response of `GET /session/{id}/rewind/snapshots`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct RewindPointList {
    /// The turns that the session can be taken back to, oldest first.
    #[serde(rename = "snapshots")]
    pub points: Vec<RewindPoint>,
    /// Unknown fields, kept as they came.
    #[serde(flatten)]
    pub rest: Rest,
}

/// A turn that the session can be taken back to: to before its prompt.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct RewindPoint {
    /// The id to ask for it. It is the agent's own and not that of the prompt.
    #[serde(rename = "promptId")]
    pub id: RewindPointId,
    /// The place of the turn, counted from 0.
    pub turn_index: usize,
    /// When the turn began, as the daemon writes times.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timestamp: Option<String>,
    /// What has changed in files since then.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub diff_stats: Option<DiffStats>,
    /// Unknown fields, kept as they came.
    #[serde(flatten)]
    pub rest: Rest,
}

/// How much has changed in files.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct DiffStats {
    /// How many files.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub files_changed: Option<u64>,
    /// How many lines were added.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub insertions: Option<u64>,
    /// How many lines were removed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deletions: Option<u64>,
    /// Unknown fields, kept as they came.
    #[serde(flatten)]
    pub rest: Rest,
}

/// Whether taking a session back puts its files back, too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RewindFiles {
    /// Files that the agent has changed since then get back what they had.
    PutBack,
    /// Files stay as they are.
    Stay,
}

/// The response to a rewind.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct RewindResponse {
    /// Whether the agent has forgotten the turns.
    pub rewound: bool,
    /// The place of the first turn that is forgotten.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target_turn_index: Option<usize>,
    /// The files that were put back, as paths on the daemon's host.
    #[serde(default)]
    pub files_changed: Vec<String>,
    /// The files that could not be put back.
    #[serde(default)]
    pub files_failed: Vec<String>,
    /// Unknown fields, kept as they came.
    #[serde(flatten)]
    pub rest: Rest,
}

/// The response to a branch: the copy, live, with its history.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct BranchResponse {
    /// The copy. We are registered in it under the client id that is in here.
    #[serde(flatten)]
    pub copy: LoadedSession,
    /// The title of the copy.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub display_name: Option<String>,
    /// What was copied.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub forked_from: Option<BranchOrigin>,
}

/// The session that was copied.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct BranchOrigin {
    /// The session.
    pub session_id: SessionId,
    /// Its title.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub display_name: Option<String>,
    /// Unknown fields, kept as they came.
    #[serde(flatten)]
    pub rest: Rest,
}
