//! What opens the session of a connection.

use std::fmt;
use std::future::Future;
use std::path::Path;
use std::pin::Pin;
use std::sync::Arc;

use super::{ConnectOptions, SessionChoice};
use crate::client::DaemonClient;
use crate::error::DaemonError;
use crate::session::{Session, SessionEvents};
use crate::wire::{NewSession, RestoreSession, SessionScope};

/// A session that is being opened.
pub type OpeningSession =
    Pin<Box<dyn Future<Output = Result<(Session, SessionEvents), DaemonError>> + Send>>;

type Open = dyn Fn(DaemonClient, ConnectOptions) -> OpeningSession + Send + Sync;

/// What opens the session of a connection.
///
/// The default does what [`ConnectOptions::session`] says. Another one can create sessions with more
/// than the options have, count them, or let an attempt fail in a test:
///
/// ```
/// use outrigger_daemon::connection::{ConnectOptions, SessionFactory};
///
/// let options = ConnectOptions {
///     sessions: SessionFactory::new(|client, options| {
///         println!("a session is opened at {}", client.address());
///         SessionFactory::default().open(client, options)
///     }),
///     ..ConnectOptions::default()
/// };
/// # drop(options);
/// ```
#[derive(Clone)]
pub struct SessionFactory(Arc<Open>);

impl SessionFactory {
    /// Opens sessions with `open`. It gets the client of the connection and the options of the
    /// connect, after the daemon was checked.
    pub fn new(
        open: impl Fn(DaemonClient, ConnectOptions) -> OpeningSession + Send + Sync + 'static,
    ) -> Self {
        Self(Arc::new(open))
    }

    /// Opens a session.
    pub fn open(&self, client: DaemonClient, options: ConnectOptions) -> OpeningSession {
        (self.0)(client, options)
    }
}

impl Default for SessionFactory {
    fn default() -> Self {
        Self::new(|client, options| Box::pin(open(client, options)))
    }
}

impl fmt::Debug for SessionFactory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SessionFactory")
    }
}

async fn open(
    client: DaemonClient,
    options: ConnectOptions,
) -> Result<(Session, SessionEvents), DaemonError> {
    let settings = options.settings;
    let cwd = options
        .workspace
        .as_deref()
        .map(Path::to_string_lossy)
        .map(String::from);
    let restore = RestoreSession {
        cwd: cwd.clone(),
        approval_mode: options.approval_mode.clone(),
        ..RestoreSession::default()
    };
    let scope = match options.session {
        SessionChoice::Shared => SessionScope::Single,
        SessionChoice::New => SessionScope::Thread,
        SessionChoice::Known(id) => return Session::load(client, &id, &restore, settings).await,
        SessionChoice::Resume(state) => {
            return Session::resume(client, &state, &restore, settings).await;
        }
    };
    let new = NewSession {
        cwd,
        session_scope: Some(scope),
        model_service_id: options.model,
        approval_mode: options.approval_mode,
        session_id: None,
    };
    Session::open(client, &new, settings).await
}
