//! The client against the published daemon, with a model on loopback that does what a test wants.
//!
//! Each test starts a daemon of its own in a home of its own and ends it by its process id. Nothing
//! waits for a time where there is something to look at. Without the published clients the tests say
//! that they are skipped; `cargo xtask test` installs them.

#![cfg(unix)]
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test that meets something unexpected has to fail"
)]

mod activity;
mod conversations;
mod crowds;
mod diagnostics;
mod endings;
mod examples;
mod files;
mod history;
mod house;
mod ide;
mod interruptions;
mod modes;
mod permissions;
#[path = "../table/mod.rs"]
mod routes_page;
mod setups;
mod silences;
mod soak;
mod table;
mod tunnel;
