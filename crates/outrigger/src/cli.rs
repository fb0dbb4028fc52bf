//! From the command line to the command that it names.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{CommandFactory, Parser};

use crate::args::{Arguments, Command, ServeArgs};
use crate::failure::{CommandResult, Failure, FailureKind};
use crate::output::print_exactly;
use crate::runtime::{self, block_on};
use crate::{bridge, commands, daemon, lsp, man, memory, run, serve, usage};

/// Runs the program.
pub(crate) fn run() -> CommandResult {
    memory::return_large_blocks();
    runtime::report_panics();
    // The inner processes of `outrigger run` and `outrigger lsp` are not commands for people.
    match run::inner_process().or_else(lsp::editor_service) {
        Some(result) => result,
        None => match parse() {
            Ok(arguments) => run_command(&arguments),
            Err(error) => Ok(usage::report(error)),
        },
    }
}

/// Parses the command line. Flags of `serve` may stand without a command, but not before another
/// one.
fn parse() -> Result<Arguments, clap::Error> {
    let arguments = Arguments::try_parse()?;
    if arguments.command.is_some() && arguments.serve != ServeArgs::default() {
        let message = "options for running a companion stand after `serve`";
        let usage = clap::error::ErrorKind::ArgumentConflict;
        return Err(Arguments::command().error(usage, message));
    }
    Ok(arguments)
}

fn run_command(arguments: &Arguments) -> CommandResult {
    let global = &arguments.global;
    let Some(command) = &arguments.command else {
        check_spelling(&arguments.serve.dirs)?;
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
            print_exactly(&script);
            Ok(ExitCode::SUCCESS)
        }
        Command::Man(args) => man::man(args),
    }
}

/// The first word may be a folder or a command. One that is neither, and looks like a command, is a
/// mistyped command.
fn check_spelling(dirs: &[PathBuf]) -> Result<(), Failure> {
    let Some(word) = dirs.first().filter(|dir| !dir.exists()) else {
        return Ok(());
    };
    let Some(command) = word.to_str().and_then(similar_command) else {
        return Ok(());
    };
    let word = word.display();
    let message = format!("there is no command and no folder {word}; did you mean {command}?");
    Err(Failure::new(FailureKind::Usage, message).hint("`outrigger --help` lists the commands"))
}

/// The command that `word` was probably meant to be. The argument parser's own measure would take
/// `myproject` for `reject`.
fn similar_command(word: &str) -> Option<String> {
    /// How many letters may be wrong.
    const SLIPS: usize = 2;
    if word.contains(std::path::is_separator) {
        return None;
    }
    let commands = Arguments::command();
    let names = commands.get_subcommands().map(clap::Command::get_name);
    let slips = names.map(|name| (slips(word, name), name));
    let (slips, name) = slips.min()?;
    (slips <= SLIPS && slips * 2 < name.len()).then(|| name.to_owned())
}

/// How many letters have to be added, dropped, replaced, or swapped with the next one to make `b`
/// of `a`.
fn slips(a: &str, b: &str) -> usize {
    let (a, b): (Vec<_>, Vec<_>) = (a.chars().collect(), b.chars().collect());
    let mut rows: Vec<Vec<usize>> = vec![(0..=b.len()).collect()];
    for i in 1..=a.len() {
        let mut row = vec![i];
        for j in 1..=b.len() {
            let replaced = rows[i - 1][j - 1] + usize::from(a[i - 1] != b[j - 1]);
            let mut least = replaced.min(rows[i - 1][j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                least = least.min(rows[i - 2][j - 2] + 1);
            }
            row.push(least);
        }
        rows.push(row);
    }
    rows[a.len()][b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mistyped_command_is_recognised() {
        for (word, command) in [
            ("statsu", Some("status")),
            ("acept", Some("accept")),
            ("proposal", Some("proposals")),
            ("stopp", Some("stop")),
            ("mna", Some("man")),
            ("sevre", Some("serve")),
            ("myproject", None),
            ("src", None),
            ("web", None),
            ("./status", None),
        ] {
            assert_eq!(similar_command(word).as_deref(), command, "{word}");
        }
    }
}
