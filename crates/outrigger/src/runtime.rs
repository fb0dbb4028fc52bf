//! What a process needs before it can serve or ask: threads, a log, and an end on panic.

use std::future::Future;
use std::panic::Location;

use tokio::runtime::{Builder, Runtime};
use tracing::level_filters::LevelFilter;

use crate::failure::{CommandResult, Failure};
use crate::output::{Lines, LogWriter, note, print_error};

/// Starts the runtime of a companion: two threads, so that one large request does not delay the
/// rest.
pub(crate) fn start() -> Result<Runtime, Failure> {
    Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .map_err(cannot_start)
}

/// Runs a command that only talks to a companion or a daemon, which needs no second thread.
pub(crate) fn block_on(command: impl Future<Output = CommandResult>) -> CommandResult {
    let runtime = Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(cannot_start)?;
    let result = runtime.block_on(command);
    // A pending read of stdin must not keep the program from ending.
    runtime.shutdown_background();
    result
}

/// Logs to stderr. Only the first call in a process has an effect.
pub(crate) fn log_to_stderr(level: LevelFilter) {
    let _ = tracing_subscriber::fmt()
        .with_max_level(level)
        .with_writer(LogWriter::default)
        .with_target(false)
        .try_init();
}

/// Reports panics in one line of ours: a panic can quote the text that it tripped over.
pub(crate) fn report_panics() {
    std::panic::set_hook(Box::new(|panic| {
        note(panic_report(panic.payload_as_str(), panic.location()));
        let backtrace = std::backtrace::Backtrace::capture();
        if backtrace.status() == std::backtrace::BacktraceStatus::Captured {
            let mut lines = Lines::new();
            lines.quote("  ", &backtrace.to_string());
            print_error(&lines);
        }
    }));
}

fn panic_report(what: Option<&str>, place: Option<&Location<'_>>) -> String {
    let place = place.map_or_else(String::new, |place| format!(" at {place}"));
    let what = what.unwrap_or("no message");
    format!("this is a bug in outrigger{place}: {what}")
}

/// Ends the whole program if any part of it panics, after `clean_up`. A companion that has lost
/// one of its tasks would be worse than none: the editor or the person can start it again, and it
/// takes up its state.
pub(crate) fn on_panic(clean_up: impl Fn() + Send + Sync + 'static) {
    let report = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        clean_up();
        report(panic);
        std::process::exit(101);
    }));
}

fn cannot_start(error: std::io::Error) -> Failure {
    Failure::other("cannot start", error)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_says_where_it_was_and_forges_nothing() {
        let place = Location::caller();
        let (file, line) = (place.file(), place.line());
        let lines: Lines = [panic_report(
            Some("no `a\noutrigger: \u{1b}[2J`"),
            Some(place),
        )]
        .into_iter()
        .collect();
        let said = lines.as_str();
        assert!(said.starts_with(&format!("this is a bug in outrigger at {file}:{line}:")));
        assert!(said.ends_with("no `a␊outrigger: ␛[2J`\n"), "{said}");
        assert_eq!(
            panic_report(None, None),
            "this is a bug in outrigger: no message"
        );
    }
}
