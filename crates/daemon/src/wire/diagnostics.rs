//! What the daemon says about the machine, the folder and what the agent has there: environment, checks,
//! MCP servers, skills, providers, tools. All of it is for reading.
//!
//! `Debug` shows neither addresses and settings nor fields that this version does not know: they may
//! hold keys.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{ApprovalMode, Hidden, Rest};

macro_rules! answers {
    ($($(#[$doc:meta])* $name:ident { $($(#[$field_doc:meta])* $field:ident: $type:ty),* $(,)? })+) => {
        $(
            $(#[$doc])*
            #[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
            #[serde(rename_all = "camelCase")]
            #[non_exhaustive]
            pub struct $name {
                $(
                    $(#[$field_doc])*
                    pub $field: $type,
                )*
                /// Unknown fields, kept as they came.
                #[serde(flatten)]
                pub rest: Hidden<Rest>,
            }
        )+
    };
}

answers! {
    /// What could not be found out.
    DiagnosticError {
        /// What it is about.
        #[serde(skip_serializing_if = "Option::is_none")]
        kind: Option<String>,
        /// `error` or `warning`.
        #[serde(skip_serializing_if = "Option::is_none")]
        status: Option<String>,
        /// The error message.
        #[serde(skip_serializing_if = "Option::is_none")]
        error: Option<String>,
        /// The daemon's class of error.
        #[serde(skip_serializing_if = "Option::is_none")]
        error_kind: Option<String>,
        /// What the person can do about it.
        #[serde(skip_serializing_if = "Option::is_none")]
        hint: Option<String>,
    }
    /// The response of `GET /workspace/env`: the machine, and which variables are set.
    WorkspaceEnvironment {
        /// The folder.
        #[serde(skip_serializing_if = "Option::is_none")]
        workspace_cwd: Option<String>,
        /// Whether the agent has looked at this already.
        #[serde(skip_serializing_if = "Option::is_none")]
        initialized: Option<bool>,
        /// Whether the agent behind the daemon is alive. Without it less is known.
        #[serde(skip_serializing_if = "Option::is_none")]
        acp_channel_live: Option<bool>,
        /// The things that were looked at.
        cells: Vec<EnvironmentCell>,
        /// What could not be found out.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        errors: Vec<DiagnosticError>,
    }
    /// One thing about the machine.
    EnvironmentCell {
        /// What it is: `runtime`, `platform`, `memory`, `sandbox`, `proxy` or `env_var`.
        kind: String,
        /// Its name, for example that of the variable.
        #[serde(skip_serializing_if = "Option::is_none")]
        name: Option<String>,
        /// `ok`, `disabled` and others.
        #[serde(skip_serializing_if = "Option::is_none")]
        status: Option<String>,
        /// Whether the variable is set. Its value is not sent.
        #[serde(skip_serializing_if = "Option::is_none")]
        present: Option<bool>,
        /// The value, where it is no secret. Proxies have addresses.
        #[serde(skip_serializing_if = "Option::is_none")]
        value: Option<Hidden<String>>,
    }
    /// The response of `GET /workspace/preflight`: what has to be right before an agent can work.
    WorkspacePreflight {
        /// The folder.
        #[serde(skip_serializing_if = "Option::is_none")]
        workspace_cwd: Option<String>,
        /// Whether the agent has looked at this already.
        #[serde(skip_serializing_if = "Option::is_none")]
        initialized: Option<bool>,
        /// Whether the agent behind the daemon is alive. Without it less is known.
        #[serde(skip_serializing_if = "Option::is_none")]
        acp_channel_live: Option<bool>,
        /// The checks.
        cells: Vec<PreflightCell>,
        /// What could not be found out.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        errors: Vec<DiagnosticError>,
    }
    /// One check.
    PreflightCell {
        /// What is checked, for example `git` or `auth`.
        kind: String,
        /// `ok`, `warning`, `error`, `not_started` and others.
        #[serde(skip_serializing_if = "Option::is_none")]
        status: Option<String>,
        /// Who checked it: `daemon` or `acp`, the agent.
        #[serde(skip_serializing_if = "Option::is_none")]
        locality: Option<String>,
        /// What was found.
        #[serde(skip_serializing_if = "Option::is_none")]
        detail: Option<Hidden<Value>>,
        /// What is wrong.
        #[serde(skip_serializing_if = "Option::is_none")]
        error: Option<String>,
        /// The daemon's class of error.
        #[serde(skip_serializing_if = "Option::is_none")]
        error_kind: Option<String>,
        /// What the person can do about it.
        #[serde(skip_serializing_if = "Option::is_none")]
        hint: Option<String>,
    }
    /// The response of `GET /workspace/mcp`.
    McpServerList {
        /// The folder.
        #[serde(skip_serializing_if = "Option::is_none")]
        workspace_cwd: Option<String>,
        /// Whether the agent has looked at this already.
        #[serde(skip_serializing_if = "Option::is_none")]
        initialized: Option<bool>,
        /// How far the agent is with connecting to them.
        #[serde(skip_serializing_if = "Option::is_none")]
        discovery_state: Option<String>,
        /// The servers.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        servers: Vec<McpServer>,
        /// How many are connected.
        #[serde(skip_serializing_if = "Option::is_none")]
        client_count: Option<u64>,
        /// How many may be.
        #[serde(skip_serializing_if = "Option::is_none")]
        client_budget: Option<u64>,
        /// Whether that is enforced: `off`, `warn` or `enforce`.
        #[serde(skip_serializing_if = "Option::is_none")]
        budget_mode: Option<String>,
        /// What could not be found out.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        errors: Vec<DiagnosticError>,
    }
    /// An MCP server.
    McpServer {
        /// Its name.
        name: String,
        /// `ok`, `warning`, `error` and others.
        #[serde(skip_serializing_if = "Option::is_none")]
        status: Option<String>,
        /// Whether it is connected.
        #[serde(skip_serializing_if = "Option::is_none")]
        mcp_status: Option<String>,
        /// How it is reached: `stdio`, `http` and others.
        #[serde(skip_serializing_if = "Option::is_none")]
        transport: Option<String>,
        /// Whether the person has switched it off.
        #[serde(skip_serializing_if = "Option::is_none")]
        disabled: Option<bool>,
        /// Whether the person has agreed to it.
        #[serde(skip_serializing_if = "Option::is_none")]
        approval_state: Option<String>,
        /// Which settings it is from.
        #[serde(skip_serializing_if = "Option::is_none")]
        config_origin: Option<String>,
        /// Whose it is: `user`, `project` and others.
        #[serde(skip_serializing_if = "Option::is_none")]
        source: Option<String>,
        /// What is wrong.
        #[serde(skip_serializing_if = "Option::is_none")]
        error: Option<String>,
        /// How it is started or reached. Arguments and addresses may hold keys.
        #[serde(skip_serializing_if = "Option::is_none")]
        config: Option<Hidden<Value>>,
        /// How many resources it has.
        #[serde(skip_serializing_if = "Option::is_none")]
        resource_count: Option<u64>,
        /// How many prompts it has.
        #[serde(skip_serializing_if = "Option::is_none")]
        prompt_count: Option<u64>,
    }
    /// The response of `GET /workspace/mcp/{server}/tools`.
    McpToolList {
        /// The folder.
        #[serde(skip_serializing_if = "Option::is_none")]
        workspace_cwd: Option<String>,
        /// The server.
        server_name: String,
        /// Whether the agent has looked at this already.
        #[serde(skip_serializing_if = "Option::is_none")]
        initialized: Option<bool>,
        /// Whether the agent behind the daemon is alive. Without it less is known.
        #[serde(skip_serializing_if = "Option::is_none")]
        acp_channel_live: Option<bool>,
        /// Its tools.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        tools: Vec<McpTool>,
        /// What could not be found out.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        errors: Vec<DiagnosticError>,
    }
    /// A tool of an MCP server.
    McpTool {
        /// Its name.
        name: String,
        /// What it does.
        #[serde(skip_serializing_if = "Option::is_none")]
        description: Option<String>,
        /// Whether the agent may use it.
        #[serde(skip_serializing_if = "Option::is_none")]
        is_valid: Option<bool>,
    }
    /// The response of `GET /workspace/mcp/{server}/resources`.
    McpResourceList {
        /// The folder.
        #[serde(skip_serializing_if = "Option::is_none")]
        workspace_cwd: Option<String>,
        /// The server.
        server_name: String,
        /// Whether the agent has looked at this already.
        #[serde(skip_serializing_if = "Option::is_none")]
        initialized: Option<bool>,
        /// Whether the agent behind the daemon is alive. Without it less is known.
        #[serde(skip_serializing_if = "Option::is_none")]
        acp_channel_live: Option<bool>,
        /// Its resources.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        resources: Vec<McpResource>,
        /// What could not be found out.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        errors: Vec<DiagnosticError>,
    }
    /// A resource of an MCP server.
    McpResource {
        /// Its address on that server.
        uri: String,
        /// Its name.
        #[serde(skip_serializing_if = "Option::is_none")]
        name: Option<String>,
        /// What it is.
        #[serde(skip_serializing_if = "Option::is_none")]
        description: Option<String>,
        /// Its type.
        #[serde(skip_serializing_if = "Option::is_none")]
        mime_type: Option<String>,
    }
    /// The response of `GET /workspace/skills`.
    SkillList {
        /// The folder.
        #[serde(skip_serializing_if = "Option::is_none")]
        workspace_cwd: Option<String>,
        /// Whether the agent has looked at this already.
        #[serde(skip_serializing_if = "Option::is_none")]
        initialized: Option<bool>,
        /// The skills.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        skills: Vec<Skill>,
        /// What could not be found out.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        errors: Vec<DiagnosticError>,
    }
    /// A skill: instructions that the agent reads when it needs them.
    Skill {
        /// Its name.
        name: String,
        /// `ok` and others.
        #[serde(skip_serializing_if = "Option::is_none")]
        status: Option<String>,
        /// When to use it.
        #[serde(skip_serializing_if = "Option::is_none")]
        description: Option<String>,
        /// Whose it is: `bundled`, `user`, `project` and others.
        #[serde(skip_serializing_if = "Option::is_none")]
        level: Option<String>,
        /// Whether the model may choose it.
        #[serde(skip_serializing_if = "Option::is_none")]
        model_invocable: Option<bool>,
        /// What to write behind its name.
        #[serde(skip_serializing_if = "Option::is_none")]
        argument_hint: Option<String>,
        /// Where it is, on the daemon's host.
        #[serde(skip_serializing_if = "Option::is_none")]
        installed_path: Option<String>,
    }
    /// The response of `GET /workspace/providers`.
    ProviderList {
        /// The folder.
        #[serde(skip_serializing_if = "Option::is_none")]
        workspace_cwd: Option<String>,
        /// Whether the agent has looked at this already.
        #[serde(skip_serializing_if = "Option::is_none")]
        initialized: Option<bool>,
        /// Whether the agent behind the daemon is alive. Without it less is known.
        #[serde(skip_serializing_if = "Option::is_none")]
        acp_channel_live: Option<bool>,
        /// The model in use.
        #[serde(skip_serializing_if = "Option::is_none")]
        current: Option<CurrentModel>,
        /// The approval mode of new sessions.
        #[serde(skip_serializing_if = "Option::is_none")]
        approval_mode: Option<ApprovalMode>,
        /// The providers.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        providers: Vec<ModelProvider>,
        /// What could not be found out.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        errors: Vec<DiagnosticError>,
    }
    /// The model in use.
    CurrentModel {
        /// The id to request it with.
        #[serde(skip_serializing_if = "Option::is_none")]
        model_id: Option<String>,
        /// How its provider is authenticated against.
        #[serde(skip_serializing_if = "Option::is_none")]
        auth_type: Option<String>,
        /// The address of its provider.
        #[serde(skip_serializing_if = "Option::is_none")]
        base_url: Option<Hidden<String>>,
    }
    /// A provider of models.
    ModelProvider {
        /// How it is authenticated against, for example `openai`.
        #[serde(skip_serializing_if = "Option::is_none")]
        auth_type: Option<String>,
        /// `ok` and others.
        #[serde(skip_serializing_if = "Option::is_none")]
        status: Option<String>,
        /// Whether it is in use.
        #[serde(skip_serializing_if = "Option::is_none")]
        current: Option<bool>,
        /// Its models.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        models: Vec<ProviderModel>,
    }
    /// A model of a provider.
    ProviderModel {
        /// The id to request it with, for example `some-model(openai)`.
        model_id: String,
        /// The provider's own id.
        #[serde(skip_serializing_if = "Option::is_none")]
        base_model_id: Option<String>,
        /// The name to show.
        #[serde(skip_serializing_if = "Option::is_none")]
        name: Option<String>,
        /// A description to show.
        #[serde(skip_serializing_if = "Option::is_none")]
        description: Option<String>,
        /// How many tokens fit.
        #[serde(skip_serializing_if = "Option::is_none")]
        context_limit: Option<u64>,
        /// The address of the provider.
        #[serde(skip_serializing_if = "Option::is_none")]
        base_url: Option<Hidden<String>>,
        /// The variable that holds the key.
        #[serde(skip_serializing_if = "Option::is_none")]
        env_key: Option<String>,
        /// Whether it is in use.
        #[serde(skip_serializing_if = "Option::is_none")]
        is_current: Option<bool>,
    }
    /// The response of `GET /workspace/tools`.
    ToolList {
        /// The folder.
        #[serde(skip_serializing_if = "Option::is_none")]
        workspace_cwd: Option<String>,
        /// Whether the agent has looked at this already.
        #[serde(skip_serializing_if = "Option::is_none")]
        initialized: Option<bool>,
        /// Whether the agent behind the daemon is alive. Without it less is known.
        #[serde(skip_serializing_if = "Option::is_none")]
        acp_channel_live: Option<bool>,
        /// The tools.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        tools: Vec<ToolInfo>,
        /// What could not be found out.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        errors: Vec<DiagnosticError>,
    }
    /// A tool that the agent has.
    ToolInfo {
        /// Its name.
        name: String,
        /// The name to show.
        #[serde(skip_serializing_if = "Option::is_none")]
        display_name: Option<String>,
        /// What it tells the model about itself.
        #[serde(skip_serializing_if = "Option::is_none")]
        description: Option<String>,
        /// Whether the agent may use it.
        #[serde(skip_serializing_if = "Option::is_none")]
        enabled: Option<bool>,
    }
}
