//! A client for the `qwen serve` daemon, over HTTP and server-sent events on loopback.
//!
//! Each layer uses the one before it, and has an event type of its own:
//!
//! 1. [`DaemonClient`]: the daemon's routes, one typed method each, without state. A stream yields
//!    [`DaemonEvent`]s, the daemon's own.
//! 2. [`Session`]: one session that survives broken streams, restarts of the daemon and slow
//!    readers, with a lossless stream of [`SessionEvent`]s and exactly one end for every prompt.
//! 3. [`IdeConnection`]: for editors and pages. It orders connects and disconnects, tracks the
//!    agent's requests to the user, and gives hints for set-up errors. It yields [`IdeEvent`]s.
//!
//! Besides, [`Sanitiser`] hides the daemon's token and address in texts, and [`ManagedDaemon`]
//! starts and ends a daemon as a child process.
//!
//! Start reading at [`Session::open`], then `session/reader.rs`, which holds the rules of
//! reconnecting. The protocol is described in `docs/protocols/daemon.md`, and [`routes`] says of each
//! route of the daemon whether it is here.
//!
//! Nothing in here knows an editor or a page. Clocks are the runtime's; randomness is passed in.

pub mod address;
pub mod client;
pub mod connection;
pub mod error;
pub mod event;
#[doc(hidden)]
pub mod fuzzing;
mod http;
mod json;
pub mod managed;
#[doc = include_str!("../docs/routes.md")]
pub mod routes {}
pub mod sanitiser;
pub mod session;
pub mod sse;
mod token;
pub mod wire;

use std::sync::{Mutex, MutexGuard};

pub use address::{Address, AddressError};
pub use client::DaemonClient;
pub use connection::{IdeConnection, IdeEvent, IdeEvents};
pub use error::{DaemonError, ErrorCode, ErrorReason, ErrorResponse};
pub use event::{DaemonEvent, EventBody};
pub use http::Timeouts;
pub use managed::ManagedDaemon;
pub use sanitiser::Sanitiser;
pub use session::{
    Backoff, Counters, DisconnectMode, History, HistoryCause, Jitter, ResumeState, Session,
    SessionCopy, SessionEndReason, SessionEvent, SessionEvents, SessionSettings, Turn, TurnEnd,
};
pub use token::{Token, TokenError};

/// Locks a mutex. No code here panics while it holds one, and the program ends at a panic, so a
/// poisoned mutex is a mistake of ours and not a state to go on with.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex
        .lock()
        .expect("no thread panics while it holds a lock")
}
