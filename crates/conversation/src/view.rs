//! What pages and editors are told of a conversation: the whole list.
//!
//! Everything in here was let out by a backend, field by field, or is our own words. All text is
//! untrusted and has to be shown as text. How it is written as JSON is the matter of the crate
//! `wire`.

use std::sync::Arc;

use companion::agents::Mode;
use text::show::one_line;

use crate::attachment::Attachment;
use crate::names::StepStatus;
use crate::requests::AgentRequest;
use crate::tools::{HostPath, ToolCall};
use crate::trouble::Trouble;

/// The whole conversation at one moment.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Snapshot {
    /// Whether older entries were not kept.
    pub shortened: bool,
    /// Connection, model, mode, queue and the like.
    pub status: ConversationStatus,
    /// What waits for the person, oldest first.
    pub requests: Vec<AgentRequest>,
    /// What was said and done, oldest first.
    pub entries: Vec<Arc<TranscriptEntry>>,
}

/// One step from a [`Snapshot`] to the next.
#[derive(Clone, Debug, PartialEq)]
pub enum Change {
    /// This entry is new, or replaces the one with its number.
    Put(Arc<TranscriptEntry>),
    /// What is said in an entry goes on.
    Append {
        /// The number of the entry.
        id: u64,
        /// What is added to its text.
        text: String,
    },
    /// Entries with a smaller number are not kept any more.
    Shorten {
        /// The number of the oldest that is.
        first: u64,
    },
    /// All entries are gone; what follows is the conversation anew.
    Clear,
    /// The whole status, because something in it changed.
    Status(Box<ConversationStatus>),
    /// All requests that wait, because one came, went or changed.
    Requests(Vec<AgentRequest>),
}

impl Change {
    /// About how many bytes it takes, always the same for the same change.
    pub fn size(&self) -> usize {
        match self {
            Change::Put(entry) => crate::transcript::size(&entry.content),
            Change::Append { text, .. } => text.len(),
            Change::Requests(requests) => requests.iter().map(|it| it.tool.size()).sum(),
            Change::Shorten { .. } | Change::Clear | Change::Status(_) => 0,
        }
    }
}

/// Something that was said or done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TranscriptEntry {
    /// Its number; later ones have larger ones.
    pub id: u64,
    /// What was said or done.
    pub content: EntryContent,
}

/// What was said or done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EntryContent {
    /// Somebody said something.
    Said {
        /// Who spoke.
        speaker: Speaker,
        /// The words.
        text: String,
    },
    /// Somebody attached something to what they said.
    Attached {
        /// Who did.
        speaker: Speaker,
        /// What it is.
        attachment: Attachment,
    },
    /// A tool is used.
    Tool(ToolCall),
    /// What the agent is going to do.
    Plan(Vec<PlanStep>),
    /// A turn ended in a way that is worth a line.
    Ended {
        /// How it ended.
        outcome: TurnOutcome,
        /// Whether it was the turn of a background task that nobody prompted.
        background: bool,
    },
    /// Something that the person should know, in our words.
    Note(String),
}

/// Who says something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Speaker {
    /// The person here.
    Me,
    /// A person at another client, or at this one before it was started again.
    Other,
    /// The agent.
    Agent,
    /// The agent, to itself.
    Thought,
    /// A task of the agent that goes on in the background.
    Task,
}

/// A step of a plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlanStep {
    /// What is to be done.
    pub text: String,
    /// How far it is.
    pub status: Option<StepStatus>,
}

/// Something that the person should know about the conversation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Notice {
    /// The agent can no longer write the conversation down.
    NotRecorded,
    /// Somebody made a copy of the conversation, to go on from there.
    Branched {
        /// What the copy is called.
        title: String,
    },
    /// The agent works in another folder from now on.
    FolderChanged {
        /// The folder.
        folder: HostPath,
    },
    /// Something came that this program does not show.
    NotShown {
        /// What the agent calls it.
        kind: String,
    },
}

impl Notice {
    /// The sentence that a person reads.
    pub fn words(&self) -> String {
        match self {
            Self::NotRecorded => "The agent cannot write this conversation to its disk any more. \
                                  What is said from here on will be missing when it is opened again."
                .into(),
            Self::Branched { title } => format!(
                "A copy of this conversation was made: {title}. It is in the list of conversations."
            ),
            Self::FolderChanged { folder } => {
                format!("The agent works in {} from here on.", folder.path)
            }
            Self::NotShown { kind } => {
                format!("Something is not shown here, because this version does not know it: {kind}.")
            }
        }
    }
}

/// How a turn ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TurnOutcome {
    /// The agent had nothing more to say, or had to stop.
    Complete {
        /// What made it stop before it was done, as the agent calls it.
        early: Option<String>,
    },
    /// Somebody cancelled it.
    Cancelled,
    /// The model or the agent failed.
    Failed {
        /// The agent's number for the failure. Its words may quote an address or a key.
        code: Option<String>,
    },
    /// The agent's process ended first.
    Interrupted,
    /// Nobody can tell.
    Unknown,
}

impl TurnOutcome {
    /// Why it ended like this, for people; the usual end needs no words.
    pub fn why(&self) -> Option<String> {
        match self {
            Self::Complete { early } => early.clone(),
            Self::Failed { code: Some(code) } => {
                Some(format!("the model or the agent failed ({code})"))
            }
            Self::Failed { code: None } => Some("the model or the agent failed".into()),
            Self::Interrupted => Some("the daemon ended before the turn did".into()),
            Self::Cancelled | Self::Unknown => None,
        }
    }
}

/// Connection, model, mode, queue and the like.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ConversationStatus {
    /// Whether there is a connection.
    pub connection: ConnectionState,
    /// Where the agent works.
    pub place: Option<AgentPlace>,
    /// Whether the daemon was started from here, and ends with us.
    pub managed: bool,
    /// What the conversation is called.
    pub title: Option<String>,
    /// Whether a turn is running.
    pub busy: bool,
    /// Prompts that wait for their turn.
    pub queue: Vec<QueuedPrompt>,
    /// The model in use.
    pub model: Option<String>,
    /// The models to choose from.
    pub models: Vec<Choice>,
    /// What the agent may do without asking.
    pub mode: Option<String>,
    /// The modes to choose from.
    pub modes: Vec<Choice>,
    /// What can be said with a slash before it, and what it does.
    pub commands: Vec<(String, Option<String>)>,
    /// How much of the model's window is used.
    pub usage: Option<Usage>,
    /// What the person might want to say next.
    pub suggestion: Option<String>,
}

impl ConversationStatus {
    /// Whether the agent may write files without asking the person: in a mode that is not known to ask,
    /// which a newer agent may have. Nothing is said before the agent has told its mode.
    pub fn is_unasking(&self) -> bool {
        let asks = |mode: &str| Mode::named(mode).is_some_and(|mode| mode.asks);
        self.mode.as_deref().is_some_and(|mode| !asks(mode))
    }
}

/// Whether there is a connection.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum ConnectionState {
    /// Nobody asked for one.
    #[default]
    Off,
    /// What holds the agent is being started.
    Starting,
    /// It is being made.
    Connecting,
    /// It stands, and what happened before is on its way.
    CatchingUp,
    /// It stands.
    Live,
    /// It broke, and is being made again.
    Reconnecting,
    /// It is over.
    Lost(EndReason),
    /// It could not be made.
    Failed(Trouble),
}

macro_rules! end_reasons {
    ($($(#[$doc:meta])* $reason:ident = $name:literal, $words:literal, $can_retry:literal;)+) => {
        /// Why a connection is over.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum EndReason {
            $($(#[$doc])* $reason,)+
        }

        impl EndReason {
            /// All of them.
            pub const ALL: &[EndReason] = &[$(Self::$reason),+];

            /// The name that programs know it by.
            pub fn as_str(self) -> &'static str {
                match self {
                    $(Self::$reason => $name,)+
                }
            }

            /// The sentence that a person reads.
            pub fn words(self) -> &'static str {
                match self {
                    $(Self::$reason => $words,)+
                }
            }

            /// Whether it makes sense to offer the person to connect again.
            pub fn can_retry(self) -> bool {
                match self {
                    $(Self::$reason => $can_retry,)+
                }
            }
        }
    };
}

end_reasons!(
    /// We left, or connected anew.
    Left = "left", "You disconnected.", true;
    /// Somebody closed the conversation.
    Closed = "closed", "Somebody closed this conversation.", true;
    /// The agent's process ended; connecting again brings the conversation back.
    Died = "died", "The agent behind the daemon ended.", true;
    /// The other side has no such conversation any more.
    Forgotten = "lost", "The daemon does not know this conversation any more.", false;
    /// The other side refuses us.
    Refused = "refused", "The daemon does not let us in any more.", false;
    /// There was no answer for too long.
    Unreachable = "unreachable", "The daemon could not be reached for too long.", true;
);

/// Where the agent works. Files, MCP servers, skills and credentials are those of that place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AgentPlace {
    /// The machine's name.
    pub machine: Option<String>,
    /// The folder.
    pub workspace: HostPath,
    /// The version of the daemon or the agent.
    pub version: Option<String>,
}

impl AgentPlace {
    /// What a person should know about that place: where it is, and what is used from there. All that
    /// we know of the machine is that the agent is reached on this one, and a port can be forwarded.
    pub fn locality(&self) -> [String; 2] {
        let machine = match &self.machine {
            Some(machine) => format!("on {}", one_line(machine)),
            None => "on this machine".into(),
        };
        [
            format!(
                "The agent works where its daemon runs: {machine}, or where a forwarded port leads, in \
                 {}. Files, MCP servers, skills and credentials are those of that place.",
                one_line(&self.workspace.path)
            ),
            "Nothing goes along from here: no extension of your editor, no profile of your browser. \
             Services on localhost, SSH keys and cluster credentials are those of that place, too."
                .into(),
        ]
    }
}

/// A prompt that waits for its turn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueuedPrompt {
    /// The backend's name for it.
    pub prompt: String,
    /// Its text, if the backend tells.
    pub text: Option<String>,
}

/// A model or a mode to choose.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Choice {
    /// What a command names it by.
    pub id: String,
    /// What the person reads.
    pub name: String,
}

/// How much of the model's window is used, in tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Usage {
    /// Tokens in use.
    pub used: u64,
    /// Tokens that fit.
    pub size: u64,
}

/// An earlier conversation in this folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EarlierSession {
    /// What to open it by. The agent's own id for it stays here.
    pub key: u64,
    /// What it is called.
    pub title: Option<String>,
    /// When something last happened in it, as the agent says it.
    pub updated_at: Option<String>,
    /// Whether a turn is running in it.
    pub busy: bool,
    /// Whether it is the one that is shown.
    pub current: bool,
}
