//! The connection of an editor, or of a page, to a conversation.
//!
//! An [`IdeConnection`] is the handle to ask with; [`IdeEvents`] is everything that happens, in order.
//! The handle may be cloned and used from anywhere: one task, the actor, takes connects and
//! disconnects one after the other, so the last one that was asked for is the one that holds.
//!
//! ```no_run
//! use daemon::connection::{Answer, IdeConnection, IdeEvent, Options};
//! use daemon::wire::SessionUpdate;
//!
//! # async fn chat() -> Result<(), Box<dyn std::error::Error>> {
//! let (connection, mut events) = IdeConnection::new();
//! connection.connect(Options::default()).await?;
//! connection.send_prompt(&"What does this project do?".into()).await?;
//! while let Some(event) = events.next().await {
//!     match event {
//!         IdeEvent::Update { update: SessionUpdate::AgentMessage(chunk), .. } => {
//!             print!("{}", chunk.text());
//!         }
//!         // Not waiting here keeps the text flowing while the person thinks.
//!         IdeEvent::Asked(request) => {
//!             let connection = connection.clone();
//!             tokio::spawn(async move {
//!                 let person = async { Some(Answer::Allow) };
//!                 connection.decide(&request.id, person).await
//!             });
//!         }
//!         IdeEvent::TurnEnded { .. } | IdeEvent::Disconnected { .. } => break,
//!         _ => {}
//!     }
//! }
//! # Ok(())
//! # }
//! ```
//!
//! What a page may see of all this is decided by [`crate::sanitiser::Sanitiser`], nowhere else.

mod actor;
mod answers;
mod events;
mod pump;
mod requests;
mod setup;

use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::{Semaphore, mpsc, oneshot};

use crate::address::Address;
use crate::client::DaemonClient;
use crate::error::DaemonError;
use crate::http::Timeouts;
use crate::session::{Parting, ResumeState, Session, Settings, TurnEnd};
use crate::token::Token;
use crate::wire::{ApprovalMode, Capabilities, PromptId, PromptRequest, SessionContext, SessionId};
use actor::{Actor, Command};
use events::Outbox;
use pump::Message;
use requests::Requests;

pub use answers::{Answer, Answered, Request};
pub use events::{Closing, Departure, IdeEvent, IdeEvents};
pub use setup::{ConnectError, SetupError};

/// How many connects and disconnects may wait for their turn. A caller that finds no room waits.
const COMMANDS: usize = 16;

/// Which conversation to have.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Conversation {
    /// The one that everybody in this folder shares; made if there is none.
    #[default]
    Shared,
    /// A new one.
    New,
    /// An earlier one, live or from disk, from its beginning.
    Known(SessionId),
    /// An earlier one, from where an earlier connection was.
    Resume(ResumeState),
}

/// Where to connect to, and how.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// The daemon.
    pub address: Address,
    /// The secret it was started with.
    pub token: Option<Token>,
    /// The folder that the person works in. It is compared with the daemon's own, because a daemon
    /// that finds its port taken moves on, and the one that answers may be somebody else's.
    pub workspace: Option<PathBuf>,
    /// Which conversation.
    pub conversation: Conversation,
    /// The model to start with. Beware: the daemon writes it into the person's settings.
    pub model: Option<String>,
    /// What the agent may do without asking.
    pub approval_mode: Option<ApprovalMode>,
    /// How to part when another connect replaces this one.
    pub parting: Parting,
    /// How patient and how large the session is.
    pub settings: Settings,
    /// How long a request may take.
    pub timeouts: Timeouts,
}

/// What was connected to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Connected {
    /// The conversation.
    pub session: SessionId,
    /// What the daemon is and can do.
    pub capabilities: Capabilities,
}

/// Why something could not be asked of the daemon.
#[derive(Debug, thiserror::Error)]
pub enum CallError {
    /// There is no connection.
    #[error("not connected to a daemon")]
    NotConnected,
    /// The daemon did not do it.
    #[error(transparent)]
    Daemon(#[from] DaemonError),
}

/// A prompt on its way. Dropping it changes nothing; its end is an event too.
#[derive(Debug)]
pub struct SentPrompt {
    id: Option<PromptId>,
    end: oneshot::Receiver<TurnEnd>,
}

impl SentPrompt {
    /// Its id; unknown for a daemon that only answers when the turn is over.
    pub fn id(&self) -> Option<&PromptId> {
        self.id.as_ref()
    }

    /// Waits for the end of its turn, whether or not anybody takes the events.
    pub async fn end(self) -> TurnEnd {
        let lost = || TurnEnd::Unknown {
            why: "the connection was dropped".into(),
        };
        self.end.await.unwrap_or_else(|_| lost())
    }
}

/// A handle to the one conversation that an editor or a page has. Clones share it; when the last
/// one is dropped, the connection ends and the conversation goes on without us.
#[derive(Clone, Debug)]
pub struct IdeConnection {
    commands: mpsc::Sender<Command>,
    shared: Arc<Shared>,
}

/// What the handles, the actor and the pump share.
#[derive(Debug)]
struct Shared {
    live: Mutex<Option<Live>>,
    /// Where the last connection was when it ended.
    left_at: Mutex<Option<ResumeState>>,
    outbox: Outbox,
}

/// A connection that stands.
#[derive(Clone, Debug)]
struct Live {
    /// Tells one connection from the next.
    number: u64,
    session: Session,
    requests: Arc<Requests>,
    messages: mpsc::UnboundedSender<Message>,
    /// How much may wait for the consumer of the events; closed when waiting makes no more sense.
    room: Arc<Semaphore>,
}

impl IdeConnection {
    /// A connection to nothing yet. Needs a running tokio runtime.
    pub fn new() -> (IdeConnection, IdeEvents) {
        let (commands, receiver) = mpsc::channel(COMMANDS);
        let (outbox, events) = events::channel();
        let shared = Arc::new(Shared {
            live: Mutex::default(),
            left_at: Mutex::default(),
            outbox,
        });
        tokio::spawn(Actor::new(shared.clone(), receiver).run());
        (IdeConnection { commands, shared }, events)
    }

    /// Connects, after everything that was asked for before. What was connected is parted from
    /// first, also if this attempt fails.
    ///
    /// Nothing is tried twice: what keeps a person from connecting comes back with a hint.
    pub async fn connect(&self, options: Options) -> Result<Connected, ConnectError> {
        let ask = |tell| Command::Connect(Box::new(options), tell);
        self.ask(ask).await.unwrap_or(Err(ConnectError::Over))
    }

    /// Connects as the last time, to the same conversation, from where it was left.
    pub async fn reconnect(&self) -> Result<Connected, ConnectError> {
        self.ask(Command::Reconnect)
            .await
            .unwrap_or(Err(ConnectError::Over))
    }

    /// Parts from the conversation, after everything that was asked for before. The connection is
    /// over in any case; the result tells whether the daemon took our leave.
    pub async fn disconnect(&self, parting: Parting) -> Result<(), DaemonError> {
        let ask = |tell| Command::Disconnect(parting, tell);
        self.ask(ask).await.unwrap_or(Ok(()))
    }

    /// Says something. It is never sent twice, and ends exactly once.
    pub async fn send_prompt(&self, prompt: &PromptRequest) -> Result<SentPrompt, CallError> {
        let live = self.live()?;
        let turn = live.session.prompt(prompt).await?;
        let id = turn.id().cloned();
        let (tell, end) = oneshot::channel();
        let message = Message::Expect { turn, tell };
        if let Err(mpsc::error::SendError(Message::Expect { turn, tell })) =
            live.messages.send(message)
        {
            // The connection ended meanwhile, and with it the turn, as far as can be known.
            tokio::spawn(async move { tell.send(turn.end().await) });
        }
        Ok(SentPrompt { id, end })
    }

    /// Asks for the running turn to be cancelled. Without a connection there is nothing to do.
    pub async fn cancel(&self) -> Result<(), CallError> {
        match self.live() {
            Ok(live) => Ok(live.session.cancel().await?),
            Err(_) => Ok(()),
        }
    }

    /// Switches the model. The daemon's answer holds the provider's address and is not passed on;
    /// [`IdeEvent::ModelChanged`] tells.
    pub async fn set_model(&self, model: &str) -> Result<(), CallError> {
        self.live()?.session.set_model(model).await?;
        Ok(())
    }

    /// Changes what the agent may do without asking, for this conversation.
    pub async fn set_approval_mode(&self, mode: &ApprovalMode) -> Result<(), CallError> {
        self.live()?.session.set_approval_mode(mode, false).await?;
        Ok(())
    }

    /// The models and modes to choose from.
    pub async fn context(&self) -> Result<SessionContext, CallError> {
        Ok(self.live()?.session.context().await?)
    }

    /// What waits for the person, oldest first.
    pub fn pending(&self) -> Vec<Request> {
        self.live()
            .map(|live| live.requests.open())
            .unwrap_or_default()
    }

    /// The conversation, while there is a connection.
    pub fn session(&self) -> Option<SessionId> {
        Some(self.live().ok()?.session.id().clone())
    }

    /// What to remember to go on later: of the connection that stands, or of the last one. Valid
    /// for the events that have been taken, but for the few that wait in between.
    pub fn resume_state(&self) -> Option<ResumeState> {
        match self.live() {
            Ok(live) => Some(live.session.resume_state()),
            Err(_) => lock(&self.shared.left_at).clone(),
        }
    }

    fn live(&self) -> Result<Live, CallError> {
        lock(&self.shared.live)
            .clone()
            .ok_or(CallError::NotConnected)
    }

    async fn ask<T>(&self, command: impl FnOnce(oneshot::Sender<T>) -> Command) -> Option<T> {
        let (tell, told) = oneshot::channel();
        self.commands.send(command(tell)).await.ok()?;
        told.await.ok()
    }
}

impl Options {
    fn client(&self) -> DaemonClient {
        DaemonClient::new(self.address.clone(), self.token.clone()).with_timeouts(self.timeouts)
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
