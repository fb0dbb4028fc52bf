//! The `data` field of each event type: here those of turns, permissions and sessions, below those of
//! streams and of what a whole folder shares.
//!
//! Fields that the daemon may leave out are optional; unknown fields are kept in `rest`.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::error::ErrorCode;
use crate::wire::{
    ApprovalMode, ClientId, ContentBlock, PermissionOutcome, PromptId, RequestId, Rest,
    RewindPointId, SessionId, StopReason,
};

macro_rules! data {
    ($($(#[$doc:meta])* $name:ident { $($(#[$field_doc:meta])* $field:ident: $type:ty),* $(,)? })+) => {
        $(
            $(#[$doc])*
            #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
            #[serde(rename_all = "camelCase")]
            #[non_exhaustive]
            pub struct $name {
                $(
                    $(#[$field_doc])*
                    pub $field: $type,
                )*
                /// Unknown fields, kept as they came.
                #[serde(flatten)]
                pub rest: Rest,
            }
        )+
    };
}

mod git;
mod mcp;
mod sign_in;
mod stream;
mod workspace;

pub use git::{
    GitBranchChanged, GitStatusChanged, GithubSetupCompleted, GithubWorkflow, GitignoreChange,
};
pub use mcp::{
    McpBudgetWarning, McpServerAdded, McpServerChanged, McpServerRemoved, McpServerRestartRefused,
    McpServerRestarted, McpServersRefused, RefusedMcpServer,
};
pub use sign_in::{
    DeviceFlowAuthorized, DeviceFlowCancelled, DeviceFlowFailed, DeviceFlowStarted,
    DeviceFlowThrottled,
};
pub use stream::{
    ClientEvicted, HistoryTruncated, ReplayComplete, ResyncRequired, SlowClientWarning, StreamError,
};
pub use workspace::{
    AgentChanged, ExtensionsChanged, LanguageChanged, MemoryChanged, ReloadedEnvironment,
    SettingsChanged, SettingsReloaded, ToolToggled, TrustChangeRequested, WorkspaceInitialized,
};

data! {
    /// Data of `permission_resolved` and `permission_already_resolved`.
    PermissionResolved {
        /// The request that was answered.
        request_id: RequestId,
        /// The outcome as raw JSON: an unknown kind of outcome must not hide that the request is
        /// resolved.
        outcome: Option<Value>,
        /// The client that answered; absent after a timeout or a cancellation.
        #[serde(skip_serializing_if = "Option::is_none")]
        voter_client_id: Option<ClientId>,
    }
    /// Data of `permission_partial_vote`.
    PermissionPartialVote {
        /// The request that is voted on.
        request_id: RequestId,
        /// How many votes were counted so far.
        #[serde(skip_serializing_if = "Option::is_none")]
        votes_received: Option<u64>,
        /// How many more votes are needed.
        #[serde(skip_serializing_if = "Option::is_none")]
        votes_needed: Option<u64>,
    }
    /// Data of `permission_forbidden`.
    PermissionForbidden {
        /// The request whose vote was rejected.
        request_id: RequestId,
        /// The daemon's reason.
        #[serde(skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
    }
    /// Data of `turn_complete`.
    TurnComplete {
        /// The prompt of the turn. Background turns have ids that no client was given.
        #[serde(skip_serializing_if = "Option::is_none")]
        prompt_id: Option<PromptId>,
        /// Why the turn ended.
        #[serde(skip_serializing_if = "Option::is_none")]
        stop_reason: Option<StopReason>,
    }
    /// Data of `turn_error`.
    TurnError {
        /// The prompt of the turn.
        #[serde(skip_serializing_if = "Option::is_none")]
        prompt_id: Option<PromptId>,
        /// The error message.
        #[serde(default)]
        message: String,
        /// The error code of the agent or the daemon.
        #[serde(skip_serializing_if = "Option::is_none")]
        code: Option<ErrorCode>,
        /// The daemon's class of error.
        #[serde(skip_serializing_if = "Option::is_none")]
        error_kind: Option<String>,
    }
    /// Data of `prompt_cancelled`.
    PromptCancelled {
        /// `forward_failed` means that no client cancelled it: a `turn_error` follows.
        #[serde(skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
    }
    /// Data of `model_switched`.
    ModelSwitched {
        /// The model, as it was requested.
        model_id: String,
    }
    /// Data of `model_switch_failed`.
    ModelSwitchFailed {
        /// The model that was requested.
        #[serde(skip_serializing_if = "Option::is_none")]
        requested_model_id: Option<String>,
        /// The error message.
        #[serde(skip_serializing_if = "Option::is_none")]
        error: Option<String>,
    }
    /// Data of `approval_mode_changed`.
    ApprovalModeChanged {
        /// The mode before the change.
        #[serde(skip_serializing_if = "Option::is_none")]
        previous: Option<ApprovalMode>,
        /// The mode after the change.
        next: ApprovalMode,
        /// Whether it was also written into the settings.
        #[serde(skip_serializing_if = "Option::is_none")]
        persisted: Option<bool>,
    }
    /// Data of `session_died`.
    SessionDied {
        /// The session. An event about another session must be ignored.
        #[serde(skip_serializing_if = "Option::is_none")]
        session_id: Option<SessionId>,
        /// The daemon's reason.
        #[serde(skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
    }
    /// Data of `session_closed`.
    SessionClosed {
        /// The session. An event about another session must be ignored.
        #[serde(skip_serializing_if = "Option::is_none")]
        session_id: Option<SessionId>,
        /// The daemon's reason.
        #[serde(skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
        /// The client that closed it.
        #[serde(skip_serializing_if = "Option::is_none")]
        closed_by: Option<ClientId>,
    }
    /// Data of `session_snapshot`.
    SessionSnapshot {
        /// The current model; absent until one is used.
        #[serde(skip_serializing_if = "Option::is_none")]
        current_model_id: Option<String>,
        /// The current approval mode.
        #[serde(skip_serializing_if = "Option::is_none")]
        current_approval_mode: Option<ApprovalMode>,
        /// Whether the transcript can no longer be written.
        #[serde(skip_serializing_if = "Option::is_none")]
        recording_degraded: Option<bool>,
    }
    /// Data of `session_metadata_updated`.
    SessionMetadataUpdated {
        /// The new title.
        #[serde(skip_serializing_if = "Option::is_none")]
        display_name: Option<String>,
    }
    /// Data of `background_notification_turn_complete`.
    BackgroundTurn {
        /// Why the turn ended.
        #[serde(skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
        /// The id of the background turn.
        #[serde(skip_serializing_if = "Option::is_none")]
        turn_id: Option<PromptId>,
    }
    /// Data of `followup_suggestion`.
    FollowupSuggestion {
        /// The suggested prompt.
        suggestion: String,
    }
    /// Data of `session_rewound`: the agent has forgotten a turn and all after it.
    SessionRewound {
        /// The first turn that is forgotten.
        #[serde(rename = "promptId", skip_serializing_if = "Option::is_none")]
        rewind_point: Option<RewindPointId>,
        /// The place of that turn, counted from 0 over all prompts, slash commands among them.
        target_turn_index: usize,
        /// The files that were put back.
        #[serde(default)]
        files_changed: Vec<String>,
        /// The files that could not be put back.
        #[serde(default)]
        files_failed: Vec<String>,
    }
    /// Data of `session_branched`: a copy of the session was made.
    SessionBranched {
        /// The session that was copied.
        #[serde(skip_serializing_if = "Option::is_none")]
        source_session_id: Option<SessionId>,
        /// The copy.
        new_session_id: SessionId,
        /// The title of the copy.
        #[serde(default)]
        display_name: String,
    }
    /// Data of `session_recording_degraded`: the transcript can no longer be written.
    RecordingDegraded {
        /// The daemon's reason.
        #[serde(skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
    }
    /// Data of `session_cwd_changed`: the agent works in another folder.
    FolderChanged {
        /// The folder before.
        #[serde(skip_serializing_if = "Option::is_none")]
        previous_cwd: Option<String>,
        /// The folder from now on.
        new_cwd: String,
    }
    /// Data of `user_shell_command`: a person runs a command through the daemon. Its output comes as
    /// [`crate::wire::SessionUpdate::ShellOutput`].
    UserShellCommand {
        /// The command.
        command: String,
        /// The folder that it runs in.
        #[serde(skip_serializing_if = "Option::is_none")]
        cwd: Option<String>,
    }
    /// Data of `user_shell_result`: the command of a person has ended.
    UserShellResult {
        /// Its exit code; absent if it was ended by a signal or did not start.
        exit_code: Option<i64>,
        /// The signal that ended it, by name or by number.
        signal: Option<Value>,
        /// Whether it was cancelled.
        #[serde(default)]
        aborted: bool,
        /// Why it did not start.
        #[serde(skip_serializing_if = "Option::is_none")]
        error: Option<String>,
    }
    /// Data of `mid_turn_message_injected`: the agent has read messages that were sent during a turn.
    MidTurnMessagesRead {
        /// The texts.
        messages: Vec<String>,
        /// The ids that the daemon gave them when they were sent, in the same order.
        #[serde(skip_serializing_if = "Option::is_none")]
        message_ids: Option<Vec<String>>,
        /// The content blocks of each message, in the same order.
        #[serde(skip_serializing_if = "Option::is_none")]
        items: Option<Vec<MidTurnMessageRead>>,
    }
    /// The content of a message that was sent during a turn.
    MidTurnMessageRead {
        /// Its blocks; absent if it was only text.
        #[serde(skip_serializing_if = "Option::is_none")]
        content: Option<Vec<ContentBlock>>,
    }
    /// Data of `artifact_changed`: something that the agent made for the person was created, changed
    /// or removed.
    ArtifactChanged {
        /// The session that it belongs to.
        #[serde(skip_serializing_if = "Option::is_none")]
        session_id: Option<SessionId>,
        /// What happened to it.
        change: ArtifactChange,
    }
    /// What happened to an artifact.
    ArtifactChange {
        /// `created`, `updated` or `removed`.
        action: String,
        /// The artifact.
        artifact_id: String,
        /// Its description as the artifact routes send it, which are not ours.
        #[serde(skip_serializing_if = "Option::is_none")]
        artifact: Option<Value>,
        /// Why it was removed: `explicit`, `eviction` and others.
        #[serde(skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
    }
    /// Data of `source_changed`: the list of the session's sources has another revision.
    SourceChanged {
        /// The session that the sources belong to.
        #[serde(skip_serializing_if = "Option::is_none")]
        session_id: Option<SessionId>,
        /// The revision of the list now.
        revision: u64,
    }
    /// Data of `channel_delivery_result`: a text was handed to a chat network, or could not be.
    ChannelDeliveryResult {
        /// The session that sent it.
        #[serde(skip_serializing_if = "Option::is_none")]
        session_id: Option<SessionId>,
        /// The delivery.
        delivery_id: String,
        /// What caused it: `prompt` or `scheduled`.
        #[serde(skip_serializing_if = "Option::is_none")]
        source: Option<String>,
        /// `delivered`, `failed` or `skipped`.
        status: String,
        /// The prompt that caused it.
        #[serde(skip_serializing_if = "Option::is_none")]
        prompt_id: Option<PromptId>,
        /// The scheduled task that caused it.
        #[serde(skip_serializing_if = "Option::is_none")]
        task_id: Option<String>,
        /// When that task fired, in milliseconds since the Unix epoch.
        #[serde(skip_serializing_if = "Option::is_none")]
        fired_at: Option<u64>,
        /// The daemon's code for what failed.
        #[serde(skip_serializing_if = "Option::is_none")]
        code: Option<ErrorCode>,
        /// What failed.
        #[serde(skip_serializing_if = "Option::is_none")]
        error: Option<String>,
    }
    /// Data of `terminal_sequence`: a hook wants the terminal of the person to do something.
    TerminalSequence {
        /// The control characters as the hook wrote them. Nobody has checked them: they must not
        /// reach a terminal.
        terminal_sequence: String,
    }
}

impl PermissionResolved {
    /// The outcome, if this version knows its kind.
    pub fn known_outcome(&self) -> Option<PermissionOutcome> {
        PermissionOutcome::deserialize(self.outcome.as_ref()?).ok()
    }
}
