//! The list of known event types, with the typed form of their data.

use serde_json::Value;

use super::data::{
    AgentChanged, ApprovalModeChanged, ArtifactChanged, BackgroundTurn, ChannelDeliveryResult,
    ClientEvicted, DeviceFlowAuthorized, DeviceFlowCancelled, DeviceFlowFailed, DeviceFlowStarted,
    DeviceFlowThrottled, ExtensionsChanged, FolderChanged, FollowupSuggestion, GitBranchChanged,
    GitStatusChanged, GithubSetupCompleted, HistoryTruncated, LanguageChanged, McpBudgetWarning,
    McpServerAdded, McpServerChanged, McpServerRemoved, McpServerRestartRefused,
    McpServerRestarted, McpServersRefused, MemoryChanged, MidTurnMessagesRead, ModelSwitchFailed,
    ModelSwitched, PermissionForbidden, PermissionPartialVote, PermissionResolved, PromptCancelled,
    RecordingDegraded, ReplayComplete, ResyncRequired, SessionBranched, SessionClosed, SessionDied,
    SessionMetadataUpdated, SessionRewound, SessionSnapshot, SettingsChanged, SettingsReloaded,
    SlowClientWarning, SourceChanged, StreamError, TerminalSequence, ToolToggled,
    TrustChangeRequested, TurnComplete, TurnError, UserShellCommand, UserShellResult,
    WorkspaceInitialized,
};
use crate::wire::{PendingPrompt, PermissionRequest, SessionUpdate};

macro_rules! bodies {
    (
        about a session: $($(#[$doc:meta])* $kind:literal => $variant:ident($data:ty),)+
        about what is around it: $($(#[$doc_around:meta])* $around:literal => $variant_around:ident($data_around:ty),)+
    ) => {
        /// The parsed data of an event, by its type.
        #[derive(Clone, Debug, PartialEq)]
        #[non_exhaustive]
        pub enum EventBody {
            /// An ACP session update: message chunks, tool calls, plans.
            SessionUpdate(SessionUpdate),
            $($(#[$doc])* $variant($data),)+
            $($(#[$doc_around])* $variant_around($data_around),)+
            /// A type that this version does not know.
            Unknown,
            /// The data of a known type could not be parsed. Holds the error.
            Malformed(String),
        }

        /// The types with a typed form, the most frequent one first.
        pub(super) const KNOWN: &[&str] = &["session_update", $($kind,)+ $($around),+];

        /// Those that are about a session. The others are about the folder, the settings and the daemon.
        const ABOUT_SESSION: &[&str] = &["session_update", $($kind),+];

        impl EventBody {
            pub(super) fn read(kind: &str, data: &str) -> EventBody {
                let read = match kind {
                    "session_update" => SessionUpdate::read(data).map(EventBody::SessionUpdate),
                    $($kind => serde_json::from_str(data).map(EventBody::$variant),)+
                    $($around => serde_json::from_str(data).map(EventBody::$variant_around),)+
                    _ => return EventBody::Unknown,
                };
                read.unwrap_or_else(|error| EventBody::Malformed(error.to_string()))
            }

            /// The data as JSON again; `None` for the variants without typed data.
            pub fn to_value(&self) -> Option<Value> {
                let value = match self {
                    Self::SessionUpdate(it) => it.to_value(),
                    $(Self::$variant(it) => serde_json::to_value(it),)+
                    $(Self::$variant_around(it) => serde_json::to_value(it),)+
                    Self::Unknown | Self::Malformed(_) => return None,
                };
                value.ok()
            }
        }
    };
}

bodies! {
    about a session:
    /// A turn ended.
    "turn_complete" => TurnComplete(TurnComplete),
    /// A turn failed.
    "turn_error" => TurnError(TurnError),
    /// The agent asks for permission, or asks questions.
    "permission_request" => PermissionRequest(PermissionRequest),
    /// A request was answered, by any client.
    "permission_resolved" => PermissionResolved(PermissionResolved),
    /// A vote arrived after the request had been answered.
    "permission_already_resolved" => PermissionAlreadyResolved(PermissionResolved),
    /// A vote was counted, and more are needed.
    "permission_partial_vote" => PermissionPartialVote(PermissionPartialVote),
    /// The permission policy rejected a vote.
    "permission_forbidden" => PermissionForbidden(PermissionForbidden),
    /// A client cancelled the turn, or the prompt could not be passed to the agent.
    "prompt_cancelled" => PromptCancelled(PromptCancelled),
    /// A prompt was queued.
    "pending_prompt_added" => PendingPromptAdded(PendingPrompt),
    /// A queued prompt began to run.
    "pending_prompt_started" => PendingPromptStarted(PendingPrompt),
    /// A queued prompt is done, or was removed.
    "pending_prompt_completed" => PendingPromptCompleted(PendingPrompt),
    /// The model changed.
    "model_switched" => ModelSwitched(ModelSwitched),
    /// The model could not be changed.
    "model_switch_failed" => ModelSwitchFailed(ModelSwitchFailed),
    /// The approval mode changed.
    "approval_mode_changed" => ApprovalModeChanged(ApprovalModeChanged),
    /// The agent of the session, or the daemon, ended.
    "session_died" => SessionDied(SessionDied),
    /// A client closed the session.
    "session_closed" => SessionClosed(SessionClosed),
    /// The daemon ended this stream because it was read too slowly. The session goes on.
    "client_evicted" => ClientEvicted(ClientEvicted),
    /// The daemon ended this stream because of an error. The session goes on.
    "stream_error" => StreamError(StreamError),
    /// This stream is read too slowly.
    "slow_client_warning" => SlowClientWarning(SlowClientWarning),
    /// The stream cannot be continued from the cursor.
    "state_resync_required" => StateResyncRequired(ResyncRequired),
    /// All events that were missed have been sent.
    "replay_complete" => ReplayComplete(ReplayComplete),
    /// The current model and approval mode.
    "session_snapshot" => SessionSnapshot(SessionSnapshot),
    /// Older history was left out.
    "history_truncated" => HistoryTruncated(HistoryTruncated),
    /// The title or other metadata changed.
    "session_metadata_updated" => SessionMetadataUpdated(SessionMetadataUpdated),
    /// A turn of a background task ended.
    "background_notification_turn_complete" => BackgroundTurnComplete(BackgroundTurn),
    /// A prompt that the user might want to send next.
    "followup_suggestion" => FollowupSuggestion(FollowupSuggestion),
    /// The agent has read messages that were sent during its turn.
    "mid_turn_message_injected" => MidTurnMessagesRead(MidTurnMessagesRead),
    /// The session was taken back to an earlier turn.
    "session_rewound" => SessionRewound(SessionRewound),
    /// A copy of the session was made.
    "session_branched" => SessionBranched(SessionBranched),
    /// The transcript can no longer be written.
    "session_recording_degraded" => RecordingDegraded(RecordingDegraded),
    /// The agent works in another folder.
    "session_cwd_changed" => FolderChanged(FolderChanged),
    /// A person runs a command through the daemon.
    "user_shell_command" => UserShellCommand(UserShellCommand),
    /// The command of a person has ended.
    "user_shell_result" => UserShellResult(UserShellResult),
    about what is around it:
    /// The description of an agent was written or removed.
    "agent_changed" => AgentChanged(AgentChanged),
    /// Something that the agent made for the person was created, changed or removed.
    "artifact_changed" => ArtifactChanged(ArtifactChanged),
    /// A sign-in with a code began.
    "auth_device_flow_started" => DeviceFlowStarted(DeviceFlowStarted),
    /// The provider wants to be asked less often about a sign-in.
    "auth_device_flow_throttled" => DeviceFlowThrottled(DeviceFlowThrottled),
    /// A sign-in succeeded.
    "auth_device_flow_authorized" => DeviceFlowAuthorized(DeviceFlowAuthorized),
    /// A sign-in failed.
    "auth_device_flow_failed" => DeviceFlowFailed(DeviceFlowFailed),
    /// A sign-in was given up.
    "auth_device_flow_cancelled" => DeviceFlowCancelled(DeviceFlowCancelled),
    /// A text was handed to a chat network, or could not be.
    "channel_delivery_result" => ChannelDeliveryResult(ChannelDeliveryResult),
    /// Extensions were installed, changed or removed.
    "extensions_changed" => ExtensionsChanged(ExtensionsChanged),
    /// Another branch is checked out.
    "git_branch_changed" => GitBranchChanged(GitBranchChanged),
    /// The working tree changed.
    "git_status_changed" => GitStatusChanged(GitStatusChanged),
    /// Workflows for GitHub were written.
    "github_setup_completed" => GithubSetupCompleted(GithubSetupCompleted),
    /// The language changed.
    "language_changed" => LanguageChanged(LanguageChanged),
    /// Nearly as many MCP servers are in use as are allowed.
    "mcp_budget_warning" => McpBudgetWarning(McpBudgetWarning),
    /// MCP servers were not started because as many run as are allowed.
    "mcp_child_refused_batch" => McpServersRefused(McpServersRefused),
    /// A client added an MCP server.
    "mcp_server_added" => McpServerAdded(McpServerAdded),
    /// An MCP server was switched on or off, approved or signed in to.
    "mcp_server_changed" => McpServerChanged(McpServerChanged),
    /// A client removed an MCP server.
    "mcp_server_removed" => McpServerRemoved(McpServerRemoved),
    /// An MCP server could not be restarted.
    "mcp_server_restart_refused" => McpServerRestartRefused(McpServerRestartRefused),
    /// An MCP server was restarted.
    "mcp_server_restarted" => McpServerRestarted(McpServerRestarted),
    /// What the agent remembers was changed.
    "memory_changed" => MemoryChanged(MemoryChanged),
    /// A setting changed.
    "settings_changed" => SettingsChanged(SettingsChanged),
    /// The settings were read again.
    "settings_reloaded" => SettingsReloaded(SettingsReloaded),
    /// The list of the session's sources changed.
    "source_changed" => SourceChanged(SourceChanged),
    /// A hook wants the terminal of the person to do something.
    "terminal_sequence" => TerminalSequence(TerminalSequence),
    /// A tool was switched on or off.
    "tool_toggled" => ToolToggled(ToolToggled),
    /// Somebody wants the folder to be trusted, or no longer.
    "trust_change_requested" => TrustChangeRequested(TrustChangeRequested),
    /// The file that tells the agent about the folder was written.
    "workspace_initialized" => WorkspaceInitialized(WorkspaceInitialized),
}

/// The name of a type that is known.
pub(super) fn known(kind: &str) -> Option<&'static str> {
    KNOWN.iter().copied().find(|name| *name == kind)
}

/// Whether an event of this type tells something of a session, so that a conversation is incomplete
/// without it.
pub(crate) fn is_about_session(kind: &str) -> bool {
    ABOUT_SESSION.contains(&kind)
}
