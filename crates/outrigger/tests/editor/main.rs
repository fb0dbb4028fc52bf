//! `outrigger lsp` as editors start it: the real binary at the other end of a real pipe.
//!
//! The editor is scripted, the agent speaks plain HTTP with the token that it finds in a
//! discovery file, and nothing waits for a time where there is a condition.

#![cfg(unix)]
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test that meets something unexpected has to fail"
)]

mod conversations;
mod lives;
mod noise;
mod sharing;
mod stage;
mod switching;
mod takeovers;
mod traces;

use testkit::Machine;

/// A machine of a test's own.
fn machine() -> Machine {
    Machine::new(env!("CARGO_BIN_EXE_outrigger"))
}
