//! The task that runs connects and disconnects, in the order in which they were called.

use std::sync::Arc;

use tokio::sync::{Semaphore, mpsc, oneshot};
use tokio::task::JoinHandle;

use super::events::{IdeEvent, ROOM};
use super::forwarder::EventForwarder;
use super::requests::OpenRequests;
use super::setup::{self, ConnectError};
use super::{
    ConnectOptions, Connected, LeftSession, LiveConnection, ServedFolder, SessionChoice,
    SharedConnection,
};
use crate::client::EventCursor;
use crate::error::DaemonError;
use crate::locked;
use crate::session::{DisconnectMode, ResumeState, Session, SessionEvents};

type ReplyTo<T> = oneshot::Sender<T>;

/// A command to the actor.
#[derive(Debug)]
pub(super) enum ConnectionCommand {
    Connect(
        Box<ConnectOptions>,
        ReplyTo<Result<Connected, ConnectError>>,
    ),
    Reconnect(ReplyTo<Result<Connected, ConnectError>>),
    Disconnect(DisconnectMode, ReplyTo<Result<(), DaemonError>>),
}

pub(super) struct Actor {
    shared: Arc<SharedConnection>,
    commands: mpsc::Receiver<ConnectionCommand>,
    /// Forwards the events of the current or the last connection.
    forwarder: Option<JoinHandle<()>>,
    /// The options of the last connect.
    options: Option<ConnectOptions>,
    number: u64,
}

impl Actor {
    pub(super) fn new(
        shared: Arc<SharedConnection>,
        commands: mpsc::Receiver<ConnectionCommand>,
    ) -> Self {
        Self {
            shared,
            commands,
            forwarder: None,
            options: None,
            number: 0,
        }
    }

    /// Runs until the last handle is dropped.
    pub(super) async fn run(mut self) {
        while let Some(command) = self.commands.recv().await {
            match command {
                // The caller dropped its future: the command was cancelled while it was queued.
                ConnectionCommand::Connect(_, reply) | ConnectionCommand::Reconnect(reply)
                    if reply.is_closed() => {}
                ConnectionCommand::Connect(options, reply) => {
                    let connected = self.connect(*options).await;
                    // The caller may be gone. The event tells the result too.
                    let _ = reply.send(connected);
                }
                ConnectionCommand::Reconnect(reply) => {
                    let _ = reply.send(self.reconnect().await);
                }
                ConnectionCommand::Disconnect(disconnect_mode, reply) => {
                    let _ = reply.send(self.disconnect(disconnect_mode).await);
                }
            }
        }
        let options = self.options.as_ref();
        let disconnect_mode = options.map(|it| it.disconnect_mode).unwrap_or_default();
        self.end_previous(disconnect_mode).await;
    }

    async fn reconnect(&mut self) -> Result<Connected, ConnectError> {
        let mut options = self
            .options
            .clone()
            .ok_or(ConnectError::NoPreviousConnection)?;
        // First, because leaving is what sets `left`.
        self.end_previous(options.disconnect_mode).await;
        if let Some(left) = locked(&self.shared.left).clone() {
            options.session = SessionChoice::Resume(left.at);
            options.approval_mode = left.mode.or(options.approval_mode);
        }
        self.connect(options).await
    }

    async fn connect(&mut self, options: ConnectOptions) -> Result<Connected, ConnectError> {
        let disconnect_mode = self
            .options
            .as_ref()
            .map(|it| it.disconnect_mode)
            .unwrap_or_default();
        self.end_previous(disconnect_mode).await;
        *locked(&self.shared.left) = match &options.session {
            // If this attempt fails, the next one can still resume from here.
            SessionChoice::Resume(state) => Some(LeftSession {
                at: state.clone(),
                mode: options.approval_mode.clone(),
            }),
            _ => None,
        };
        self.options = Some(options.clone());
        let workspace = options.workspace.as_deref();
        let client = options.client();
        let capabilities = setup::check(&client, workspace).await?;
        let opened = options.sessions.open(client, options.clone()).await;
        let (session, updates) = opened.map_err(|error| setup::sort(error, workspace))?;
        let folder = setup::folder(&capabilities, workspace);
        let connected = Connected {
            session: session.id().clone(),
            folder: folder.path.clone(),
            capabilities,
        };
        self.shared
            .events
            .send(IdeEvent::Connected(connected.clone()));
        let start = match &options.session {
            SessionChoice::Resume(state) if state.session_id == *session.id() => state.clone(),
            // Without an epoch a later connection gets everything.
            _ => ResumeState::new(session.id().clone(), EventCursor::default()),
        };
        self.start(session, folder, updates, start);
        Ok(connected)
    }

    fn start(
        &mut self,
        session: Session,
        folder: ServedFolder,
        updates: SessionEvents,
        start: ResumeState,
    ) {
        self.number += 1;
        self.shared.bookmark.begin(self.number, start);
        let (messages, receiver) = mpsc::unbounded_channel();
        let live = LiveConnection {
            number: self.number,
            session,
            folder,
            requests: Arc::new(OpenRequests::default()),
            messages,
            room: Arc::new(Semaphore::new(ROOM)),
        };
        *locked(&self.shared.live) = Some(live.clone());
        let forwarder = EventForwarder::new(self.shared.clone(), live, updates, receiver);
        self.forwarder = Some(tokio::spawn(forwarder.run()));
    }

    /// Ends the current connection; nobody waits for the answer of the daemon.
    async fn end_previous(&mut self, disconnect_mode: DisconnectMode) {
        if let Err(error) = self.disconnect(disconnect_mode).await {
            tracing::debug!(%error, "the daemon did not answer our disconnect");
        }
    }

    /// Ends the current connection, if there is one, and waits until all its events are sent.
    async fn disconnect(&mut self, disconnect_mode: DisconnectMode) -> Result<(), DaemonError> {
        let live = locked(&self.shared.live).clone();
        let left = match live {
            Some(live) => {
                // The reader of the events may be the one who waits for this disconnect.
                live.room.close();
                live.session.leave(disconnect_mode).await
            }
            None => Ok(()),
        };
        if let Some(forwarder) = self.forwarder.take() {
            // It ends by itself, because the session has ended.
            let _ = forwarder.await;
        }
        left
    }
}
