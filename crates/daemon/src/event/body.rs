//! What each type of event says: the one list of the types that are known.

use serde_json::Value;

use super::data::{
    ApprovalModeChanged, BackgroundTurn, ClientEvicted, HistoryTruncated, MetadataUpdated,
    ModelSwitchFailed, ModelSwitched, PendingPromptNews, PermissionForbidden, PermissionResolved,
    PromptCancelled, ReplayComplete, ResyncRequired, SessionClosed, SessionDied, Snapshot,
    StreamError, Suggestion, TurnComplete, TurnError, VoteProgress,
};
use crate::wire::{PermissionRequest, Rest, SessionUpdate};

macro_rules! bodies {
    ($($(#[$doc:meta])* $kind:literal => $variant:ident($data:ty),)+) => {
        /// What an event says.
        #[derive(Clone, Debug, PartialEq)]
        pub enum Body {
            /// The agent says or does something.
            SessionUpdate(SessionUpdate),
            $($(#[$doc])* $variant($data),)+
            /// A type that is known, and whose data has no use here.
            Noted,
            /// A type that this version does not know.
            Unknown,
            /// A known type whose data is not as it must be.
            Malformed(String),
        }

        /// Types that are read, the most frequent one first.
        const READ: &[&str] = &["session_update", $($kind),+];

        impl Body {
            pub(super) fn read(kind: &str, data: &str) -> Body {
                let read = match kind {
                    "session_update" => SessionUpdate::read(data).map(Body::SessionUpdate),
                    $($kind => serde_json::from_str(data).map(Body::$variant),)+
                    kind if NOTED.contains(&kind) => return Body::Noted,
                    _ => return Body::Unknown,
                };
                read.unwrap_or_else(|error| Body::Malformed(error.to_string()))
            }

            /// The data as JSON again, for those that were read.
            pub fn to_value(&self) -> Option<Value> {
                let value = match self {
                    Self::SessionUpdate(it) => it.to_value(),
                    $(Self::$variant(it) => serde_json::to_value(it),)+
                    Self::Noted | Self::Unknown | Self::Malformed(_) => return None,
                };
                value.ok()
            }
        }
    };
}

bodies! {
    /// A turn is over.
    "turn_complete" => TurnComplete(TurnComplete),
    /// A turn failed.
    "turn_error" => TurnError(TurnError),
    /// The agent asks for leave, or for answers.
    "permission_request" => PermissionRequest(PermissionRequest),
    /// A request was answered, by anybody.
    "permission_resolved" => PermissionResolved(PermissionResolved),
    /// A request had been answered before a vote came.
    "permission_already_resolved" => PermissionAlreadyResolved(PermissionResolved),
    /// A vote was counted, but it needs more.
    "permission_partial_vote" => PermissionPartialVote(VoteProgress),
    /// A vote was refused.
    "permission_forbidden" => PermissionForbidden(PermissionForbidden),
    /// Somebody asked for a turn to be cancelled, or it could not be passed on.
    "prompt_cancelled" => PromptCancelled(PromptCancelled),
    /// A prompt waits in the queue.
    "pending_prompt_added" => PendingPromptAdded(PendingPromptNews),
    /// A prompt from the queue has begun.
    "pending_prompt_started" => PendingPromptStarted(PendingPromptNews),
    /// A prompt from the queue is done, or was taken out.
    "pending_prompt_completed" => PendingPromptCompleted(PendingPromptNews),
    /// Another model is in use.
    "model_switched" => ModelSwitched(ModelSwitched),
    /// A model could not be used.
    "model_switch_failed" => ModelSwitchFailed(ModelSwitchFailed),
    /// Another approval mode is in force.
    "approval_mode_changed" => ApprovalModeChanged(ApprovalModeChanged),
    /// The session's agent, or the daemon, is gone.
    "session_died" => SessionDied(SessionDied),
    /// Somebody closed the session.
    "session_closed" => SessionClosed(SessionClosed),
    /// The daemon gave up on this stream. The session goes on.
    "client_evicted" => ClientEvicted(ClientEvicted),
    /// The daemon could not go on with this stream. The session goes on.
    "stream_error" => StreamError(StreamError),
    /// This stream is read too slowly.
    "slow_client_warning" => SlowClientWarning(Rest),
    /// The stream cannot be continued where it was left.
    "state_resync_required" => StateResyncRequired(ResyncRequired),
    /// Everything that was missed has been sent.
    "replay_complete" => ReplayComplete(ReplayComplete),
    /// Model and mode as they are now.
    "session_snapshot" => SessionSnapshot(Snapshot),
    /// Older history was left out.
    "history_truncated" => HistoryTruncated(HistoryTruncated),
    /// Title or the like changed.
    "session_metadata_updated" => SessionMetadataUpdated(MetadataUpdated),
    /// A turn of a background task is over.
    "background_notification_turn_complete" => BackgroundTurnComplete(BackgroundTurn),
    /// What the person might want to say next.
    "followup_suggestion" => FollowupSuggestion(Suggestion),
}

/// Types that are known but not read further.
const NOTED: &[&str] = &[
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
    "mid_turn_message_injected",
    "session_branched",
    "session_cwd_changed",
    "session_recording_degraded",
    "session_rewound",
    "settings_changed",
    "settings_reloaded",
    "source_changed",
    "tool_toggled",
    "trust_change_requested",
    "user_shell_command",
    "user_shell_result",
    "workspace_initialized",
];

/// The name of a type that is known.
pub(super) fn known(kind: &str) -> Option<&'static str> {
    let all = READ.iter().chain(NOTED);
    all.copied().find(|name| *name == kind)
}
