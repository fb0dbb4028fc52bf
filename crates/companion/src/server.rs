//! The listening socket: one handler per connection, bounded in number, ended gracefully.

mod flushes;
mod occupancy;
mod socket;

use std::convert::Infallible;
use std::future::Future;
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use hyper::body::Incoming;
use hyper::service::Service;
use hyper::{Request, server::conn::http1};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;

use crate::limits::Limits;
pub(crate) use flushes::Flushes;
pub(crate) use occupancy::Occupancy;
use occupancy::OpenConnection;
pub use occupancy::{Caller, Crowded, KeyHolder};
use socket::Socket;

/// How long connections may take to finish once the server is told to stop.
const FAREWELL: Duration = Duration::from_millis(700);
/// How long nothing is accepted after the system has refused to.
const ACCEPT_PAUSE: Duration = Duration::from_millis(20);
/// How many connections the system holds until they are accepted; as many as strangers may have.
#[cfg(unix)]
const BACKLOG: i32 = 1024;

/// Serves `app` on `listener` until `stop` resolves, then lets open requests finish and returns.
///
/// Streams that never end by themselves have to be ended by `app` when it learns of the stop.
/// Every request carries a `Flushes` extension that tells when its answer has left, the
/// [`SocketEnds`] of its connection, and the [`Caller`], which `app` tells who has presented a key.
pub async fn serve(
    listener: &TcpListener,
    app: Router,
    limits: &Limits,
    stop: impl Future<Output = ()>,
) {
    hold_more(listener);
    let occupancy = Arc::new(Occupancy::new(limits));
    let (stopping, stopped) = watch::channel(false);
    let mut stop = pin!(stop);
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            () = &mut stop => break,
        };
        match accepted {
            Ok((stream, theirs)) => {
                let ends = stream.local_addr().map(|ours| SocketEnds { ours, theirs });
                let (open, is_crowded) = occupancy.enter();
                let app = app.clone();
                let connection = connection(
                    stream,
                    ends.ok(),
                    open,
                    app,
                    limits.patience,
                    stopped.clone(),
                );
                tokio::spawn(connection);
                if is_crowded {
                    // Those that have come get a chance to show a key before they are the oldest.
                    tokio::task::yield_now().await;
                }
            }
            Err(error) => {
                // Out of file descriptors, or a peer that left before it was greeted. Waiting a
                // moment keeps the loop from spinning while the cause lasts.
                tracing::warn!(%error, "cannot accept a connection");
                occupancy.make_room();
                tokio::time::sleep(ACCEPT_PAUSE).await;
            }
        }
    }
    drop(stopped);
    let _ = stopping.send(true);
    let _ = tokio::time::timeout(FAREWELL, stopping.closed()).await;
}

/// The standard library lets 128 connections wait to be accepted. Whoever comes then waits until its
/// system tries again, which takes a second at least, and after some tries it is refused.
fn hold_more(listener: &TcpListener) {
    #[cfg(unix)]
    if let Err(error) = rustix::net::listen(listener, BACKLOG) {
        tracing::debug!(%error, "few connections can wait to be accepted");
    }
    #[cfg(not(unix))]
    let _ = listener;
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
    open: OpenConnection,
    app: Router,
    patience: Duration,
    mut stopped: watch::Receiver<bool>,
) {
    // Without this every small answer waits for the peer's delayed acknowledgement.
    let _ = stream.set_nodelay(true);
    let flushes = Flushes::default();
    let caller = open.caller();
    let app = TowerToHyperService::new(app);
    let service = hyper::service::service_fn({
        let (flushes, caller) = (flushes.clone(), caller.clone());
        move |mut request: Request<Incoming>| {
            request.extensions_mut().insert(flushes.clone());
            request.extensions_mut().insert(caller.clone());
            if let Some(ends) = ends {
                request.extensions_mut().insert(ends);
            }
            let exchange = caller.begin_exchange();
            let answered = app.call(request);
            async move {
                let response = answered.await?;
                Ok::<_, Infallible>(response.map(|body| exchange.until_end_of(body)))
            }
        }
    });
    let io = TokioIo::new(Socket {
        stream,
        flushes,
        caller,
    });
    let mut serving = pin!(
        http1::Builder::new()
            .timer(TokioTimer::new())
            // Also for how long a connection that is kept alive may be silent between requests.
            .header_read_timeout(patience)
            .max_buf_size(64 * 1024)
            .serve_connection(io, service)
            // An editor's connection becomes a plain pipe.
            .with_upgrades()
    );
    let told = async { stopped.wait_for(|stopped| *stopped).await.map(drop) };
    let result = tokio::select! {
        result = &mut serving => result,
        () = open.ended() => {
            tracing::debug!("ended a connection to make room for others");
            return;
        }
        _ = told => {
            serving.as_mut().graceful_shutdown();
            serving.await
        }
    };
    if let Err(error) = result {
        tracing::debug!(%error, "a connection ended early");
    }
}
