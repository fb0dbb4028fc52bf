//! How far the test programs are that run at the moment.

use std::collections::BTreeMap;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use crate::chore::tell;

/// How often it is told.
const EVERY: Duration = Duration::from_secs(30);

#[derive(Debug, Default)]
pub(super) struct Progress(Mutex<BTreeMap<String, Count>>);

#[derive(Clone, Copy, Debug, Default)]
struct Count {
    done: usize,
    all: usize,
}

impl Progress {
    /// Takes note of a line that a program has said.
    pub(super) fn hear(&self, program: &str, line: &str) {
        let mut programs = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let count = programs.entry(program.to_owned()).or_default();
        if let Some(all) = line.strip_prefix("running ") {
            let number = all.split(' ').next().and_then(|it| it.parse().ok());
            count.all = number.unwrap_or(count.all);
        } else if line.starts_with("test ") {
            let failed = line.ends_with("... FAILED");
            count.done += usize::from(failed || line.ends_with("... ok"));
            if failed {
                tell(&format!("{program}: {line}"));
            }
        }
    }

    /// A program has ended.
    pub(super) fn end(&self, program: &str) {
        let mut programs = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        programs.remove(program);
    }

    /// Does something, and tells now and then how far it is.
    pub(super) fn told_while<T>(&self, work: impl FnOnce() -> T) -> T {
        thread::scope(|scope| {
            let (working, ended) = mpsc::channel::<()>();
            scope.spawn(move || {
                while ended.recv_timeout(EVERY) == Err(RecvTimeoutError::Timeout) {
                    tell(&self.line());
                }
            });
            let done = work();
            drop(working);
            done
        })
    }

    fn line(&self) -> String {
        let programs = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let each = programs.iter();
        let each = each.map(|(name, count)| format!("{name} {}/{}", count.done, count.all));
        each.collect::<Vec<_>>().join(", ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tests_are_counted_until_their_program_ends() {
        let progress = Progress::default();
        let said = [
            "",
            "running 3 tests",
            "test a::b ... ok",
            "test c has been running for over 60 seconds",
            "test result of something else",
            "test c ... FAILED",
        ];
        for line in said {
            progress.hear("web src", line);
        }
        progress.hear("daemon tests/wire", "running 1 test");
        assert_eq!(progress.line(), "daemon tests/wire 0/1, web src 2/3");
        progress.end("web src");
        assert_eq!(progress.line(), "daemon tests/wire 0/1");
    }
}
