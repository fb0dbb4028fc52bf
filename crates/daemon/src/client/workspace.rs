//! Routes of a folder that only read: what the agent has there, and whether all is well.

use serde::de::DeserializeOwned;

use super::DaemonClient;
use crate::error::DaemonError;
use crate::http::encode;
use crate::wire::{
    McpResourceList, McpServerList, McpToolList, ProviderList, SkillList, ToolList,
    WorkspaceEnvironment, WorkspacePreflight,
};

/// The routes of one folder of a daemon. It has no state besides the client and the folder, and none
/// of its routes changes anything.
#[derive(Clone, Debug)]
pub struct WorkspaceClient {
    pub(super) client: DaemonClient,
    /// The folder, as the daemon knows it; the primary one if absent.
    folder: Option<String>,
}

impl DaemonClient {
    /// The routes of the daemon's primary folder.
    pub fn primary_workspace(&self) -> WorkspaceClient {
        WorkspaceClient {
            client: self.clone(),
            folder: None,
        }
    }

    /// The routes of one of the daemon's folders; see [`crate::wire::DaemonCapabilities::folders`].
    pub fn workspace(&self, folder: impl Into<String>) -> WorkspaceClient {
        WorkspaceClient {
            client: self.clone(),
            folder: Some(folder.into()),
        }
    }
}

impl WorkspaceClient {
    /// `GET /workspace/env`: the machine, and which variables are set. Values of variables are not
    /// sent.
    pub async fn environment(&self) -> Result<WorkspaceEnvironment, DaemonError> {
        self.diagnosis("/env").await
    }

    /// `GET /workspace/preflight`: what has to be right before an agent can work.
    pub async fn preflight(&self) -> Result<WorkspacePreflight, DaemonError> {
        self.diagnosis("/preflight").await
    }

    /// `GET /workspace/mcp`: the MCP servers.
    pub async fn mcp_servers(&self) -> Result<McpServerList, DaemonError> {
        self.diagnosis("/mcp").await
    }

    /// `GET /workspace/mcp/{server}/tools`: the tools of an MCP server. A server that does not exist
    /// is among the errors of the answer.
    pub async fn mcp_tools(&self, server: &str) -> Result<McpToolList, DaemonError> {
        self.diagnosis(&format!("/mcp/{}/tools", encode(server)))
            .await
    }

    /// `GET /workspace/mcp/{server}/resources`: the resources of an MCP server.
    pub async fn mcp_resources(&self, server: &str) -> Result<McpResourceList, DaemonError> {
        self.diagnosis(&format!("/mcp/{}/resources", encode(server)))
            .await
    }

    /// `GET /workspace/skills`: the skills.
    pub async fn skills(&self) -> Result<SkillList, DaemonError> {
        self.diagnosis("/skills").await
    }

    /// `GET /workspace/providers`: the providers and their models.
    pub async fn providers(&self) -> Result<ProviderList, DaemonError> {
        self.diagnosis("/providers").await
    }

    /// `GET /workspace/tools`: the tools that the agent has.
    pub async fn tools(&self) -> Result<ToolList, DaemonError> {
        self.diagnosis("/tools").await
    }

    async fn diagnosis<T: DeserializeOwned>(&self, tail: &str) -> Result<T, DaemonError> {
        let path = match &self.folder {
            None => format!("/workspace{tail}"),
            Some(folder) => format!("/workspaces/{}{tail}", encode(folder)),
        };
        self.client.json(self.client.get(path)).await
    }

    /// The path of a route about files. Those of the primary folder stand at the top.
    pub(super) fn file_path(&self, tail: &str) -> String {
        let folder = self.folder.as_deref();
        folder.map_or_else(
            || tail.to_owned(),
            |folder| format!("/workspaces/{}{tail}", encode(folder)),
        )
    }
}
