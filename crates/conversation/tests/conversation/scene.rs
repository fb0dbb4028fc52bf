//! A person's machine: a companion, a conversation, and somebody who records every change.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use conversation::backend::daemon::{DaemonBackend, DaemonSettings};
use conversation::view::{ConnectionState, EntryContent};
use conversation::{Backend, Change, Conversation, ConversationState, Settings, Snapshot, Target};
use daemon::wire::ApprovalMode;
use daemon::{Address, Backoff, Jitter, Timeouts, Token};
use tempfile::TempDir;
use testkit::InProcessCompanion;
use testkit::fake_daemon::{FakeDaemon, PATIENCE, SESSION, TOKEN, until};

use crate::replay::replay;

/// A machine on which conversations can be started, one after the other.
pub(crate) struct Machine {
    /// The folder that the person works in, and the desk.
    pub(crate) companion: InProcessCompanion,
    /// What a run leaves for the next one.
    pub(crate) memory: TempDir,
}

impl Machine {
    pub(crate) fn new() -> Machine {
        Machine {
            companion: InProcessCompanion::builder().ignoring("*.log").start(),
            memory: tempfile::tempdir().unwrap(),
        }
    }

    /// A daemon that works in the person's folder.
    pub(crate) async fn daemon(&self) -> FakeDaemon {
        FakeDaemon::for_conversations(self.companion.root().to_str().unwrap()).await
    }

    /// A conversation with the daemon on this port.
    pub(crate) fn talk_to(&self, port: u16) -> Talk {
        self.talk_with_token(port, TOKEN)
    }

    pub(crate) fn talk_with_token(&self, port: u16, token: &str) -> Talk {
        self.talk(DaemonBackend::new(self.settings(port, token)))
    }

    /// What a backend for the daemon on this port needs.
    pub(crate) fn settings(&self, port: u16, token: &str) -> DaemonSettings {
        DaemonSettings {
            address: Address::local(port),
            token: Some(Token::new(token).unwrap()),
            workspace: self.companion.root(),
            program: self.companion.root().join("no-such-program"),
            mode: ApprovalMode::Default,
            model: None,
            session: daemon::SessionSettings {
                backoff: Backoff {
                    first: Duration::from_millis(5),
                    longest: Duration::from_millis(40),
                    jitter: Jitter::none(),
                },
                give_up_after: PATIENCE,
                ..daemon::SessionSettings::default()
            },
            timeouts: Timeouts {
                connect: PATIENCE,
                response: PATIENCE,
                restore: PATIENCE,
            },
        }
    }

    /// A conversation with any backend.
    pub(crate) fn talk(&self, backend: impl Backend) -> Talk {
        let settings = Settings {
            memory: self.memory.path().to_owned(),
            machine: Some("elm".into()),
        };
        let changes = Changes::default();
        let record = changes.clone();
        let publish = move |change| record.0.lock().unwrap().push(change);
        let desk = self.companion.desk.clone();
        Talk {
            conversation: Conversation::start(backend, settings, desk, publish),
            changes,
        }
    }

    /// A daemon, and a conversation with it that stands and has caught up.
    pub(crate) async fn connected(&self) -> (FakeDaemon, Talk) {
        let daemon = self.daemon().await;
        let talk = self.talk_to(daemon.port);
        talk.conversation.connect(Target::Last).await.unwrap();
        talk.is_live().await;
        daemon.listened_to().await;
        let status = format!("GET /session/{SESSION}/status");
        until("the question about what waits", || {
            !daemon.requests(&status).is_empty()
        })
        .await;
        (daemon, talk)
    }

    pub(crate) fn remembered(&self, name: &str) -> Option<String> {
        std::fs::read_to_string(self.memory.path().join(name)).ok()
    }

    pub(crate) fn remember(&self, name: &str, text: &str) {
        std::fs::write(self.memory.path().join(name), text).unwrap();
    }
}

/// Every change so far.
#[derive(Clone, Default)]
pub(crate) struct Changes(Arc<Mutex<Vec<Change>>>);

/// A conversation, and every change of it.
pub(crate) struct Talk {
    pub(crate) conversation: Conversation,
    changes: Changes,
}

impl Talk {
    /// Waits until something is so. What the person sees then must be what the changes amount to.
    pub(crate) async fn until<T: Send + 'static>(
        &self,
        what: &str,
        pick: impl Fn(&ConversationState) -> Option<T> + Clone + Send + 'static,
    ) -> T {
        let waiting = async {
            loop {
                let (pick, changes) = (pick.clone(), self.changes.clone());
                let look = self.conversation.ask(move |state| {
                    let changes = changes.0.lock().unwrap().len();
                    Some((pick(state)?, state.snapshot(), changes))
                });
                if let Some((picked, snapshot, changes)) = look.await.unwrap() {
                    assert_eq!(self.replayed(changes), snapshot);
                    return picked;
                }
                tokio::time::sleep(Duration::from_millis(2)).await;
            }
        };
        if let Ok(picked) = tokio::time::timeout(PATIENCE, waiting).await {
            return picked;
        }
        panic!("waited in vain for {what}: {:#?}", self.snapshot().await);
    }

    /// What the first changes amount to.
    pub(crate) fn replayed(&self, changes: usize) -> Snapshot {
        let mut seen = Snapshot::default();
        for change in &self.changes.0.lock().unwrap()[..changes] {
            replay(&mut seen, change);
        }
        seen
    }

    /// How many changes there were so far.
    pub(crate) fn counter(&self) -> impl Fn() -> usize + Send + 'static {
        let changes = self.changes.clone();
        move || changes.0.lock().unwrap().len()
    }

    pub(crate) async fn snapshot(&self) -> Snapshot {
        let look = self.conversation.ask(ConversationState::snapshot);
        look.await.unwrap()
    }

    pub(crate) async fn is_live(&self) {
        self.is(ConnectionState::Live).await;
    }

    pub(crate) async fn is(&self, connection: ConnectionState) {
        self.until("a state of the connection", move |state| {
            (state.status().connection == connection).then_some(())
        })
        .await;
    }

    /// Waits until the transcript ends like this.
    pub(crate) async fn ends_with(&self, lines: &[&str]) {
        let wanted: Vec<String> = lines.iter().map(|line| (*line).to_owned()).collect();
        self.until("the end of the transcript", move |state| {
            transcript(&state.snapshot())
                .ends_with(&wanted)
                .then_some(())
        })
        .await;
    }
}

/// What was said and done, a line each.
pub(crate) fn transcript(snapshot: &Snapshot) -> Vec<String> {
    let line = |content: &EntryContent| match content {
        EntryContent::Said { speaker, text } => format!("{speaker:?}: {text}"),
        EntryContent::Attached {
            speaker,
            attachment,
        } => format!("{speaker:?} attached {}", attachment.describe()),
        EntryContent::Tool(tool) => format!("tool {}", tool.id),
        EntryContent::Plan(steps) => format!("plan of {}", steps.len()),
        EntryContent::Ended { outcome, .. } => format!("ended {outcome:?}"),
        EntryContent::Note(text) => format!("note {text}"),
    };
    let entries = snapshot.entries.iter();
    entries.map(|entry| line(&entry.content)).collect()
}
