//! The companion as agents meet it: whole conversations over a real socket, byte by byte.
//!
//! Each test runs a companion of its own inside the test's process and speaks to it with a
//! client that hides nothing ([`testkit::McpPeer`]). Every answer and every event of every test
//! passes the same inspection there, for what published clients cannot bear.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test that meets something unexpected has to fail"
)]

mod connecting;
mod contexts;
mod crowds;
mod diffs;
mod endings;
mod excess;
mod files;
mod messages;
mod refusals;
mod remembering;
mod verdicts;
