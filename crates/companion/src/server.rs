//! The listening socket: one handler per connection, bounded in number, ended gracefully.

use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use axum::Router;
use hyper::body::Incoming;
use hyper::service::Service;
use hyper::{Request, server::conn::http1};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Notify, Semaphore, watch};

use crate::limits::Limits;

/// How long connections may take to finish once the server is told to stop.
const FAREWELL: Duration = Duration::from_millis(700);

/// Serves `app` on `listener` until `stop` resolves, then lets open requests finish and returns.
///
/// Streams that never end by themselves have to be ended by `app` when it learns of the stop.
/// Every request carries a `Flushes` extension that tells when its answer has left, and the
/// [`SocketEnds`] of its connection.
pub async fn serve(
    listener: &TcpListener,
    app: Router,
    limits: &Limits,
    stop: impl Future<Output = ()>,
) {
    let room = Arc::new(Semaphore::new(limits.connections));
    let (stopping, stopped) = watch::channel(false);
    let mut stop = pin!(stop);
    loop {
        let permit = tokio::select! {
            permit = room.clone().acquire_owned() => permit,
            () = &mut stop => break,
        };
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            () = &mut stop => break,
        };
        match accepted {
            Ok((stream, theirs)) => {
                let ends = stream.local_addr().map(|ours| SocketEnds { ours, theirs });
                let app = app.clone();
                let connection =
                    connection(stream, ends.ok(), app, limits.patience, stopped.clone());
                tokio::spawn(async move {
                    connection.await;
                    drop(permit);
                });
            }
            Err(error) => {
                // Out of file descriptors, or a peer that left before it was greeted. Waiting a
                // moment keeps the loop from spinning while the cause lasts.
                tracing::warn!(%error, "cannot accept a connection");
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        }
    }
    drop(stopped);
    let _ = stopping.send(true);
    let _ = tokio::time::timeout(FAREWELL, stopping.closed()).await;
}

/// The addresses of a connection.
#[derive(Clone, Copy, Debug)]
pub struct SocketEnds {
    /// The end that belongs to this server.
    pub ours: SocketAddr,
    /// The end that belongs to the client.
    pub theirs: SocketAddr,
}

async fn connection(
    stream: TcpStream,
    ends: Option<SocketEnds>,
    app: Router,
    patience: Duration,
    mut stopped: watch::Receiver<bool>,
) {
    // Without this every small answer waits for the peer's delayed acknowledgement.
    let _ = stream.set_nodelay(true);
    let flushes = Flushes::default();
    let app = TowerToHyperService::new(app);
    let service = hyper::service::service_fn({
        let flushes = flushes.clone();
        move |mut request: Request<Incoming>| {
            request.extensions_mut().insert(flushes.clone());
            if let Some(ends) = ends {
                request.extensions_mut().insert(ends);
            }
            app.call(request)
        }
    });
    let io = TokioIo::new(FlushReporting { stream, flushes });
    let mut serving = pin!(
        http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(patience)
            .max_buf_size(64 * 1024)
            .serve_connection(io, service)
            // An editor's connection becomes a plain pipe.
            .with_upgrades()
    );
    let told = async { stopped.wait_for(|stopped| *stopped).await.map(drop) };
    let result = tokio::select! {
        result = &mut serving => result,
        _ = told => {
            serving.as_mut().graceful_shutdown();
            serving.await
        }
    };
    if let Err(error) = result {
        tracing::debug!(%error, "a connection ended early");
    }
}

/// Counts how often everything that was written to a connection has left the process.
///
/// HTTP gives no receipt for a part of a streamed answer. What can be known is that the
/// operating system has taken it, and hyper flushes the socket exactly when its own buffer
/// has become empty. A part that was handed over before such a flush has left; one that was
/// not flushed when the connection died may be sent again on the next one.
#[derive(Clone, Debug, Default)]
pub(crate) struct Flushes(Arc<FlushesInner>);

#[derive(Debug, Default)]
struct FlushesInner {
    count: AtomicU64,
    changed: Notify,
}

impl Flushes {
    /// The number of flushes so far: a mark to compare with later.
    pub(crate) fn mark(&self) -> u64 {
        self.0.count.load(Ordering::Acquire)
    }

    /// Whether a flush has happened since `mark`.
    pub(crate) fn since(&self, mark: u64) -> bool {
        self.mark() > mark
    }

    /// Waits for the first flush after `mark`.
    pub(crate) async fn wait(&self, mark: u64) {
        loop {
            let changed = self.0.changed.notified();
            if self.since(mark) {
                return;
            }
            changed.await;
        }
    }

    fn happened(&self) {
        self.0.count.fetch_add(1, Ordering::AcqRel);
        self.0.changed.notify_waiters();
    }
}

/// A connection that reports its flushes.
struct FlushReporting {
    stream: TcpStream,
    flushes: Flushes,
}

impl AsyncRead for FlushReporting {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(cx, buf)
    }
}

impl AsyncWrite for FlushReporting {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(cx, buf)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write_vectored(cx, bufs)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let flushed = Pin::new(&mut self.stream).poll_flush(cx);
        if matches!(flushed, Poll::Ready(Ok(()))) {
            self.flushes.happened();
        }
        flushed
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}
