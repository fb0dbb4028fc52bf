//! Chores that do not depend on each other, at the same time.

use std::thread;

use anyhow::{Result, anyhow};

/// A chore that can run beside others.
pub(crate) type Task<'a> = Box<dyn FnOnce() -> Result<()> + Send + 'a>;

/// Runs all of them at the same time and waits for all, also when one fails: each may have something
/// to say that the person wants to know.
pub(crate) fn run(tasks: Vec<Task<'_>>) -> Result<()> {
    thread::scope(|scope| {
        let running: Vec<_> = tasks.into_iter().map(|task| scope.spawn(task)).collect();
        let results = running.into_iter().map(|task| {
            let panicked = |_| Err(anyhow!("a chore panicked"));
            task.join().unwrap_or_else(panicked)
        });
        all(results)
    })
}

/// The failures of several results as one.
fn all(results: impl IntoIterator<Item = Result<()>>) -> Result<()> {
    let failures = results.into_iter().filter_map(Result::err);
    failures
        .reduce(|one, other| anyhow!("{one:#}\n{other:#}"))
        .map_or(Ok(()), Err)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_failure_is_told_and_every_task_ends() {
        let done = std::sync::atomic::AtomicUsize::new(0);
        let task = |failure: Option<&'static str>| -> Task<'_> {
            let done = &done;
            Box::new(move || {
                done.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
                failure.map_or(Ok(()), |failure| Err(anyhow!(failure)))
            })
        };
        let error = run(vec![task(Some("one")), task(None), task(Some("two"))]).unwrap_err();
        assert_eq!(error.to_string(), "one\ntwo");
        assert_eq!(done.into_inner(), 3);
        assert!(run(vec![]).is_ok());
    }
}
