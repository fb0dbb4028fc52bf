//! Capabilities, health and status of a daemon.

use serde::{Deserialize, Serialize};

use super::{PermissionPolicy, Rest};

/// The response of `GET /capabilities`.
///
/// A daemon answers it before it has started completely, and then leaves out the optional fields.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct DaemonCapabilities {
    /// The version of this object.
    pub v: u64,
    /// The protocol versions that the daemon speaks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub protocol_versions: Option<ProtocolVersions>,
    /// The version of Qwen Code.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub qwen_code_version: Option<String>,
    /// The names of the features that it has.
    pub features: Vec<String>,
    /// The primary folder, with links resolved.
    pub workspace_cwd: String,
    /// All folders that it serves; absent while it starts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub workspaces: Option<Vec<WorkspaceInfo>>,
    /// The policies in force.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub policy: Option<PolicyInfo>,
    /// The limits in force.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limits: Option<DaemonLimits>,
    /// Unknown fields, kept as they came.
    #[serde(flatten)]
    pub rest: Rest,
}

impl DaemonCapabilities {
    /// Whether the daemon has a feature.
    pub fn has(&self, feature: &str) -> bool {
        self.features.iter().any(|it| it == feature)
    }

    /// Whether the daemon speaks version 1 of the protocol.
    ///
    /// If it does not list its versions, `v` decides.
    pub fn speaks_v1(&self) -> bool {
        self.v == 1
            && self
                .protocol_versions
                .as_ref()
                .is_none_or(|versions| versions.supported.iter().any(|it| it == "v1"))
    }

    /// All folders that the daemon serves, the primary one first.
    pub fn folders(&self) -> impl Iterator<Item = &str> {
        let others = self.workspaces.iter().flatten().map(|it| it.cwd.as_str());
        std::iter::once(self.workspace_cwd.as_str())
            .chain(others.filter(|cwd| *cwd != self.workspace_cwd))
    }
}

/// The protocol versions of a daemon.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ProtocolVersions {
    /// The newest version.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub current: Option<String>,
    /// All versions that it speaks.
    #[serde(default)]
    pub supported: Vec<String>,
    /// Unknown fields, kept as they came.
    #[serde(flatten)]
    pub rest: Rest,
}

/// A folder that the daemon serves.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct WorkspaceInfo {
    /// The folder, with links resolved.
    pub cwd: String,
    /// Whether it is the daemon's primary folder.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub primary: Option<bool>,
    /// Whether the user trusts it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trusted: Option<bool>,
    /// Unknown fields, kept as they came.
    #[serde(flatten)]
    pub rest: Rest,
}

/// The policies of a daemon.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct PolicyInfo {
    /// Whose vote on a permission request counts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub permission: Option<PermissionPolicy>,
    /// Unknown fields, kept as they came.
    #[serde(flatten)]
    pub rest: Rest,
}

/// The limits of a daemon. `None` may mean unlimited or unknown.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct DaemonLimits {
    /// How many prompts may run or be queued in one session.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_pending_prompts_per_session: Option<u64>,
    /// How long the daemon itself tries to restore a session.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session_restore_timeout_ms: Option<u64>,
    /// Unknown fields, kept as they came.
    #[serde(flatten)]
    pub rest: Rest,
}

/// The response of `GET /health`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Health {
    /// `ok` or `degraded`.
    pub status: String,
    /// How many sessions are live; only in the deep form.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sessions: Option<u64>,
    /// How many prompts are running.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub active_prompts: Option<u64>,
    /// How many permission requests are open.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pending_permissions: Option<u64>,
    /// Whether the agent process behind the daemon is alive.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub channel_alive: Option<bool>,
    /// Unknown fields, kept as they came.
    #[serde(flatten)]
    pub rest: Rest,
}

/// The response of `GET /daemon/status`, as far as a client needs it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct DaemonStatus {
    /// The daemon's process.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub daemon: Option<DaemonProcess>,
    /// Unknown fields, kept as they came.
    #[serde(flatten)]
    pub rest: Rest,
}

/// The process of a daemon.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct DaemonProcess {
    /// The process id.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pid: Option<u32>,
    /// Identifies this run. A restarted daemon has another one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub run_id: Option<String>,
    /// Unknown fields, kept as they came.
    #[serde(flatten)]
    pub rest: Rest,
}
