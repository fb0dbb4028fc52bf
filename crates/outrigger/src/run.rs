//! `outrigger run`: starts an agent that is sure to find the companion.
//!
//! Older agents look for a discovery file under the id of one particular process: the
//! grandparent of the nearest shell above them. So the agent is started as
//! *launcher → between → shell → agent*, and the launcher's id is put into the files. Other
//! versions read only environment variables, which are set too.
//!
//! Agents know a shell by its name alone, and a real one would not forward signals to its child.
//! So the shell is this program too, under the name `sh`.
//!
//! An agent that was never used before is not in IDE mode, asks about it in a way that leads nowhere,
//! and may write without asking. [`preparation`] changes that, as far as the person has not set
//! something else.

mod preparation;
mod switch;
mod welcome;

use std::convert::Infallible;
use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::process::{ExitCode, ExitStatus, Stdio};

use companion::registry::Record;
use front::words;
use tokio::process::Command;
use tracing::level_filters::LevelFilter;
use web::{Owner, wire};

use crate::args::{GlobalArgs, RunArgs};
use crate::commands::client;
use crate::config::Layer;
use crate::failure::{CommandResult, Failure, FailureKind};
use crate::output::note;
use crate::service::{Service, ServiceOptions, Start};
use crate::{folders, runtime, signals};
use preparation::Preparation;
use welcome::{Review, welcome};

pub(crate) fn run(global: &GlobalArgs, args: &RunArgs) -> CommandResult {
    let folder = folders::current(global)?;
    let running = folders::registry(global)?.serving(&folder);
    let own = std::process::id();
    let preparation = preparation::prepare(&folders::state(global)?, &args.command, &folder);
    let name = agent_name(args);
    runtime::start()?.block_on(async {
        // From here on signals are forwarded to the agent, and must not end us before it.
        let signals = signals::wait();
        if let Some(record) = running {
            return launch_as_guest(&folder, args, &record, &preparation, signals).await;
        }
        // No companion serves this folder, so we run one for as long as the agent runs.
        let options = ServiceOptions {
            owner: Owner::Launcher,
            ..ServiceOptions::load(global, &[], Layer::default())?
        };
        runtime::log_to_stderr(LevelFilter::ERROR);
        let open = options.config.open.value && !args.no_open;
        let mut service = match Service::start(options)? {
            Start::Started(service) => service,
            Start::Served(record) => {
                return launch_as_guest(&folder, args, &record, &preparation, signals).await;
            }
        };
        for fault in service.faults() {
            note(words::fault(fault));
        }
        if let Some(warning) = service.conversation_warning() {
            note(format_args!("warning: {warning}"));
        }
        let discovery = service.discovery();
        let remover = discovery.remover();
        runtime::on_panic(move || {
            remover.remove();
        });
        discovery.add_candidate(own);
        let variables = discovery.environment();
        let links = service.links().clone();
        let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
        let running = tokio::spawn(service.run(stopped));
        let links = &links;
        let result = tokio::select! {
            () = welcome(name, &preparation, Review::Page { links, open }) => {
                launch(&folder, args, &variables, &preparation).await
            }
            // Before the agent has started, they are for us.
            code = signals => Ok(ExitCode::from(code)),
        };
        drop(stop);
        let _ = running.await;
        result
    })
}

/// The agent as the person has typed it.
fn agent_name(args: &RunArgs) -> &str {
    args.command.first().map_or("", String::as_str)
}

/// Starts the agent for a companion that runs elsewhere, and waits for the agent.
async fn launch_as_guest(
    folder: &Path,
    args: &RunArgs,
    record: &Record,
    preparation: &Preparation,
    signals: impl Future<Output = u8>,
) -> CommandResult {
    let client = client(record);
    let process = wire::HostProcess {
        pid: std::process::id(),
    };
    let () = client.post("/api/guests", &process).await?;
    let variables = client.get("/api/environment").await?;
    let companion = &record.editor;
    let review = Review::Elsewhere { companion };
    tokio::select! {
        () = welcome(agent_name(args), preparation, review) => {
            launch(folder, args, &variables, preparation).await
        }
        // Before the agent has started, they are for us.
        code = signals => Ok(ExitCode::from(code)),
    }
}

/// Starts the agent and waits for it.
async fn launch(
    folder: &Path,
    args: &RunArgs,
    variables: &wire::Environment,
    preparation: &Preparation,
) -> CommandResult {
    let mut command = inner_command("outrigger", BETWEEN, &args.command)?;
    command.envs(variables).current_dir(folder);
    if let Some((name, path)) = &preparation.variable {
        command.env(name, path);
    }
    if args.like_vscode {
        command.env("TERM_PROGRAM", "vscode");
    }
    wait(command).await
}

const BETWEEN: &str = "__between";
const SHELL: &str = "__shell";

/// Runs as one of the inner processes, if this process was started as one.
pub(crate) fn inner_process() -> Option<CommandResult> {
    let mut words = std::env::args_os().skip(1);
    let role = words.next()?;
    let command: Vec<OsString> = words.collect();
    match (role.to_str()?, command.as_slice()) {
        (BETWEEN, [_, ..]) => Some(wait_for(inner_command("sh", SHELL, &command))),
        (SHELL, [agent, arguments @ ..]) => {
            let mut command = Command::new(agent);
            command.args(arguments);
            Some(wait_for(Ok(command)))
        }
        _ => None,
    }
}

fn wait_for(command: Result<Command, Failure>) -> CommandResult {
    runtime::start()?.block_on(wait(command?))
}

/// This program again, in another role and under another name.
fn inner_command(
    name: &str,
    role: &str,
    command: &[impl AsRef<OsStr>],
) -> Result<Command, Failure> {
    let program = std::env::current_exe()
        .map_err(|error| Failure::other("cannot find the program file of outrigger", error))?;
    let mut inner = Command::new(program);
    #[cfg(unix)]
    inner.arg0(name);
    #[cfg(not(unix))]
    let _ = name;
    inner.arg(role).args(command);
    Ok(inner)
}

/// Runs a child in the foreground. Signals from the terminal reach it directly, because it is in
/// the same process group; one that is sent to us alone is forwarded.
async fn wait(mut command: Command) -> CommandResult {
    command.stdin(Stdio::inherit()).kill_on_drop(false);
    let mut child = command.spawn().map_err(|error| {
        let program = command.as_std().get_program().display();
        Failure::new(FailureKind::Start, format!("cannot run {program}: {error}"))
            .hint("see whether it is installed and in your PATH")
    })?;
    let pid = child.id();
    let status = tokio::select! {
        status = child.wait() => status,
        never = forward_signals(pid) => match never {},
    };
    let status = status.map_err(|error| Failure::other("cannot wait for the command", error))?;
    Ok(ExitCode::from(code(status)))
}

/// Forwards signals to the child for ever.
#[cfg(unix)]
async fn forward_signals(child: Option<u32>) -> Infallible {
    use rustix::process::{Pid, Signal, kill_process};
    use tokio::signal::unix::{SignalKind, signal};

    let child = child.and_then(|id| Pid::from_raw(i32::try_from(id).ok()?));
    let signals = [
        SignalKind::terminate(),
        SignalKind::hangup(),
        SignalKind::interrupt(),
        SignalKind::quit(),
    ];
    let (
        [
            Ok(mut terminate),
            Ok(mut hangup),
            Ok(mut interrupt),
            Ok(mut quit),
        ],
        Some(child),
    ) = (signals.map(signal), child)
    else {
        return std::future::pending().await;
    };
    loop {
        tokio::select! {
            _ = terminate.recv() => { let _ = kill_process(child, Signal::TERM); }
            _ = hangup.recv() => { let _ = kill_process(child, Signal::HUP); }
            // The terminal has sent these to the child as well.
            _ = interrupt.recv() => {}
            _ = quit.recv() => {}
        }
    }
}

#[cfg(not(unix))]
async fn forward_signals(_child: Option<u32>) -> Infallible {
    std::future::pending().await
}

/// The exit code of a child as a shell reports it.
fn code(status: ExitStatus) -> u8 {
    #[cfg(unix)]
    if let Some(signal) = std::os::unix::process::ExitStatusExt::signal(&status) {
        return u8::try_from(128 + signal).unwrap_or(u8::MAX);
    }
    status
        .code()
        .and_then(|code| u8::try_from(code).ok())
        .unwrap_or(u8::MAX)
}
