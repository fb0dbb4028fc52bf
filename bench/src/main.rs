//! Measures a companion from outside, as the program that people run.
//!
//! Every measurement starts `outrigger` as a process of its own, with a home and a temporary
//! folder of its own, and talks to it over loopback as an agent and as a person's command
//! would. Nothing here shares code with what it measures, so a mistake there cannot hide here.
//! These are not tests: the guides are told, and missing one is no failure.

// A benchmark that cannot go on has nothing better to do than to say where it stopped.
#![allow(clippy::unwrap_used, clippy::panic)]
// It prints what it has measured itself.
#![allow(clippy::print_stdout, clippy::print_stderr)]

mod chat;
mod connects;
mod daemon;
mod diffs;
mod editor;
mod fanout;
mod http;
mod idle;
mod load;
mod moves;
mod page;
mod process;
mod report;
mod stall;
mod start;

use std::path::PathBuf;
use std::process::ExitCode;

use report::Report;

const USAGE: &str = "usage: outrigger-bench PATH-OF-OUTRIGGER [--json FILE] [--only NAME[,NAME…]]
  names: start, idle, diffs, fanout, connects, moves, stall, load, editor, daemon, page, chat";

/// What was typed.
struct Arguments {
    program: PathBuf,
    json: Option<PathBuf>,
    /// The measurements to make; all of them when empty.
    only: Vec<String>,
}

impl Arguments {
    fn parse(words: impl Iterator<Item = String>) -> Option<Arguments> {
        let (mut program, mut json, mut only) = (None, None, Vec::new());
        let mut words = words;
        while let Some(word) = words.next() {
            match word.as_str() {
                "--json" => json = Some(words.next()?.into()),
                "--only" => only.extend(words.next()?.split(',').map(str::to_owned)),
                option if option.starts_with('-') => return None,
                _ if program.is_some() => return None,
                path => program = Some(std::path::absolute(path).ok()?),
            }
        }
        Some(Arguments {
            program: program?,
            json,
            only,
        })
    }

    fn wants(&self, name: &str) -> bool {
        self.only.is_empty() || self.only.iter().any(|wanted| wanted == name)
    }
}

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    if let Some((first, words)) = words.split_first()
        && first == daemon::client::FLAG
    {
        daemon::client::run(words);
        return ExitCode::SUCCESS;
    }
    let Some(arguments) = Arguments::parse(words.into_iter()) else {
        eprintln!("{USAGE}");
        return ExitCode::from(2);
    };
    let mut report = Report::default();
    measure(&arguments, &mut report);
    print!("{report}");
    if let Some(path) = &arguments.json
        && let Err(error) = std::fs::write(path, report.json())
    {
        eprintln!("cannot write {}: {error}", path.display());
        return ExitCode::FAILURE;
    }
    ExitCode::SUCCESS
}

fn measure(arguments: &Arguments, report: &mut Report) {
    // One thread for the whole load, so that the companion has at least half of two cores.
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    let program = arguments.program.as_path();
    let wants = |name: &str| {
        let wanted = arguments.wants(name);
        if wanted {
            eprintln!("measuring: {name}");
        }
        wanted
    };
    if wants("start") {
        start::measure(program, report);
    }
    if wants("idle") {
        idle::measure(program, report);
    }
    if wants("diffs") {
        runtime.block_on(diffs::measure(program, report));
    }
    if wants("fanout") {
        runtime.block_on(fanout::measure(program, report));
    }
    if wants("connects") {
        runtime.block_on(connects::measure(program, report));
    }
    if wants("moves") {
        runtime.block_on(moves::measure(program, report));
    }
    if wants("stall") {
        runtime.block_on(stall::measure(program, report));
    }
    if wants("load") {
        load::measure(program, report);
    }
    if wants("editor") {
        runtime.block_on(editor::measure(program, report));
    }
    if wants("daemon") {
        daemon::measure(report);
    }
    if wants("page") {
        page::measure(program, &runtime, report);
    }
    if wants("chat") {
        chat::measure(program, report);
    }
}
