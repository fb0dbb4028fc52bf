//! Enumerations of the protocol. Each has an `Other`, because newer daemons send names that this
//! version does not know.

use std::fmt;

use serde::{Deserialize, Serialize};

macro_rules! names {
    ($(#[$doc:meta])* $name:ident { $($(#[$variant_doc:meta])* $variant:ident = $text:literal),+ $(,)? }) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
        #[serde(from = "String", into = "String")]
        #[non_exhaustive]
        pub enum $name {
            $($(#[$variant_doc])* $variant,)+
            /// A name that this version does not know.
            Other(String),
        }

        impl $name {
            /// The name on the wire.
            pub fn as_str(&self) -> &str {
                match self {
                    $(Self::$variant => $text,)+
                    Self::Other(name) => name,
                }
            }
        }

        impl From<String> for $name {
            fn from(name: String) -> Self {
                match name.as_str() {
                    $($text => Self::$variant,)+
                    _ => Self::Other(name),
                }
            }
        }

        impl From<&str> for $name {
            fn from(name: &str) -> Self {
                name.to_owned().into()
            }
        }

        impl From<$name> for String {
            fn from(name: $name) -> String {
                match name {
                    $name::Other(name) => name,
                    known => known.as_str().to_owned(),
                }
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(self.as_str())
            }
        }
    };
}

names!(
    /// Why a turn ended.
    StopReason {
        /// The model finished. Also after a rejected permission.
        EndTurn = "end_turn",
        /// A client cancelled the turn.
        Cancelled = "cancelled",
        /// The token limit was reached.
        MaxTokens = "max_tokens",
        /// The limit of model calls in one turn was reached.
        MaxTurnRequests = "max_turn_requests",
        /// The model refused to answer.
        Refusal = "refusal",
    }
);
names!(
    /// What the agent may do without asking.
    ApprovalMode {
        /// Read and plan; edits and commands that write are refused.
        Plan = "plan",
        /// Ask before edits, and before commands that do not only read.
        Default = "default",
        /// Edit without asking, ask before commands that do not only read.
        AutoEdit = "auto-edit",
        /// A model decides what is safe. The daemon's default.
        Auto = "auto",
        /// Never ask.
        Yolo = "yolo",
    }
);
names!(
    /// Whose vote on a permission request counts.
    PermissionPolicy {
        /// The first client that answers.
        FirstResponder = "first-responder",
        /// Only the client that sent the prompt.
        Designated = "designated",
        /// A majority of the clients that were registered when the request was made.
        Consensus = "consensus",
        /// Only clients on the daemon's machine.
        LocalOnly = "local-only",
    }
);
names!(
    /// Whether a new session may be shared.
    SessionScope {
        /// One session per workspace: creating again attaches to it.
        Single = "single",
        /// A session of its own.
        Thread = "thread",
    }
);
names!(
    /// What an option of a permission request means. Choose by this, never by the option's id.
    OptionKind {
        /// Allow this once.
        AllowOnce = "allow_once",
        /// Allow, and do not ask again.
        AllowAlways = "allow_always",
        /// Reject this once.
        RejectOnce = "reject_once",
        /// Reject, and do not ask again.
        RejectAlways = "reject_always",
    }
);
names!(
    /// What a tool does, roughly.
    ToolKind {
        /// Reads files or data.
        Read = "read",
        /// Changes files.
        Edit = "edit",
        /// Removes files.
        Delete = "delete",
        /// Moves files.
        Move = "move",
        /// Searches in files or elsewhere.
        Search = "search",
        /// Runs a command.
        Execute = "execute",
        /// Plans, or asks the user something.
        Think = "think",
        /// Fetches something from a network.
        Fetch = "fetch",
        /// Changes the approval mode.
        SwitchMode = "switch_mode",
    }
);
names!(
    /// The state of a tool call.
    ToolStatus {
        /// Announced; its arguments may still be incomplete.
        Pending = "pending",
        /// The tool is running.
        InProgress = "in_progress",
        /// The tool has finished.
        Completed = "completed",
        /// The tool failed, or the user rejected it.
        Failed = "failed",
    }
);
names!(
    /// The state of a step of a plan.
    PlanStatus {
        /// Not started.
        Pending = "pending",
        /// The agent is working on it.
        InProgress = "in_progress",
        /// The step is done.
        Completed = "completed",
    }
);
names!(
    /// The state of a turn, as the turns route sends it.
    TurnState {
        /// Waits for the turn before it.
        Queued = "queued",
        /// The agent is working on it.
        Running = "running",
        /// The turn ran to its end.
        Completed = "completed",
        /// A client cancelled it.
        Cancelled = "cancelled",
        /// The turn failed.
        Error = "error",
    }
);
names!(
    /// The state of a queued prompt.
    QueueState {
        /// Waits for the turn before it.
        Queued = "queued",
        /// Its turn is running.
        Running = "running",
        /// Its turn has ended.
        Completed = "completed",
        /// It was removed before its turn began.
        Removed = "removed",
    }
);
names!(
    /// How a prompt ended, as the transcript holds it.
    PromptTerminalKind {
        /// It ran to its end, or was cancelled.
        Completed = "completed",
        /// Its turn failed.
        Error = "error",
        /// The daemon ended during the turn.
        Interrupted = "interrupted",
        /// A client cancelled it.
        Cancelled = "cancelled",
    }
);
names!(
    /// What a pending interaction asks for.
    InteractionKind {
        /// A permission for a tool call.
        Permission = "permission",
        /// Answers to questions.
        UserQuestion = "user_question",
    }
);
names!(
    /// Why the daemon cannot continue a stream from the cursor.
    ResyncReason {
        /// The daemon no longer keeps the events after the cursor.
        RingEvicted = "ring_evicted",
        /// The cursor belongs to another epoch.
        EpochReset = "epoch_reset",
    }
);
names!(
    /// What a path of the daemon's folder is.
    FileKind {
        /// A file.
        File = "file",
        /// A folder.
        Directory = "directory",
        /// A link, which is not followed.
        Symlink = "symlink",
    }
);
names!(
    /// What a background task is.
    TaskKind {
        /// An agent that works for the agent.
        Agent = "agent",
        /// A command.
        Shell = "shell",
        /// Something that watches and reports.
        Monitor = "monitor",
        /// A workflow of several agents.
        Workflow = "workflow",
    }
);
