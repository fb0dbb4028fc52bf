//! Closed lists in the documents, open lists in reality: every one has room for a new name.

use std::fmt;

use serde::{Deserialize, Serialize};

macro_rules! names {
    ($(#[$doc:meta])* $name:ident { $($(#[$variant_doc:meta])* $variant:ident = $text:literal),+ $(,)? }) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
        #[serde(from = "String", into = "String")]
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
        /// The model had nothing more to say. Also after a refused permission.
        EndTurn = "end_turn",
        /// Somebody cancelled it.
        Cancelled = "cancelled",
        /// The model ran out of tokens.
        MaxTokens = "max_tokens",
        /// The turn took too many model calls.
        MaxTurnRequests = "max_turn_requests",
        /// The model refused.
        Refusal = "refusal",
    }
);
names!(
    /// What the agent may do without asking.
    ApprovalMode {
        /// Look, but change nothing.
        Plan = "plan",
        /// Ask before edits and commands.
        Default = "default",
        /// Edit without asking, ask for commands.
        AutoEdit = "auto-edit",
        /// A model decides what is safe. The daemon's default.
        Auto = "auto",
        /// Never ask.
        Yolo = "yolo",
    }
);
names!(
    /// Whose vote on a permission counts.
    PermissionPolicy {
        /// The first client that answers.
        FirstResponder = "first-responder",
        /// Only the client that sent the prompt.
        Designated = "designated",
        /// More than half of the clients that were there when it was asked.
        Consensus = "consensus",
        /// Only clients on the daemon's machine.
        LocalOnly = "local-only",
    }
);
names!(
    /// Whether a new session may be shared.
    SessionScope {
        /// One session per workspace: creating again attaches.
        Single = "single",
        /// A session of its own.
        Thread = "thread",
    }
);
names!(
    /// What an option of a permission request means. Choose by this, never by the option's id.
    OptionKind {
        /// Yes, this time.
        AllowOnce = "allow_once",
        /// Yes, and do not ask again.
        AllowAlways = "allow_always",
        /// No, this time.
        RejectOnce = "reject_once",
        /// No, and do not ask again.
        RejectAlways = "reject_always",
    }
);
names!(
    /// What a tool does, roughly.
    ToolKind {
        /// Reads.
        Read = "read",
        /// Changes files.
        Edit = "edit",
        /// Removes files.
        Delete = "delete",
        /// Moves files.
        Move = "move",
        /// Searches.
        Search = "search",
        /// Runs a command.
        Execute = "execute",
        /// Thinks, plans, or asks the person something.
        Think = "think",
        /// Gets something from a network.
        Fetch = "fetch",
        /// Changes the approval mode.
        SwitchMode = "switch_mode",
    }
);
names!(
    /// How far a tool call is.
    ToolStatus {
        /// Announced; its arguments may still be incomplete.
        Pending = "pending",
        /// Running.
        InProgress = "in_progress",
        /// Done.
        Completed = "completed",
        /// Failed, or refused by a person.
        Failed = "failed",
    }
);
names!(
    /// How far a step of a plan is.
    PlanStatus {
        /// Not begun.
        Pending = "pending",
        /// Being done.
        InProgress = "in_progress",
        /// Done.
        Completed = "completed",
    }
);
names!(
    /// How far a turn is, as the turns route tells it.
    TurnState {
        /// Waiting for the one before it.
        Queued = "queued",
        /// Running.
        Running = "running",
        /// Over.
        Completed = "completed",
        /// Cancelled by somebody.
        Cancelled = "cancelled",
        /// Failed.
        Error = "error",
    }
);
names!(
    /// How far a queued prompt is.
    QueueState {
        /// Waiting.
        Queued = "queued",
        /// Running.
        Running = "running",
        /// Done.
        Completed = "completed",
        /// Taken out of the queue.
        Removed = "removed",
    }
);
names!(
    /// How a prompt ended, as the transcript remembers it.
    PromptTerminalKind {
        /// It ran to its end, or was cancelled.
        Completed = "completed",
        /// It failed.
        Error = "error",
        /// The daemon ended before the turn did.
        Interrupted = "interrupted",
        /// It was cancelled.
        Cancelled = "cancelled",
    }
);
names!(
    /// What kind of answer a pending interaction wants.
    InteractionKind {
        /// Yes or no.
        Permission = "permission",
        /// Answers to questions.
        UserQuestion = "user_question",
    }
);
names!(
    /// Why the daemon cannot continue a stream where it was left.
    ResyncReason {
        /// The events in between are no longer kept.
        RingEvicted = "ring_evicted",
        /// The numbers belong to another generation.
        EpochReset = "epoch_reset",
    }
);
