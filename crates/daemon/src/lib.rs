//! A client for the `qwen serve` daemon, over HTTP and server-sent events on loopback.
//!
//! Each layer stands on the one before it:
//!
//! 1. [`DaemonClient`]: the daemon's routes, one method each, typed, without state.
//! 2. [`Session`]: one conversation that survives broken streams, restarts of the daemon and slow
//!    readers, with a lossless stream of [`Update`]s and exactly one end for every prompt.
//! 3. [`IdeConnection`]: what an editor or a page holds: connects and disconnects in order, requests
//!    of the agent that a person answers, and set-up errors with hints.
//!
//! Beside them stand [`Sanitiser`], which decides what of all this a page may see, and
//! [`ManagedDaemon`], which starts and ends a daemon for those who want one of their own.
//!
//! Start reading at [`Session::open`], then `session/reader.rs`, which holds the rules of
//! reconnecting; what the daemon sends is described in `docs/protocols/daemon.md`.
//!
//! Nothing in here knows an editor or a page. Clocks are the runtime's; randomness is passed in.

pub mod address;
pub mod client;
pub mod connection;
pub mod error;
pub mod event;
mod http;
mod json;
pub mod managed;
pub mod sanitiser;
pub mod session;
pub mod sse;
mod token;
pub mod wire;

pub use address::{Address, AddressError};
pub use client::DaemonClient;
pub use connection::{IdeConnection, IdeEvent, IdeEvents};
pub use error::{Code, DaemonError, Reason, Refusal};
pub use event::{Body, Event};
pub use http::Timeouts;
pub use managed::ManagedDaemon;
pub use sanitiser::Sanitiser;
pub use session::{
    Backoff, Counters, End, History, HistoryCause, Jitter, Parting, ResumeState, Session, Settings,
    Turn, TurnEnd, Update, Updates,
};
pub use token::{Token, TokenError};
