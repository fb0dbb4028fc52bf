//! The owner: the one task that holds the state and the backend.
//!
//! Three things reach it: commands of whoever holds a [`Conversation`](crate::Conversation), events of
//! the backend, and calls of the backend that are done. Each is taken alone, so everything here is
//! plain code without locks. What takes time runs as a task whose result comes back to the owner with
//! what is to be done then.

use std::path::PathBuf;
use std::time::Instant;

use companion::desk::Desk;
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinSet;

use crate::backend::{Backend, BackendEvent, Call, ListedSession, PromptPart, SessionTarget};
use crate::memory::{LastSession, Memory};
use crate::recovery::{Recovery, UNANSWERED};
use crate::requests::Reply;
use crate::review::{PendingVerdict, ReviewedEdits};
use crate::state::ConversationState;
use crate::transcript::TranscriptLimits;
use crate::trouble::{Trouble, TroubleKind};
use crate::view::{Change, ConnectionState, EarlierSession, EndReason};
use crate::{Settings, Target};

/// Where a command's result goes. Nobody has to wait for it.
type Respond<T> = oneshot::Sender<Result<T, Trouble>>;

/// What is to be done by the owner when something is known.
type Then<B, T> = Box<dyn FnOnce(&mut Owner<B>, Result<T, Trouble>) + Send>;

/// What a task leaves for the owner to do.
type Continuation<B> = Box<dyn FnOnce(&mut Owner<B>) + Send>;

/// Takes every change, in order, on the owner's task.
pub(crate) type Sink = Box<dyn FnMut(Change) + Send>;

/// What is asked of the owner.
pub(crate) enum Command {
    /// Run this on the state.
    Look(Box<dyn FnOnce(&ConversationState) + Send>),
    Begin(Respond<()>),
    Connect(Target, Respond<()>),
    Launch(Respond<()>),
    Disconnect(Respond<()>),
    Close {
        returning: bool,
        respond: Respond<()>,
    },
    Prompt(Vec<PromptPart>, Respond<()>),
    Cancel(Respond<()>),
    Withdraw(String, Respond<bool>),
    SetModel(String, Respond<()>),
    SetMode(String, Respond<()>),
    Answer(String, Reply, Respond<bool>),
    List(Respond<Vec<EarlierSession>>),
    HasFile(PathBuf, Respond<bool>),
    Find {
        text: String,
        limit: u32,
        respond: Respond<Vec<PathBuf>>,
    },
    Read {
        path: PathBuf,
        limit: u32,
        respond: Respond<String>,
    },
}

pub(crate) struct Owner<B> {
    state: ConversationState,
    backend: B,
    /// Whether the backend may still tell something.
    backend_tells: bool,
    commands: mpsc::Receiver<Command>,
    tasks: JoinSet<Continuation<B>>,
    sink: Sink,
    memory: Memory,
    /// The session that is connected, once its id is known.
    session: Option<String>,
    review: ReviewedEdits,
    recovery: Recovery,
    /// Sessions that were listed. Others name them by their place here, never by their id.
    listed: Vec<String>,
}

enum Step<B> {
    Command(Command),
    Event(BackendEvent),
    BackendEnded,
    Done(Continuation<B>),
}

impl<B: Backend> Owner<B> {
    pub(crate) fn new(
        backend: B,
        settings: Settings,
        desk: Desk,
        sink: Sink,
        commands: mpsc::Receiver<Command>,
    ) -> Owner<B> {
        Owner {
            state: ConversationState::new(TranscriptLimits::default(), settings.machine),
            backend,
            backend_tells: true,
            commands,
            tasks: JoinSet::new(),
            sink,
            memory: Memory::new(&settings.memory),
            session: None,
            review: ReviewedEdits::new(desk),
            recovery: Recovery::default(),
            listed: Vec::new(),
        }
    }

    /// Works until the last handle is gone.
    pub(crate) async fn run(mut self) {
        loop {
            let step = tokio::select! {
                command = self.commands.recv() => match command {
                    Some(command) => Step::Command(command),
                    None => return,
                },
                event = self.backend.next(), if self.backend_tells => {
                    event.map_or(Step::BackendEnded, Step::Event)
                }
                Some(Ok(done)) = self.tasks.join_next() => Step::Done(done),
            };
            match step {
                Step::Command(command) => self.handle(command),
                Step::Event(event) => self.hear(event).await,
                Step::BackendEnded => self.backend_tells = false,
                Step::Done(done) => done(&mut self),
            }
        }
    }

    fn handle(&mut self, command: Command) {
        match command {
            Command::Look(look) => look(&self.state),
            Command::Begin(respond) => self.begin(respond),
            Command::Connect(target, respond) => self.connect(target, responding(respond)),
            Command::Launch(respond) => self.launch(responding(respond)),
            Command::Disconnect(respond) => {
                let call = self.backend.disconnect();
                self.when_done(call, responding(respond));
            }
            Command::Close { returning, respond } => self.close(returning, respond),
            Command::Prompt(parts, respond) => {
                let call = self.backend.prompt(parts);
                self.when_done(call, responding(respond));
            }
            Command::Cancel(respond) => {
                let call = self.backend.cancel();
                self.when_done(call, responding(respond));
            }
            Command::Withdraw(prompt, respond) => {
                let call = self.backend.withdraw(prompt);
                self.when_done(call, responding(respond));
            }
            Command::SetModel(model, respond) => {
                let call = self.backend.set_model(model);
                self.when_done(call, responding(respond));
            }
            Command::SetMode(mode, respond) => {
                let call = self.backend.set_mode(mode.clone());
                let then: Then<B, ()> = Box::new(move |owner, set| {
                    if set.is_ok() {
                        owner.remember_mode(mode);
                    }
                    responding(respond)(owner, set);
                });
                self.when_done(call, then);
            }
            Command::Answer(request, reply, respond) => {
                let call = self.backend.answer(request, reply);
                self.when_done(call, responding(respond));
            }
            Command::List(respond) => self.list(respond),
            Command::HasFile(path, respond) => {
                let call = self.backend.has_file(path);
                self.when_done(call, responding(respond));
            }
            Command::Find {
                text,
                limit,
                respond,
            } => {
                let call = self.backend.find(text, limit);
                self.when_done(call, responding(respond));
            }
            Command::Read {
                path,
                limit,
                respond,
            } => {
                let call = self.backend.read(path, limit);
                self.when_done(call, responding(respond));
            }
        }
    }

    /// Goes on where the last run was: in its session, and with a daemon of our own if it had one and
    /// was cut short.
    fn begin(&mut self, respond: Respond<()>) {
        let then: Then<B, ()> = Box::new(move |owner, connected| match connected {
            Err(trouble)
                if trouble.kind == TroubleKind::NoDaemon && owner.memory.had_own_daemon() =>
            {
                owner.launch(responding(respond));
            }
            connected => responding(respond)(owner, connected),
        });
        self.connect(Target::Last, then);
    }

    fn connect(&mut self, target: Target, then: Then<B, ()>) {
        let session = match target {
            Target::Last => (self.memory.load()).map_or(SessionTarget::Shared, |last| {
                let LastSession { id, mode } = last;
                SessionTarget::Known { id, mode }
            }),
            Target::New => SessionTarget::New,
            Target::Earlier(key) => {
                let known = usize::try_from(key)
                    .ok()
                    .and_then(|key| self.listed.get(key));
                let Some(known) = known else {
                    let trouble =
                        Trouble::new(TroubleKind::NoSession, "there is no such conversation")
                            .hint("list them again");
                    return then(self, Err(trouble));
                };
                let last = self.memory.load().filter(|last| last.id == *known);
                SessionTarget::Known {
                    id: known.clone(),
                    mode: last.and_then(|last| last.mode),
                }
            }
        };
        let is_known = matches!(session, SessionTarget::Known { .. });
        let may_be_gone = target == Target::Last && is_known;
        let then: Then<B, ()> = Box::new(move |owner, connected| match connected {
            // The last one may have been deleted; that must not keep the person from talking.
            Err(trouble) if may_be_gone && trouble.kind == TroubleKind::NoSession => {
                owner.connect_to(SessionTarget::Shared, then);
            }
            connected => then(owner, connected),
        });
        self.connect_to(session, then);
    }

    fn connect_to(&mut self, session: SessionTarget, then: Then<B, ()>) {
        self.set_connection(ConnectionState::Connecting);
        self.session = None;
        let call = self.backend.connect(session);
        self.when_done(
            call,
            Box::new(move |owner, connected| match connected {
                Ok(session) => {
                    let last = owner.memory.load();
                    if last.is_none_or(|last| last.id != session) {
                        let id = session.clone();
                        owner.memory.save(&LastSession { id, mode: None });
                    }
                    owner.session = Some(session);
                    then(owner, Ok(()));
                }
                Err(trouble) => owner.fail(trouble, then),
            }),
        );
    }

    /// Starts what holds the agent, and connects to it.
    fn launch(&mut self, then: Then<B, ()>) {
        self.set_connection(ConnectionState::Starting);
        let call = self.backend.launch();
        self.when_done(
            call,
            Box::new(move |owner, launched| match launched {
                Ok(()) => {
                    owner.memory.note_own_daemon(true);
                    let changes = owner.state.set_managed();
                    owner.publish(changes);
                    owner.connect(Target::Last, then);
                }
                Err(trouble) => owner.fail(trouble, then),
            }),
        );
    }

    /// There is no connection, and everybody sees why.
    fn fail(&mut self, trouble: Trouble, then: Then<B, ()>) {
        self.set_connection(ConnectionState::Failed(trouble.clone()));
        then(self, Err(trouble));
    }

    fn close(&mut self, returning: bool, respond: Respond<()>) {
        let call = self.backend.close();
        self.when_done(
            call,
            Box::new(move |owner, closed| {
                if !returning {
                    owner.memory.note_own_daemon(false);
                }
                responding(respond)(owner, closed);
            }),
        );
    }

    fn list(&mut self, respond: Respond<Vec<EarlierSession>>) {
        let call = self.backend.list();
        self.when_done(
            call,
            Box::new(move |owner, listed| {
                let listed = listed.map(|sessions| {
                    let sessions = sessions.into_iter();
                    sessions.map(|session| owner.name(session)).collect()
                });
                responding(respond)(owner, listed);
            }),
        );
    }

    /// A session by a key instead of its id. The same session keeps its key.
    fn name(&mut self, session: ListedSession) -> EarlierSession {
        let known = self.listed.iter().position(|id| *id == session.id);
        let key = known.unwrap_or(self.listed.len());
        if known.is_none() {
            self.listed.push(session.id);
        }
        EarlierSession {
            key: key as u64,
            title: session.title,
            updated_at: session.updated_at,
            busy: session.busy,
            current: session.current,
        }
    }

    async fn hear(&mut self, event: BackendEvent) {
        // First, so that whoever is asked sees at once where the edit stands. The desk answers from
        // memory; it is waited for because what comes next may be about this request.
        let proposal = match &event {
            BackendEvent::RequestOpened { request, edits } => {
                let agent = self.backend.agent();
                let (proposal, pending) = self.review.open(request, edits, agent).await;
                if let Some(pending) = pending {
                    self.await_verdict(pending);
                }
                proposal
            }
            _ => None,
        };
        let before = self.state.status().mode.clone();
        let changes = self.state.apply(&event, proposal);
        self.publish(changes);
        let mode = self.state.status().mode.clone();
        // The one in which a session is found is that of whoever is in it.
        if let (Some(before), Some(mode)) = (before, mode)
            && before != mode
        {
            self.remember_mode(mode);
        }
        match event {
            BackendEvent::TurnEnded { outcome, .. } => self.recovery.turn_ended(&outcome),
            BackendEvent::CaughtUp if self.recovery.caught_up() => self.note(UNANSWERED),
            BackendEvent::RequestClosed { request, .. }
            | BackendEvent::RequestDeclined { request } => {
                self.review.close(&request).await;
            }
            BackendEvent::Disconnected(EndReason::Died)
                if self.recovery.agent_died(Instant::now()) =>
            {
                // How it goes shows in the status.
                self.connect(Target::Last, Box::new(|_, _| {}));
            }
            _ => {}
        }
    }

    /// Remembers a mode that was chosen in the session, for when it has to be brought back.
    fn remember_mode(&self, mode: String) {
        if let Some(id) = self.session.clone() {
            let mode = Some(mode);
            self.memory.save(&LastSession { id, mode });
        }
    }

    fn await_verdict(&mut self, pending: PendingVerdict) {
        self.tasks.spawn(async move {
            let request = pending.request.clone();
            let reply = pending.decided().await;
            let answer: Continuation<B> = Box::new(move |owner| {
                if let Some(reply) = reply {
                    owner.decide(request, reply);
                }
            });
            answer
        });
    }

    /// The person decided in the review.
    fn decide(&mut self, request: String, reply: Reply) {
        let call = self.backend.answer(request, reply);
        self.when_done(
            call,
            Box::new(|owner, answered| {
                if let Err(error) = answered {
                    tracing::warn!(%error, "a decision of the review did not reach the daemon");
                    owner.note("A decision did not reach the daemon. Please answer it here.");
                }
            }),
        );
    }

    fn when_done<T: Send + 'static>(&mut self, call: Call<T>, then: Then<B, T>) {
        self.tasks.spawn(async move {
            let done = call.await;
            let then: Continuation<B> = Box::new(move |owner| then(owner, done));
            then
        });
    }

    fn set_connection(&mut self, connection: ConnectionState) {
        let changes = self.state.set_connection(connection);
        self.publish(changes);
    }

    fn note(&mut self, text: &str) {
        let changes = self.state.note(text);
        self.publish(changes);
    }

    fn publish(&mut self, changes: Vec<Change>) {
        for change in changes {
            (self.sink)(change);
        }
    }
}

/// What hands a result to whoever gave the command, if they still wait.
fn responding<B, T: Send + 'static>(respond: Respond<T>) -> Then<B, T> {
    Box::new(move |_, result| {
        let _ = respond.send(result);
    })
}
