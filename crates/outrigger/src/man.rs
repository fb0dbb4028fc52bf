//! `outrigger man`: the manual pages, made from the definition of the command line.

use std::path::Path;
use std::process::ExitCode;

use clap::CommandFactory as _;
use clap_mangen::Man;

use crate::args::{Arguments, ManArgs};
use crate::failure::{CommandResult, Failure, FailureKind};
use crate::output::{note, print_exactly};

pub(crate) fn man(args: &ManArgs) -> CommandResult {
    if let Some(dir) = &args.dir {
        return write_all(dir);
    }
    let mut page = Vec::new();
    let rendered = Man::new(command(&args.command)?).render(&mut page);
    rendered.map_err(|error| Failure::other("cannot write the manual page", error))?;
    print_exactly(&page);
    Ok(ExitCode::SUCCESS)
}

fn write_all(dir: &Path) -> CommandResult {
    let shown = dir.display();
    let written = std::fs::create_dir_all(dir)
        .and_then(|()| clap_mangen::generate_to(Arguments::command(), dir));
    written.map_err(|error| {
        Failure::other(
            format_args!("cannot write manual pages into {shown}"),
            error,
        )
    })?;
    note(format_args!("wrote the manual pages into {shown}"));
    Ok(ExitCode::SUCCESS)
}

/// The definition of a command, by its words.
fn command(words: &[String]) -> Result<clap::Command, Failure> {
    let mut command = Arguments::command().disable_help_subcommand(true);
    // Gives every command its full name and the options that all of them take.
    command.build();
    for word in words {
        let found = command.find_subcommand(word).cloned();
        command = found.ok_or_else(|| {
            let message = format!("there is no command {}", words.join(" "));
            Failure::new(FailureKind::Usage, message).hint("`outrigger --help` lists the commands")
        })?;
    }
    Ok(command)
}
