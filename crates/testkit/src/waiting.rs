//! Waiting for a condition. Nothing in the kit sleeps where there is something to look at.

use std::thread;
use std::time::{Duration, Instant};

/// How long a condition may take before it counts as never going to happen.
///
/// Far above what is ever needed on an idle machine: a slow machine must not fail a test.
pub const PATIENCE: Duration = Duration::from_mins(1);

/// How often a condition is looked at.
const GLANCE: Duration = Duration::from_millis(40);

/// Waits until `probe` yields a value.
///
/// `picture` describes the world for the panic message when the value never comes.
#[track_caller]
pub fn wait_for<T>(
    what: &str,
    probe: impl FnMut() -> Option<T>,
    picture: impl FnOnce() -> String,
) -> T {
    wait_within(PATIENCE, what, probe, picture)
}

/// The same, for something of which one attempt alone may take long.
#[track_caller]
pub(crate) fn wait_within<T>(
    patience: Duration,
    what: &str,
    mut probe: impl FnMut() -> Option<T>,
    picture: impl FnOnce() -> String,
) -> T {
    let end = Instant::now() + patience;
    loop {
        if let Some(value) = probe() {
            return value;
        }
        assert!(
            Instant::now() < end,
            "waited {}s in vain for {what}\n{}",
            patience.as_secs(),
            picture()
        );
        thread::sleep(GLANCE);
    }
}

/// The same, where the message says all that there is to see.
#[track_caller]
pub fn until<T>(what: &str, probe: impl FnMut() -> Option<T>) -> T {
    wait_for(what, probe, String::new)
}

/// Waits for something that has to happen.
pub async fn soon<T>(what: &str, happens: impl Future<Output = T>) -> T {
    let happened = tokio::time::timeout(PATIENCE, happens).await;
    happened.unwrap_or_else(|_| panic!("waited in vain: {what}"))
}
