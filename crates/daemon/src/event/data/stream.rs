//! Data of the events about the stream itself: where it stands, what it cannot give, why it ends.

use serde::{Deserialize, Serialize};

use crate::wire::{Rest, ResyncReason};

data! {
    /// Data of `client_evicted`.
    ClientEvicted {
        /// The daemon's reason.
        #[serde(skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
    }
    /// Data of `stream_error`.
    StreamError {
        /// The error message.
        #[serde(skip_serializing_if = "Option::is_none")]
        error: Option<String>,
    }
    /// Data of `state_resync_required`.
    ResyncRequired {
        /// Why the stream cannot be continued.
        reason: ResyncReason,
        /// The event id that the client sent as its cursor.
        #[serde(skip_serializing_if = "Option::is_none")]
        last_delivered_id: Option<u64>,
        /// The oldest event that the daemon still keeps.
        #[serde(skip_serializing_if = "Option::is_none")]
        earliest_available_id: Option<u64>,
    }
    /// Data of `replay_complete`.
    ReplayComplete {
        /// How many events were sent again.
        #[serde(skip_serializing_if = "Option::is_none")]
        replayed_count: Option<u64>,
        /// The newest event id.
        #[serde(skip_serializing_if = "Option::is_none")]
        last_event_id: Option<u64>,
    }
    /// Data of `history_truncated`.
    HistoryTruncated {
        /// The daemon's reason.
        #[serde(skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
        /// How many events were left out.
        #[serde(skip_serializing_if = "Option::is_none")]
        truncated_events: Option<u64>,
    }
    /// Data of `slow_client_warning`: this stream is read too slowly.
    SlowClientWarning {
        /// How many frames wait for this reader.
        #[serde(skip_serializing_if = "Option::is_none")]
        queue_size: Option<u64>,
        /// How many may wait before the stream is cut.
        #[serde(skip_serializing_if = "Option::is_none")]
        max_queued: Option<u64>,
        /// The newest event that was queued.
        #[serde(skip_serializing_if = "Option::is_none")]
        last_event_id: Option<u64>,
        /// How many bytes wait for this reader.
        #[serde(skip_serializing_if = "Option::is_none")]
        queued_bytes: Option<u64>,
        /// How many bytes may wait before the stream is cut.
        #[serde(skip_serializing_if = "Option::is_none")]
        max_queued_bytes: Option<u64>,
        /// Which limit is near: `frames`, `bytes` or `frames_and_bytes`.
        #[serde(skip_serializing_if = "Option::is_none")]
        threshold: Option<String>,
    }
}
