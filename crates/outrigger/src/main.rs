//! The program: reads the command line and the configuration, puts the crates together, and
//! reports to the person.

mod args;
mod bridge;
mod browser;
mod cli;
mod commands;
mod config;
mod daemon;
mod discovery;
mod display;
mod failure;
mod folders;
mod input;
mod lsp;
mod man;
mod memory;
mod narration;
mod output;
mod resume;
mod run;
mod runtime;
mod serve;
mod service;
mod signals;

use std::process::ExitCode;

fn main() -> ExitCode {
    cli::run().unwrap_or_else(|failure| failure.report())
}
