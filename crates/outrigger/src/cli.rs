//! From the command line to the command that it names.

use std::process::ExitCode;

use clap::{CommandFactory, Parser};

use crate::args::{Arguments, Command, ServeArgs};
use crate::failure::{CommandResult, Failure};
use crate::output::print;
use crate::runtime::block_on;
use crate::{bridge, commands, daemon, lsp, memory, run, serve};

/// Runs the program.
pub(crate) fn run() -> CommandResult {
    memory::return_large_blocks();
    // The inner processes of `outrigger run` and `outrigger lsp` are not commands for people.
    match run::inner_process().or_else(lsp::editor_service) {
        Some(result) => result,
        None => run_command(&parse()),
    }
}

/// Parses the command line. Flags of `serve` may stand without a command, but not before another
/// one.
fn parse() -> Arguments {
    let arguments = Arguments::parse();
    if arguments.command.is_some() && arguments.serve != ServeArgs::default() {
        let message = "options for running a companion stand after `serve`";
        let usage = clap::error::ErrorKind::ArgumentConflict;
        Arguments::command().error(usage, message).exit();
    }
    arguments
}

fn run_command(arguments: &Arguments) -> CommandResult {
    let global = &arguments.global;
    let Some(command) = &arguments.command else {
        return serve::serve(global, &arguments.serve);
    };
    match command {
        Command::Serve(args) => serve::serve(global, args),
        Command::Config(args) => serve::show_config(global, args),
        Command::Run(args) => run::run(global, args),
        Command::Lsp(args) => lsp::lsp(global, args),
        Command::Status(args) => block_on(commands::status(global, args)),
        Command::Proposals(args) => block_on(commands::proposals(global, args)),
        Command::Show(args) => block_on(commands::show(global, args)),
        Command::Accept(args) => block_on(commands::accept(global, args)),
        Command::Reject(args) => block_on(commands::reject(global, args)),
        Command::Focus(args) => block_on(commands::focus(global, args)),
        Command::Env(args) => block_on(commands::env(global, args)),
        Command::Url(args) => block_on(commands::url(global, args)),
        Command::Bridge(args) => block_on(bridge::bridge(global, args)),
        Command::Daemon(args) => block_on(daemon::daemon(global, args)),
        Command::Restart => block_on(commands::restart(global)),
        Command::Stop => block_on(commands::stop(global)),
        Command::Completions { shell } => {
            let mut script = Vec::new();
            clap_complete::generate(*shell, &mut Arguments::command(), "outrigger", &mut script);
            print(&String::from_utf8_lossy(&script));
            Ok(ExitCode::SUCCESS)
        }
        Command::Man => {
            let mut page = Vec::new();
            let rendered = clap_mangen::Man::new(Arguments::command()).render(&mut page);
            rendered.map_err(|error| Failure::other("cannot write the manual page", error))?;
            print(&String::from_utf8_lossy(&page));
            Ok(ExitCode::SUCCESS)
        }
    }
}
