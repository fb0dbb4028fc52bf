//! The HTTP server of a companion: its socket and its task.

use std::net::{Ipv4Addr, SocketAddr, TcpListener as StdListener};

use axum::Router;
use companion::registry::Record;
use companion::{Limits, server};
use tokio::net::TcpListener;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

use super::start::cannot_start;
use crate::config::Config;
use crate::failure::{Failure, FailureKind};

/// The running server.
pub(super) struct HttpServer {
    close: oneshot::Sender<()>,
    /// Ends with the socket that it listened on.
    task: JoinHandle<TcpListener>,
}

impl HttpServer {
    pub(super) fn start(listener: TcpListener, app: Router, limits: Limits) -> HttpServer {
        let (close, closed) = oneshot::channel::<()>();
        let task = tokio::spawn(async move {
            let closed = async { drop(closed.await) };
            server::serve(&listener, app, &limits, closed).await;
            listener
        });
        HttpServer { close, task }
    }

    /// Ends all connections and returns the socket, which still queues new ones.
    pub(super) async fn stop(self) -> Option<StdListener> {
        // Without a receiver the task has ended already.
        let _ = self.close.send(());
        self.task.await.ok()?.into_std().ok()
    }
}

/// Finds a socket: the one that was handed over, the port that was asked for, the one that was
/// used for these folders before, or any.
pub(super) fn listen(
    handed_over: Option<StdListener>,
    config: &Config,
    previous: Option<&Record>,
) -> Result<TcpListener, Failure> {
    let bind = |port| StdListener::bind(SocketAddr::from((Ipv4Addr::LOCALHOST, port)));
    let socket = match (handed_over, config.port.value) {
        (Some(socket), _) => Ok(socket),
        (None, Some(port)) => bind(port).map_err(|error| {
            let origin = &config.port.origin;
            let message = format!("cannot listen on port {port} ({origin}): {error}");
            Failure::new(FailureKind::Start, message)
                .hint("stop the program that uses it, or leave the port out to take any free one")
        }),
        (None, None) => {
            // Agents that are still there try the old port, and old versions try no other.
            let before = previous.and_then(|previous| bind(previous.port).ok());
            before.map_or_else(|| bind(0).map_err(cannot_start), Ok)
        }
    }?;
    raise_file_limit();
    socket.set_nonblocking(true).map_err(cannot_start)?;
    TcpListener::from_std(socket).map_err(cannot_start)
}

/// Open files that a service may need at most: each connection is one.
#[cfg(unix)]
const FILES: u64 = 8192;

/// Lets this process have as many connections as its limits allow. By default systems allow 1024
/// files or less, and more to whoever asks.
#[cfg(unix)]
fn raise_file_limit() {
    use rustix::process::{Resource, getrlimit, setrlimit};

    let mut limit = getrlimit(Resource::Nofile);
    let wanted = limit.maximum.map_or(FILES, |most| most.min(FILES));
    if limit.current.is_some_and(|now| now < wanted) {
        limit.current = Some(wanted);
        if let Err(error) = setrlimit(Resource::Nofile, limit) {
            tracing::debug!(%error, "cannot open more files than by default");
        }
    }
}

#[cfg(not(unix))]
fn raise_file_limit() {}
