//! The client against a daemon that runs inside the test's process and does what the test wants.
//!
//! [`testkit::fake_daemon`] is that daemon: it keeps one session with numbered events, a ring and a generation, by the
//! rules of the published one, and can be told to cut, stall, restart, refuse and talk nonsense.
//! [`captures`] holds what the published daemon really sent.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stderr,
    reason = "a test that meets something unexpected has to fail, or say that it is skipped"
)]

mod activity;
mod captures;
mod cursors;
mod faults;
#[cfg(target_os = "linux")]
mod foreign;
mod gaps;
mod modes;
mod places;
mod prompts;
#[path = "../quick/mod.rs"]
mod quick;
mod reading;
mod refusals;
mod routes;
#[path = "../table/mod.rs"]
mod routes_page;
mod table;
mod watching;

/// The kit's daemon, and what a consumer of its session sees.
mod fake {
    pub(crate) use testkit::fake_daemon::*;

    pub(crate) use crate::watching::*;
}
