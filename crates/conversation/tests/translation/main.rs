//! What of a daemon's events may be told, from the daemon's socket to the JSON that a page reads.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test that meets something unexpected has to fail"
)]

mod hiding;
mod ide;
mod logging;
mod mapping;
mod shell;
mod shown;
