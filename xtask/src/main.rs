//! The chores of the project, so that a fresh machine needs nothing but a Rust toolchain.
//!
//! `cargo xtask test` is what the README, contributors and the build server all run.

#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    clippy::disallowed_methods,
    reason = "contributors read it, and what it prints is the project's own"
)]

mod chore;
mod clients;
mod dependencies;
mod fuzz;
#[path = "../../crates/testkit/src/packages.rs"]
#[expect(
    unreachable_pub,
    reason = "the file belongs to the kit, where this is public"
)]
mod packages;
mod page;
mod programs;
mod published;
mod side_by_side;

use anyhow::Result;
use clap::{Parser, Subcommand};

use chore::Chore;
use programs::Programs;

/// The chores of the project.
#[derive(Parser)]
#[command(name = "cargo xtask")]
struct Arguments {
    #[command(subcommand)]
    chore: Named,
}

#[derive(Subcommand)]
enum Named {
    /// Install what the tests need, then run every check.
    Test,
    /// Install what the tests need, by package name.
    Install,
    /// The checks that need no client: format, lints, dependencies, documentation.
    Lint,
    /// Write down the public surface of the crates that others can use.
    Api,
    /// Check, test and build the page into `crates/web/assets`.
    Page,
    /// Look for input that breaks a promise.
    Fuzz(fuzz::Arguments),
    /// Run random schedules of faults against the program; see docs/reliability.md.
    Faults {
        /// How many schedules.
        #[arg(long)]
        schedules: Option<u64>,
        /// The first seed; alone, only this one, with all its steps.
        #[arg(long)]
        seed: Option<u64>,
    },
    /// Measure the release build.
    Bench {
        /// Passed on to the benchmark.
        #[arg(last = true)]
        arguments: Vec<String>,
    },
}

fn main() -> Result<()> {
    match Arguments::parse().chore {
        Named::Test => test(),
        Named::Install => clients::install(),
        Named::Lint => lint(),
        Named::Api => published::write_down(),
        Named::Page => page::build(),
        Named::Fuzz(arguments) => fuzz::run(&arguments),
        Named::Faults { schedules, seed } => {
            let numbers = [("--schedules", schedules), ("--seed", seed)];
            let given = numbers.iter().filter_map(|(flag, it)| Some((flag, (*it)?)));
            faults(given.flat_map(|(flag, number)| [(*flag).to_owned(), number.to_string()]))
        }
        Named::Bench { arguments } => bench(&arguments),
    }
}

/// Everything. While the network brings the clients, the processors build the tests; while the tests
/// wait for agents, the processors do the lints.
fn test() -> Result<()> {
    check_format()?;
    let mut programs = Programs::default();
    side_by_side::run(vec![
        Box::new(|| clients::install_and(Box::new(page::verify))),
        Box::new(|| {
            programs = Programs::build()?;
            Ok(())
        }),
    ])?;
    side_by_side::run(vec![
        Box::new(|| programs.run()),
        Box::new(lint_and_test_the_documentation),
    ])
}

fn lint() -> Result<()> {
    check_format()?;
    lint_the_rest()
}

fn check_format() -> Result<()> {
    Chore::cargo(["fmt", "--all", "--check"]).run()
}

/// What of the lints takes its time.
fn lint_the_rest() -> Result<()> {
    dependencies::check()?;
    fuzz::check_lock()?;
    published::check()?;
    Chore::cargo(["clippy", "--workspace", "--all-targets"])
        .args(["--", "-D", "warnings"])
        .run_beside_others()?;
    Chore::cargo(["doc", "--workspace", "--no-deps"])
        .set("RUSTDOCFLAGS", "-D warnings")
        .run_beside_others()
}

/// The lints, and the tests in the documentation, which cargo builds and runs itself.
fn lint_and_test_the_documentation() -> Result<()> {
    lint_the_rest()?;
    Chore::cargo(["test", "--workspace", "--doc"]).run()
}

/// Runs schedules of faults against the debug build, whose assertions are checked as well.
fn faults(arguments: impl Iterator<Item = String>) -> Result<()> {
    Chore::cargo(["build", "-p", "outrigger", "-p", "outrigger-faults"]).run()?;
    let built = chore::target().join("debug");
    Chore::new(built.join("outrigger-faults"))
        .arg(built.join("outrigger"))
        .args(arguments)
        .run()
}

fn bench(arguments: &[String]) -> Result<()> {
    clients::install()?;
    clients::install_sdk()?;
    Chore::cargo([
        "build",
        "--release",
        "-p",
        "outrigger",
        "-p",
        "outrigger-bench",
    ])
    .run()?;
    let built = chore::target().join("release");
    Chore::new(built.join("outrigger-bench"))
        .arg(built.join("outrigger"))
        .args(arguments)
        .set("OUTRIGGER_CLIENTS", clients::folder())
        .run()
}
