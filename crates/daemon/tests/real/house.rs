//! One person's machine: a home, a workspace, a model and the published daemon.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use daemon::wire::{ApprovalMode, NewSession, SessionScope, SessionUpdate};
use daemon::{
    Address, Backoff, DaemonClient, DaemonError, ErrorReason, EventBody, Jitter, Session,
    SessionEvent, SessionEvents, SessionSettings, Token, Turn, TurnEnd,
};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use tempfile::TempDir;
use testkit::Clients;
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::{Child, Command};

use crate::model::Model;

/// How long anything may take; a slow machine must not fail a test.
pub(crate) const PATIENCE: Duration = Duration::from_mins(1);

pub(crate) const TOKEN: &str = "a-token-for-tests";

pub(crate) struct House {
    clients: Clients,
    folder: TempDir,
    pub(crate) model: Model,
    flags: Vec<String>,
    daemon: Child,
    pub(crate) port: u16,
}

impl House {
    /// A machine with a running daemon, or `None` if there is nothing to run.
    pub(crate) async fn open(flags: &[&str]) -> Option<House> {
        Self::with(flags, &json!({})).await
    }

    /// The same, with settings of the workspace.
    pub(crate) async fn with(flags: &[&str], workspace: &Value) -> Option<House> {
        let clients = Clients::find()?;
        let folder = tempfile::tempdir().unwrap();
        let model = Model::start().await;
        fs::create_dir_all(folder.path().join("home/.qwen")).unwrap();
        fs::create_dir_all(folder.path().join("workspace/.qwen")).unwrap();
        fs::write(
            folder.path().join("workspace/.qwen/settings.json"),
            workspace.to_string(),
        )
        .unwrap();
        let url = format!("http://127.0.0.1:{}/v1", model.port);
        let provider =
            |id: &str| json!({"id": id, "name": id, "envKey": "OPENAI_API_KEY", "baseUrl": url});
        let settings = json!({
            "security": {"auth": {"selectedType": "openai"}},
            "model": {"name": "fake-model"},
            "modelProviders": {"openai": [provider("fake-model"), provider("fake-model-2")]},
            // Without this the daemon lets a model decide, and asks nobody.
            "tools": {"approvalMode": "default"},
            // Each of these would send requests of its own to the model.
            "memory": {"enableManagedAutoMemory": false, "enableManagedAutoDream": false, "enableAutoSkill": false},
            "general": {"enableAutoUpdate": false},
            "privacy": {"usageStatisticsEnabled": false},
            "telemetry": {"enabled": false},
            "ui": {"enableFollowupSuggestions": false},
        });
        fs::write(
            folder.path().join("home/.qwen/settings.json"),
            settings.to_string(),
        )
        .unwrap();
        let flags: Vec<String> = flags.iter().map(ToString::to_string).collect();
        let (daemon, port) = start(&clients, folder.path(), model.port, 0, &flags).await;
        let house = House {
            clients,
            folder,
            model,
            flags,
            daemon,
            port,
        };
        house.wait_for_the_agent().await;
        Some(house)
    }

    /// Waits until the daemon has its agent.
    async fn wait_for_the_agent(&self) {
        let client = self.client();
        let opened = once_it_has_an_agent(async || client.create_session(&thread()).await).await;
        let closed = client.close_session(&opened.session_id, None).await;
        closed.unwrap();
    }

    pub(crate) fn workspace(&self) -> PathBuf {
        fs::canonicalize(self.folder.path().join("workspace")).unwrap()
    }

    pub(crate) fn client(&self) -> DaemonClient {
        self.client_at(Address::local(self.port))
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

    /// Ends the daemon with a signal and waits until it is gone.
    pub(crate) async fn end(&mut self, signal: Signal) {
        let pid = i32::try_from(self.daemon.id().unwrap()).unwrap();
        kill_process(Pid::from_raw(pid).unwrap(), signal).unwrap();
        tokio::time::timeout(PATIENCE, self.daemon.wait())
            .await
            .unwrap()
            .unwrap();
    }

    /// Starts the daemon again in the same home, on the same port.
    pub(crate) async fn start_again(&mut self) {
        let before = self.port;
        self.start_on(before).await;
        assert_eq!(before, self.port, "somebody else took the port");
    }

    /// Starts the daemon again in the same home, on any port.
    pub(crate) async fn start_elsewhere(&mut self) {
        self.start_on(0).await;
    }

    async fn start_on(&mut self, port: u16) {
        let (folder, model) = (self.folder.path(), self.model.port);
        let (daemon, port) = start(&self.clients, folder, model, port, &self.flags).await;
        (self.daemon, self.port) = (daemon, port);
    }

    /// Kills the agent process behind the daemon.
    pub(crate) fn kill_agent(&self) {
        let daemon = self.daemon.id().unwrap();
        let is_agent = |pid: u32| {
            let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
            let parent = stat
                .rsplit(')')
                .next()
                .and_then(|it| it.split_whitespace().nth(1)?.parse().ok());
            let command = fs::read_to_string(format!("/proc/{pid}/cmdline")).unwrap_or_default();
            parent == Some(daemon) && command.contains("--acp")
        };
        let entries = fs::read_dir("/proc").unwrap();
        let pids = entries.filter_map(|it| it.ok()?.file_name().to_str()?.parse::<u32>().ok());
        let agent = pids
            .into_iter()
            .find(|pid| is_agent(*pid))
            .expect("the daemon has an agent");
        let agent = Pid::from_raw(i32::try_from(agent).unwrap()).unwrap();
        kill_process(agent, Signal::KILL).unwrap();
    }
}

async fn start(
    clients: &Clients,
    folder: &Path,
    model: u16,
    port: u16,
    flags: &[String],
) -> (Child, u16) {
    let commands = clients.commands();
    let home = folder.join("home");
    let workspace = fs::canonicalize(folder.join("workspace")).unwrap();
    let log = fs::File::create(folder.join("daemon.log")).unwrap();
    let mut child = Command::new(commands.join("qwen"))
        .args([
            "serve",
            "--hostname",
            "127.0.0.1",
            "--no-web",
            "--port",
            &port.to_string(),
            "--workspace",
        ])
        .arg(&workspace)
        .args(flags)
        .current_dir(&workspace)
        .env_clear()
        .env(
            "PATH",
            format!("{}:/usr/local/bin:/usr/bin:/bin", commands.display()),
        )
        .env("HOME", &home)
        .env("QWEN_HOME", home.join(".qwen"))
        .env("TMPDIR", folder)
        .env("LANG", "C.UTF-8")
        .env("OPENAI_API_KEY", "fake-key")
        .env("OPENAI_BASE_URL", format!("http://127.0.0.1:{model}/v1"))
        .env("OPENAI_MODEL", "fake-model")
        .env("NO_PROXY", "127.0.0.1,localhost")
        .env("QWEN_SERVER_TOKEN", TOKEN)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(log)
        .kill_on_drop(true)
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let port = async {
        while let Some(line) = lines.next_line().await.unwrap() {
            if let Some((_, rest)) = line.split_once("listening on http://127.0.0.1:") {
                return rest
                    .split(|it: char| !it.is_ascii_digit())
                    .next()
                    .unwrap()
                    .parse()
                    .unwrap();
            }
        }
        let log = fs::read_to_string(folder.join("daemon.log")).unwrap_or_default();
        panic!("the daemon ended before it listened\n{log}");
    };
    let port = tokio::time::timeout(PATIENCE, port)
        .await
        .expect("the daemon listens");
    // A pipe that nobody reads would stop the daemon one day.
    tokio::spawn(async move { while let Ok(Some(_)) = lines.next_line().await {} });
    (child, port)
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
    ) -> daemon::DaemonEvent {
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
pub(crate) fn said(event: &daemon::DaemonEvent) -> String {
    match event.body() {
        EventBody::SessionUpdate(SessionUpdate::AgentMessage(chunk)) => chunk.text().to_owned(),
        _ => String::new(),
    }
}

pub(crate) async fn end_of(turn: Turn) -> TurnEnd {
    tokio::time::timeout(PATIENCE, turn.end())
        .await
        .expect("the turn ends")
}
