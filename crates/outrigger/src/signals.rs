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

/// Waits from now on; the result resolves when the person asks us to end.
#[cfg(not(unix))]
pub(crate) fn wait() -> impl Future<Output = ()> {
    async {
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending::<()>().await;
        }
    }
}
