//! The host: owns the daemon's address, its token and the conversation, and lets nobody see them.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use companion::desk::Desk;
use daemon::connection::{Answer, ConnectError, Connected, Conversation, Options};
use daemon::managed::{Launch, ManagedDaemon};
use daemon::sanitiser::{self, Sanitiser};
use daemon::wire::{ApprovalMode, PageRequest, PromptRequest, RequestId, SessionId, Vote};
use daemon::{Address, DaemonClient, IdeConnection, Parting, Reason, Token};
use serde::Deserialize;

use crate::attach::Prompt;
use crate::board::{Board, Follower};
use crate::edits::Reviewed;
use crate::files;
use crate::listener::Listener;
use crate::memory::Memory;
use crate::transcript::Limits;
use crate::trouble::Trouble;
use crate::view::{Choice, Connection, Earlier, Snapshot};

/// How often a daemon that needs more time is asked, and how long it gets in between.
const TRIES: usize = 4;
const PAUSE: Duration = Duration::from_secs(1);
/// How many earlier conversations are listed.
const EARLIER: u32 = 50;

/// What a host needs to know.
#[derive(Debug)]
pub struct Settings {
    /// Where the daemon is.
    pub address: Address,
    /// The secret that it was started with.
    pub token: Option<Token>,
    /// The folder that the person works in.
    pub workspace: PathBuf,
    /// A private folder to remember things in.
    pub memory: PathBuf,
    /// The program that is a daemon when it is started with `serve`.
    pub program: PathBuf,
}

/// Which conversation to have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Which {
    /// The one from the last time, or else the one that everybody in this folder shares.
    #[default]
    Last,
    /// A new one.
    New,
    /// One of [`Chat::earlier`].
    Earlier(u64),
}

/// What a person answers to a request.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Reply {
    /// One of the options, by its id.
    Option(String),
    /// No.
    Decline,
    /// To each question in its order, the labels that were chosen or a text of one's own.
    Answers(Vec<Vec<String>>),
}

/// A conversation with a daemon, for everybody who shows it. Clones are the same one.
#[derive(Clone, Debug)]
pub struct Chat(pub(crate) Arc<Inner>);

#[derive(Debug)]
pub(crate) struct Inner {
    pub(crate) connection: IdeConnection,
    pub(crate) board: Board,
    pub(crate) desk: Desk,
    pub(crate) reviewed: Mutex<Reviewed>,
    settings: Settings,
    memory: Memory,
    /// The daemon to talk to: the one of the settings, or one that was started here.
    link: Mutex<Link>,
    pub(crate) sanitiser: Mutex<Sanitiser>,
    /// Conversations that were listed; a page names them by their place here.
    listed: Mutex<Vec<SessionId>>,
}

#[derive(Debug)]
struct Link {
    address: Address,
    token: Option<Token>,
    managed: Option<ManagedDaemon>,
}

impl Chat {
    /// A conversation that has not begun. Needs a running tokio runtime.
    pub fn new(settings: Settings, desk: Desk) -> Chat {
        let (connection, events) = IdeConnection::new();
        let board = Board::new(Limits::default(), machine());
        let link = Link {
            address: settings.address.clone(),
            token: settings.token.clone(),
            managed: None,
        };
        let chat = Chat(Arc::new(Inner {
            memory: Memory::new(&settings.memory),
            link: Mutex::new(link),
            sanitiser: Mutex::new(Sanitiser::new(sanitiser::Limits::default())),
            listed: Mutex::default(),
            reviewed: Mutex::default(),
            connection,
            board,
            desk,
            settings,
        }));
        tokio::spawn(Listener::new(&chat).run(events));
        chat
    }

    /// Everything at once.
    pub fn snapshot(&self) -> Snapshot {
        self.0.board.snapshot()
    }

    /// Follows the conversation, from the change with this number on if it is known.
    pub fn follow(&self, seen: Option<u64>) -> Follower {
        self.0.board.follow(seen)
    }

    /// Goes on where the last run was: in its conversation, and with a daemon of our own if it had one
    /// and was cut short. What goes wrong shows in the status.
    pub async fn begin(&self) {
        if let Err(trouble) = self.connect(Which::Last).await
            && trouble.kind == "no_daemon"
            && self.0.memory.had_own_daemon()
        {
            let _ = self.start_daemon().await;
        }
    }

    /// Connects. What goes wrong also shows in the status.
    pub async fn connect(&self, which: Which) -> Result<(), Trouble> {
        let last = self.0.memory.load();
        let conversation = match which {
            Which::Last => last.map_or(Conversation::Shared, Conversation::Known),
            Which::New => Conversation::New,
            Which::Earlier(key) => {
                let listed = lock(&self.0.listed);
                let known = usize::try_from(key).ok().and_then(|key| listed.get(key));
                let known = known.ok_or_else(|| {
                    Trouble::new("no_session", "there is no such conversation")
                        .hint("list them again")
                })?;
                Conversation::Known(known.clone())
            }
        };
        let known = matches!(&conversation, Conversation::Known(_));
        let connected = self.connect_to(conversation).await;
        match connected {
            // The last one may have been deleted; that must not keep the person from talking.
            Err(trouble) if known && which == Which::Last && trouble.kind == "no_session" => {
                self.connect_to(Conversation::Shared).await
            }
            connected => connected,
        }
    }

    async fn connect_to(&self, conversation: Conversation) -> Result<(), Trouble> {
        let inner = &self.0;
        let options = {
            let link = lock(&inner.link);
            let hiding = Sanitiser::new(sanitiser::Limits::default());
            *lock(&inner.sanitiser) = hiding.hiding(link.token.clone(), &link.address);
            Options {
                address: link.address.clone(),
                token: link.token.clone(),
                workspace: Some(inner.settings.workspace.clone()),
                conversation,
                ..Options::default()
            }
        };
        inner
            .board
            .update(|status| status.connection = Connection::Connecting);
        match self.try_to_connect(options).await {
            Ok(connected) => {
                inner.memory.save(&connected.session);
                self.learn_choices().await;
                Ok(())
            }
            Err(error) => {
                tracing::info!(%error, "there is no conversation with a daemon");
                let trouble = Trouble::from(error);
                let failed = trouble.clone().into();
                inner.board.update(|status| status.connection = failed);
                Err(trouble)
            }
        }
    }

    /// Connects; again if the daemon says that it only needs more time, which the first session
    /// of a daemon on a busy machine does.
    async fn try_to_connect(&self, options: Options) -> Result<Connected, ConnectError> {
        for _ in 1..TRIES {
            match self.0.connection.connect(options.clone()).await {
                Err(ConnectError::Daemon(error))
                    if error.reason().is_some_and(Reason::is_temporary) =>
                {
                    let wait = error.refusal().and_then(|refusal| refusal.retry_after);
                    tokio::time::sleep(wait.unwrap_or(PAUSE)).await;
                }
                connected => return connected,
            }
        }
        self.0.connection.connect(options).await
    }

    /// Starts a daemon for this folder and connects to it. It ends with us.
    pub async fn start_daemon(&self) -> Result<(), Trouble> {
        let inner = &self.0;
        inner
            .board
            .update(|status| status.connection = Connection::Starting);
        let launch = Launch {
            program: inner.settings.program.clone(),
            ..Launch::new(&inner.settings.workspace)
        };
        let managed = match ManagedDaemon::start(launch).await {
            Ok(managed) => managed,
            Err(error) => {
                tracing::warn!(%error, "cannot start a daemon");
                let trouble = Trouble::from(error);
                let failed = trouble.clone().into();
                inner.board.update(|status| status.connection = failed);
                return Err(trouble);
            }
        };
        let before = {
            let mut link = lock(&inner.link);
            link.address = managed.address().clone();
            link.token = Some(managed.token().clone());
            link.managed.replace(managed)
        };
        if let Some(before) = before {
            before.stop().await;
        }
        inner.memory.note_own_daemon(true);
        inner.board.update(|status| status.managed = true);
        self.connect(Which::Last).await
    }

    /// Parts from the conversation; the turn that is running goes on.
    pub async fn disconnect(&self) {
        // It is over in any case.
        let _ = self.0.connection.disconnect(Parting::default()).await;
    }

    /// Ends everything, with the daemon that was started here. The run that is `returning` starts one
    /// again.
    pub async fn close(&self, returning: bool) {
        self.disconnect().await;
        let managed = lock(&self.0.link).managed.take();
        if let Some(managed) = managed {
            managed.stop().await;
        }
        if !returning {
            self.0.memory.note_own_daemon(false);
        }
    }

    /// Says something.
    pub async fn prompt(&self, prompt: Prompt) -> Result<(), Trouble> {
        let blocks = prompt.blocks(&self.0.desk).await?;
        let prompt = PromptRequest::new(blocks);
        self.0.connection.send_prompt(&prompt).await?;
        Ok(())
    }

    /// Asks for the running turn to end.
    pub async fn cancel(&self) -> Result<(), Trouble> {
        Ok(self.0.connection.cancel().await?)
    }

    /// Switches the model.
    pub async fn set_model(&self, model: &str) -> Result<(), Trouble> {
        Ok(self.0.connection.set_model(model).await?)
    }

    /// Changes what the agent may do without asking.
    pub async fn set_mode(&self, mode: &str) -> Result<(), Trouble> {
        let mode = ApprovalMode::from(mode);
        Ok(self.0.connection.set_approval_mode(&mode).await?)
    }

    /// Answers a request; whether the answer counts. Somebody else may have been faster.
    pub async fn answer(&self, request: &str, reply: Reply) -> Result<bool, Trouble> {
        let unknown = |_| Trouble::new("unknown", "there is no such request");
        let request = RequestId::new(request).map_err(unknown)?;
        let answer = match reply {
            Reply::Option(id) => Answer::Choose(id),
            Reply::Decline => Answer::Decline,
            Reply::Answers(answers) => Answer::Reply(answers),
        };
        let answered = self.0.connection.answer(&request, &answer).await?;
        Ok(answered.vote == Vote::Taken)
    }

    /// Earlier conversations in this folder, newest first.
    pub async fn earlier(&self) -> Result<Vec<Earlier>, Trouble> {
        let client = {
            let link = lock(&self.0.link);
            DaemonClient::new(link.address.clone(), link.token.clone())
        };
        let workspace = self.0.settings.workspace.display().to_string();
        let page = PageRequest {
            size: Some(EARLIER),
            cursor: None,
        };
        let page = client.sessions(&workspace, &page).await?;
        let current = self.0.connection.session();
        let mut listed = lock(&self.0.listed);
        let sanitiser = lock(&self.0.sanitiser);
        let earlier = page.sessions.into_iter().map(|session| {
            let id = session.session_id;
            let known = listed.iter().position(|listed| *listed == id);
            let key = known.unwrap_or(listed.len());
            let current = current.as_ref() == Some(&id);
            if known.is_none() {
                listed.push(id);
            }
            Earlier {
                key: key as u64,
                title: session.display_name.map(|title| sanitiser.line(&title)),
                updated_at: session.updated_at,
                busy: session.has_active_prompt.unwrap_or(false),
                current,
            }
        });
        Ok(earlier.collect())
    }

    /// Files to attach whose path holds `typed`.
    pub async fn files(&self, typed: String) -> Result<Vec<String>, Trouble> {
        let gone = |_| Trouble::new("over", "the companion is shutting down");
        files::find(&self.0.desk, typed).await.map_err(gone)
    }

    /// Learns which models and modes there are.
    async fn learn_choices(&self) {
        let Ok(context) = self.0.connection.context().await else {
            return;
        };
        let sanitiser = lock(&self.0.sanitiser).clone();
        let choice = |id: &str, name: Option<&str>| Choice {
            id: sanitiser.line(id),
            name: sanitiser.line(name.unwrap_or(id)),
        };
        let state = context.state;
        self.0.board.update(|status| {
            if let Some(list) = state.models {
                let all = list.available_models.iter();
                status.models = all
                    .map(|it| choice(&it.model_id, it.name.as_deref()))
                    .collect();
                if let Some(current) = list.current_model_id {
                    status.model = Some(sanitiser.line(&current));
                }
            }
            if let Some(list) = state.modes {
                let all = list.available_modes.iter();
                status.modes = all
                    .map(|it| choice(it.id.as_str(), it.name.as_deref()))
                    .collect();
                if let Some(current) = list.current_mode_id {
                    status.mode = Some(sanitiser.line(current.as_str()));
                }
            }
        });
    }
}

/// The name of this machine.
fn machine() -> Option<String> {
    let names = rustix::system::uname();
    let name = names.nodename().to_str().ok()?;
    (!name.is_empty()).then(|| name.to_owned())
}

pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
