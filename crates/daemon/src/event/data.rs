//! The data of each type of event that is read.
//!
//! Whatever the daemon may leave out is optional, and what has no name here is kept in `rest`.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::error::Code;
use crate::wire::{
    ApprovalMode, ClientId, Outcome, PromptId, QueueState, RequestId, Rest, ResyncReason,
    SessionId, StopReason,
};

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
