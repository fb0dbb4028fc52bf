//! Data of the events about MCP servers.

use serde::{Deserialize, Serialize};

use crate::wire::{ClientId, Rest};

data! {
    /// Data of `mcp_budget_warning`: nearly as many servers are in use as are allowed.
    McpBudgetWarning {
        /// How many servers are connected.
        #[serde(skip_serializing_if = "Option::is_none")]
        live_count: Option<u64>,
        /// How many have a place.
        #[serde(skip_serializing_if = "Option::is_none")]
        reserved_count: Option<u64>,
        /// How many may have one.
        #[serde(skip_serializing_if = "Option::is_none")]
        budget: Option<u64>,
        /// The part of the budget from which the daemon warns.
        #[serde(skip_serializing_if = "Option::is_none")]
        threshold_ratio: Option<f64>,
        /// `warn` or `enforce`.
        #[serde(skip_serializing_if = "Option::is_none")]
        mode: Option<String>,
    }
    /// Data of `mcp_child_refused_batch`: servers were not started because as many run as are allowed.
    McpServersRefused {
        /// The servers.
        refused_servers: Vec<RefusedMcpServer>,
        /// How many servers may have a place.
        #[serde(skip_serializing_if = "Option::is_none")]
        budget: Option<u64>,
        /// How many are connected.
        #[serde(skip_serializing_if = "Option::is_none")]
        live_count: Option<u64>,
        /// How many have a place.
        #[serde(skip_serializing_if = "Option::is_none")]
        reserved_count: Option<u64>,
        /// Always `enforce`.
        #[serde(skip_serializing_if = "Option::is_none")]
        mode: Option<String>,
    }
    /// A server that was not started.
    RefusedMcpServer {
        /// Its name.
        name: String,
        /// How it would be reached, for example `stdio`.
        #[serde(skip_serializing_if = "Option::is_none")]
        transport: Option<String>,
        /// Why it was not started.
        #[serde(skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
    }
    /// Data of `mcp_server_added`: a client added a server while the daemon runs.
    McpServerAdded {
        /// Its name.
        name: String,
        /// How it is reached, for example `stdio`.
        #[serde(skip_serializing_if = "Option::is_none")]
        transport: Option<String>,
        /// Whether it took the place of one that was added before.
        #[serde(skip_serializing_if = "Option::is_none")]
        replaced: Option<bool>,
        /// Whether the settings have a server of this name, which is hidden now.
        #[serde(skip_serializing_if = "Option::is_none")]
        shadowed_settings: Option<bool>,
        /// How many tools it has.
        #[serde(skip_serializing_if = "Option::is_none")]
        tool_count: Option<u64>,
        /// The client that added it.
        #[serde(skip_serializing_if = "Option::is_none")]
        originator_client_id: Option<ClientId>,
    }
    /// Data of `mcp_server_changed`.
    McpServerChanged {
        /// The server.
        server_name: String,
        /// `approve`, `enable`, `disable`, `authenticate` or `clear-auth`.
        #[serde(skip_serializing_if = "Option::is_none")]
        action: Option<String>,
        /// The client that changed it.
        #[serde(skip_serializing_if = "Option::is_none")]
        originator_client_id: Option<ClientId>,
    }
    /// Data of `mcp_server_removed`: a client removed a server that was added while the daemon runs.
    McpServerRemoved {
        /// Its name.
        name: String,
        /// Whether the settings have a server of this name, which is visible again.
        #[serde(skip_serializing_if = "Option::is_none")]
        was_shadowing_settings: Option<bool>,
        /// The client that removed it.
        #[serde(skip_serializing_if = "Option::is_none")]
        originator_client_id: Option<ClientId>,
    }
    /// Data of `mcp_server_restarted`.
    McpServerRestarted {
        /// The server.
        server_name: String,
        /// How long it took.
        #[serde(skip_serializing_if = "Option::is_none")]
        duration_ms: Option<u64>,
        /// Which of its processes, if it has several.
        #[serde(skip_serializing_if = "Option::is_none")]
        entry_index: Option<u64>,
    }
    /// Data of `mcp_server_restart_refused`.
    McpServerRestartRefused {
        /// The server.
        server_name: String,
        /// `in_flight`, `disabled`, `budget_would_exceed`, `authentication_required` or
        /// `restart_failed`.
        #[serde(skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
        /// Which of its processes, if it has several.
        #[serde(skip_serializing_if = "Option::is_none")]
        entry_index: Option<u64>,
        /// More about the reason, for people.
        #[serde(skip_serializing_if = "Option::is_none")]
        details: Option<String>,
    }
}
