//! Runs schedules of faults, several at a time, and tells which promises were not kept.

// It tells a developer how it goes; nothing foreign is printed.
#![allow(clippy::print_stdout, clippy::print_stderr)]

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use faults::disk;
use faults::run::{Report, Sabotage, Settings, run};

const USAGE: &str =
    "usage: outrigger-faults PATH-OF-OUTRIGGER [--seed N] [--schedules N] [--seeds N,N…] [--width N]
                        [--without KIND[,KIND…]] [--sabotage lose-journal|leave-process]
  --seed N       the first seed; alone, only this one, with all its steps
  --seeds N,N…   these seeds
  --schedules N  how many seeds, one after the other (default 20)
  --width N      how many run at a time
  --without      leaves out kinds of faults, for example remove-state
  --sabotage     breaks something behind the model's back, which has to be found";

/// What was typed.
struct Arguments {
    settings: Settings,
    seeds: Vec<u64>,
    width: usize,
    /// Whether to tell the steps of schedules that went well.
    verbose: bool,
}

impl Arguments {
    fn parse(mut words: impl Iterator<Item = String>) -> Option<Arguments> {
        let (mut program, mut seed, mut schedules, mut width) = (None, None, None, None);
        let (mut seeds, mut without, mut sabotage) = (Vec::new(), Vec::new(), None);
        while let Some(word) = words.next() {
            match word.as_str() {
                "--seed" => seed = Some(words.next()?.parse().ok()?),
                "--seeds" => {
                    let list = words.next()?;
                    let list = list.split(',').map(|seed| seed.parse().ok());
                    seeds = list.collect::<Option<Vec<u64>>>()?;
                }
                "--schedules" => schedules = Some(words.next()?.parse().ok()?),
                "--width" => width = Some(words.next()?.parse().ok()?),
                "--without" => without.extend(words.next()?.split(',').map(str::to_owned)),
                "--sabotage" => {
                    sabotage = Some(match words.next()?.as_str() {
                        "lose-journal" => Sabotage::LoseJournal,
                        "leave-process" => Sabotage::LeaveProcess,
                        _ => return None,
                    });
                }
                option if option.starts_with('-') => return None,
                _ if program.is_some() => return None,
                path => program = Some(std::path::absolute(path).ok()?),
            }
        }
        let program: PathBuf = program?;
        let verbose = seed.is_some() && schedules.is_none();
        if seeds.is_empty() {
            let first = seed.unwrap_or(0);
            let count = schedules.unwrap_or(if verbose { 1 } else { 20 });
            seeds = (first..first + count).collect();
        }
        Some(Arguments {
            settings: Settings {
                program: program.canonicalize().ok()?,
                without,
                sabotage,
            },
            seeds,
            width: width.unwrap_or_else(default_width),
            verbose,
        })
    }
}

/// A schedule waits most of the time: for processes to start, for agents to come back.
fn default_width() -> usize {
    thread::available_parallelism().map_or(2, usize::from) * 3
}

fn main() -> ExitCode {
    let has_namespace = disk::enter_namespace();
    let Some(arguments) = Arguments::parse(std::env::args().skip(1)) else {
        eprintln!("{USAGE}");
        return ExitCode::from(2);
    };
    if !has_namespace {
        eprintln!(
            "this system refuses user namespaces (`unshare -Urm true`): \
             full disks and read-only folders are left out"
        );
    }
    let began = Instant::now();
    let results = Results::default();
    let next = AtomicUsize::new(0);
    thread::scope(|scope| {
        for _ in 0..arguments.width {
            scope.spawn(|| {
                loop {
                    let at = next.fetch_add(1, Ordering::Relaxed);
                    let Some(seed) = arguments.seeds.get(at) else {
                        return;
                    };
                    results.take(*seed, &arguments);
                }
            });
        }
    });
    results.tell(began.elapsed())
}

/// What all schedules together have shown.
#[derive(Default)]
struct Results {
    done: AtomicUsize,
    proposals: AtomicUsize,
    decisions: AtomicUsize,
    /// The most memory that a companion had.
    memory: AtomicU64,
    /// The time of all schedules together, in milliseconds.
    time: AtomicU64,
    /// The seeds in which each promise was broken.
    broken: Mutex<BTreeMap<&'static str, Vec<u64>>>,
}

impl Results {
    fn take(&self, seed: u64, arguments: &Arguments) {
        let report = match run(seed, &arguments.settings) {
            Ok(report) => report,
            Err(error) => {
                eprintln!("schedule {seed} cannot run: {error}");
                self.add("a schedule can run", seed);
                return;
            }
        };
        self.done.fetch_add(1, Ordering::Relaxed);
        self.proposals
            .fetch_add(report.acknowledged.0, Ordering::Relaxed);
        self.decisions
            .fetch_add(report.acknowledged.1, Ordering::Relaxed);
        self.memory.fetch_max(report.memory, Ordering::Relaxed);
        let time = u64::try_from(report.time.as_millis()).unwrap_or(u64::MAX);
        self.time.fetch_add(time, Ordering::Relaxed);
        for violation in &report.violations {
            self.add(violation.promise, seed);
        }
        if arguments.verbose || !report.violations.is_empty() {
            eprintln!("{}", describe(&report));
        }
    }

    fn add(&self, promise: &'static str, seed: u64) {
        let mut broken = self.broken.lock().unwrap_or_else(PoisonError::into_inner);
        let seeds = broken.entry(promise).or_default();
        if seeds.last() != Some(&seed) {
            seeds.push(seed);
        }
    }

    fn tell(&self, time: Duration) -> ExitCode {
        let number = |it: &AtomicUsize| it.load(Ordering::Relaxed);
        let done = number(&self.done);
        let mean = self.time.load(Ordering::Relaxed) / (done.max(1) as u64);
        println!(
            "{done} schedules in {} s ({mean} ms each), {} proposals and {} decisions acknowledged, \
             at most {} MiB resident",
            time.as_secs(),
            number(&self.proposals),
            number(&self.decisions),
            self.memory.load(Ordering::Relaxed) >> 20,
        );
        let broken = self.broken.lock().unwrap_or_else(PoisonError::into_inner);
        for (promise, seeds) in broken.iter() {
            println!(
                "NOT KEPT in {} schedules: {promise}; seeds {seeds:?}",
                seeds.len()
            );
        }
        if broken.is_empty() {
            ExitCode::SUCCESS
        } else {
            ExitCode::FAILURE
        }
    }
}

fn describe(report: &Report) -> String {
    let mut text = format!("--- schedule {} ({:?})\n", report.seed, report.time);
    for step in &report.steps {
        let _ = writeln!(text, "  {step}");
    }
    for violation in &report.violations {
        let _ = writeln!(text, "  NOT KEPT: {violation}");
    }
    if !report.violations.is_empty() {
        text += "  stderr of the companion:\n";
        for line in report
            .log
            .lines()
            .rev()
            .take(40)
            .collect::<Vec<_>>()
            .iter()
            .rev()
        {
            let _ = writeln!(text, "    {line}");
        }
    }
    text
}
