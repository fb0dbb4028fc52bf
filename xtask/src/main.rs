//! The chores of the project, so that a fresh machine needs nothing but a Rust toolchain.
//!
//! `cargo xtask test` is what the README, contributors and the build server all run.

mod chore;
mod clients;
mod page;

use anyhow::Result;
use clap::{Parser, Subcommand};

use chore::Chore;

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
    /// Check, test and build the page into `crates/web/assets`.
    Page,
    /// Measure the release build.
    Bench {
        /// Passed on to the benchmark.
        #[arg(last = true)]
        arguments: Vec<String>,
    },
}

fn main() -> Result<()> {
    match Arguments::parse().chore {
        Named::Test => {
            lint()?;
            clients::install()?;
            page::verify()?;
            test()
        }
        Named::Install => clients::install(),
        Named::Lint => lint(),
        Named::Page => page::build(),
        Named::Bench { arguments } => bench(&arguments),
    }
}

fn lint() -> Result<()> {
    Chore::cargo(["fmt", "--all", "--check"]).run()?;
    Chore::cargo([
        "clippy",
        "--workspace",
        "--all-targets",
        "--",
        "-D",
        "warnings",
    ])
    .run()?;
    Chore::cargo(["doc", "--workspace", "--no-deps"])
        .set("RUSTDOCFLAGS", "-D warnings")
        .run()?;
    clients::provide_deny()?;
    // Advisories are left out: their database cannot be fetched from every machine.
    Chore::cargo([
        "deny",
        "--all-features",
        "check",
        "licenses",
        "bans",
        "sources",
    ])
    .run()
}

fn test() -> Result<()> {
    // With `CI` set a test that cannot run fails instead of being skipped.
    Chore::cargo(["test", "--workspace"])
        .set("CI", "true")
        .set("OUTRIGGER_CLIENTS", clients::folder())
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
