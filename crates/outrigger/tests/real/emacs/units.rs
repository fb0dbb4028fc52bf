//! The package's own tests, in Emacs Lisp.

use std::process::Command;

use testkit::run_suite;

use super::driver::package;
use crate::{PROGRAM, household};

#[test]
fn the_package_passes_its_own_tests() {
    let tests = ["outrigger-tests", "outrigger-chat-tests"];
    let rules = ["outrigger-hunks-tests", "outrigger-rules-tests"];
    let load = [tests, rules].concat();
    let load = load.iter().flat_map(|file| ["-l", file]);
    let run = ["-f", "ert-run-tests-batch-and-exit"];
    run_batch(&load.chain(run).collect::<Vec<_>>());
}

#[test]
fn the_package_is_fit_for_an_archive() {
    run_batch(&["-l", "outrigger-lint", "-f", "outrigger-lint"]);
}

/// Runs Emacs without a screen, with the package and its tests to be loaded.
fn run_batch(arguments: &[&str]) {
    let Some(house) = household() else {
        return;
    };
    let mut emacs = Command::new("emacs");
    emacs.arg("--batch");
    emacs.arg("-L").arg(package());
    emacs.arg("-L").arg(package().join("test"));
    emacs.args(arguments).current_dir(house.workspace());
    emacs.env_clear().envs(house.environment());
    emacs.env("OUTRIGGER_PROGRAM", PROGRAM);
    let output = run_suite(&mut emacs);
    let report = String::from_utf8_lossy(&output.stderr);
    // What passed stands before what failed, and is long.
    let failures = report
        .find(" condition:\n")
        .map_or(0, |at| report[..at].rfind('\n').unwrap_or(0));
    assert!(
        output.status.success(),
        "{}\n{}",
        output.status,
        &report[failures..]
    );
}
