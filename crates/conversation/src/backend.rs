//! The seam between a conversation and what holds the agent.
//!
//! A [`Backend`] holds one connection to one agent at a time: the `qwen serve` daemon
//! ([`daemon::DaemonBackend`]), or a child process that speaks ACP. The conversation's owner holds the
//! backend and is the only one that calls it.
//!
//! # How an implementation works
//!
//! *Calls.* The methods take `&mut self` and return at once. What takes time is in the [`Call`] that
//! they return, which owns what it needs and runs as a task of its own; so a slow answer holds up
//! neither events nor other calls. A backend that has to learn something from a finished call sends it
//! to itself over a channel and takes it in [`Backend::next`].
//!
//! *Events.* [`Backend::next`] is everything that happens, in order, over all connections. A
//! connection is told like this:
//!
//! ```text
//! Connected → History (if there is a past) → … → CaughtUp → what happens now → Disconnected
//! ```
//!
//! `Connected` comes before the call of [`Backend::connect`] returns. After `Disconnected` nothing
//! comes until the next `Connected`. A backend that reconnects by itself says `ConnectionLost` and
//! `ConnectionRestored` in between; `History` may come again whenever continuing where it was is not
//! possible. A backend over ACP sends `Connected`, then what `session/load` replays as one `History`,
//! then `CaughtUp`, and `Choices` from the modes and models in the answer of `session/new`.
//!
//! *Turns.* A turn of a prompt begins with `TurnBegan`, before the prompt is told with `Said` and
//! `Attached`. A prompt that was taken ends with exactly one `TurnEnded`, also if the agent dies. Tool
//! calls are told by id, and an update says only what changed. An agent that cannot take a prompt
//! while a turn runs needs a queue in its backend, told with `Queue`.
//!
//! *Requests.* A request that the person has to answer is told with `RequestOpened`, and once more
//! after a reconnect if it still waits. Whoever answers it, `RequestClosed` follows. What no person
//! could answer is declined by the backend, and `RequestDeclined` says so.
//!
//! *What is not shown.* Something that belongs to the conversation and cannot be told with these
//! events is said with `Notice`, once for each kind. Silence would pretend that all is there.
//!
//! *What may be told.* A page sees what is in events. So an event is put together from named fields,
//! never passed through: no addresses, tokens, headers, ids of sessions or of other clients, settings,
//! `_meta`, and no errors in the words of whoever made them. Texts are limited in length, lists in
//! number. Errors become a [`Trouble`] with a sentence of our own.

pub mod daemon;

use std::future::Future;
use std::path::PathBuf;
use std::pin::Pin;

use workbench::Agent;

use crate::attachment::Attachment;
use crate::names::QueueState;
use crate::requests::{AgentRequest, Reply};
use crate::tools::{HostPath, ToolCall};
use crate::trouble::Trouble;
use crate::view::{Choice, EndReason, Notice, PlanStep, Speaker, TurnOutcome, Usage};

/// A call that is under way. It runs to its end, whether or not anybody waits for it.
pub type Call<T> = Pin<Box<dyn Future<Output = Result<T, Trouble>> + Send>>;

/// What holds the agent. See the module for what an implementation has to keep to.
pub trait Backend: Send + 'static {
    /// The agent, for the review that its edits stand in.
    fn agent(&self) -> Agent;

    /// The next event; `None` when there will never be one again. It is dropped and asked again
    /// whenever a command comes, so it must lose nothing when it is dropped while it waits.
    fn next(&mut self) -> impl Future<Output = Option<BackendEvent>> + Send;

    /// Connects to a session, after leaving the one that is connected. Returns its id, which is kept
    /// for the next run and shown to nobody.
    fn connect(&mut self, session: SessionTarget) -> Call<String>;

    /// Starts what holds the agent, if that is a program of its own that has to run before one can
    /// connect. It ends with [`Backend::close`].
    fn launch(&mut self) -> Call<()>;

    /// Leaves the session. A turn that runs goes on where that is possible.
    fn disconnect(&mut self) -> Call<()>;

    /// Leaves the session, and ends what was launched. The program waits for this before it ends, so an
    /// agent that does not answer must not hold it up.
    fn close(&mut self) -> Call<()>;

    /// Hands a prompt over. Returns when it was taken; its end is an event.
    fn prompt(&mut self, parts: Vec<PromptPart>) -> Call<()>;

    /// Asks for the running turn to end. Without a connection there is nothing to do.
    fn cancel(&mut self) -> Call<()>;

    /// Takes a prompt out of the queue; whether it still was in it. `Queue` tells.
    fn withdraw(&mut self, prompt: String) -> Call<bool>;

    /// Switches the model; `ModelChanged` tells.
    fn set_model(&mut self, model: String) -> Call<()>;

    /// Changes what the agent may do without asking; `ModeChanged` tells.
    fn set_mode(&mut self, mode: String) -> Call<()>;

    /// Answers a request; whether the answer counts. Somebody else may have been faster. A reply that
    /// does not fit the request counts as a no.
    fn answer(&mut self, request: String, reply: Reply) -> Call<bool>;

    /// The sessions of this folder that can be connected to, newest first.
    fn list(&mut self) -> Call<Vec<ListedSession>>;

    /// Whether the agent sees a file at this absolute path. What is outside of its folder counts as
    /// absent.
    fn has_file(&mut self, path: PathBuf) -> Call<bool>;

    /// Files of the agent's folder whose path below it holds this text, in capitals or not, by their
    /// absolute paths; at most `limit`. What version control ignores is left out.
    fn find(&mut self, text: String, limit: u32) -> Call<Vec<PathBuf>>;

    /// A text file, as the agent sees it: for what is not here to read, because the agent works on
    /// another machine, in a container or as another user. `path` is absolute; what is not in the
    /// folder that the agent works in is refused, whatever folder the person works in by now. At most
    /// `limit` bytes; more is a trouble and not a part of it.
    fn read(&mut self, path: PathBuf, limit: u32) -> Call<String>;
}

/// Which session to connect to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SessionTarget {
    /// The one that everybody in this folder shares, where the backend has one; else a new one.
    Shared,
    /// A new one.
    New,
    /// An earlier one, from its beginning.
    Known {
        /// What the backend calls it.
        id: String,
        /// The mode that was chosen in it, for a session that has to be brought back: agents forget
        /// it. One that is live keeps its own. The backend's own choice if `None`.
        mode: Option<String>,
    },
}

/// A session as the backend lists it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedSession {
    /// What [`SessionTarget::Known`] names it by.
    pub id: String,
    /// What it is called.
    pub title: Option<String>,
    /// When something last happened in it, as the agent says it.
    pub updated_at: Option<String>,
    /// Whether a turn is running in it.
    pub busy: bool,
    /// Whether it is the one that is connected.
    pub current: bool,
}

/// A part of a prompt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PromptPart {
    /// What the person says.
    Text(String),
    /// A text that goes with it.
    Attachment {
        /// The `file:` URI of where it comes from.
        uri: String,
        /// The text.
        text: String,
    },
}

/// A change to a file, whole and as the agent has it. It goes into the review and nowhere else.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edit {
    /// The file.
    pub path: String,
    /// The text before; absent for a new file.
    pub before: Option<String>,
    /// The text after.
    pub after: String,
}

/// What became of the files when a conversation was taken back, as paths where the agent runs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RestoredFiles {
    /// Those that are as they were at that point.
    pub restored: Vec<String>,
    /// Those that could not be put back.
    pub failed: Vec<String>,
}

/// The models and modes to choose from, and those in use. What is absent is as it was.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Choices {
    /// The models to choose from.
    pub models: Option<Vec<Choice>>,
    /// The model in use.
    pub model: Option<String>,
    /// The modes to choose from.
    pub modes: Option<Vec<Choice>>,
    /// The mode in force.
    pub mode: Option<String>,
}

/// Something that happens. All text in it is untrusted: it must be shown as text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BackendEvent {
    /// A connection stands. What follows belongs to it.
    Connected {
        /// The version of the daemon or the agent.
        version: Option<String>,
        /// The folder that the agent works in.
        workspace: HostPath,
    },
    /// The models and modes to choose from.
    Choices(Choices),
    /// What was shown is replaced by this, and what follows continues it. Requests that are still open
    /// are not part of it; they are told on their own.
    History {
        /// The conversation so far.
        events: Vec<BackendEvent>,
        /// Whether a turn is running.
        busy: bool,
        /// Whether older parts are missing.
        incomplete: bool,
    },
    /// Somebody says something. What the agent says comes in pieces, and each piece continues the one
    /// before it.
    Said {
        /// Who speaks.
        speaker: Speaker,
        /// The words, or a piece of them.
        text: String,
    },
    /// A turn of a prompt begins. What the person says and attaches next is the prompt. It is told for
    /// each turn of the history, too, so that `Rewound` can count them.
    TurnBegan,
    /// Somebody attaches something to what they say.
    Attached {
        /// Who does.
        speaker: Speaker,
        /// What it is.
        attachment: Attachment,
    },
    /// The conversation was taken back: the agent has forgotten this turn, counted from 0, and all
    /// that came after it.
    Rewound {
        /// The first turn that is forgotten.
        turn: usize,
        /// The files that were put back, and those that could not be.
        files: RestoredFiles,
    },
    /// The person should know this about the conversation. Told once for each connection.
    Notice(Notice),
    /// A tool call, or what changed about one.
    Tool(ToolCall),
    /// The agent's plan; replaces the one before.
    Plan(Vec<PlanStep>),
    /// What can be said with a slash before it, and what it does; replaces the list before.
    Commands(Vec<(String, Option<String>)>),
    /// How much of the model's window is used.
    Usage(Usage),
    /// The agent asks for permission, or for answers.
    RequestOpened {
        /// The request, as it is shown.
        request: Box<AgentRequest>,
        /// The edits that need the permission, for the review.
        edits: Vec<Edit>,
    },
    /// A request is over, whoever answered it.
    RequestClosed {
        /// The request's id.
        request: String,
        /// Whether it was our own answer.
        by_me: bool,
        /// The answer, where the agent says which one it was.
        reply: Option<Reply>,
    },
    /// A request that no person could have answered was declined, so that the agent can go on.
    RequestDeclined {
        /// The request's id.
        request: String,
    },
    /// Several have to agree, and one more has voted.
    VoteCounted {
        /// The request's id.
        request: String,
        /// How many have voted.
        received: Option<u64>,
        /// How many are needed.
        needed: Option<u64>,
    },
    /// A turn is over. Told once for each prompt of ours, and for those of others.
    TurnEnded {
        /// The prompt that began it, if that is known.
        prompt: Option<String>,
        /// How it ended.
        outcome: TurnOutcome,
        /// Whether it was the turn of a background task that nobody prompted.
        background: bool,
    },
    /// A prompt waits, begins or is done.
    Queue {
        /// The backend's name for the prompt.
        prompt: String,
        /// Its text, if that is known.
        text: Option<String>,
        /// How far it is.
        state: QueueState,
    },
    /// Another model is in use.
    ModelChanged {
        /// The model's id.
        model: String,
    },
    /// A model could not be used.
    ModelRefused {
        /// The model's id, if that is known.
        model: Option<String>,
    },
    /// Another mode is in force.
    ModeChanged {
        /// The mode's id.
        mode: String,
    },
    /// The conversation has a title.
    TitleChanged {
        /// The title.
        title: String,
    },
    /// What the person might want to say next.
    Suggestion {
        /// The text.
        text: String,
    },
    /// The agent is out of reach for the moment. The backend tries to get it back.
    ConnectionLost,
    /// It is back. What was missed follows, then `CaughtUp`.
    ConnectionRestored,
    /// Everything that had happened before has been told; what follows happens now.
    CaughtUp,
    /// Something came that could not be read, or did not come at all. It is lost.
    EventsLost,
    /// The connection is over. Nothing follows until the next one.
    Disconnected(EndReason),
}
