//! Data of the events about what all sessions of a folder share: settings, agents, memory, tools.

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::wire::{Rest, SessionId};

data! {
    /// Data of `agent_changed`: the description of an agent was written or removed.
    AgentChanged {
        /// `created`, `updated` or `deleted`.
        change: String,
        /// The agent.
        name: String,
        /// Where it is described: `project` or `user`.
        #[serde(skip_serializing_if = "Option::is_none")]
        level: Option<String>,
    }
    /// Data of `memory_changed`: what the agent remembers was changed, in a file or by a task.
    MemoryChanged {
        /// `workspace` and `global` for a file, `managed` for a task.
        scope: String,
        /// The file.
        #[serde(skip_serializing_if = "Option::is_none")]
        file_path: Option<String>,
        /// How the file was written: `append` or `replace`.
        #[serde(skip_serializing_if = "Option::is_none")]
        mode: Option<String>,
        /// How much was written.
        #[serde(skip_serializing_if = "Option::is_none")]
        bytes_written: Option<u64>,
        /// What the task does.
        #[serde(skip_serializing_if = "Option::is_none")]
        source: Option<String>,
        /// The task.
        #[serde(skip_serializing_if = "Option::is_none")]
        task_id: Option<String>,
        /// What the task changed: `user`, `project`.
        #[serde(skip_serializing_if = "Option::is_none")]
        touched_scopes: Option<Vec<String>>,
    }
    /// Data of `settings_reloaded`: the settings were read again.
    SettingsReloaded {
        /// The variables that changed.
        #[serde(skip_serializing_if = "Option::is_none")]
        env: Option<ReloadedEnvironment>,
        /// The names of the settings that changed.
        #[serde(default)]
        changed_keys: Vec<String>,
        /// Whether the agent read them, too.
        #[serde(skip_serializing_if = "Option::is_none")]
        child_reloaded: Option<bool>,
        /// How many sessions go on with the new ones.
        #[serde(skip_serializing_if = "Option::is_none")]
        sessions_refreshed: Option<u64>,
        /// How many sessions go on with the old ones.
        #[serde(skip_serializing_if = "Option::is_none")]
        sessions_skipped: Option<u64>,
        /// Why the agent did not read them.
        #[serde(skip_serializing_if = "Option::is_none")]
        child_error: Option<String>,
        /// Whether the daemon's own environment follows them.
        #[serde(skip_serializing_if = "Option::is_none")]
        runtime_environment_applied: Option<bool>,
    }
    /// The names of the environment variables that changed. Their values are not sent.
    ReloadedEnvironment {
        /// New or with another value.
        #[serde(default)]
        updated_keys: Vec<String>,
        /// No longer set.
        #[serde(default)]
        removed_keys: Vec<String>,
    }
    /// Data of `tool_toggled`: a tool was switched on or off.
    ToolToggled {
        /// The tool.
        tool_name: String,
        /// Whether the agent may use it now.
        enabled: bool,
    }
    /// Data of `trust_change_requested`: somebody wants the folder to be trusted, or no longer.
    TrustChangeRequested {
        /// The folder.
        #[serde(skip_serializing_if = "Option::is_none")]
        workspace_cwd: Option<String>,
        /// `trusted` or `untrusted`.
        desired_state: String,
        /// Why, for people.
        #[serde(skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
    }
    /// Data of `workspace_initialized`: the file that tells the agent about the folder was written.
    WorkspaceInitialized {
        /// The file.
        path: String,
        /// `created`, `overwrote` or `noop`.
        #[serde(skip_serializing_if = "Option::is_none")]
        action: Option<String>,
    }
    /// Data of `language_changed`: of one session, or of the whole daemon.
    LanguageChanged {
        /// The session; absent if it is the language of the daemon.
        #[serde(skip_serializing_if = "Option::is_none")]
        session_id: Option<SessionId>,
        /// The language of the program.
        language: String,
        /// The language that the model is to answer in; `None` if it is not set.
        output_language: Option<String>,
        /// Whether the session goes on in that language.
        #[serde(skip_serializing_if = "Option::is_none")]
        refreshed: Option<bool>,
        /// Whether it is the language of the daemon.
        #[serde(skip_serializing_if = "Option::is_none")]
        user_level: Option<bool>,
    }
    /// Data of `extensions_changed`: extensions were installed, changed or removed.
    ExtensionsChanged {
        /// How many sessions go on with the change.
        #[serde(skip_serializing_if = "Option::is_none")]
        refreshed: Option<u64>,
        /// How many sessions could not.
        #[serde(skip_serializing_if = "Option::is_none")]
        failed: Option<u64>,
        /// `installed`, `enabled`, `disabled`, `updated`, `uninstalled` or `failed`.
        #[serde(skip_serializing_if = "Option::is_none")]
        status: Option<String>,
        /// Where the extension is from.
        #[serde(skip_serializing_if = "Option::is_none")]
        source: Option<String>,
        /// The extension.
        #[serde(skip_serializing_if = "Option::is_none")]
        name: Option<String>,
        /// Its version.
        #[serde(skip_serializing_if = "Option::is_none")]
        version: Option<String>,
        /// What failed.
        #[serde(skip_serializing_if = "Option::is_none")]
        error: Option<String>,
    }
}

/// Data of `settings_changed`. Its `Debug` does not show the value: settings hold keys and addresses of
/// providers.
#[derive(Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct SettingsChanged {
    /// The name of the setting, for example `model.name`.
    pub key: String,
    /// Its value now; absent if it was removed. It must not be shown or passed on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<Value>,
    /// Whose setting it is: `user` or `workspace`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scope: Option<String>,
    /// Unknown fields, kept as they came.
    #[serde(flatten)]
    pub rest: Rest,
}

impl fmt::Debug for SettingsChanged {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SettingsChanged")
            .field("key", &self.key)
            .field("scope", &self.scope)
            .finish_non_exhaustive()
    }
}
