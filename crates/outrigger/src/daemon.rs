//! `outrigger daemon`: a client of `qwen serve` for the command line.

mod answer;
mod dialog;
mod files;
mod opening;
mod prompt;
mod runtime;
mod turn;
mod turn_output;

use std::process::ExitCode;

use ::daemon::connection::{ConnectError, SetupError};
use ::daemon::wire::{DaemonCapabilities, Health, PageRequest, SessionId, SessionSummary};
use ::daemon::{DaemonError, ErrorReason};
use conversation::tools::HostPath;
use conversation::unreviewed;
use conversation::view::AgentPlace;
use serde::Serialize;

use crate::args::{DaemonArgs, DaemonCommand, GlobalArgs, ListArgs};
use crate::config::{DaemonSettings, DaemonTarget};
use crate::failure::{CommandResult, Failure, FailureKind};
use crate::folders;
use crate::output::{Lines, counted, note, print, print_json, print_line};

/// How many conversations are listed.
const PAGE: u32 = 100;

pub(crate) async fn daemon(global: &GlobalArgs, args: &DaemonArgs) -> CommandResult {
    let variable = |name: &str| std::env::var(name).ok();
    let user_file = folders::config_file();
    let prompt = match &args.command {
        DaemonCommand::Prompt(prompt) => Some(prompt),
        _ => None,
    };
    let settings = DaemonSettings::load(&args.options, prompt, &variable, user_file.as_deref())?;
    let target = settings.target()?;
    match &args.command {
        DaemonCommand::Status(args) => status(&settings, &target, args).await,
        DaemonCommand::Sessions(args) => sessions(global, &target, args).await,
        DaemonCommand::Runtime(args) => runtime::runtime(global, &target, args).await,
        DaemonCommand::Files(args) => files::list(global, &target, args).await,
        DaemonCommand::Read(args) => files::read(global, &target, args).await,
        DaemonCommand::Prompt(args) => {
            let new = settings.new_conversation()?;
            prompt::prompt(global, &target, new, args).await
        }
        DaemonCommand::Answer(args) => answer::answer(global, &target, args).await,
    }
}

/// Where the agent of this daemon works, in a folder of it.
fn place(capabilities: &DaemonCapabilities, folder: &str) -> AgentPlace {
    AgentPlace {
        machine: conversation::machine_name(),
        workspace: HostPath {
            path: folder.to_owned(),
            line: None,
        },
        version: capabilities.qwen_code_version.clone(),
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct StatusReport {
    address: String,
    version: Option<String>,
    process: Option<u32>,
    workspaces: Vec<String>,
    permission_policy: Option<String>,
    sessions: Option<u64>,
    active_prompts: Option<u64>,
    pending_permissions: Option<u64>,
    /// What a conversation that is started from here begins with.
    mode: Option<String>,
    model: Option<String>,
    /// What happens in that mode without being asked.
    unreviewed: Option<String>,
    /// Whose files, MCP servers, skills and credentials an agent uses.
    locality: [String; 2],
}

async fn status(
    settings: &DaemonSettings,
    target: &DaemonTarget,
    args: &ListArgs,
) -> CommandResult {
    // A mistake in it keeps nobody from looking what is there.
    let new = match settings.new_conversation() {
        Ok(new) => Some(new),
        Err(failure) => {
            note(&failure);
            None
        }
    };
    let client = target.client();
    let capabilities = client
        .capabilities()
        .await
        .map_err(|error| request_failure(&error))?;
    // A daemon that is still starting, or not healthy, refuses these; the rest is shown all the same.
    let health = client.deep_health().await.ok();
    let health_count = |count: fn(&Health) -> Option<u64>| health.as_ref().and_then(count);
    let process = client.daemon_status().await.ok().and_then(|it| it.daemon);
    let policy = capabilities
        .policy
        .as_ref()
        .and_then(|it| it.permission.as_ref());
    let folder = &capabilities.workspace_cwd;
    let status = StatusReport {
        address: client.address().to_string(),
        version: capabilities.qwen_code_version.clone(),
        process: process.and_then(|it| it.pid),
        workspaces: capabilities.folders().map(str::to_owned).collect(),
        permission_policy: policy.map(ToString::to_string),
        sessions: health_count(|it| it.sessions),
        active_prompts: health_count(|it| it.active_prompts),
        pending_permissions: health_count(|it| it.pending_permissions),
        unreviewed: (new.as_ref()).and_then(|new| unreviewed(new.mode.value.as_str())),
        mode: new.as_ref().map(|new| new.mode.value.to_string()),
        model: new.and_then(|new| new.model),
        locality: place(&capabilities, folder).locality(),
    };
    if args.json {
        print_json(&status);
    } else {
        print(&describe(&status));
    }
    Ok(ExitCode::SUCCESS)
}

fn describe(status: &StatusReport) -> Lines {
    let known = |it: Option<String>| it.unwrap_or_else(|| "unknown".into());
    let number = |it: Option<u64>, what: &str| match it {
        Some(it) => counted(it, what),
        None => format!("unknown {what}s"),
    };
    let mut lines = Lines::new();
    lines.push(&status.address);
    lines.push(format_args!(
        "  Qwen Code {} · process {}",
        known(status.version.clone()),
        known(status.process.map(|it| it.to_string()))
    ));
    lines.push(format_args!(
        "  {} · {} · {}",
        number(status.sessions, "conversation"),
        number(status.active_prompts, "running turn"),
        number(status.pending_permissions, "open request")
    ));
    lines.push(format_args!("  works in {}", status.workspaces.join(", ")));
    for line in &status.locality {
        lines.push(format_args!("  {line}"));
    }
    if let Some(mode) = &status.mode {
        let model = status.model.as_ref();
        let model = model.map_or_else(String::new, |model| format!(", model {model}"));
        lines.push(format_args!(
            "  conversations that you start: mode {mode}{model}"
        ));
    }
    if let Some(unreviewed) = &status.unreviewed {
        lines.push(format_args!("    {unreviewed}"));
    }
    lines
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ListedSession {
    id: String,
    title: Option<String>,
    updated_at: Option<String>,
    busy: bool,
    clients: u64,
    waits_for_a_person: bool,
}

/// The folder that the command is about, its newest conversations, and whether there are more.
async fn listed_sessions(
    global: &GlobalArgs,
    target: &DaemonTarget,
) -> Result<(String, Vec<ListedSession>, bool), Failure> {
    let client = target.client();
    let capabilities = client
        .capabilities()
        .await
        .map_err(|error| request_failure(&error))?;
    let folder = served_folder(global, &capabilities)?;
    let page = PageRequest {
        size: Some(PAGE),
        cursor: None,
    };
    let page = client
        .sessions(&folder, &page)
        .await
        .map_err(|error| request_failure(&error))?;
    let listed = page.sessions.iter().map(listed).collect();
    Ok((folder, listed, page.next_cursor.is_some()))
}

async fn sessions(global: &GlobalArgs, target: &DaemonTarget, args: &ListArgs) -> CommandResult {
    let (folder, listed, more) = listed_sessions(global, target).await?;
    if args.json {
        print_json(&listed);
    } else if listed.is_empty() {
        print_line(format_args!("no conversations in {folder}"));
    }
    for session in listed.iter().filter(|_| !args.json) {
        let state = match (session.waits_for_a_person, session.busy) {
            (true, _) => "waiting",
            (false, true) => "busy",
            (false, false) => "idle",
        };
        let title = session.title.as_deref().unwrap_or("(no title)");
        let title = title.lines().next().unwrap_or_default();
        print_line(format_args!("{}  {state:<8} {title}", session.id));
    }
    if more {
        note(format_args!(
            "there are more than {PAGE} conversations; these are the newest"
        ));
    }
    Ok(ExitCode::SUCCESS)
}

fn listed(session: &SessionSummary) -> ListedSession {
    ListedSession {
        id: session.session_id.to_string(),
        title: session.display_name.clone(),
        updated_at: session.updated_at.clone(),
        busy: session.has_active_prompt.unwrap_or(false),
        clients: session.client_count.unwrap_or(0),
        waits_for_a_person: !session.pending_interactions.is_empty(),
    }
}

/// The id of a conversation that the person has typed.
fn session_id(id: &str) -> Result<SessionId, Failure> {
    SessionId::new(id).map_err(|error| {
        let message = format!("this is not the id of a conversation: {error}");
        Failure::new(FailureKind::Refused, message)
    })
}

/// The folder that the command is about, if it is one of the daemon's; otherwise the daemon's own.
fn served_folder(
    global: &GlobalArgs,
    capabilities: &DaemonCapabilities,
) -> Result<String, Failure> {
    let here = folders::current(global)?.to_string_lossy().into_owned();
    if capabilities.folders().any(|it| it == here) {
        return Ok(here);
    }
    if global.folder.is_some() {
        let folders = capabilities.folders().map(str::to_owned).collect();
        return Err(setup_failure(&SetupError::WrongFolder {
            wanted: here,
            folders,
        }));
    }
    let own = &capabilities.workspace_cwd;
    note(format_args!("the daemon works in {own}, not here"));
    Ok(own.clone())
}

/// The failure of a request.
fn request_failure(error: &DaemonError) -> Failure {
    let kind = match error {
        DaemonError::Unreachable { .. }
        | DaemonError::Timeout { .. }
        | DaemonError::ConnectionLost { .. } => FailureKind::Silent,
        DaemonError::Foreign { .. } | DaemonError::InvalidResponse { .. } => {
            FailureKind::Configuration
        }
        DaemonError::Refused(refusal) => match refusal.reason() {
            ErrorReason::Unauthorized
            | ErrorReason::Forbidden
            | ErrorReason::Untrusted
            | ErrorReason::WorkspaceMismatch
            | ErrorReason::NoModelProvider
            | ErrorReason::Redirect => FailureKind::Configuration,
            _ => FailureKind::Refused,
        },
        _ => FailureKind::Other,
    };
    let hint = match error.reason() {
        Some(ErrorReason::Unauthorized) => Some(TOKEN_HINT),
        _ => error.hint(),
    };
    let failure = Failure::new(kind, error);
    match hint {
        Some(hint) => failure.hint(hint),
        None => failure,
    }
}

const TOKEN_HINT: &str =
    "give the token that the daemon was started with: in QWEN_SERVER_TOKEN, or with --token-file";

/// The failure of a connection.
fn connect_failure(error: ConnectError) -> Failure {
    match error {
        ConnectError::Setup(error) => setup_failure(&error),
        ConnectError::Daemon(error) => request_failure(&error),
        error => Failure::new(FailureKind::Other, error),
    }
}

fn setup_failure(error: &SetupError) -> Failure {
    let kind = match error {
        SetupError::NoDaemon(_) => FailureKind::Silent,
        SetupError::NoSuchSession => FailureKind::Refused,
        _ => FailureKind::Configuration,
    };
    let hint = match error {
        SetupError::Unauthorized => TOKEN_HINT.to_owned(),
        _ => error.hint(),
    };
    Failure::new(kind, error).hint(hint)
}
