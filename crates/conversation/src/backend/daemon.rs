//! The `qwen serve` daemon as a backend.
//!
//! It keeps the daemon's address and token, the connection, and a daemon that was started from here;
//! nothing of these can be got from it. What the daemon tells passes the [`Translator`].

mod translate;
mod trouble;

use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::time::Duration;

use ::daemon::client::{WholeFile, WholeFileError};
use ::daemon::connection::{
    ConnectError, ConnectOptions, Connected, IdeEvents, SessionChoice, UserAnswer,
};
use ::daemon::managed::{LaunchOptions, ManagedDaemon};
use ::daemon::sanitiser::{Sanitiser, TextLimits};
use ::daemon::wire::{
    ApprovalMode, ContentBlock, GlobRequest, PageRequest, PromptId, PromptRequest, RelativePath,
    RequestId, SessionContext, SessionId, VoteResult,
};
use ::daemon::{
    Address, DaemonClient, DisconnectMode, ErrorReason, IdeConnection, Timeouts, Token,
};
use tokio::sync::{mpsc, oneshot, watch};
use workbench::Agent;

use super::{Backend, BackendEvent, Call, Choices, ListedSession, PromptPart, SessionTarget};
use crate::requests::Reply;
use crate::trouble::{Trouble, TroubleKind};
use crate::view::Choice;

pub use translate::Translator;

/// How often a daemon that needs more time is asked, and how long it gets in between.
const TRIES: usize = 4;
const PAUSE: Duration = Duration::from_secs(1);
/// How many earlier sessions are listed.
const LISTED: u32 = 50;
/// How many messages of finished calls may wait. A call that finds no room waits.
const MESSAGES: usize = 16;

/// How a session is left. A turn that runs goes on, also one that waits for an answer, until its end; then
/// the daemon closes the session if nobody else is in it. A registration that stayed at the daemon would
/// count wherever several clients have to agree.
const LEAVING: DisconnectMode = DisconnectMode::Detach;

/// How long the daemon may take to confirm that we leave, when everything ends. It may have stalled, and
/// whoever ends the program, or closes the last editor, must not wait for it.
const GOODBYE: Duration = Duration::from_secs(1);

/// Where the daemon is, and what it needs.
#[derive(Clone, Debug)]
pub struct DaemonSettings {
    /// Where the daemon is.
    pub address: Address,
    /// The secret that it was started with.
    pub token: Option<Token>,
    /// The folder that the person works in.
    pub workspace: PathBuf,
    /// The program that is a daemon when it is started with `serve`.
    pub program: PathBuf,
    /// What the agent may do without asking in a conversation that starts here, or that is brought
    /// back from disk. One that goes on at the daemon keeps its mode, because others may be in it.
    pub mode: ApprovalMode,
    /// The model of a conversation that starts here; the daemon's own choice if `None`.
    pub model: Option<String>,
    /// How patient a session is with a daemon that is out of reach.
    pub session: ::daemon::SessionSettings,
    /// How long a request to the daemon may take.
    pub timeouts: Timeouts,
}

/// A connection to a daemon.
#[derive(Debug)]
pub struct DaemonBackend {
    /// With the address and token of the daemon to talk to: the one that was configured, or one that
    /// was started from here.
    settings: DaemonSettings,
    /// The daemon that was started from here.
    managed: Option<ManagedDaemon>,
    connection: IdeConnection,
    /// Whether everything ends: a session that is being opened is not opened any more.
    closing: watch::Sender<bool>,
    events: IdeEvents,
    translator: Translator,
    /// What the last event of the daemon became, as far as it has not been taken.
    translated: VecDeque<BackendEvent>,
    /// What finished calls tell.
    messages: mpsc::Receiver<Message>,
    tell: mpsc::Sender<Message>,
}

/// What a finished call tells the backend that began it.
#[derive(Debug)]
enum Message {
    /// The models and modes of the session that was connected to.
    Learned(Choices),
    /// A daemon was started. The one that it replaces goes back, to be ended.
    Launched(ManagedDaemon, oneshot::Sender<Option<ManagedDaemon>>),
}

impl DaemonBackend {
    /// A backend that is not connected. Needs a running tokio runtime.
    pub fn new(settings: DaemonSettings) -> DaemonBackend {
        let (connection, events) = IdeConnection::new();
        let (tell, messages) = mpsc::channel(MESSAGES);
        DaemonBackend {
            translator: Translator::new(sanitiser(&settings)),
            settings,
            managed: None,
            connection,
            closing: watch::Sender::new(false),
            events,
            translated: VecDeque::new(),
            messages,
            tell,
        }
    }

    /// A finished call tells something; the event that it amounts to.
    fn take(&mut self, message: Message) -> Option<BackendEvent> {
        match message {
            Message::Learned(choices) => Some(BackendEvent::Choices(choices)),
            Message::Launched(daemon, replaced) => {
                self.settings.address = daemon.address().clone();
                self.settings.token = Some(daemon.token().clone());
                // Whoever waits ends the one before. If nobody does, dropping it ends it too.
                let _ = replaced.send(self.managed.replace(daemon));
                None
            }
        }
    }
}

/// Hides this daemon's token and address.
fn sanitiser(settings: &DaemonSettings) -> Sanitiser {
    Sanitiser::new(TextLimits::default()).hiding(settings.token.clone(), &settings.address)
}

impl Backend for DaemonBackend {
    fn agent(&self) -> Agent {
        Agent::Qwen
    }

    async fn next(&mut self) -> Option<BackendEvent> {
        loop {
            if let Some(event) = self.translated.pop_front() {
                return Some(event);
            }
            tokio::select! {
                // In this order: what a call has learned belongs to the connection that was told.
                biased;
                event = self.events.next() => {
                    let event = event?;
                    self.translated.extend(self.translator.translate(&event));
                }
                Some(message) = self.messages.recv() => {
                    let event = self.take(message);
                    self.translated.extend(event);
                }
            }
        }
    }

    fn connect(&mut self, session: SessionTarget) -> Call<String> {
        let sanitiser = sanitiser(&self.settings);
        self.translator = Translator::new(sanitiser.clone());
        let mut mode = None;
        let session = match session {
            SessionTarget::Shared => SessionChoice::Shared,
            SessionTarget::New => SessionChoice::New,
            SessionTarget::Known { id, mode: chosen } => match SessionId::new(id) {
                Ok(id) => {
                    mode = chosen.map(ApprovalMode::from);
                    SessionChoice::Known(id)
                }
                Err(_) => return Box::pin(async { Err(trouble::no_session()) }),
            },
        };
        let options = ConnectOptions {
            address: self.settings.address.clone(),
            token: self.settings.token.clone(),
            workspace: Some(self.settings.workspace.clone()),
            approval_mode: Some(mode.unwrap_or_else(|| self.settings.mode.clone())),
            session,
            model: self.settings.model.clone(),
            disconnect_mode: LEAVING,
            settings: self.settings.session.clone(),
            timeouts: self.settings.timeouts,
            ..ConnectOptions::default()
        };
        let (connection, tell) = (self.connection.clone(), self.tell.clone());
        let mut closing = self.closing.subscribe();
        Box::pin(async move {
            let connected = tokio::select! {
                connected = connect(&connection, options) => connected,
                _ = closing.wait_for(|closing| *closing) => Err(ConnectError::ShuttingDown),
            };
            let connected = connected.map_err(|error| {
                tracing::info!(%error, "there is no conversation with a daemon");
                Trouble::from(error)
            })?;
            if let Ok(context) = connection.context().await {
                let learned = Message::Learned(choices(context, &sanitiser));
                // Without a backend nobody has to choose.
                let _ = tell.send(learned).await;
            }
            Ok(connected.session.as_str().to_owned())
        })
    }

    fn launch(&mut self) -> Call<()> {
        let launch = LaunchOptions {
            program: self.settings.program.clone(),
            ..LaunchOptions::new(&self.settings.workspace)
        };
        let tell = self.tell.clone();
        Box::pin(async move {
            let daemon = ManagedDaemon::start(launch).await.map_err(|error| {
                tracing::warn!(%error, "cannot start a daemon");
                Trouble::from(error)
            })?;
            let (replaced, answer) = oneshot::channel();
            // Without a backend the daemon ends here, by being dropped.
            let _ = tell.send(Message::Launched(daemon, replaced)).await;
            if let Ok(Some(before)) = answer.await {
                before.stop().await;
            }
            Ok(())
        })
    }

    fn disconnect(&mut self) -> Call<()> {
        let connection = self.connection.clone();
        Box::pin(async move {
            // It is over in any case.
            let _ = connection.disconnect(LEAVING).await;
            Ok(())
        })
    }

    fn close(&mut self) -> Call<()> {
        // First: what is connected after this would not be left any more.
        self.closing.send_replace(true);
        let disconnect = self.disconnect();
        let managed = self.managed.take();
        Box::pin(async move {
            // It is over in any case.
            let _ = tokio::time::timeout(GOODBYE, disconnect).await;
            if let Some(managed) = managed {
                managed.stop().await;
            }
            Ok(())
        })
    }

    fn prompt(&mut self, parts: Vec<PromptPart>) -> Call<()> {
        let block = |part| match part {
            PromptPart::Text(text) => ContentBlock::text(text),
            PromptPart::Attachment { uri, text } => ContentBlock::resource(uri, "text/plain", text),
        };
        let prompt = PromptRequest::new(parts.into_iter().map(block).collect());
        let connection = self.connection.clone();
        Box::pin(async move {
            connection.send_prompt(prompt).await?;
            Ok(())
        })
    }

    fn cancel(&mut self) -> Call<()> {
        let connection = self.connection.clone();
        Box::pin(async move { Ok(connection.cancel().await?) })
    }

    fn withdraw(&mut self, prompt: String) -> Call<bool> {
        let connection = self.connection.clone();
        Box::pin(async move {
            let unknown = |_| Trouble::new(TroubleKind::Unknown, "there is no such prompt");
            let prompt = PromptId::new(prompt).map_err(unknown)?;
            Ok(connection.remove_pending_prompt(&prompt).await?)
        })
    }

    fn set_model(&mut self, model: String) -> Call<()> {
        let connection = self.connection.clone();
        Box::pin(async move { Ok(connection.set_model(&model).await.map(drop)?) })
    }

    fn set_mode(&mut self, mode: String) -> Call<()> {
        let connection = self.connection.clone();
        let mode = ApprovalMode::from(mode);
        Box::pin(async move { Ok(connection.set_approval_mode(&mode).await?) })
    }

    fn answer(&mut self, request: String, reply: Reply) -> Call<bool> {
        let connection = self.connection.clone();
        Box::pin(async move {
            let unknown = |_| Trouble::new(TroubleKind::Unknown, "there is no such request");
            let request = RequestId::new(request).map_err(unknown)?;
            let answer = match reply {
                Reply::Option(id) => UserAnswer::Choose(id),
                Reply::Decline => UserAnswer::Decline,
                Reply::Answers(answers) => UserAnswer::Reply(answers),
            };
            let answered = connection.answer(&request, &answer).await?;
            Ok(answered.vote == VoteResult::Taken)
        })
    }

    fn list(&mut self) -> Call<Vec<ListedSession>> {
        let settings = &self.settings;
        let client = DaemonClient::new(settings.address.clone(), settings.token.clone());
        let sanitiser = sanitiser(settings);
        let workspace = settings.workspace.display().to_string();
        let connection = self.connection.clone();
        Box::pin(async move {
            let page = PageRequest {
                size: Some(LISTED),
                cursor: None,
            };
            let page = client.sessions(&workspace, &page).await?;
            let current = connection.session();
            let listed = page.sessions.into_iter().map(|session| ListedSession {
                current: current.as_ref() == Some(&session.session_id),
                id: session.session_id.as_str().to_owned(),
                title: session.display_name.map(|title| sanitiser.line(&title)),
                updated_at: session.updated_at,
                busy: session.has_active_prompt.unwrap_or(false),
            });
            Ok(listed.collect())
        })
    }

    fn has_file(&mut self, path: PathBuf) -> Call<bool> {
        let connection = self.connection.clone();
        let path = below(&self.settings.workspace, &path);
        Box::pin(async move {
            let Some(path) = path else {
                return Ok(false);
            };
            match WholeFile::open(connection.workspace()?, path).await {
                Ok(_) => Ok(true),
                Err(WholeFileError::NotAFile) => Ok(false),
                // What it refuses to give is nothing that could be attached.
                Err(WholeFileError::Daemon(error)) if error.response().is_some() => Ok(false),
                Err(error) => Err(error.into()),
            }
        })
    }

    fn find(&mut self, text: String, limit: u32) -> Call<Vec<PathBuf>> {
        let connection = self.connection.clone();
        let folder = self.settings.workspace.clone();
        Box::pin(async move {
            let request = GlobRequest {
                max_results: Some(limit),
                ..GlobRequest::holding(&text)
            };
            let found = connection.workspace()?.glob(&request).await?.matches;
            // Nothing says what is a folder, but what is in it was found with it.
            let is_folder = |path: &RelativePath| {
                let mut others = found.iter().filter(|other| *other != path);
                others.any(|other| path.contains(other))
            };
            let files = found.iter().filter(|path| !is_folder(path));
            Ok(files.map(|path| folder.join(path.as_str())).collect())
        })
    }

    fn read(&mut self, path: PathBuf, limit: u32) -> Call<String> {
        let connection = self.connection.clone();
        let path = below(&self.settings.workspace, &path);
        Box::pin(async move {
            let elsewhere =
                || trouble::not_attached("it is not in the folder that the agent works in");
            let path = path.ok_or_else(elsewhere)?;
            let file = WholeFile::open(connection.workspace()?, path).await?;
            let bytes = file.read(limit.into()).await?;
            String::from_utf8(bytes).map_err(|_| trouble::not_attached("it is not UTF-8 text"))
        })
    }
}

/// The path of a file as the daemon names it; `None` if it is not in the folder.
fn below(folder: &Path, file: &Path) -> Option<RelativePath> {
    let path = file.strip_prefix(folder).ok()?.to_str()?;
    RelativePath::new(path).ok()
}

/// Connects; again if the daemon says that it only needs more time, which the first session of a
/// daemon on a busy machine does.
async fn connect(
    connection: &IdeConnection,
    options: ConnectOptions,
) -> Result<Connected, ConnectError> {
    for _ in 1..TRIES {
        match connection.connect(options.clone()).await {
            Err(ConnectError::Daemon(error))
                if error.reason().is_some_and(ErrorReason::is_temporary) =>
            {
                let wait = error.response().and_then(|refusal| refusal.retry_after);
                tokio::time::sleep(wait.unwrap_or(PAUSE)).await;
            }
            connected => return connected,
        }
    }
    connection.connect(options).await
}

/// The models and modes of a session, as a page may see them.
fn choices(context: SessionContext, sanitiser: &Sanitiser) -> Choices {
    let choice = |id: &str, name: Option<&str>| Choice {
        id: sanitiser.line(id),
        name: sanitiser.line(name.unwrap_or(id)),
    };
    let mut choices = Choices::default();
    if let Some(list) = context.state.models {
        let all = list.available_models.iter();
        let all = all.map(|it| choice(&it.model_id, it.name.as_deref()));
        choices.models = Some(all.collect());
        choices.model = list.current_model_id.map(|id| sanitiser.line(&id));
    }
    if let Some(list) = context.state.modes {
        let all = list.available_modes.iter();
        let all = all.map(|it| choice(it.id.as_str(), it.name.as_deref()));
        choices.modes = Some(all.collect());
        choices.mode = list.current_mode_id.map(|id| sanitiser.line(id.as_str()));
    }
    choices
}
