//! A person's machine with the published daemon on it, and a client that talks to it.

use std::fs;
use std::ops::Deref;
use std::time::Duration;

use outrigger_daemon::wire::{ApprovalMode, NewSession, SessionScope, SessionUpdate};
use outrigger_daemon::{
    Address, Backoff, DaemonClient, DaemonError, ErrorReason, EventBody, Jitter, Session,
    SessionEvent, SessionEvents, SessionSettings, Token, Turn, TurnEnd,
};
use rustix::process::Signal;
use serde_json::Value;
use testkit::{Clients, Daemon, Household, PATIENCE, TOKEN, soon};

pub(crate) struct House {
    pub(crate) daemon: Daemon,
    flags: &'static [&'static str],
    /// The last field: a daemon must be gone before its folders are.
    household: Household,
}

impl Deref for House {
    type Target = Household;

    fn deref(&self) -> &Household {
        &self.household
    }
}

impl House {
    /// A machine with a running daemon, or `None` if there is nothing to run.
    pub(crate) fn open() -> Option<House> {
        Self::with_flags(&[])
    }

    /// The same, with a daemon that is started with these flags.
    pub(crate) fn with_flags(flags: &'static [&'static str]) -> Option<House> {
        Some(Self::start(household()?, flags))
    }

    /// The same, with settings of the workspace.
    pub(crate) fn with_settings(settings: &Value) -> Option<House> {
        let household = household()?;
        fs::create_dir(household.path(".qwen")).unwrap();
        household.write(".qwen/settings.json", settings.to_string());
        Some(Self::start(household, &[]))
    }

    /// The same, with a person who uses these MCP servers.
    pub(crate) fn with_mcp_servers(servers: impl FnOnce(&Household) -> Value) -> Option<House> {
        let household = household()?;
        let path = household.home().join(".qwen/settings.json");
        let mut settings: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
        settings["mcpServers"] = servers(&household);
        fs::write(path, settings.to_string()).unwrap();
        Some(Self::start(household, &[]))
    }

    fn start(household: Household, flags: &'static [&'static str]) -> House {
        let daemon = start(&household, flags, 0);
        daemon.wait_for_agent();
        House {
            daemon,
            flags,
            household,
        }
    }

    pub(crate) fn client(&self) -> DaemonClient {
        self.client_at(Address::local(self.daemon.port()))
    }

    #[allow(clippy::unused_self, reason = "the token is this house's")]
    pub(crate) fn client_at(&self, address: Address) -> DaemonClient {
        DaemonClient::new(address, Some(Token::new(TOKEN).unwrap()))
    }

    /// A session of its own, in which the agent asks before it acts.
    pub(crate) async fn session(&self) -> (Session, SessionEvents) {
        self.session_by(self.client()).await
    }

    pub(crate) async fn session_by(&self, client: DaemonClient) -> (Session, SessionEvents) {
        Session::open(client, &thread(), settings()).await.unwrap()
    }

    /// Ends the daemon with a signal and waits until it is gone. Its clients go on meanwhile: one that
    /// ends politely tells them.
    pub(crate) async fn end(&mut self, signal: Signal) {
        self.daemon.signal(signal);
        let gone = async {
            while !self.daemon.has_ended() {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        };
        soon("the daemon ends", gone).await;
    }

    /// Starts the daemon again in the same home, on the same port.
    pub(crate) fn start_again(&mut self) {
        let before = self.daemon.port();
        self.daemon = start(&self.household, self.flags, before);
        assert_eq!(before, self.daemon.port(), "somebody else took the port");
    }

    /// Starts the daemon again in the same home, on any port.
    pub(crate) fn start_elsewhere(&mut self) {
        self.daemon = start(&self.household, self.flags, 0);
    }
}

fn household() -> Option<Household> {
    let clients = Clients::find()?;
    // Nobody types a command of ours here; the program under test is the SDK's other end.
    Some(Household::new(clients.commands().join("qwen"), &clients))
}

fn start(household: &Household, flags: &[&str], port: u16) -> Daemon {
    let mut command = household.daemon_command(&household.workspace(), port);
    command.args(flags);
    Daemon::start(command)
}

/// What the daemon answers once it has started its agent. It gives one ten seconds for that, which is
/// not enough on a machine that is busy enough, and says that one may try again.
pub(crate) async fn once_it_has_an_agent<T>(ask: impl AsyncFn() -> Result<T, DaemonError>) -> T {
    let answered = tokio::time::timeout(5 * PATIENCE, async {
        loop {
            match ask().await {
                Err(error) if error.reason().is_some_and(ErrorReason::is_temporary) => {}
                answered => return answered,
            }
        }
    });
    answered.await.expect("the agent starts").unwrap()
}

pub(crate) fn thread() -> NewSession {
    NewSession {
        session_scope: Some(SessionScope::Thread),
        approval_mode: Some(ApprovalMode::Default),
        ..NewSession::default()
    }
}

pub(crate) fn settings() -> SessionSettings {
    SessionSettings {
        backoff: Backoff {
            first: Duration::from_millis(20),
            longest: Duration::from_millis(200),
            jitter: Jitter::system(),
        },
        give_up_after: PATIENCE,
        ..SessionSettings::default()
    }
}

/// What a person has in front of them.
#[derive(Default)]
pub(crate) struct Screen {
    /// What the agent said, from the last history on.
    pub(crate) text: String,
    pub(crate) seen: Vec<SessionEvent>,
}

impl Screen {
    /// Takes updates until one fits. Each may take its time: a large turn on a busy machine does.
    pub(crate) async fn watch(
        &mut self,
        updates: &mut SessionEvents,
        what: &str,
        fits: impl Fn(&Screen, &SessionEvent) -> bool,
    ) -> SessionEvent {
        loop {
            let Ok(update) = tokio::time::timeout(PATIENCE, updates.next()).await else {
                let last = self.seen.iter().rev().take(20).collect::<Vec<_>>();
                panic!("waited in vain for {what}; seen last: {last:#?}");
            };
            let update = update.expect("the session is not over");
            match &update {
                SessionEvent::History(history) => {
                    self.text = history.events.iter().map(said).collect();
                }
                SessionEvent::Event(event) => self.text += &said(event),
                _ => {}
            }
            self.seen.push(update.clone());
            if fits(self, &update) {
                return update;
            }
        }
    }

    /// Waits for an event of this type.
    pub(crate) async fn event(
        &mut self,
        updates: &mut SessionEvents,
        kind: &str,
    ) -> outrigger_daemon::DaemonEvent {
        match self
            .watch(updates, kind, |_, update| is(update, kind))
            .await
        {
            SessionEvent::Event(event) => event,
            other => panic!("{other:?}"),
        }
    }
}

pub(crate) fn is(update: &SessionEvent, kind: &str) -> bool {
    matches!(update, SessionEvent::Event(event) if event.kind() == kind)
}

/// What the agent says in an event.
pub(crate) fn said(event: &outrigger_daemon::DaemonEvent) -> String {
    match event.body() {
        EventBody::SessionUpdate(SessionUpdate::AgentMessage(chunk)) => chunk.text().to_owned(),
        _ => String::new(),
    }
}

pub(crate) async fn end_of(turn: Turn) -> TurnEnd {
    soon("the turn ends", turn.end()).await
}
