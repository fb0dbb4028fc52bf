//! The connection of an editor, or of a page, to a session.
//!
//! An [`IdeConnection`] is the handle for requests; [`IdeEvents`] delivers what happens, in order.
//! The handle may be cloned and used from any task: one task, the actor, runs connects and
//! disconnects one after the other, so the last call decides.
//!
//! ```no_run
//! use daemon::connection::{ConnectOptions, IdeConnection, IdeEvent, UserAnswer};
//! use daemon::wire::SessionUpdate;
//!
//! # async fn chat() -> Result<(), Box<dyn std::error::Error>> {
//! let (connection, mut events) = IdeConnection::new();
//! connection.connect(ConnectOptions::default()).await?;
//! connection.send_prompt(&"What does this project do?".into()).await?;
//! while let Some(event) = events.next().await {
//!     match event {
//!         IdeEvent::Update { update: SessionUpdate::AgentMessage(chunk), .. } => {
//!             print!("{}", chunk.text());
//!         }
//!         // In a task of its own, so that events are read while the user decides.
//!         IdeEvent::RequestOpened(request) => {
//!             let connection = connection.clone();
//!             tokio::spawn(async move {
//!                 let person = async { Some(UserAnswer::Allow) };
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
//! Events hold everything that the daemon sends, including addresses, ids and messages of a model
//! provider. Code that shows them to others must pick the fields, and pass texts through a
//! [`crate::sanitiser::Sanitiser`].

mod actor;
mod answers;
mod events;
mod forwarder;
mod requests;
mod setup;

use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use tokio::sync::{Semaphore, mpsc, oneshot};

use crate::address::Address;
use crate::client::DaemonClient;
use crate::error::DaemonError;
use crate::http::Timeouts;
use crate::locked;
use crate::session::{DisconnectMode, ResumeState, Session, SessionSettings, TurnEnd};
use crate::token::Token;
use crate::wire::{
    ApprovalMode, DaemonCapabilities, PromptId, PromptRequest, SessionContext, SessionId,
};
use actor::{Actor, ConnectionCommand};
use events::EventSender;
use forwarder::ForwarderMessage;
pub(crate) use forwarder::translate;
use requests::OpenRequests;

pub use answers::{AnswerOutcome, InteractionRequest, UserAnswer};
pub use events::{CloseReason, DisconnectReason, IdeEvent, IdeEvents};
pub use setup::{ConnectError, SetupError};

/// How many connects and disconnects may be queued. A caller that finds the queue full waits.
const COMMANDS: usize = 16;

/// The session to connect to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum SessionChoice {
    /// The session that all clients of this workspace share; created if there is none.
    #[default]
    Shared,
    /// A new session.
    New,
    /// An existing session, live or on disk, with its whole history.
    Known(SessionId),
    /// An existing session, from the event where an earlier connection ended.
    Resume(ResumeState),
}

/// Where and how to connect.
#[derive(Clone, Debug, Default)]
pub struct ConnectOptions {
    /// The daemon's address.
    pub address: Address,
    /// The bearer token that the daemon was started with.
    pub token: Option<Token>,
    /// The folder that the user works in. It is compared with the daemon's, because a daemon that
    /// finds its port taken uses the next one, and the daemon on this port may serve another
    /// folder.
    pub workspace: Option<PathBuf>,
    /// The session to connect to.
    pub session: SessionChoice,
    /// The model to start with. The daemon also writes it into the user's settings.
    pub model: Option<String>,
    /// What the agent may do without asking. `None` leaves it to the daemon.
    pub approval_mode: Option<ApprovalMode>,
    /// How to leave this session when another connect replaces it.
    pub disconnect_mode: DisconnectMode,
    /// Reconnects, buffers and limits of the session.
    pub settings: SessionSettings,
    /// Timeouts of single requests.
    pub timeouts: Timeouts,
}

/// The result of a successful connect.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Connected {
    /// The session that was connected to.
    pub session: SessionId,
    /// The daemon's version, features and workspaces.
    pub capabilities: DaemonCapabilities,
}

/// Why a call on a connection failed.
#[derive(Debug, thiserror::Error)]
pub enum CallError {
    /// There is no connection, or it ended during the call.
    #[error("not connected to a daemon")]
    NotConnected,
    /// The request to the daemon failed.
    #[error(transparent)]
    Daemon(#[from] DaemonError),
}

/// A prompt that the daemon has accepted. Dropping it changes nothing; the end of its turn is an
/// event too.
#[derive(Debug)]
pub struct SentPrompt {
    id: Option<PromptId>,
    end: oneshot::Receiver<TurnEnd>,
}

impl SentPrompt {
    /// The prompt id. Unknown for an old daemon that answers only when the turn has ended.
    pub fn id(&self) -> Option<&PromptId> {
        self.id.as_ref()
    }

    /// Waits for the end of the turn. Does not depend on the events being read.
    pub async fn end(self) -> TurnEnd {
        let lost = || TurnEnd::Unknown {
            why: "the connection was dropped".into(),
        };
        self.end.await.unwrap_or_else(|_| lost())
    }
}

/// A handle to the one session that an editor or a page is connected to. Clones share it. When the
/// last one is dropped the connection ends; the session keeps running.
#[derive(Clone, Debug)]
pub struct IdeConnection {
    commands: mpsc::Sender<ConnectionCommand>,
    shared: Arc<SharedConnection>,
}

/// State that the handles, the actor and the forwarder share.
#[derive(Debug)]
struct SharedConnection {
    live: Mutex<Option<LiveConnection>>,
    /// Where the last connection ended.
    left_at: Mutex<Option<ResumeState>>,
    events: EventSender,
}

/// An established connection.
#[derive(Clone, Debug)]
struct LiveConnection {
    /// Counts connections, so that one that ends does not remove its successor.
    number: u64,
    session: Session,
    requests: Arc<OpenRequests>,
    messages: mpsc::UnboundedSender<ForwarderMessage>,
    /// Bounds how many bytes wait for the reader of the events. Closed when the connection is to
    /// end, so that nothing waits for room any more.
    room: Arc<Semaphore>,
}

impl IdeConnection {
    /// A handle without a connection. Needs a running tokio runtime.
    pub fn new() -> (IdeConnection, IdeEvents) {
        let (commands, receiver) = mpsc::channel(COMMANDS);
        let (sender, events) = events::channel();
        let shared = Arc::new(SharedConnection {
            live: Mutex::default(),
            left_at: Mutex::default(),
            events: sender,
        });
        tokio::spawn(Actor::new(shared.clone(), receiver).run());
        (IdeConnection { commands, shared }, events)
    }

    /// Connects, after all earlier commands are done. An existing connection is ended first, even
    /// if this attempt fails.
    ///
    /// Nothing is retried: an error that the user has to fix comes back at once, with a hint.
    pub async fn connect(&self, options: ConnectOptions) -> Result<Connected, ConnectError> {
        let ask = |tell| ConnectionCommand::Connect(Box::new(options), tell);
        self.ask(ask)
            .await
            .unwrap_or(Err(ConnectError::ShuttingDown))
    }

    /// Connects with the last options to the same session, and continues where it ended.
    pub async fn reconnect(&self) -> Result<Connected, ConnectError> {
        self.ask(ConnectionCommand::Reconnect)
            .await
            .unwrap_or(Err(ConnectError::ShuttingDown))
    }

    /// Ends the connection, after all earlier commands are done. It has ended in any case; the
    /// result tells whether the daemon accepted the sign-off.
    pub async fn disconnect(&self, disconnect_mode: DisconnectMode) -> Result<(), DaemonError> {
        let ask = |tell| ConnectionCommand::Disconnect(disconnect_mode, tell);
        self.ask(ask).await.unwrap_or(Ok(()))
    }

    /// Sends a prompt. It is never sent twice, and its turn ends exactly once.
    pub async fn send_prompt(&self, prompt: &PromptRequest) -> Result<SentPrompt, CallError> {
        let live = self.live()?;
        let turn = live.session.prompt(prompt).await?;
        let id = turn.id().cloned();
        let (tell, end) = oneshot::channel();
        let message = ForwarderMessage::Expect { turn, tell };
        if let Err(mpsc::error::SendError(ForwarderMessage::Expect { turn, tell })) =
            live.messages.send(message)
        {
            // The connection ended meanwhile, and the forwarder with it. The session still ends the
            // turn.
            tokio::spawn(async move { tell.send(turn.end().await) });
        }
        Ok(SentPrompt { id, end })
    }

    /// Cancels the running turn. Does nothing without a connection.
    pub async fn cancel(&self) -> Result<(), CallError> {
        match self.live() {
            Ok(live) => Ok(live.session.cancel().await?),
            Err(_) => Ok(()),
        }
    }

    /// Removes a prompt from the queue. `false` if it was not queued (any more).
    pub async fn remove_pending_prompt(&self, prompt: &PromptId) -> Result<bool, CallError> {
        Ok(self.live()?.session.remove_pending_prompt(prompt).await?)
    }

    /// Switches the model; [`IdeEvent::ModelChanged`] follows. The response is dropped, because it
    /// holds the provider's URL.
    pub async fn set_model(&self, model: &str) -> Result<(), CallError> {
        self.live()?.session.set_model(model).await?;
        Ok(())
    }

    /// Sets the approval mode of this session.
    pub async fn set_approval_mode(&self, mode: &ApprovalMode) -> Result<(), CallError> {
        self.live()?.session.set_approval_mode(mode, false).await?;
        Ok(())
    }

    /// The available models and approval modes.
    pub async fn context(&self) -> Result<SessionContext, CallError> {
        Ok(self.live()?.session.context().await?)
    }

    /// The open requests, oldest first.
    pub fn pending(&self) -> Vec<InteractionRequest> {
        self.live()
            .map(|live| live.requests.open())
            .unwrap_or_default()
    }

    /// The session id, while there is a connection.
    pub fn session(&self) -> Option<SessionId> {
        Some(self.live().ok()?.session.id().clone())
    }

    /// Where to continue later: of the current connection, or of the last one. It covers the events
    /// that have been taken, except for the few that wait between session and reader.
    pub fn resume_state(&self) -> Option<ResumeState> {
        match self.live() {
            Ok(live) => Some(live.session.resume_state()),
            Err(_) => locked(&self.shared.left_at).clone(),
        }
    }

    fn live(&self) -> Result<LiveConnection, CallError> {
        locked(&self.shared.live)
            .clone()
            .ok_or(CallError::NotConnected)
    }

    async fn ask<T>(
        &self,
        command: impl FnOnce(oneshot::Sender<T>) -> ConnectionCommand,
    ) -> Option<T> {
        let (tell, told) = oneshot::channel();
        self.commands.send(command(tell)).await.ok()?;
        told.await.ok()
    }
}

impl ConnectOptions {
    fn client(&self) -> DaemonClient {
        DaemonClient::new(self.address.clone(), self.token.clone()).with_timeouts(self.timeouts)
    }
}
