//! Lets libFuzzer look for cases that break a promise (`crates/promises`, `fuzz/`).
//!
//! The programs are built here with the flags that `cargo fuzz` would pass, so nothing has to be
//! installed and the stable compiler will do. There is no address sanitizer: the project's own code has
//! next to nothing that is unsafe, and without it there are several times as many cases.

use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use clap::Args;

use crate::chore::{self, Chore, tell};

/// What makes a program tell libFuzzer which of its code a case has reached, and compares with what.
const FLAGS: [&str; 7] = [
    "--cfg",
    "fuzzing",
    "-Cpasses=sancov-module",
    "-Cllvm-args=-sanitizer-coverage-level=4",
    "-Cllvm-args=-sanitizer-coverage-inline-8bit-counters",
    "-Cllvm-args=-sanitizer-coverage-pc-table",
    "-Cllvm-args=-sanitizer-coverage-trace-compares",
];

/// No case is longer, in bytes: long ones are slow and find what short ones find.
const LONGEST: usize = 4096;

/// Fuzzes the promises, all of them or those that are named.
#[derive(Args)]
pub(crate) struct Arguments {
    /// The promises to try; all without a name.
    promises: Vec<String>,
    /// How many cases each is tried with.
    #[arg(long, default_value_t = 100_000, conflicts_with = "seconds")]
    cases: u64,
    /// For how many seconds each is tried instead.
    #[arg(long)]
    seconds: Option<u64>,
    /// Put what was found to reach new code into the corpus that is committed, and leave out of it
    /// what others reach as well.
    #[arg(long)]
    keep: bool,
}

/// What came of one promise.
struct Outcome {
    promise: String,
    cases: u64,
    time: Duration,
    /// Places of the code that were reached.
    edges: u64,
    /// The case that breaks the promise.
    found: Option<PathBuf>,
}

pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let known = promises()?;
    let chosen = match &arguments.promises[..] {
        [] => known,
        names => {
            for name in names {
                let list = known.join(", ");
                ensure!(
                    known.contains(name),
                    "there is no promise {name}; there are {list}"
                );
            }
            names.to_vec()
        }
    };
    build(&chosen)?;
    let mut outcomes = Vec::new();
    for promise in chosen {
        let outcome = search(&promise, arguments)?;
        tell(&outcome.to_string());
        if arguments.keep && outcome.found.is_none() {
            keep(&promise)?;
        }
        outcomes.push(outcome);
    }
    let cases: u64 = outcomes.iter().map(|outcome| outcome.cases).sum();
    tell(&format!("{cases} cases in all"));
    let broken: Vec<_> = outcomes.iter().filter(|it| it.found.is_some()).collect();
    if !broken.is_empty() {
        let list: Vec<_> = broken.iter().map(ToString::to_string).collect();
        bail!("promises do not hold\n{}", list.join("\n"));
    }
    Ok(())
}

/// Fails if the lock file does not fit the crates any more: nothing else notices before somebody
/// wants to fuzz.
pub(crate) fn check_lock() -> Result<()> {
    Chore::cargo(["metadata", "--format-version=1", "--locked"])
        .arg("--manifest-path")
        .arg(folder().join("Cargo.toml"))
        .output()
        .context("run `cargo metadata` in fuzz, and commit its Cargo.lock")?;
    Ok(())
}

fn folder() -> PathBuf {
    chore::root().join("fuzz")
}

/// Where the programs are built, and what they find is put.
fn built() -> PathBuf {
    chore::target().join("fuzz")
}

/// The names of all promises, which are those of the programs.
fn promises() -> Result<Vec<String>> {
    let mut names = Vec::new();
    for entry in fs::read_dir(folder().join("targets"))? {
        let path = entry?.path();
        let name = path.file_stem().context("a program has a name")?;
        names.push(name.to_string_lossy().into_owned());
    }
    names.sort();
    Ok(names)
}

/// The name of this machine's kind.
fn host() -> Result<String> {
    let told = Chore::new("rustc").arg("-vV").output()?;
    let told = String::from_utf8(told)?;
    let host = told.lines().find_map(|line| line.strip_prefix("host: "));
    host.map(str::to_owned)
        .context("rustc does not say what it builds for")
}

fn build(promises: &[String]) -> Result<()> {
    Chore::cargo(["build", "--release", "--locked"])
        .args(promises.iter().flat_map(|name| ["--bin", name]))
        .arg("--manifest-path")
        .arg(folder().join("Cargo.toml"))
        .arg("--target-dir")
        .arg(built())
        // Otherwise the flags would be for build scripts too, which know nothing of libFuzzer.
        .args(["--target", &host()?])
        .set("RUSTFLAGS", FLAGS.join(" "))
        .run()
        .context("cannot build what libFuzzer runs; libFuzzer itself needs a C++ compiler")
}

/// Looks for a case that breaks the promise. What libFuzzer says is kept in a file.
fn search(promise: &str, arguments: &Arguments) -> Result<Outcome> {
    let found = built().join("found").join(promise);
    let corpus = built().join("corpus").join(promise);
    for folder in [&found, &corpus] {
        fs::create_dir_all(folder)?;
    }
    let before = files(&found)?;
    let said = built().join(format!("{promise}.log"));
    let limit = match arguments.seconds {
        Some(seconds) => format!("-max_total_time={seconds}"),
        None => format!("-runs={}", arguments.cases),
    };
    let mut command = program(promise)?
        .arg(limit)
        .arg("-print_final_stats=1")
        .arg("-timeout=30")
        .arg(format!("-artifact_prefix={}/", found.display()))
        .arg(format!(
            "-dict={}",
            folder().join("dictionaries").join(promise).display()
        ))
        .args([&corpus, &folder().join("corpus").join(promise)])
        .into_command();
    let began = Instant::now();
    let status = command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(fs::File::create(&said)?)
        .status()?;
    let time = began.elapsed();
    let told = String::from_utf8_lossy(&fs::read(&said)?).into_owned();
    let new = files(&found)?.into_iter().find(|it| !before.contains(it));
    if !status.success() && new.is_none() {
        bail!("{promise} ended with {status}; see {}", said.display());
    }
    Ok(Outcome {
        promise: promise.to_owned(),
        cases: number_after(&told, "stat::number_of_executed_units:").unwrap_or(0),
        time,
        edges: number_after(&told, " cov:").unwrap_or(0),
        found: new,
    })
}

/// Makes the corpus that is committed of it and of what was found.
fn keep(promise: &str) -> Result<()> {
    let committed = folder().join("corpus").join(promise);
    let smallest = built().join("smallest").join(promise);
    if smallest.exists() {
        fs::remove_dir_all(&smallest)?;
    }
    fs::create_dir_all(&smallest)?;
    let corpus = built().join("corpus").join(promise);
    program(promise)?
        .arg("-merge=1")
        // How often a place was reached counts when looking for cases, but not here: the corpus is to
        // be small.
        .arg("-use_counters=0")
        .args([&smallest, &committed, &corpus])
        .run_beside_others()?;
    fs::remove_dir_all(&committed)?;
    fs::create_dir_all(&committed)?;
    for path in files(&smallest)? {
        fs::copy(&path, committed.join(path.file_name().unwrap_or_default()))?;
    }
    Ok(())
}

fn program(promise: &str) -> Result<Chore> {
    let path = built().join(host()?).join("release").join(promise);
    Ok(Chore::new(path).arg(format!("-max_len={LONGEST}")))
}

fn files(folder: &Path) -> Result<Vec<PathBuf>> {
    let entries = fs::read_dir(folder)?.map(|entry| Ok(entry?.path()));
    entries.collect()
}

/// The last number after a word.
fn number_after(text: &str, word: &str) -> Option<u64> {
    let (_, rest) = text.rsplit_once(word)?;
    rest.split_whitespace().next()?.parse().ok()
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Outcome {
            promise,
            cases,
            time,
            edges,
            found,
        } = self;
        let seconds = time.as_secs();
        write!(f, "{promise}: {cases} cases in {seconds} s, {edges} edges")?;
        match found {
            Some(path) => write!(f, ", broken by {}", path.display()),
            None => f.write_str(", holds"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_read_from_what_libfuzzer_says() {
        let said = "#2\tINITED cov: 12 ft: 13 corp: 1/1b\n#9\tDONE   cov: 34 ft: 40 corp: 3/9b\nstat::number_of_executed_units: 10000\nstat::average_exec_per_sec: 5\n";
        assert_eq!(number_after(said, " cov:"), Some(34));
        let units = "stat::number_of_executed_units:";
        assert_eq!(number_after(said, units), Some(10_000));
        assert_eq!(number_after("", units), None);
    }

    #[test]
    fn there_is_a_program_for_each_promise() {
        let names = promises().unwrap();
        assert!(names.contains(&"review".to_owned()), "{names:?}");
    }
}
