//! `outrigger daemon`: a plain client for `qwen serve`, on the command line.

mod dialog;
mod prompt;
mod screen;
pub(crate) mod settings;

use std::process::ExitCode;

use ::daemon::connection::{ConnectError, SetupError};
use ::daemon::wire::{Capabilities, Health, PageRequest, SessionSummary};
use ::daemon::{DaemonClient, DaemonError, Reason};
use serde::Serialize;

use crate::args::{Daemon, DaemonCommand, Global, Listing};
use crate::commands::print_json;
use crate::failure::{Failure, Kind};
use crate::folders;
use crate::output::{harmless, print};
use settings::Link;

type Done = Result<ExitCode, Failure>;

/// How many conversations are listed.
const PAGE: u32 = 100;

pub(crate) async fn daemon(global: &Global, args: &Daemon) -> Done {
    let link = settings::resolve(&args.link)?;
    match &args.what {
        DaemonCommand::Status(listing) => status(&link, listing).await,
        DaemonCommand::Sessions(listing) => sessions(global, &link, listing).await,
        DaemonCommand::Prompt(args) => prompt::prompt(global, &link, args).await,
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Status {
    address: String,
    version: Option<String>,
    process: Option<u32>,
    workspaces: Vec<String>,
    permission_policy: Option<String>,
    sessions: Option<u64>,
    active_prompts: Option<u64>,
    pending_permissions: Option<u64>,
}

async fn status(link: &Link, args: &Listing) -> Done {
    let client = link.client();
    let capabilities = client
        .capabilities()
        .await
        .map_err(|error| failure(&error))?;
    // A daemon that is still starting, or not well, refuses these; what it is can be told all the same.
    let health = client.deep_health().await.ok();
    let counted = |count: fn(&Health) -> Option<u64>| health.as_ref().and_then(count);
    let process = client.daemon_status().await.ok().and_then(|it| it.daemon);
    let policy = capabilities
        .policy
        .as_ref()
        .and_then(|it| it.permission.as_ref());
    let status = Status {
        address: client.address().to_string(),
        version: capabilities.qwen_code_version.clone(),
        process: process.and_then(|it| it.pid),
        workspaces: capabilities.folders().map(str::to_owned).collect(),
        permission_policy: policy.map(ToString::to_string),
        sessions: counted(|it| it.sessions),
        active_prompts: counted(|it| it.active_prompts),
        pending_permissions: counted(|it| it.pending_permissions),
    };
    if args.json {
        print_json(&status);
    } else {
        print(&harmless(&describe(&status)));
    }
    Ok(ExitCode::SUCCESS)
}

fn describe(status: &Status) -> String {
    let known = |it: Option<String>| it.unwrap_or_else(|| "unknown".into());
    let number = |it: Option<u64>| known(it.map(|it| it.to_string()));
    format!(
        "{}\n  Qwen Code {} · process {}\n  {} conversations · {} turns running · {} requests wait for a person\n  works in {}\n",
        status.address,
        known(status.version.clone()),
        known(status.process.map(|it| it.to_string())),
        number(status.sessions),
        number(status.active_prompts),
        number(status.pending_permissions),
        status.workspaces.join(", "),
    )
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Listed {
    id: String,
    title: Option<String>,
    updated_at: Option<String>,
    busy: bool,
    clients: u64,
    waits_for_a_person: bool,
}

async fn sessions(global: &Global, link: &Link, args: &Listing) -> Done {
    let client = link.client();
    let capabilities = client
        .capabilities()
        .await
        .map_err(|error| failure(&error))?;
    let folder = served_folder(global, &capabilities)?;
    let page = PageRequest {
        size: Some(PAGE),
        cursor: None,
    };
    let page = client
        .sessions(&folder, &page)
        .await
        .map_err(|error| failure(&error))?;
    let listed: Vec<Listed> = page.sessions.iter().map(listed).collect();
    if args.json {
        print_json(&listed);
    } else if listed.is_empty() {
        print(&harmless(&format!("no conversations in {folder}\n")));
    }
    for session in listed.iter().filter(|_| !args.json) {
        let state = match (session.waits_for_a_person, session.busy) {
            (true, _) => "waiting",
            (false, true) => "busy",
            (false, false) => "idle",
        };
        let title = session.title.as_deref().unwrap_or("(no title)");
        let title = title.lines().next().unwrap_or_default();
        print(&harmless(&format!("{}  {state:<8} {title}\n", session.id)));
    }
    if page.next_cursor.is_some() {
        eprintln!("outrigger: there are more than {PAGE} conversations; these are the newest");
    }
    Ok(ExitCode::SUCCESS)
}

fn listed(session: &SessionSummary) -> Listed {
    Listed {
        id: session.session_id.to_string(),
        title: session.display_name.clone(),
        updated_at: session.updated_at.clone(),
        busy: session.has_active_prompt.unwrap_or(false),
        clients: session.client_count.unwrap_or(0),
        waits_for_a_person: !session.pending_interactions.is_empty(),
    }
}

/// The folder that the command is about, if it is one of the daemon's; otherwise the daemon's own.
fn served_folder(global: &Global, capabilities: &Capabilities) -> Result<String, Failure> {
    let here = folders::current(global)?.to_string_lossy().into_owned();
    if capabilities.folders().any(|it| it == here) {
        return Ok(here);
    }
    if global.folder.is_some() {
        let folders = capabilities.folders().map(str::to_owned).collect();
        return Err(setup(&SetupError::WrongFolder {
            wanted: here,
            folders,
        }));
    }
    let own = harmless(&capabilities.workspace_cwd);
    eprintln!("outrigger: the daemon works in {own}, not here");
    Ok(capabilities.workspace_cwd.clone())
}

/// A failure of a request, as people meet it. What the daemon says is not trusted to be harmless.
fn failure(error: &DaemonError) -> Failure {
    let kind = match error {
        DaemonError::Unreachable { .. } | DaemonError::Silent { .. } | DaemonError::Cut { .. } => {
            Kind::Silent
        }
        DaemonError::Strange { .. } => Kind::Configuration,
        DaemonError::Over => Kind::Other,
        DaemonError::Refused(refusal) => match refusal.reason() {
            Reason::Unauthorized
            | Reason::Forbidden
            | Reason::Untrusted
            | Reason::WorkspaceMismatch
            | Reason::NoModelProvider
            | Reason::Redirect => Kind::Configuration,
            _ => Kind::Refused,
        },
    };
    let hint = match error.reason() {
        Some(Reason::Unauthorized) => Some(TOKEN_HINT),
        _ => error.hint(),
    };
    told(kind, &error.to_string(), hint)
}

const TOKEN_HINT: &str =
    "give the token that the daemon was started with: in QWEN_SERVER_TOKEN, or with --token-file";

/// A failure to connect.
fn unconnected(error: ConnectError) -> Failure {
    match error {
        ConnectError::Setup(error) => setup(&error),
        ConnectError::Daemon(error) => failure(&error),
        error => told(Kind::Other, &error.to_string(), None),
    }
}

fn setup(error: &SetupError) -> Failure {
    let kind = match error {
        SetupError::NoDaemon(_) => Kind::Silent,
        SetupError::NoSuchSession => Kind::Refused,
        _ => Kind::Configuration,
    };
    let hint = match error {
        SetupError::Unauthorized => TOKEN_HINT.to_owned(),
        _ => error.hint(),
    };
    told(kind, &error.to_string(), Some(&hint))
}

fn told(kind: Kind, message: &str, hint: Option<&str>) -> Failure {
    let failure = Failure::new(kind, harmless(message));
    match hint {
        Some(hint) => failure.hint(harmless(hint)),
        None => failure,
    }
}

impl Link {
    fn client(&self) -> DaemonClient {
        DaemonClient::new(self.address.clone(), self.token.clone())
    }
}
