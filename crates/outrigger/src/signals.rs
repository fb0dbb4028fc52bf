//! The signals that end a companion.
//!
//! They have to be waited for from before the first discovery file is written: a signal that
//! nobody waits for ends the process at once, and the files would stay.

use std::future::Future;

/// Waits from now on; the result resolves when the person or the system asks us to end.
#[cfg(unix)]
pub(crate) fn wait() -> impl Future<Output = ()> {
    use tokio::signal::unix::{SignalKind, signal};

    let kinds = [
        SignalKind::terminate(),
        SignalKind::interrupt(),
        SignalKind::hangup(),
    ];
    let signals = kinds.map(signal);
    async {
        let [Ok(mut terminate), Ok(mut interrupt), Ok(mut hangup)] = signals else {
            tracing::error!(
                "cannot wait for signals; the discovery files stay if this process is stopped"
            );
            return std::future::pending().await;
        };
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
            _ = hangup.recv() => {}
        }
    }
}

/// Goes on when the editor is suspended with Ctrl+Z: most editors stop their whole process group,
/// and agents would wait for a companion that does not answer.
#[cfg(unix)]
pub(crate) fn outlast_suspension() {
    use tokio::signal::unix::{SignalKind, signal};

    // A signal that somebody listens for does nothing else, even if nobody hears it.
    let stop = SignalKind::from_raw(rustix::process::Signal::TSTP.as_raw());
    if let Err(error) = signal(stop) {
        tracing::warn!(%error, "suspending the editor will suspend the companion");
    }
}

/// Nothing suspends a process here.
#[cfg(not(unix))]
pub(crate) fn outlast_suspension() {}

/// Waits from now on; the result resolves when the person asks us to end.
#[cfg(not(unix))]
pub(crate) fn wait() -> impl Future<Output = ()> {
    async {
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending::<()>().await;
        }
    }
}
