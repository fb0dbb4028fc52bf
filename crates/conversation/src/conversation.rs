//! The handle that everybody else holds.

use std::path::PathBuf;

use companion::desk::{Desk, Gone};
use tokio::sync::{mpsc, oneshot};

use crate::attach::Prompt;
use crate::backend::Backend;
use crate::files;
use crate::owner::{Command, Owner};
use crate::requests::Reply;
use crate::state::ConversationState;
use crate::trouble::Trouble;
use crate::view::{Change, EarlierSession};

/// How many commands may wait for the owner. Whoever finds no room waits.
const COMMANDS: usize = 64;

/// What a conversation needs besides its backend.
#[derive(Clone, Debug)]
pub struct Settings {
    /// A private folder to remember things in.
    pub memory: PathBuf,
    /// The name of this machine, which people are shown.
    pub machine: Option<String>,
}

/// Which session to connect to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Target {
    /// The one from the last time, or else the one that everybody in this folder shares.
    #[default]
    Last,
    /// A new one.
    New,
    /// One of [`Conversation::earlier`], by its key.
    Earlier(u64),
}

/// A handle to a conversation, for everybody who shows it. Cheap to clone; when the last one is gone,
/// the owner ends, and the connection with it.
#[derive(Clone, Debug)]
pub struct Conversation {
    commands: mpsc::Sender<Command>,
    desk: Desk,
}

impl Conversation {
    /// Sets up the owner's task. Nothing is connected yet. Needs a running tokio runtime.
    ///
    /// `publish` gets every change in order, on the owner's task. A function that runs through
    /// [`Conversation::ask`] does so on the same task; so what it sees of the state is what has been
    /// published, no more and no less.
    pub fn start<B: Backend>(
        backend: B,
        settings: Settings,
        desk: Desk,
        publish: impl FnMut(Change) + Send + 'static,
    ) -> Conversation {
        let (commands, inbox) = mpsc::channel(COMMANDS);
        let owner = Owner::new(backend, settings, desk.clone(), Box::new(publish), inbox);
        tokio::spawn(owner.run());
        Conversation { commands, desk }
    }

    /// Runs `look` on the owner's side and returns what it says.
    pub async fn ask<R: Send + 'static>(
        &self,
        look: impl FnOnce(&ConversationState) -> R + Send + 'static,
    ) -> Result<R, Gone> {
        let (answer, answered) = oneshot::channel();
        let look = Command::Look(Box::new(move |state| {
            // Nobody waits for the answer any more if the asking request was cancelled.
            let _ = answer.send(look(state));
        }));
        self.commands.send(look).await.map_err(|_| Gone)?;
        answered.await.map_err(|_| Gone)
    }

    /// Goes on where the last run was: in its session, and with a daemon of our own if it had one and
    /// was cut short. What goes wrong also shows in the status.
    pub async fn begin(&self) -> Result<(), Trouble> {
        self.command(Command::Begin).await
    }

    /// Connects. What goes wrong also shows in the status.
    pub async fn connect(&self, target: Target) -> Result<(), Trouble> {
        self.command(|respond| Command::Connect(target, respond))
            .await
    }

    /// Starts what holds the agent for this folder, and connects to it. It ends with us.
    pub async fn launch(&self) -> Result<(), Trouble> {
        self.command(Command::Launch).await
    }

    /// Parts from the session; the turn that is running goes on.
    pub async fn disconnect(&self) {
        // It is over in any case.
        let _ = self.command(Command::Disconnect).await;
    }

    /// Ends everything, with what was launched. A run that is `returning` starts it again.
    pub async fn close(&self, returning: bool) {
        // It is over in any case.
        let _ = self
            .command(|respond| Command::Close { returning, respond })
            .await;
    }

    /// Says something. Files that go with it are read here, so that the owner never waits for a disk;
    /// those that are not here to read are read where the agent works.
    pub async fn prompt(&self, prompt: Prompt) -> Result<(), Trouble> {
        let parts = prompt.parts(self).await?;
        self.command(|respond| Command::Prompt(parts, respond))
            .await
    }

    /// Asks for the running turn to end.
    pub async fn cancel(&self) -> Result<(), Trouble> {
        self.command(Command::Cancel).await
    }

    /// Takes a prompt out of the queue; whether it still was in it.
    pub async fn withdraw(&self, prompt: impl Into<String>) -> Result<bool, Trouble> {
        let prompt = prompt.into();
        self.command(|respond| Command::Withdraw(prompt, respond))
            .await
    }

    /// Switches the model.
    pub async fn set_model(&self, model: impl Into<String>) -> Result<(), Trouble> {
        let model = model.into();
        self.command(|respond| Command::SetModel(model, respond))
            .await
    }

    /// Changes what the agent may do without asking.
    pub async fn set_mode(&self, mode: impl Into<String>) -> Result<(), Trouble> {
        let mode = mode.into();
        self.command(|respond| Command::SetMode(mode, respond))
            .await
    }

    /// Answers a request; whether the answer counts. Somebody else may have been faster.
    pub async fn answer(&self, request: impl Into<String>, reply: Reply) -> Result<bool, Trouble> {
        let request = request.into();
        self.command(|respond| Command::Answer(request, reply, respond))
            .await
    }

    /// Earlier sessions in this folder, newest first.
    pub async fn earlier(&self) -> Result<Vec<EarlierSession>, Trouble> {
        self.command(Command::List).await
    }

    /// Files to attach whose path holds `typed`.
    pub async fn files(&self, typed: String) -> Result<Vec<String>, Trouble> {
        Ok(files::find(self, typed).await?)
    }

    /// Files where the agent works whose path holds this text, by their absolute paths.
    pub(crate) async fn find(&self, text: String, limit: u32) -> Result<Vec<PathBuf>, Trouble> {
        self.command(|respond| Command::Find {
            text,
            limit,
            respond,
        })
        .await
    }

    /// Whether there is a file where the agent works, by its absolute path.
    pub(crate) async fn has_file(&self, path: PathBuf) -> Result<bool, Trouble> {
        self.command(|respond| Command::HasFile(path, respond))
            .await
    }

    /// A file where the agent works, by its absolute path; at most `limit` bytes.
    pub(crate) async fn read(&self, path: PathBuf, limit: u32) -> Result<String, Trouble> {
        self.command(|respond| Command::Read {
            path,
            limit,
            respond,
        })
        .await
    }

    pub(crate) fn desk(&self) -> &Desk {
        &self.desk
    }

    async fn command<T>(
        &self,
        command: impl FnOnce(oneshot::Sender<Result<T, Trouble>>) -> Command,
    ) -> Result<T, Trouble> {
        let (respond, response) = oneshot::channel();
        self.commands
            .send(command(respond))
            .await
            .map_err(|_| Gone)?;
        response.await.map_err(|_| Gone)?
    }
}
