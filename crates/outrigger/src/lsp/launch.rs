//! Starts a companion for an editor, in a process of its own.
//!
//! The two processes speak once: the editor's `initialize` request goes to the standard input of the
//! new one, and one line comes back when agents can find it, or why it does not run.

use std::ffi::OsString;
use std::io::Read as _;
use std::path::PathBuf;
use std::process::{ExitCode, Stdio};

use editor::{EditorInfo, Hello};
use serde::{Deserialize, Serialize};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::process::{ChildStderr, Command};
use tokio::sync::mpsc;
use web::Owner;

use crate::args::{GlobalArgs, LspArgs};
use crate::config::Layer;
use crate::failure::{CommandResult, Failure, FailureKind};
use crate::output::{log_pipe, print_json_line};
use crate::service::{Service, ServiceOptions, Start, StartingEditor};
use crate::{folders, runtime, signals};

/// The command of the new process, which is not one for people.
pub(crate) const EDITOR_SERVICE: &str = "__editor-service";

/// Pieces of the companion's log that may wait for the editor to read them; more are dropped.
const LOG_PIECES: usize = 64;

/// What the new process says.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
enum Report {
    /// Agents can find it, and editors join.
    Started,
    /// Another companion serves these folders by now.
    Served,
    /// It cannot run.
    Failed(String),
}

/// Starts a companion for `roots`. When this returns, there is one that can be joined; whether it is
/// the one that was started.
pub(super) async fn launch(
    global: &GlobalArgs,
    args: &LspArgs,
    hello: &Hello,
    roots: &[PathBuf],
) -> Result<bool, Failure> {
    let failed = |error: &dyn std::fmt::Display| {
        Failure::new(
            FailureKind::Start,
            format!("cannot start the companion: {error}"),
        )
    };
    let program = std::env::current_exe().map_err(|error| failed(&error))?;
    let mut child = Command::new(program)
        .arg(EDITOR_SERVICE)
        .arg(folders::state(global)?)
        .arg(args.log.as_deref().unwrap_or_default())
        .args(roots)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|error| failed(&error))?;
    if let Some(log) = child.stderr.take() {
        forward_log(log);
    }
    let (Some(mut stdin), Some(stdout)) = (child.stdin.take(), child.stdout.take()) else {
        return Err(failed(&"it has no pipes"));
    };
    // It reports what is wrong if it cannot read this.
    let _ = stdin.write_all(&hello.content).await;
    drop(stdin);
    let mut line = String::new();
    let read = BufReader::new(stdout).read_line(&mut line).await;
    read.map_err(|error| failed(&error))?;
    // It goes on by itself. It is collected when it ends, if we are still there.
    tokio::spawn(async move { child.wait().await });
    match serde_json::from_str(&line) {
        Ok(Report::Started) => Ok(true),
        Ok(Report::Served) => Ok(false),
        Ok(Report::Failed(why)) => Err(Failure::new(FailureKind::Start, why)),
        Err(_) => Err(failed(&"it ended without a word")),
    }
}

/// Writes the companion's log to ours, which the editor shows. The companion must not wait for an
/// editor that does not read.
fn forward_log(mut log: ChildStderr) {
    let (sender, mut pieces) = mpsc::channel::<Vec<u8>>(LOG_PIECES);
    tokio::spawn(async move {
        let mut buffer = vec![0; 1 << 14];
        while let Ok(length @ 1..) = log.read(&mut buffer).await {
            let _ = sender.try_send(buffer[..length].to_vec());
        }
    });
    tokio::spawn(async move {
        let mut stderr = log_pipe();
        while let Some(piece) = pieces.recv().await {
            if stderr.write_all(&piece).await.is_err() || stderr.flush().await.is_err() {
                return;
            }
        }
    });
}

/// Runs as the new process, if this is one.
pub(crate) fn editor_service() -> Option<CommandResult> {
    let mut words = std::env::args_os().skip(1);
    if words.next()? != EDITOR_SERVICE {
        return None;
    }
    Some(run(words.collect()))
}

fn run(words: Vec<OsString>) -> CommandResult {
    // The terminal, and the editor in it, may close while somebody else is here.
    #[cfg(unix)]
    let _ = rustix::process::setsid();
    let runtime = runtime::start()?;
    runtime.block_on(async {
        let stop = signals::wait();
        match start(words) {
            Ok(Start::Started(mut service)) => {
                let remover = service.discovery().remover();
                runtime::on_panic(move || {
                    remover.remove();
                });
                report(&Report::Started);
                service.run(stop).await;
            }
            Ok(Start::Served(_)) => report(&Report::Served),
            Err(failure) => report(&Report::Failed(failure.to_string())),
        }
    });
    // A look at a file of a dead network mount must not keep the program from ending.
    runtime.shutdown_background();
    Ok(ExitCode::SUCCESS)
}

fn start(words: Vec<OsString>) -> Result<Start, Failure> {
    let unreadable = |error: &dyn std::fmt::Display| {
        let message = format!("cannot read what the editor wants: {error}");
        Failure::new(FailureKind::Start, message)
    };
    let mut words = words.into_iter();
    let (Some(state), Some(log)) = (words.next(), words.next()) else {
        return Err(unreadable(&"arguments are missing"));
    };
    let mut content = Vec::new();
    let read = std::io::stdin().read_to_end(&mut content);
    read.map_err(|error| unreadable(&error))?;
    let info = EditorInfo::read(&content).map_err(|error| unreadable(&error.message()))?;
    let global = GlobalArgs {
        state_dir: Some(state.into()),
        folder: None,
    };
    let roots: Vec<PathBuf> = words.map(PathBuf::from).collect();
    let settings = super::settings(&info.options);
    // Its patterns are in force while it is joined.
    let shared = editor::Options {
        ignore: Vec::new(),
        ..info.options
    };
    let log = log.to_str().filter(|level| !level.is_empty());
    let layer = Layer::from_editor(info.name, &shared, log)?;
    let options = ServiceOptions {
        editor: Some(StartingEditor {
            process: info.process.filter(|pid| beacon::process::exists(*pid)),
            settings,
        }),
        owner: Owner::Editor,
        ..ServiceOptions::load(&global, &roots, layer)?
    };
    runtime::log_to_stderr(options.config.log.value);
    for warning in options.config.warnings() {
        tracing::warn!("{warning}");
    }
    if let Some(warning) = options.conversations.warning() {
        tracing::warn!("{warning}");
    }
    Service::start(options)
}

fn report(report: &Report) {
    print_json_line(report);
}
