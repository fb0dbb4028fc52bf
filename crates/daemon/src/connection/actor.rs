//! The one task that connects and disconnects, in the order in which it was asked.

use std::path::Path;
use std::sync::Arc;

use tokio::sync::{Semaphore, mpsc, oneshot};
use tokio::task::JoinHandle;

use super::events::{IdeEvent, ROOM};
use super::pump::Pump;
use super::requests::Requests;
use super::setup::{self, ConnectError};
use super::{Connected, Conversation, Live, Options, Shared, lock};
use crate::client::DaemonClient;
use crate::error::DaemonError;
use crate::session::{Parting, Session, Updates};
use crate::wire::{NewSession, Restore, SessionScope};

type Tell<T> = oneshot::Sender<T>;

/// Something to be done in its turn.
#[derive(Debug)]
pub(super) enum Command {
    Connect(Box<Options>, Tell<Result<Connected, ConnectError>>),
    Reconnect(Tell<Result<Connected, ConnectError>>),
    Disconnect(Parting, Tell<Result<(), DaemonError>>),
}

pub(super) struct Actor {
    shared: Arc<Shared>,
    commands: mpsc::Receiver<Command>,
    /// What forwards the events of the connection that stands, or stood.
    pump: Option<JoinHandle<()>>,
    /// How the last connection was made.
    options: Option<Options>,
    number: u64,
}

impl Actor {
    pub(super) fn new(shared: Arc<Shared>, commands: mpsc::Receiver<Command>) -> Self {
        Self {
            shared,
            commands,
            pump: None,
            options: None,
            number: 0,
        }
    }

    /// Works until the last handle is gone.
    pub(super) async fn run(mut self) {
        while let Some(command) = self.commands.recv().await {
            match command {
                // Nobody waits for these any more: somebody thought better of it.
                Command::Connect(_, tell) | Command::Reconnect(tell) if tell.is_closed() => {}
                Command::Connect(options, tell) => {
                    let connected = self.connect(*options).await;
                    // The event tells too.
                    let _ = tell.send(connected);
                }
                Command::Reconnect(tell) => {
                    let _ = tell.send(self.reconnect().await);
                }
                Command::Disconnect(parting, tell) => {
                    let _ = tell.send(self.part(parting).await);
                }
            }
        }
        // Listening ends; nothing else is asked of the daemon.
        let _ = self.part(Parting::KeepRunning).await;
    }

    async fn reconnect(&mut self) -> Result<Connected, ConnectError> {
        let mut options = self.options.clone().ok_or(ConnectError::NoEarlier)?;
        // Before anything else: parting is what tells where we were.
        self.leave_for_another(options.parting).await;
        if let Some(state) = lock(&self.shared.left_at).clone() {
            options.conversation = Conversation::Resume(state);
        }
        self.connect(options).await
    }

    async fn connect(&mut self, options: Options) -> Result<Connected, ConnectError> {
        let parting = self
            .options
            .as_ref()
            .map(|it| it.parting)
            .unwrap_or_default();
        self.leave_for_another(parting).await;
        *lock(&self.shared.left_at) = None;
        if let Conversation::Resume(state) = &options.conversation {
            // If this attempt fails, the next one can still go on from here.
            *lock(&self.shared.left_at) = Some(state.clone());
        }
        self.options = Some(options.clone());
        let workspace = options.workspace.as_deref();
        let client = options.client();
        let capabilities = setup::check(&client, workspace).await?;
        let opened = open(client, &options).await;
        let (session, updates) = opened.map_err(|error| setup::sort(error, workspace))?;
        let connected = Connected {
            session: session.id().clone(),
            capabilities,
        };
        self.shared
            .outbox
            .tell(IdeEvent::Connected(connected.clone()));
        self.start(session, updates);
        Ok(connected)
    }

    fn start(&mut self, session: Session, updates: Updates) {
        self.number += 1;
        let (messages, receiver) = mpsc::unbounded_channel();
        let live = Live {
            number: self.number,
            session,
            requests: Arc::new(Requests::default()),
            messages,
            room: Arc::new(Semaphore::new(ROOM)),
        };
        *lock(&self.shared.live) = Some(live.clone());
        let pump = Pump::new(self.shared.clone(), live, updates, receiver);
        self.pump = Some(tokio::spawn(pump.run()));
    }

    /// Parts from what is connected because something else is to be.
    async fn leave_for_another(&mut self, parting: Parting) {
        if let Err(error) = self.part(parting).await {
            tracing::debug!(%error, "the daemon did not take our leave");
        }
    }

    /// Parts from what is connected, if anything is, and waits until everything has been told.
    async fn part(&mut self, parting: Parting) -> Result<(), DaemonError> {
        let live = lock(&self.shared.live).clone();
        let left = match live {
            Some(live) => {
                // The listener may be the very one who waits for us.
                live.room.close();
                live.session.leave(parting).await
            }
            None => Ok(()),
        };
        if let Some(pump) = self.pump.take() {
            // It has a reason to end by now.
            let _ = pump.await;
        }
        left
    }
}

async fn open(client: DaemonClient, options: &Options) -> Result<(Session, Updates), DaemonError> {
    let settings = options.settings.clone();
    let cwd = options
        .workspace
        .as_deref()
        .map(Path::to_string_lossy)
        .map(String::from);
    let scope = match &options.conversation {
        Conversation::Shared => SessionScope::Single,
        Conversation::New => SessionScope::Thread,
        Conversation::Known(id) => {
            let restore = Restore {
                cwd,
                approval_mode: options.approval_mode.clone(),
                ..Restore::default()
            };
            return Session::load(client, id, &restore, settings).await;
        }
        Conversation::Resume(state) => return Session::resume(client, state, settings).await,
    };
    let new = NewSession {
        cwd,
        session_scope: Some(scope),
        model_service_id: options.model.clone(),
        approval_mode: options.approval_mode.clone(),
        session_id: None,
    };
    Session::open(client, &new, settings).await
}
