//! What goes on in a session besides its turns: shells, agents, monitors, workflows.

use serde::{Deserialize, Serialize};

use super::{Rest, SessionId, TaskId, TaskKind};

/// The response of `GET /session/{id}/tasks`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct TaskList {
    /// The session.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session_id: Option<SessionId>,
    /// The daemon's time, in milliseconds since the Unix epoch.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub now: Option<u64>,
    /// The tasks, also those that have ended.
    #[serde(default)]
    pub tasks: Vec<BackgroundTask>,
    /// Unknown fields, kept as they came.
    #[serde(flatten)]
    pub rest: Rest,
}

/// A task in the background.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct BackgroundTask {
    /// What it is.
    pub kind: TaskKind,
    /// Its id.
    pub id: TaskId,
    /// A name to show.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// What it does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// `running`, `cancelled`, `completed`, `failed` and others.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<String>,
    /// When it began, in milliseconds since the Unix epoch.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub start_time: Option<u64>,
    /// When it ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub end_time: Option<u64>,
    /// How long it runs or ran, in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub runtime_ms: Option<u64>,
    /// The command of a shell.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    /// The folder of a shell.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    /// The exit code of a shell that has ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i64>,
    /// Unknown fields, kept as they came.
    #[serde(flatten)]
    pub rest: Rest,
}

/// The response to cancelling a task.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct TaskCancelResponse {
    /// Whether it is being cancelled now.
    pub cancelled: bool,
    /// Why not: `not_running`, `not_found` and others.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Its state before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<String>,
    /// Unknown fields, kept as they came.
    #[serde(flatten)]
    pub rest: Rest,
}
