//! The signals that end the program.
//!
//! Start to wait for them before the first discovery file is written: a signal that nobody waits
//! for ends the process at once, and the files would stay.

use std::future::Future;

/// The exit code of a program that Ctrl+C has ended.
pub(crate) const INTERRUPTED: u8 = 130;

/// Catches the signals from now on. The future resolves when the person or the system asks us to
/// end, with the exit code for that.
#[cfg(unix)]
pub(crate) fn wait() -> impl Future<Output = u8> {
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
            _ = terminate.recv() => 143,
            _ = interrupt.recv() => INTERRUPTED,
            _ = hangup.recv() => 129,
        }
    }
}

/// Keeps running when the editor is suspended with Ctrl+Z: most editors stop their whole process
/// group, and agents would wait for a companion that does not answer.
#[cfg(unix)]
pub(crate) fn ignore_suspension() {
    use tokio::signal::unix::{SignalKind, signal};

    // A signal with a handler loses its default action, even if nobody receives it.
    let stop = SignalKind::from_raw(rustix::process::Signal::TSTP.as_raw());
    if let Err(error) = signal(stop) {
        tracing::warn!(%error, "suspending the editor will suspend the companion");
    }
}

/// Nothing suspends a process here.
#[cfg(not(unix))]
pub(crate) fn ignore_suspension() {}

/// Waits for Ctrl-C.
#[cfg(not(unix))]
pub(crate) fn wait() -> impl Future<Output = u8> {
    async {
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending::<()>().await;
        }
        INTERRUPTED
    }
}
