//! The program as people and scripts meet it: the real binary, in a home of its own.
//!
//! Every test has its own home, temporary and work folder ([`Machine`]), plays the agent over
//! plain HTTP ([`testkit::PlayedAgent`]) with the token that it finds in a discovery file, and waits
//! for conditions, never for a time.

#![cfg(unix)]
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test that meets something unexpected has to fail"
)]

mod bridging;
mod codes;
mod conversations;
mod daemon;
mod decisions;
mod discovery;
mod disk;
mod display;
mod documents;
mod focusing;
mod following;
mod hostile;
mod identities;
mod lives;
mod narration;
mod page;
mod playing;
mod privacy;
mod restarts;
mod running;
mod runtime;
mod secrets;
mod settings;
mod several;
mod staleness;
mod surroundings;

use testkit::Machine;

/// The program under test.
const PROGRAM: &str = env!("CARGO_BIN_EXE_outrigger");

/// A machine of a test's own.
fn machine() -> Machine {
    Machine::new(PROGRAM)
}
