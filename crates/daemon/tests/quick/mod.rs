//! Settings with waits that do not make a test slow.

use std::time::Duration;

use outrigger_daemon::{Backoff, Jitter, SessionSettings};
use testkit::fake_daemon::PATIENCE;

pub(crate) fn quick() -> SessionSettings {
    SessionSettings {
        backoff: Backoff {
            first: Duration::from_millis(5),
            longest: Duration::from_millis(40),
            jitter: Jitter::none(),
        },
        give_up_after: PATIENCE,
        ..SessionSettings::default()
    }
}
