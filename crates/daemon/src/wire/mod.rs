//! What stands on the wire, and the only place where it becomes something to rely on.
//!
//! Three rules hold for every type here. Whatever the daemon may leave out is an `Option` or has a
//! default. Names that must be usable (ids) are checked while they are read. And nothing that is
//! not understood is thrown away: each object keeps its unknown fields in `rest`, each list of
//! names has an `Other`, so that a value that is written again equals the one that was read.

mod block;
mod capabilities;
mod choices;
mod ids;
mod names;
mod permission;
mod sessions;
mod turns;
mod update;

pub use block::{ContentBlock, Diff, ToolContent};
pub use capabilities::{
    Capabilities, DaemonProcess, DaemonStatus, Health, Limits, PolicyInfo, ProtocolVersions,
    WorkspaceInfo,
};
pub use choices::{
    ApprovalModeSet, ConfigState, Mode, ModeList, Model, ModelList, ModelSwitch, SessionContext,
};
pub use ids::{ClientId, Epoch, IdError, PromptId, RequestId, SessionId};
pub use names::{
    ApprovalMode, InteractionKind, OptionKind, PermissionPolicy, PlanStatus, PromptTerminalKind,
    QueueState, ResyncReason, SessionScope, StopReason, ToolKind, ToolStatus, TurnState,
};
pub use permission::{
    Ballot, Outcome, PendingInteraction, PermissionOption, PermissionRequest, Question,
    QuestionOption, Vote,
};
pub use sessions::{
    Heartbeat, Loaded, Metadata, NewSession, Opened, PageRequest, PromptTerminal, Restore,
    SessionPage, SessionSummary, Transcript, TranscriptRequest,
};
pub use turns::{Accepted, Admission, PendingPrompt, PromptRequest, TurnErrorInfo, TurnStatus};
pub use update::{
    AvailableCommand, AvailableCommands, CurrentMode, MessageChunk, Plan, PlanEntry, SessionInfo,
    SessionUpdate, ToolCall, ToolLocation, Usage,
};

/// The fields of an object that this version has no name for.
pub type Rest = serde_json::Map<String, serde_json::Value>;
