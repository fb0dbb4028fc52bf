//! `outrigger run`: an agent that finds the companion for certain.
//!
//! Older agents look for a discovery file under the id of one particular process: the
//! grandparent of the nearest shell above them. So the agent is started as
//! *launcher → between → shell → agent*, and the launcher's id is put into the files. The
//! environment does the rest for versions that read only that.
//!
//! Agents know a shell by its name alone, and a real one would not pass signals on to its
//! child. So the shell is this program too, under the name of `sh`.

use std::ffi::{OsStr, OsString};
use std::process::{ExitCode, ExitStatus, Stdio};

use tokio::process::Command;
use web::wire;

use crate::args::{Global, Run, Serve};
use crate::commands::client;
use crate::failure::{Failure, Kind};
use crate::house::House;
use crate::{folders, serve};

pub(crate) fn run(global: &Global, args: &Run) -> Result<ExitCode, Failure> {
    let folder = folders::current(global)?;
    let running = folders::registry(global)?.serving(&folder);
    let own = std::process::id();
    crate::runtime()?.block_on(async {
        if let Some(record) = running {
            let client = client(&record);
            let () = client
                .post("/api/guests", &wire::Guest { pid: own })
                .await?;
            let variables = client.get("/api/environment").await?;
            return launch(global, args, &variables).await;
        }
        // Nobody serves this folder: a companion of our own does, for as long as the agent runs.
        let plan = serve::plan(global, &Serve::default(), None)?;
        crate::log_to_stderr(tracing::level_filters::LevelFilter::ERROR);
        // From here on a signal is passed on to the agent, and must not end us before it.
        let _signals = crate::signals::wait();
        let mut house = House::open(plan)?;
        let remover = house.keeper().remover();
        crate::on_panic(move || remover.remove());
        house.keeper().host(own);
        let variables = house.keeper().environment();
        let (done, over) = tokio::sync::oneshot::channel::<()>();
        let living = tokio::spawn(house.live(async { drop(over.await) }));
        let left = launch(global, args, &variables).await;
        drop(done);
        let _ = living.await;
        left
    })
}

/// Starts the agent and waits for it.
async fn launch(
    global: &Global,
    args: &Run,
    variables: &wire::Environment,
) -> Result<ExitCode, Failure> {
    let mut command = myself("outrigger", BETWEEN, &args.command)?;
    command
        .envs(variables)
        .current_dir(folders::current(global)?);
    if args.like_vscode {
        command.env("TERM_PROGRAM", "vscode");
    }
    wait(command).await
}

const BETWEEN: &str = "__between";
const SHELL: &str = "__shell";

/// Plays a role in the chain, if this process was started for one.
pub(crate) fn inner_process() -> Option<Result<ExitCode, Failure>> {
    let mut words = std::env::args_os().skip(1);
    let role = words.next()?;
    let command: Vec<OsString> = words.collect();
    match (role.to_str()?, command.as_slice()) {
        (BETWEEN, [_, ..]) => Some(wait_for(myself("sh", SHELL, &command))),
        (SHELL, [agent, arguments @ ..]) => {
            let mut command = Command::new(agent);
            command.args(arguments);
            Some(wait_for(Ok(command)))
        }
        _ => None,
    }
}

fn wait_for(command: Result<Command, Failure>) -> Result<ExitCode, Failure> {
    crate::runtime()?.block_on(wait(command?))
}

/// This program again, in another role and under another name.
fn myself(name: &str, role: &str, command: &[impl AsRef<OsStr>]) -> Result<Command, Failure> {
    let program =
        std::env::current_exe().map_err(|error| Failure::other("cannot find myself", error))?;
    let mut again = Command::new(program);
    #[cfg(unix)]
    again.arg0(name);
    #[cfg(not(unix))]
    let _ = name;
    again.arg(role).args(command);
    Ok(again)
}

/// Runs a child in the foreground. Signals from the terminal reach it by themselves, because it
/// is in the same group; one that is sent to us alone is passed on.
async fn wait(mut command: Command) -> Result<ExitCode, Failure> {
    command.stdin(Stdio::inherit()).kill_on_drop(false);
    let mut child = command.spawn().map_err(|error| {
        let program = command.as_std().get_program().display();
        Failure::new(Kind::Start, format!("cannot run {program}: {error}"))
            .hint("see whether it is installed and in your PATH")
    })?;
    let mut passing = pin_signals(child.id());
    let status = loop {
        tokio::select! {
            status = child.wait() => break status,
            () = &mut passing => {}
        }
    };
    let status = status.map_err(|error| Failure::other("cannot wait for the command", error))?;
    Ok(ExitCode::from(code(status)))
}

type Passing = std::pin::Pin<Box<dyn Future<Output = ()> + Send>>;

/// Passes signals on to the child for ever.
#[cfg(unix)]
fn pin_signals(child: Option<u32>) -> Passing {
    use rustix::process::{Pid, Signal, kill_process};
    use tokio::signal::unix::{SignalKind, signal};

    Box::pin(async move {
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
    })
}

#[cfg(not(unix))]
fn pin_signals(_child: Option<u32>) -> Passing {
    Box::pin(std::future::pending())
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
