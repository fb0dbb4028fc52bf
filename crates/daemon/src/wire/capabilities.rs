//! What a daemon is and what it can do.

use serde::{Deserialize, Serialize};

use super::{PermissionPolicy, Rest};

/// The answer of `/capabilities`.
///
/// A daemon answers it before its runtime is up, and then leaves half of it out.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Capabilities {
    /// The version of this object.
    pub v: u64,
    /// The protocol versions that the daemon speaks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub protocol_versions: Option<ProtocolVersions>,
    /// The version of the program.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub qwen_code_version: Option<String>,
    /// Names of things it can do.
    pub features: Vec<String>,
    /// The folder it works in, links resolved.
    pub workspace_cwd: String,
    /// All folders it works in; absent while it starts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub workspaces: Option<Vec<WorkspaceInfo>>,
    /// Whose votes count.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub policy: Option<PolicyInfo>,
    /// Numbers it will not go beyond.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limits: Option<Limits>,
    /// Everything else.
    #[serde(flatten)]
    pub rest: Rest,
}

impl Capabilities {
    /// Whether `feature` is among the features.
    pub fn has(&self, feature: &str) -> bool {
        self.features.iter().any(|it| it == feature)
    }

    /// Whether this client and the daemon speak the same protocol.
    ///
    /// A daemon that does not list its versions is taken at the word of its envelope.
    pub fn speaks_v1(&self) -> bool {
        self.v == 1
            && self
                .protocol_versions
                .as_ref()
                .is_none_or(|versions| versions.supported.iter().any(|it| it == "v1"))
    }

    /// All folders that the daemon names as its own.
    pub fn folders(&self) -> impl Iterator<Item = &str> {
        let others = self.workspaces.iter().flatten().map(|it| it.cwd.as_str());
        std::iter::once(self.workspace_cwd.as_str())
            .chain(others.filter(|cwd| *cwd != self.workspace_cwd))
    }
}

/// Protocol versions.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ProtocolVersions {
    /// The newest.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub current: Option<String>,
    /// All.
    #[serde(default)]
    pub supported: Vec<String>,
    /// Everything else.
    #[serde(flatten)]
    pub rest: Rest,
}

/// A folder the daemon works in.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct WorkspaceInfo {
    /// The folder, links resolved.
    pub cwd: String,
    /// Whether it is the first one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub primary: Option<bool>,
    /// Whether the person trusts it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trusted: Option<bool>,
    /// Everything else.
    #[serde(flatten)]
    pub rest: Rest,
}

/// Policies.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PolicyInfo {
    /// Whose vote on a permission counts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub permission: Option<PermissionPolicy>,
    /// Everything else.
    #[serde(flatten)]
    pub rest: Rest,
}

/// Limits; `None` may mean unlimited or unknown.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Limits {
    /// How many prompts may run and wait in one session.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_pending_prompts_per_session: Option<u64>,
    /// How long the daemon itself tries to restore a session.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session_restore_timeout_ms: Option<u64>,
    /// Everything else.
    #[serde(flatten)]
    pub rest: Rest,
}

/// The answer of `/health`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Health {
    /// `ok` or `degraded`.
    pub status: String,
    /// How many sessions are alive; only when asked for the deep form.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sessions: Option<u64>,
    /// How many prompts are running.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub active_prompts: Option<u64>,
    /// How many permissions are waiting for a person.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pending_permissions: Option<u64>,
    /// Whether the agent process behind the daemon is alive.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub channel_alive: Option<bool>,
    /// Everything else.
    #[serde(flatten)]
    pub rest: Rest,
}

/// The answer of `/daemon/status`, as far as a client needs it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DaemonStatus {
    /// The process.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub daemon: Option<DaemonProcess>,
    /// Everything else.
    #[serde(flatten)]
    pub rest: Rest,
}

/// The daemon's process.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct DaemonProcess {
    /// Its process id.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pid: Option<u32>,
    /// A name for this run; a daemon that was started again has another one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub run_id: Option<String>,
    /// Everything else.
    #[serde(flatten)]
    pub rest: Rest,
}
