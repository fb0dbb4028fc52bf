//! Reconnect delays, buffers and limits of a session.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

/// How a session reconnects, and how much it buffers.
#[derive(Clone, Debug)]
pub struct SessionSettings {
    /// A stream on which nothing arrives for this long is broken. The daemon sends a heartbeat
    /// every 15 seconds.
    pub watchdog: Duration,
    /// The delays between attempts to reconnect.
    pub backoff: Backoff,
    /// After this long without a working stream the session ends as
    /// [`SessionEndReason::Unreachable`](super::SessionEndReason::Unreachable).
    pub give_up_after: Duration,
    /// How many events may wait for the consumer.
    pub buffer_events: usize,
    /// How many bytes of events may wait for the consumer. A single larger event always fits.
    pub buffer_bytes: usize,
    /// How many frames the daemon may queue for us; its own default if `None`.
    pub max_queued: Option<u16>,
    /// The largest frame that is read, in bytes.
    pub max_frame: usize,
}

impl Default for SessionSettings {
    fn default() -> Self {
        Self {
            watchdog: Duration::from_secs(45),
            backoff: Backoff::default(),
            give_up_after: Duration::from_mins(2),
            buffer_events: 8192,
            buffer_bytes: 8 * 1024 * 1024,
            max_queued: None,
            max_frame: crate::sse::MAX_FRAME,
        }
    }
}

/// Exponential backoff with jitter, so that clients do not all reconnect at once.
#[derive(Clone, Debug)]
pub struct Backoff {
    /// The delay after the first failure. Each further one doubles it.
    pub first: Duration,
    /// The upper limit.
    pub longest: Duration,
    /// Varies each delay.
    pub jitter: Jitter,
}

impl Default for Backoff {
    fn default() -> Self {
        Self {
            first: Duration::from_millis(250),
            longest: Duration::from_secs(10),
            jitter: Jitter::system(),
        }
    }
}

impl Backoff {
    /// The delay after this many failures in a row, one or more.
    pub(super) fn after(&self, failures: u32) -> Duration {
        let doublings = failures.saturating_sub(1).min(16);
        let wait = self.first.saturating_mul(1 << doublings).min(self.longest);
        wait.mul_f64(self.jitter.factor())
    }
}

/// The source of randomness for delays.
#[derive(Clone)]
pub struct Jitter(Arc<dyn Fn() -> f64 + Send + Sync>);

impl Jitter {
    /// Takes a number from 0 to 1 from `source`: 0 makes a delay 20 % shorter, 1 makes it 20 %
    /// longer.
    pub fn new(source: impl Fn() -> f64 + Send + Sync + 'static) -> Self {
        Self(Arc::new(source))
    }

    /// Leaves delays unchanged.
    pub fn none() -> Self {
        Self::new(|| 0.5)
    }

    /// Uses the randomness of the system.
    pub fn system() -> Self {
        // Without randomness delays are left unchanged, which is no reason to fail.
        Self::new(|| getrandom::u32().map_or(0.5, |it| f64::from(it) / f64::from(u32::MAX)))
    }

    fn factor(&self) -> f64 {
        let at = (self.0)();
        let at = if at.is_finite() {
            at.clamp(0.0, 1.0)
        } else {
            0.5
        };
        0.8 + 0.4 * at
    }
}

impl fmt::Debug for Jitter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Jitter")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_double_up_to_the_limit_and_are_spread() {
        let backoff = |jitter| Backoff {
            first: Duration::from_millis(100),
            longest: Duration::from_secs(1),
            jitter,
        };
        let waits = |jitter: Jitter| -> Vec<u128> {
            let backoff = backoff(jitter);
            [1, 2, 3, 4, 5, 6, 1000]
                .map(|n| backoff.after(n).as_millis())
                .into()
        };
        assert_eq!(
            waits(Jitter::none()),
            [100, 200, 400, 800, 1000, 1000, 1000]
        );
        assert_eq!(waits(Jitter::new(|| 0.0))[..2], [80, 160]);
        assert_eq!(waits(Jitter::new(|| 7.0))[..2], [120, 240]);
        assert_eq!(waits(Jitter::new(|| f64::NAN))[..2], [100, 200]);
    }
}
