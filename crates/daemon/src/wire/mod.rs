//! The daemon's JSON, and the only place where it becomes typed.
//!
//! Three rules hold for every type here. A field that the daemon may leave out is an `Option` or
//! has a default. Ids are validated while they are deserialised. And nothing is thrown away: each
//! object keeps its unknown fields in `rest`, and each enumeration has an `Other`, so that a value
//! that is serialised again says what the one that was read did. A field that was null may be absent
//! then.

mod attachments;
mod block;
mod capabilities;
mod choices;
mod diagnostics;
mod files;
mod hidden;
mod history;
mod ids;
mod mid_turn;
mod names;
mod path;
mod permission;
mod sessions;
mod tasks;
mod turns;
mod update;
mod usage;

pub use attachments::{Attachment, AttachmentContent, NewAttachment};
pub use block::{
    BlockContent, ContentBlock, Diff, EmbeddedResource, Media, ResourceLink, ToolContent,
};
pub use capabilities::{
    DaemonCapabilities, DaemonLimits, DaemonProcess, DaemonStatus, Health, PolicyInfo,
    ProtocolVersions, WorkspaceInfo,
};
pub use choices::{
    ApprovalModeSet, ConfigState, ModeInfo, ModeList, ModelInfo, ModelList, ModelSet,
    SessionContext,
};
pub use diagnostics::{
    CurrentModel, DiagnosticError, EnvironmentCell, McpResource, McpResourceList, McpServer,
    McpServerList, McpTool, McpToolList, ModelProvider, PreflightCell, ProviderList, ProviderModel,
    Skill, SkillList, ToolInfo, ToolList, WorkspaceEnvironment, WorkspacePreflight,
};
pub use files::{
    ByteRange, FileBytes, FileStat, FileText, FolderEntry, FolderListing, GlobMatches, GlobRequest,
    TextRange,
};
pub use hidden::Hidden;
pub use history::{
    BranchOrigin, BranchResponse, DiffStats, RewindFiles, RewindPoint, RewindPointList,
    RewindResponse,
};
pub use ids::{
    AttachmentId, ClientId, Epoch, IdError, PromptId, RequestId, RewindPointId, SessionId, TaskId,
};
pub use mid_turn::{MidTurnMessage, MidTurnQueue, MidTurnReceipt, WaitingMessage};
pub use names::{
    ApprovalMode, FileKind, InteractionKind, OptionKind, PermissionPolicy, PlanStatus,
    PromptTerminalKind, QueueState, ResyncReason, SessionScope, StopReason, TaskKind, ToolKind,
    ToolStatus, TurnState,
};
pub use path::{RelativePath, RelativePathError};
pub use permission::{
    PendingInteraction, PermissionOption, PermissionOutcome, PermissionRequest, PermissionVote,
    Question, QuestionOption, VoteResult,
};
pub use sessions::{
    Heartbeat, LoadedSession, NewSession, OpenedSession, PageRequest, PromptTerminal,
    RestoreSession, SessionMetadata, SessionPage, SessionSummary, TranscriptPage,
    TranscriptRequest,
};
pub use tasks::{BackgroundTask, TaskCancelResponse, TaskList};
pub use turns::{
    AcceptedPrompt, PendingPrompt, PromptRequest, PromptResponse, TurnFailure, TurnStatus,
};
pub use update::{
    AvailableCommand, AvailableCommands, ContextUsage, CurrentMode, MessageChunk, Plan, PlanEntry,
    SessionInfo, SessionUpdate, ShellOutput, ToolCall, ToolLocation,
};
pub use usage::{
    ContextFile, ContextPart, ContextUsageReport, ContextWindow, SessionStats, SupportedCommands,
};

/// Unknown fields of an object.
pub type Rest = serde_json::Map<String, serde_json::Value>;
