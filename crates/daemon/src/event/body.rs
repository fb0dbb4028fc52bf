//! The list of known event types, with the typed form of their data.

use serde_json::Value;

use super::data::{
    ApprovalModeChanged, BackgroundTurn, ClientEvicted, FolderChanged, FollowupSuggestion,
    HistoryTruncated, MidTurnMessages, ModelSwitchFailed, ModelSwitched, PermissionForbidden,
    PermissionPartialVote, PermissionResolved, PromptCancelled, RecordingDegraded, ReplayComplete,
    ResyncRequired, SessionBranched, SessionClosed, SessionDied, SessionMetadataUpdated,
    SessionRewound, SessionSnapshot, StreamError, TurnComplete, TurnError, UserShellCommand,
    UserShellResult,
};
use crate::wire::{PendingPrompt, PermissionRequest, Rest, SessionUpdate};

macro_rules! bodies {
    ($($(#[$doc:meta])* $kind:literal => $variant:ident($data:ty),)+) => {
        /// The parsed data of an event, by its type.
        #[derive(Clone, Debug, PartialEq)]
        pub enum EventBody {
            /// An ACP session update: message chunks, tool calls, plans.
            SessionUpdate(SessionUpdate),
            $($(#[$doc])* $variant($data),)+
            /// A known type whose data has no typed form here.
            Untyped,
            /// A type that this version does not know.
            Unknown,
            /// The data of a known type could not be parsed. Holds the error.
            Malformed(String),
        }

        /// The types with a typed form, the most frequent one first.
        const READ: &[&str] = &["session_update", $($kind),+];

        impl EventBody {
            pub(super) fn read(kind: &str, data: &str) -> EventBody {
                let read = match kind {
                    "session_update" => SessionUpdate::read(data).map(EventBody::SessionUpdate),
                    $($kind => serde_json::from_str(data).map(EventBody::$variant),)+
                    kind if UNTYPED.contains(&kind) => return EventBody::Untyped,
                    _ => return EventBody::Unknown,
                };
                read.unwrap_or_else(|error| EventBody::Malformed(error.to_string()))
            }

            /// The data as JSON again; `None` for the variants without typed data.
            pub fn to_value(&self) -> Option<Value> {
                let value = match self {
                    Self::SessionUpdate(it) => it.to_value(),
                    $(Self::$variant(it) => serde_json::to_value(it),)+
                    Self::Untyped | Self::Unknown | Self::Malformed(_) => return None,
                };
                value.ok()
            }
        }
    };
}

bodies! {
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
    "slow_client_warning" => SlowClientWarning(Rest),
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
    "mid_turn_message_injected" => MidTurnMessages(MidTurnMessages),
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
}

/// Known types whose data is not parsed.
const UNTYPED: &[&str] = &[
    "agent_changed",
    "artifact_changed",
    "auth_device_flow_authorized",
    "auth_device_flow_cancelled",
    "auth_device_flow_failed",
    "auth_device_flow_started",
    "auth_device_flow_throttled",
    "channel_delivery_result",
    "extensions_changed",
    "git_branch_changed",
    "git_status_changed",
    "github_setup_completed",
    "language_changed",
    "mcp_budget_warning",
    "mcp_child_refused_batch",
    "mcp_server_added",
    "mcp_server_changed",
    "mcp_server_removed",
    "mcp_server_restart_refused",
    "mcp_server_restarted",
    "memory_changed",
    "settings_changed",
    "settings_reloaded",
    "source_changed",
    "tool_toggled",
    "trust_change_requested",
    "workspace_initialized",
];

/// The name of a type that is known.
pub(super) fn known(kind: &str) -> Option<&'static str> {
    let all = READ.iter().chain(UNTYPED);
    all.copied().find(|name| *name == kind)
}
