//! Whole conversations, hermetically: with a daemon that runs in the test's process, and with a third
//! backend that does what the test says.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test that meets something unexpected has to fail"
)]

mod connecting;
mod deaths;
mod elsewhere;
mod owner;
#[path = "../replay/mod.rs"]
mod replay;
mod requests;
mod scene;
mod talking;
