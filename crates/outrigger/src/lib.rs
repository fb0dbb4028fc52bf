//! The program: reads the command line and the configuration, puts the crates together, and
//! reports to the person.
//!
//! It is a library only so that its own rules can be tried from outside (`fuzzing`); the program calls
//! [`main`] and nothing else.

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
#[doc(hidden)]
pub mod fuzzing;
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
mod usage;

use std::process::ExitCode;

/// Runs the command that the command line names, and says how the process ends.
pub fn main() -> ExitCode {
    cli::run().unwrap_or_else(|failure| failure.report())
}
