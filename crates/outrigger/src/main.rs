//! The program: reads what was typed, puts the crates together, tells people what happened.

mod args;
mod bridge;
mod browser;
mod commands;
mod config;
mod daemon;
mod failure;
mod folders;
mod house;
mod keeper;
mod lsp;
mod memory;
mod output;
mod privacy;
mod resume;
mod run;
mod serve;
mod signals;

use std::process::ExitCode;

use clap::{CommandFactory, Parser};
use tracing::level_filters::LevelFilter;

use args::{Arguments, Command};
use failure::Failure;

fn main() -> ExitCode {
    memory::give_back_large_blocks();
    // The inner processes of `outrigger run` are not commands for people.
    let done = match run::inner_process() {
        Some(done) => done,
        None => run_command(&typed()),
    };
    done.unwrap_or_else(|failure| failure.report())
}

/// What was typed. Options of `serve` may stand without a command, but not before another one.
fn typed() -> Arguments {
    let typed = Arguments::parse();
    if typed.command.is_some() && typed.serve != args::Serve::default() {
        let message = "options for running a companion stand after `serve`";
        let usage = clap::error::ErrorKind::ArgumentConflict;
        Arguments::command().error(usage, message).exit();
    }
    typed
}

fn run_command(arguments: &Arguments) -> Result<ExitCode, Failure> {
    let global = &arguments.global;
    match &arguments.command {
        None => serve::serve(global, &arguments.serve),
        Some(Command::Serve(args)) => serve::serve(global, args),
        Some(Command::Config(args)) => serve::show_config(global, args),
        Some(Command::Run(args)) => run::run(global, args),
        Some(Command::Lsp(args)) => lsp::lsp(global, args),
        Some(Command::Completions { shell }) => {
            let mut script = Vec::new();
            clap_complete::generate(*shell, &mut Arguments::command(), "outrigger", &mut script);
            output::print(&String::from_utf8_lossy(&script));
            Ok(ExitCode::SUCCESS)
        }
        Some(Command::Man) => {
            let mut page = Vec::new();
            let rendered = clap_mangen::Man::new(Arguments::command()).render(&mut page);
            rendered.map_err(|error| Failure::other("cannot write the manual page", error))?;
            output::print(&String::from_utf8_lossy(&page));
            Ok(ExitCode::SUCCESS)
        }
        Some(other) => ask(global, other),
    }
}

/// The commands that only talk to a companion need no more than one thread.
fn ask(global: &args::Global, command: &Command) -> Result<ExitCode, Failure> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    let runtime = runtime.map_err(|error| Failure::other("cannot start", error))?;
    let done = runtime.block_on(async {
        match command {
            Command::Status(args) => commands::status(global, args).await,
            Command::Proposals(args) => commands::proposals(global, args).await,
            Command::Show(args) => commands::show(global, args).await,
            Command::Accept(args) => commands::accept(global, args).await,
            Command::Reject(args) => commands::reject(global, args).await,
            Command::Focus(args) => commands::focus(global, args).await,
            Command::Env(args) => commands::env(global, args).await,
            Command::Url(args) => commands::url(global, args).await,
            Command::Bridge(args) => bridge::bridge(global, args).await,
            Command::Daemon(args) => daemon::daemon(global, args).await,
            Command::Restart => commands::restart(global).await,
            Command::Stop => commands::stop(global).await,
            _ => Ok(ExitCode::SUCCESS),
        }
    });
    // A pending read of stdin must not keep the program from ending.
    runtime.shutdown_background();
    done
}

/// A runtime for a companion: two threads, so that one large request does not delay the rest.
fn runtime() -> Result<tokio::runtime::Runtime, Failure> {
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .map_err(|error| Failure::other("cannot start", error))
}

fn log_to_stderr(level: LevelFilter) {
    // Only the first call of a process counts, and there is only one.
    let _ = tracing_subscriber::fmt()
        .with_max_level(level)
        .with_writer(std::io::stderr)
        .with_target(false)
        .try_init();
}

/// Ends the whole program if any part of it panics, after `clean_up`: half a companion would
/// be worse than none, because the editor or the person starts it again with all its state.
fn on_panic(clean_up: impl Fn() + Send + Sync + 'static) {
    let report = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        clean_up();
        report(panic);
        std::process::exit(101);
    }));
}
