//! `outrigger lsp`: a pipe between an editor and the companion of its folders.
//!
//! The companion is never in this process. Editors wait for their language servers when they close,
//! and kill those that take too long; a companion that other editors have joined, or that waits for
//! the next editor, could not live there. So this process finds the companion, starts it if there
//! is none, and forwards bytes from then on. It ends with either side.

mod launch;
mod pipe;
mod variables;

use std::fs::File;
use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use companion::registry::Record;
use editor::{Greeting, Hello, SessionEnd, Trace};
use tokio::io::BufReader;
use tracing::level_filters::LevelFilter;
use web::{ClientError, EditorPipe};

use crate::args::{GlobalArgs, LspArgs};
use crate::commands::client;
use crate::config::{Layer, hiding_patterns};
use crate::failure::{CommandResult, Failure, FailureKind};
use crate::output::protocol_pipe;
use crate::service::{existing_folders, is_same_version};
use crate::{folders, runtime, signals};

pub(crate) use launch::editor_service;
use variables::with_patterns;

/// How often, and at what intervals, to look for a companion that can be joined.
const JOIN_TRIES: u32 = 500;
const JOIN_INTERVAL: Duration = Duration::from_millis(20);

/// How long a companion that was started and is not found keeps another one from being started.
const RELAUNCH: Duration = Duration::from_secs(2);

/// How long what the editor has said before a signal may take to arrive.
const LAST_WORDS: Duration = Duration::from_secs(1);

pub(crate) fn lsp(global: &GlobalArgs, args: &LspArgs) -> CommandResult {
    let trace = match &args.record {
        Some(path) => {
            let file = create_private(path);
            let file = file.map_err(|error| {
                Failure::other(format!("cannot write {}", path.display()), error)
            })?;
            Some(Trace::new(file))
        }
        None => None,
    };
    // A mistake in the flag is reported at once.
    let layer = Layer::from_editor(None, &editor::Options::default(), args.log.as_deref())?;
    runtime::log_to_stderr(layer.log_level().unwrap_or(LevelFilter::WARN));
    let runtime = runtime::start()?;
    let end = runtime.block_on(async {
        let stop = signals::wait();
        signals::ignore_suspension();
        // An editor that closes may send a signal right after its last words, or before they are read.
        let last_words = async {
            stop.await;
            tokio::time::sleep(LAST_WORDS).await;
        };
        tokio::select! {
            end = serve_editor(global, args, trace) => end,
            () = last_words => SessionEnd::Abrupt,
        }
    });
    // A pending read of stdin must not keep the program from ending.
    runtime.shutdown_background();
    Ok(match end {
        SessionEnd::Clean | SessionEnd::Stopped | SessionEnd::Restarts => ExitCode::SUCCESS,
        SessionEnd::Abrupt => ExitCode::FAILURE,
    })
}

/// A trace holds the person's texts, so only they may read it.
fn create_private(path: &Path) -> std::io::Result<File> {
    let mut options = File::options();
    options.write(true).create(true).truncate(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let file = options.open(path)?;
    // One that was there already has kept its mode.
    #[cfg(unix)]
    file.set_permissions(std::os::unix::fs::PermissionsExt::from_mode(0o600))?;
    Ok(file)
}

async fn serve_editor(global: &GlobalArgs, args: &LspArgs, trace: Option<Trace>) -> SessionEnd {
    let (stdin, stdout) = (BufReader::new(tokio::io::stdin()), protocol_pipe());
    let mut greeting = Greeting::new(stdin, stdout, trace.clone());
    loop {
        let Some(hello) = greeting.hello().await else {
            return SessionEnd::Abrupt;
        };
        match join(global, args, &hello).await {
            Ok(companion) => {
                let pipes = greeting.into_pipes();
                let content = with_patterns(&hello.content, &hiding_patterns());
                return pipe::forward(pipes, companion, &content, trace).await;
            }
            Err(failure) => greeting.refuse(&hello, failure.to_string()).await,
        }
    }
}

/// Joins the companion that serves all folders of the editor, and starts one first if there is none.
async fn join(global: &GlobalArgs, args: &LspArgs, hello: &Hello) -> Result<EditorPipe, Failure> {
    let roots = folders::roots(global, &existing_folders(&hello.editor.folders))?;
    let registry = folders::registry(global)?;
    let settings = settings(&hello.editor.options);
    let mut told = false;
    let mut trouble = None;
    let mut launched = None;
    for _ in 0..JOIN_TRIES {
        let covering = registry.covering(&roots);
        if let Some(other) = covering.last().filter(|it| !is_same_version(it))
            && !std::mem::replace(&mut told, true)
        {
            tracing::warn!(
                "process {} serves these folders with version {} of outrigger, this is version {}; \
                 it is not joined: restart it where it was started, or end it with `outrigger stop`",
                other.pid,
                other.version,
                env!("CARGO_PKG_VERSION")
            );
        }
        let mut fresh = covering.iter();
        match fresh.rfind(|record| is_same_version(record)) {
            // It waits for an editor that asks for the same as the one before.
            Some(record) if has_other_settings(record, &settings) && end_unused(record).await => {}
            Some(record) => match client(record).join().await {
                Ok(pipe) => return Ok(pipe),
                // It has no seat left, and waiting does not change that.
                Err(error) if error.is_final() => return Err(error.into()),
                // It may be about to end.
                Err(error) => trouble = Some(error),
            },
            None => {
                for record in covering.iter().filter(|it| it.editor_settings.is_some()) {
                    end_unused(record).await;
                }
                // What was started is there to be found, unless somebody deletes what others find
                // it by. It writes that again soon; another one would only be in its way.
                if launched.is_none_or(|at: Instant| at.elapsed() > RELAUNCH) {
                    let is_started = launch::launch(global, args, hello, &roots).await?;
                    launched = is_started.then(Instant::now);
                    continue;
                }
            }
        }
        tokio::time::sleep(JOIN_INTERVAL).await;
    }
    Err(match trouble {
        Some(error) => Failure::from(error),
        None => Failure::new(
            FailureKind::Start,
            "the companion of this folder does not let go",
        )
        .hint("`outrigger stop` ends it"),
    })
}

/// What an editor asks for that holds for all editors of a companion.
fn settings(options: &editor::Options) -> String {
    let editor::DaemonOptions {
        enabled,
        url,
        token_file,
        mode,
        model,
        mistakes,
        unused: _,
    } = &options.daemon;
    let daemon = serde_json::json!([enabled, url, token_file, mode, model, mistakes]);
    serde_json::json!({ "agents": options.agents, "daemon": daemon }).to_string()
}

/// Whether this companion was started by an editor that asked for something else.
fn has_other_settings(record: &Record, settings: &str) -> bool {
    let other = record.editor_settings.as_deref();
    other.is_some_and(|other| other != settings)
}

/// Ends a companion that only waits for the next editor, and says whether it did. The one that is
/// started instead goes on with what is open.
async fn end_unused(record: &Record) -> bool {
    let ended: Result<bool, ClientError> = client(record).post("/api/stop-unused", &()).await;
    ended.unwrap_or(false)
}
