//! The daemon's JSON, and the only place where it becomes typed.
//!
//! Three rules hold for every type here. A field that the daemon may leave out is an `Option` or
//! has a default. Ids are validated while they are deserialised. And nothing is thrown away: each
//! object keeps its unknown fields in `rest`, and each enumeration has an `Other`, so that a value
//! that is serialised again equals the one that was read.

mod block;
mod capabilities;
mod choices;
mod ids;
mod names;
mod permission;
mod sessions;
mod turns;
mod update;

pub use block::{
    BlockContent, ContentBlock, Diff, EmbeddedResource, Media, ResourceLink, ToolContent,
};
pub use capabilities::{
    DaemonCapabilities, DaemonLimits, DaemonProcess, DaemonStatus, Health, PolicyInfo,
    ProtocolVersions, WorkspaceInfo,
};
pub use choices::{
    ApprovalModeSet, ConfigState, ModeInfo, ModeList, ModelInfo, ModelList, ModelSwitch,
    SessionContext,
};
pub use ids::{ClientId, Epoch, IdError, PromptId, RequestId, SessionId};
pub use names::{
    ApprovalMode, InteractionKind, OptionKind, PermissionPolicy, PlanStatus, PromptTerminalKind,
    QueueState, ResyncReason, SessionScope, StopReason, ToolKind, ToolStatus, TurnState,
};
pub use permission::{
    PendingInteraction, PermissionOption, PermissionOutcome, PermissionRequest, PermissionVote,
    Question, QuestionOption, VoteResult,
};
pub use sessions::{
    Heartbeat, LoadedSession, NewSession, OpenedSession, PageRequest, PromptTerminal,
    RestoreSession, SessionMetadata, SessionPage, SessionSummary, TranscriptPage,
    TranscriptRequest,
};
pub use turns::{
    AcceptedPrompt, PendingPrompt, PromptRequest, PromptResponse, TurnErrorInfo, TurnStatus,
};
pub use update::{
    AvailableCommand, AvailableCommands, ContextUsage, CurrentMode, MessageChunk, Plan, PlanEntry,
    SessionInfo, SessionUpdate, ShellOutput, ToolCall, ToolLocation,
};

/// Unknown fields of an object.
pub type Rest = serde_json::Map<String, serde_json::Value>;
