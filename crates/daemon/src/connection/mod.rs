//! The connection of an editor, or of a page, to a session.
//!
//! An [`IdeConnection`] is the handle for requests; [`IdeEvents`] delivers what happens, in order.
//! The handle may be cloned and used from any task: one task, the actor, runs connects and
//! disconnects one after the other, so the last call decides.
//!
//! ```no_run
//! use outrigger_daemon::connection::{ConnectOptions, IdeConnection, IdeEvent, UserAnswer};
//! use outrigger_daemon::wire::SessionUpdate;
//!
//! # async fn chat() -> Result<(), Box<dyn std::error::Error>> {
//! let (connection, mut events) = IdeConnection::new();
//! connection.connect(ConnectOptions::default()).await?;
//! connection.send_prompt("What does this project do?").await?;
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
mod calls;
mod events;
mod factory;
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
use crate::session::{DisconnectMode, ResumeState, Session, SessionSettings, Turn};
use crate::token::Token;
use crate::wire::{
    ApprovalMode, DaemonCapabilities, ModelSet, PromptId, PromptRequest, SessionContext, SessionId,
};
use actor::{Actor, ConnectionCommand};
use events::{Bookmark, EventSender};
use forwarder::ForwarderMessage;
pub(crate) use forwarder::translate;
use requests::OpenRequests;

pub use answers::{AnswerOutcome, InteractionRequest, UserAnswer};
pub use events::{CloseReason, DisconnectReason, IdeEvent, IdeEvents};
pub use factory::{OpeningSession, SessionFactory};
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
    /// The model of a session that is created by this connect. The daemon also writes it into the
    /// user's settings.
    pub model: Option<String>,
    /// What the agent may do without asking, in a session that this connect creates or restores from
    /// disk. A live session keeps its mode. `None` leaves it to the daemon, whose default asks
    /// nobody.
    pub approval_mode: Option<ApprovalMode>,
    /// What opens the session.
    pub sessions: SessionFactory,
    /// How to leave this session when another connect replaces it, or when the last handle of the
    /// connection is dropped. A program that ends has to wait for
    /// [`IdeConnection::disconnect`]: nothing is sent any more once its runtime is gone.
    pub disconnect_mode: DisconnectMode,
    /// Reconnects, buffers and limits of the session.
    pub settings: SessionSettings,
    /// Timeouts of single requests.
    pub timeouts: Timeouts,
}

/// The result of a successful connect.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Connected {
    /// The session that was connected to.
    pub session: SessionId,
    /// The folder of the daemon that it works in, as the daemon writes it.
    pub folder: String,
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

/// The model that a session uses now. The daemon's own answer also has the provider's address and a
/// masked key, which are left out here.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct SelectedModel {
    /// The plain id of the model, if the daemon tells.
    pub model_id: Option<String>,
    /// How the provider is authenticated against, for example `openai`.
    pub auth_type: Option<String>,
    /// Whether the model was set up while the daemon runs, and not in its settings.
    pub is_runtime: Option<bool>,
}

impl From<&ModelSet> for SelectedModel {
    fn from(answer: &ModelSet) -> SelectedModel {
        SelectedModel {
            model_id: answer.model_id().map(str::to_owned),
            auth_type: answer.auth_type().map(str::to_owned),
            is_runtime: answer.is_runtime(),
        }
    }
}

/// A handle to the one session that an editor or a page is connected to. Clones share it. When the
/// last one is dropped the connection ends, in the way of [`ConnectOptions::disconnect_mode`].
#[derive(Clone, Debug)]
pub struct IdeConnection {
    commands: mpsc::Sender<ConnectionCommand>,
    shared: Arc<SharedConnection>,
}

/// State that the handles, the actor and the forwarder share.
#[derive(Debug)]
struct SharedConnection {
    live: Mutex<Option<LiveConnection>>,
    /// What the last connection has left.
    left: Mutex<Option<LeftSession>>,
    events: EventSender,
    bookmark: Arc<Bookmark>,
}

/// A session that was left, and may be connected to again.
#[derive(Clone, Debug)]
struct LeftSession {
    at: ResumeState,
    /// The mode that it had. It may come back from disk, and then without it.
    mode: Option<ApprovalMode>,
}

/// The folder of a connection, one of those that the daemon serves.
#[derive(Clone, Debug)]
struct ServedFolder {
    /// As the daemon writes it.
    path: String,
    /// Whether it is the one whose routes name no folder.
    is_primary: bool,
}

/// An established connection.
#[derive(Clone, Debug)]
struct LiveConnection {
    /// Counts connections, so that one that ends does not remove its successor.
    number: u64,
    session: Session,
    folder: ServedFolder,
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
        let bookmark = Arc::<Bookmark>::default();
        let (sender, events) = events::channel(bookmark.clone());
        let shared = Arc::new(SharedConnection {
            live: Mutex::default(),
            left: Mutex::default(),
            events: sender,
            bookmark,
        });
        tokio::spawn(Actor::new(shared.clone(), receiver).run());
        (IdeConnection { commands, shared }, events)
    }

    /// Connects, after all earlier commands are done. An existing connection is ended first, even
    /// if this attempt fails.
    ///
    /// An error that the user has to fix comes back at once, with a hint. Only the mode of a new session
    /// is set again if the daemon is busy: without it the session would have to be left.
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

    /// Sends a prompt. It is never sent twice, and the turn of one that was accepted ends exactly once,
    /// with an [`IdeEvent::TurnEnded`] and for whoever waits for [`Turn::end`].
    ///
    /// A prompt whose request failed ends with that event too, as
    /// [`TurnEnd::NotAccepted`](crate::TurnEnd::NotAccepted): whoever shows the conversation need not be
    /// the one who sent it. If only the answer was lost, the turn runs all the same, and its end follows
    /// with its id. After the end of the connection there is only the error.
    pub async fn send_prompt(&self, prompt: impl Into<PromptRequest>) -> Result<Turn, CallError> {
        let live = self.live()?;
        match live.session.prompt(prompt).await {
            Ok(turn) => {
                // If the connection has ended meanwhile, so has the forwarder; the session still
                // ends the turn.
                let _ = live.messages.send(ForwarderMessage::Expect(turn.clone()));
                Ok(turn)
            }
            Err(error) => {
                let why = error.to_string();
                let _ = live.messages.send(ForwarderMessage::NotAccepted(why));
                Err(error.into())
            }
        }
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

    /// Switches the model; [`IdeEvent::ModelChanged`] follows.
    pub async fn set_model(&self, model: &str) -> Result<SelectedModel, CallError> {
        let answer = self.live()?.session.set_model(model).await?;
        Ok(SelectedModel::from(&answer))
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

    /// Whether there is a connection. It may be one that is making contact again.
    pub fn is_connected(&self) -> bool {
        self.live().is_ok()
    }

    /// Where to continue later, so that nothing is lost: in the session of the current connection, or
    /// of the last one, after the last event that its reader is done with. An event counts as done
    /// when the reader asks for the one after it. `None` before the first connection.
    pub fn resume_state(&self) -> Option<ResumeState> {
        self.shared.bookmark.place()
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
