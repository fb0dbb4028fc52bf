//! The program as people and scripts meet it: the real binary, in a home of its own.
//!
//! Every test has its own home, temporary and work folder ([`sandbox`]), plays the agent over
//! plain HTTP ([`agent`]) with the token that it finds in a discovery file, and waits for
//! conditions, never for a time.

#![cfg(unix)]
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test that meets something unexpected has to fail"
)]

mod agent;
mod bridging;
mod codes;
mod daemon;
mod decisions;
mod discovery;
mod lives;
mod page;
mod playing;
mod privacy;
mod restarts;
mod running;
mod sandbox;
mod secrets;
mod settings;
mod surroundings;
