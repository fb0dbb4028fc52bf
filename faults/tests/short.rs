//! The short form, which runs with all other tests; and the proof that the harness can fail.

#![cfg(target_os = "linux")]
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stderr,
    reason = "a test that meets something unexpected has to fail, and says that it is skipped"
)]
use std::path::PathBuf;
use std::process::{Command, Output};

/// The program under test. It belongs to another package, so cargo does not say where it is.
fn program() -> PathBuf {
    let harness = PathBuf::from(env!("CARGO_BIN_EXE_outrigger-faults"));
    harness.with_file_name("outrigger")
}

/// Runs the harness; `None` if the program was not built, as with `cargo test -p outrigger-faults`.
fn run(arguments: &[&str]) -> Option<Output> {
    let program = program();
    if !program.exists() {
        assert!(std::env::var_os("CI").is_none(), "the program is not built");
        eprintln!("SKIPPED: {} is not built", program.display());
        return None;
    }
    let mut harness = Command::new(env!("CARGO_BIN_EXE_outrigger-faults"));
    harness.arg(program).args(arguments);
    Some(harness.output().unwrap())
}

fn text(output: &Output) -> String {
    let said = [&output.stdout[..], &output.stderr].concat();
    String::from_utf8_lossy(&said).into_owned()
}

#[test]
fn promises_are_kept() {
    let Some(output) = run(&["--seeds", SEEDS]) else {
        return;
    };
    assert!(output.status.success(), "{}", text(&output));
}

#[test]
fn what_is_broken_behind_the_models_back_is_found() {
    for (sabotage, promise) in [
        ("lose-journal", "an acknowledged proposal stays open"),
        ("leave-process", "nothing is left after a clean end"),
    ] {
        let Some(output) = run(&["--seed", PENDING, "--sabotage", sabotage]) else {
            return;
        };
        let said = text(&output);
        assert!(!output.status.success(), "{sabotage}: {said}");
        let found = said.contains(&format!("NOT KEPT in 1 schedules: {promise}"));
        assert!(found, "{sabotage}: {said}");
    }
}

/// The seeds of the short form: some that were drawn, and those in which something was found that is
/// mended now.
const SEEDS: &str = "1001,1003,1007,1008,1015,1022,1023,1025,1027,1028,\
                     1029,1030,1032,1033,1036,1037,1038,1039,1043,1047,\
                     105,141,164,170,195,199,236,268,502,740";
/// A schedule without faults that excuse the loss of what is pending.
const PENDING: &str = "1";
