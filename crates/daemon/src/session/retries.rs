//! Requests that are repeated, because repeating them does no harm.

use std::future::Future;
use std::time::Duration;

use crate::error::{DaemonError, ErrorReason};

/// How often a request is sent at most, and the pause between attempts.
const TRIES: u32 = 3;
const PAUSE: Duration = Duration::from_millis(250);
/// The longest pause that a daemon may ask for. Somebody waits for the result.
const LONGEST: Duration = Duration::from_secs(10);

/// Repeats an idempotent request after a temporary error, a few times.
pub(crate) async fn with_retries<T, F: Future<Output = Result<T, DaemonError>>>(
    ask: impl Fn() -> F,
) -> Result<T, DaemonError> {
    for _ in 1..TRIES {
        match ask().await {
            Err(error) if error.reason().is_none_or(ErrorReason::is_temporary) => {
                let wait = error.response().and_then(|it| it.retry_after);
                tokio::time::sleep(wait.unwrap_or(PAUSE).min(LONGEST)).await;
            }
            done => return done,
        }
    }
    ask().await
}
