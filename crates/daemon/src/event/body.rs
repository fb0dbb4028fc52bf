//! What each type of event says.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::error::Code;
use crate::wire::{
    ApprovalMode, ClientId, Outcome, PermissionRequest, PromptId, QueueState, RequestId, Rest,
    ResyncReason, SessionId, SessionUpdate, StopReason,
};

/// What an event says.
#[derive(Clone, Debug, PartialEq)]
pub enum Body {
    /// The agent says or does something.
    SessionUpdate(SessionUpdate),
    /// The agent asks for leave, or for answers.
    PermissionRequest(PermissionRequest),
    /// A request was answered, by anybody.
    PermissionResolved(PermissionResolved),
    /// A request had been answered before a vote came.
    PermissionAlreadyResolved(PermissionResolved),
    /// A vote was counted, but it needs more.
    PermissionPartialVote(VoteProgress),
    /// A vote was refused.
    PermissionForbidden(PermissionForbidden),
    /// A turn is over.
    TurnComplete(TurnComplete),
    /// A turn failed.
    TurnError(TurnError),
    /// Somebody asked for a turn to be cancelled, or it could not be passed on.
    PromptCancelled(PromptCancelled),
    /// A prompt waits in the queue.
    PendingPromptAdded(PendingPromptNews),
    /// A prompt from the queue has begun.
    PendingPromptStarted(PendingPromptNews),
    /// A prompt from the queue is done, or was taken out.
    PendingPromptCompleted(PendingPromptNews),
    /// Another model is in use.
    ModelSwitched(ModelSwitched),
    /// A model could not be used.
    ModelSwitchFailed(ModelSwitchFailed),
    /// Another approval mode is in force.
    ApprovalModeChanged(ApprovalModeChanged),
    /// The session's agent, or the daemon, is gone.
    SessionDied(SessionDied),
    /// Somebody closed the session.
    SessionClosed(SessionClosed),
    /// The daemon gave up on this stream. The session goes on.
    ClientEvicted(ClientEvicted),
    /// The daemon could not go on with this stream. The session goes on.
    StreamError(StreamError),
    /// This stream is read too slowly.
    SlowClientWarning(Rest),
    /// The stream cannot be continued where it was left.
    StateResyncRequired(ResyncRequired),
    /// Everything that was missed has been sent.
    ReplayComplete(ReplayComplete),
    /// Model and mode as they are now.
    SessionSnapshot(Snapshot),
    /// Older history was left out.
    HistoryTruncated(HistoryTruncated),
    /// Title or the like changed.
    SessionMetadataUpdated(MetadataUpdated),
    /// A turn of a background task is over.
    BackgroundTurnComplete(BackgroundTurn),
    /// What the person might want to say next.
    FollowupSuggestion(Suggestion),
    /// A type that is known, and whose data has no use here.
    Noted,
    /// A type that this version does not know.
    Unknown,
    /// A known type whose data is not as it must be.
    Malformed(String),
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

/// Reads one type.
type Reader = fn(&str) -> Result<Body, serde_json::Error>;

/// Types that are read.
const READ: &[(&str, Reader)] = &[
    ("session_update", |data| {
        SessionUpdate::read(data).map(Body::SessionUpdate)
    }),
    ("turn_complete", |data| read(data, Body::TurnComplete)),
    ("turn_error", |data| read(data, Body::TurnError)),
    ("permission_request", |data| {
        read(data, Body::PermissionRequest)
    }),
    ("permission_resolved", |data| {
        read(data, Body::PermissionResolved)
    }),
    ("permission_already_resolved", |data| {
        read(data, Body::PermissionAlreadyResolved)
    }),
    ("permission_partial_vote", |data| {
        read(data, Body::PermissionPartialVote)
    }),
    ("permission_forbidden", |data| {
        read(data, Body::PermissionForbidden)
    }),
    ("prompt_cancelled", |data| read(data, Body::PromptCancelled)),
    ("pending_prompt_added", |data| {
        read(data, Body::PendingPromptAdded)
    }),
    ("pending_prompt_started", |data| {
        read(data, Body::PendingPromptStarted)
    }),
    ("pending_prompt_completed", |data| {
        read(data, Body::PendingPromptCompleted)
    }),
    ("model_switched", |data| read(data, Body::ModelSwitched)),
    ("model_switch_failed", |data| {
        read(data, Body::ModelSwitchFailed)
    }),
    ("approval_mode_changed", |data| {
        read(data, Body::ApprovalModeChanged)
    }),
    ("session_died", |data| read(data, Body::SessionDied)),
    ("session_closed", |data| read(data, Body::SessionClosed)),
    ("client_evicted", |data| read(data, Body::ClientEvicted)),
    ("stream_error", |data| read(data, Body::StreamError)),
    ("slow_client_warning", |data| {
        read(data, Body::SlowClientWarning)
    }),
    ("state_resync_required", |data| {
        read(data, Body::StateResyncRequired)
    }),
    ("replay_complete", |data| read(data, Body::ReplayComplete)),
    ("session_snapshot", |data| read(data, Body::SessionSnapshot)),
    ("history_truncated", |data| {
        read(data, Body::HistoryTruncated)
    }),
    ("session_metadata_updated", |data| {
        read(data, Body::SessionMetadataUpdated)
    }),
    ("background_notification_turn_complete", |data| {
        read(data, Body::BackgroundTurnComplete)
    }),
    ("followup_suggestion", |data| {
        read(data, Body::FollowupSuggestion)
    }),
];

fn read<T: DeserializeOwned>(
    data: &str,
    variant: fn(T) -> Body,
) -> Result<Body, serde_json::Error> {
    serde_json::from_str(data).map(variant)
}

impl Body {
    pub(super) fn read(kind: &str, data: &str) -> Body {
        if let Some((_, reader)) = READ.iter().find(|(name, _)| *name == kind) {
            return reader(data).unwrap_or_else(|error| Body::Malformed(error.to_string()));
        }
        if NOTED.contains(&kind) {
            Body::Noted
        } else {
            Body::Unknown
        }
    }

    /// The data as JSON again, for those that were read.
    pub fn to_value(&self) -> Option<Value> {
        let value = match self {
            Self::SessionUpdate(it) => it.to_value(),
            Self::PermissionRequest(it) => serde_json::to_value(it),
            Self::PermissionResolved(it) | Self::PermissionAlreadyResolved(it) => {
                serde_json::to_value(it)
            }
            Self::PermissionPartialVote(it) => serde_json::to_value(it),
            Self::PermissionForbidden(it) => serde_json::to_value(it),
            Self::TurnComplete(it) => serde_json::to_value(it),
            Self::TurnError(it) => serde_json::to_value(it),
            Self::PromptCancelled(it) => serde_json::to_value(it),
            Self::PendingPromptAdded(it)
            | Self::PendingPromptStarted(it)
            | Self::PendingPromptCompleted(it) => serde_json::to_value(it),
            Self::ModelSwitched(it) => serde_json::to_value(it),
            Self::ModelSwitchFailed(it) => serde_json::to_value(it),
            Self::ApprovalModeChanged(it) => serde_json::to_value(it),
            Self::SessionDied(it) => serde_json::to_value(it),
            Self::SessionClosed(it) => serde_json::to_value(it),
            Self::ClientEvicted(it) => serde_json::to_value(it),
            Self::StreamError(it) => serde_json::to_value(it),
            Self::SlowClientWarning(it) => serde_json::to_value(it),
            Self::StateResyncRequired(it) => serde_json::to_value(it),
            Self::ReplayComplete(it) => serde_json::to_value(it),
            Self::SessionSnapshot(it) => serde_json::to_value(it),
            Self::HistoryTruncated(it) => serde_json::to_value(it),
            Self::SessionMetadataUpdated(it) => serde_json::to_value(it),
            Self::BackgroundTurnComplete(it) => serde_json::to_value(it),
            Self::FollowupSuggestion(it) => serde_json::to_value(it),
            Self::Noted | Self::Unknown | Self::Malformed(_) => return None,
        };
        value.ok()
    }
}

/// The name of a type that is known.
pub(super) fn known(kind: &str) -> Option<&'static str> {
    let read = READ.iter().map(|(name, _)| *name);
    read.chain(NOTED.iter().copied()).find(|name| *name == kind)
}

macro_rules! data {
    ($($(#[$doc:meta])* $name:ident { $($(#[$field_doc:meta])* $field:ident: $type:ty),* $(,)? })+) => {
        $(
            $(#[$doc])*
            #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
            #[serde(rename_all = "camelCase")]
            pub struct $name {
                $(
                    $(#[$field_doc])*
                    pub $field: $type,
                )*
                /// Everything else.
                #[serde(flatten)]
                pub rest: Rest,
            }
        )+
    };
}

data! {
    /// How a request was answered.
    PermissionResolved {
        /// Which request.
        request_id: RequestId,
        /// How, as it came: new kinds of outcomes must not hide that it is over.
        outcome: Option<Value>,
        /// By whom; nobody when it timed out or was cancelled.
        #[serde(skip_serializing_if = "Option::is_none")]
        voter_client_id: Option<ClientId>,
    }
    /// How far a vote of several is.
    VoteProgress {
        /// Which request.
        request_id: RequestId,
        /// How many have voted.
        #[serde(skip_serializing_if = "Option::is_none")]
        votes_received: Option<u64>,
        /// How many more are needed.
        #[serde(skip_serializing_if = "Option::is_none")]
        votes_needed: Option<u64>,
    }
    /// A vote that does not count.
    PermissionForbidden {
        /// Which request.
        request_id: RequestId,
        /// Why.
        #[serde(skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
    }
    /// The end of a turn.
    TurnComplete {
        /// Whose turn. Background turns have ids that nobody was given.
        #[serde(skip_serializing_if = "Option::is_none")]
        prompt_id: Option<PromptId>,
        /// Why it ended.
        #[serde(skip_serializing_if = "Option::is_none")]
        stop_reason: Option<StopReason>,
    }
    /// The end of a turn that failed.
    TurnError {
        /// Whose turn.
        #[serde(skip_serializing_if = "Option::is_none")]
        prompt_id: Option<PromptId>,
        /// In words.
        #[serde(default)]
        message: String,
        /// By code.
        #[serde(skip_serializing_if = "Option::is_none")]
        code: Option<Code>,
        /// By kind.
        #[serde(skip_serializing_if = "Option::is_none")]
        error_kind: Option<String>,
    }
    /// A turn is being cancelled.
    PromptCancelled {
        /// `forward_failed` means that nobody asked for it: an error follows.
        #[serde(skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
    }
    /// News about a prompt in the queue.
    PendingPromptNews {
        /// Which.
        prompt_id: PromptId,
        /// Its text.
        #[serde(skip_serializing_if = "Option::is_none")]
        text: Option<String>,
        /// How it left the queue.
        #[serde(skip_serializing_if = "Option::is_none")]
        state: Option<QueueState>,
    }
    /// A model.
    ModelSwitched {
        /// Which, as it was asked for.
        model_id: String,
    }
    /// A model that could not be used.
    ModelSwitchFailed {
        /// Which.
        #[serde(skip_serializing_if = "Option::is_none")]
        requested_model_id: Option<String>,
        /// Why.
        #[serde(skip_serializing_if = "Option::is_none")]
        error: Option<String>,
    }
    /// An approval mode.
    ApprovalModeChanged {
        /// Before.
        #[serde(skip_serializing_if = "Option::is_none")]
        previous: Option<ApprovalMode>,
        /// Now.
        next: ApprovalMode,
        /// Whether it was written into settings.
        #[serde(skip_serializing_if = "Option::is_none")]
        persisted: Option<bool>,
    }
    /// A session without an agent.
    SessionDied {
        /// Which; one of another session is none of ours.
        #[serde(skip_serializing_if = "Option::is_none")]
        session_id: Option<SessionId>,
        /// Why.
        #[serde(skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
    }
    /// A session that was closed.
    SessionClosed {
        /// Which.
        #[serde(skip_serializing_if = "Option::is_none")]
        session_id: Option<SessionId>,
        /// Why.
        #[serde(skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
        /// By whom.
        #[serde(skip_serializing_if = "Option::is_none")]
        closed_by: Option<ClientId>,
    }
    /// A stream that the daemon gave up on.
    ClientEvicted {
        /// Why.
        #[serde(skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
    }
    /// A stream that broke at the daemon's end.
    StreamError {
        /// How.
        #[serde(skip_serializing_if = "Option::is_none")]
        error: Option<String>,
    }
    /// A stream that does not continue the one before.
    ResyncRequired {
        /// Why.
        reason: ResyncReason,
        /// Where we said we were.
        #[serde(skip_serializing_if = "Option::is_none")]
        last_delivered_id: Option<u64>,
        /// The oldest event that is still kept.
        #[serde(skip_serializing_if = "Option::is_none")]
        earliest_available_id: Option<u64>,
    }
    /// The end of what was missed.
    ReplayComplete {
        /// How many events were sent again.
        #[serde(skip_serializing_if = "Option::is_none")]
        replayed_count: Option<u64>,
        /// The newest event.
        #[serde(skip_serializing_if = "Option::is_none")]
        last_event_id: Option<u64>,
    }
    /// How things stand.
    Snapshot {
        /// The model in use, once one is.
        #[serde(skip_serializing_if = "Option::is_none")]
        current_model_id: Option<String>,
        /// The approval mode in force.
        #[serde(skip_serializing_if = "Option::is_none")]
        current_approval_mode: Option<ApprovalMode>,
        /// Whether the transcript can no longer be written.
        #[serde(skip_serializing_if = "Option::is_none")]
        recording_degraded: Option<bool>,
    }
    /// Older history that was left out.
    HistoryTruncated {
        /// Why.
        #[serde(skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
        /// How much is missing.
        #[serde(skip_serializing_if = "Option::is_none")]
        truncated_events: Option<u64>,
    }
    /// Title and the like.
    MetadataUpdated {
        /// The title.
        #[serde(skip_serializing_if = "Option::is_none")]
        display_name: Option<String>,
    }
    /// A turn of a background task.
    BackgroundTurn {
        /// Why it ended.
        #[serde(skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
        /// Which.
        #[serde(skip_serializing_if = "Option::is_none")]
        turn_id: Option<PromptId>,
    }
    /// What the person might want to say next.
    Suggestion {
        /// The text.
        suggestion: String,
    }
}

impl PermissionResolved {
    /// How it was answered, if it is a way that this version knows.
    pub fn known_outcome(&self) -> Option<Outcome> {
        Outcome::deserialize(self.outcome.as_ref()?).ok()
    }
}
