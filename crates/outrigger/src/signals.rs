//! The signals that end a companion.

/// Resolves when the person or the system asks us to end.
#[cfg(unix)]
pub(crate) async fn end() {
    use tokio::signal::unix::{SignalKind, signal};

    let signals = [
        SignalKind::terminate(),
        SignalKind::interrupt(),
        SignalKind::hangup(),
    ]
    .map(signal);
    let [Ok(mut terminate), Ok(mut interrupt), Ok(mut hangup)] = signals else {
        tracing::error!(
            "cannot listen for signals; the discovery files stay if this process is stopped"
        );
        return std::future::pending().await;
    };
    tokio::select! {
        _ = terminate.recv() => {}
        _ = interrupt.recv() => {}
        _ = hangup.recv() => {}
    }
}

/// Resolves when the person or the system asks us to end.
#[cfg(not(unix))]
pub(crate) async fn end() {
    if tokio::signal::ctrl_c().await.is_err() {
        std::future::pending::<()>().await;
    }
}
