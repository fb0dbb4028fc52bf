//! A client for the `qwen serve` daemon, over HTTP and server-sent events on loopback.
//!
//! ```
//! use outrigger_daemon::connection::{ConnectOptions, IdeConnection, IdeEvent};
//! use outrigger_daemon::wire::{ApprovalMode, SessionUpdate};
//! use outrigger_daemon::{Address, DisconnectMode, Token};
//!
//! # use testkit::fake_daemon::{self as kit, FakeDaemon, OnPrompt};
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let daemon = FakeDaemon::for_conversations("/home/dev/ws").await;
//! # let words = ["It ", "makes tea."].map(String::from);
//! # daemon.world().on_prompt = OnPrompt::FinishFirst(words.into());
//! # let (port, secret, project) = (daemon.port, kit::TOKEN, "/home/dev/ws");
//! let (connection, mut events) = IdeConnection::new();
//! connection
//!     .connect(ConnectOptions {
//!         address: Address::local(port),
//!         token: Some(Token::new(secret)?),
//!         workspace: Some(project.into()),
//!         // The daemon's own default edits without asking.
//!         approval_mode: Some(ApprovalMode::Default),
//!         ..ConnectOptions::default()
//!     })
//!     .await?;
//! connection.send_prompt("What does this project do?").await?;
//! let mut answer = String::new();
//! while let Some(event) = events.next().await {
//!     match event {
//!         IdeEvent::Update { update: SessionUpdate::AgentMessage(chunk), .. } => {
//!             answer.push_str(chunk.text());
//!         }
//!         IdeEvent::RequestOpened(request) => println!("the agent asks: {}", request.title),
//!         IdeEvent::TurnEnded { .. } | IdeEvent::Disconnected { .. } => break,
//!         _ => {}
//!     }
//! }
//! assert_eq!(answer, "It makes tea.");
//! connection.disconnect(DisconnectMode::Detach).await?;
//! # Ok(())
//! # }
//! ```
//!
//! Each layer uses the one before it, and has an event type of its own:
//!
//! 1. [`DaemonClient`]: the daemon's routes, one typed method each, without state; those of a folder
//!    that only read are in [`WorkspaceClient`]. A stream yields [`DaemonEvent`]s, the daemon's own.
//! 2. [`Session`]: one session that survives broken streams, restarts of the daemon and slow
//!    readers, with a lossless stream of [`SessionEvent`]s and exactly one end for every prompt.
//! 3. [`IdeConnection`]: for editors and pages. It orders connects and disconnects, tracks the
//!    agent's requests to the user, and gives hints for set-up errors. It yields [`IdeEvent`]s.
//!
//! Besides, [`Sanitiser`] hides the daemon's token and address in texts, and [`ManagedDaemon`]
//! starts and ends a daemon as a child process.
//!
//! Start reading at [`Session::open`], then `session/reader.rs`, which holds the rules of
//! reconnecting. [`protocol`] describes what the daemon does, and [`routes`] says of each of its routes
//! whether it is here.
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
#[doc = include_str!("../docs/protocol.md")]
pub mod protocol {}
#[doc = include_str!("../docs/routes.md")]
pub mod routes {}
pub mod sanitiser;
pub mod session;
pub mod sse;
mod token;
pub mod wire;

use std::sync::{Mutex, MutexGuard};

pub use address::{Address, AddressError};
pub use client::{DaemonClient, WorkspaceClient};
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
