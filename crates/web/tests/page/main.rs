//! The page's side of a companion as a browser meets it: whole visits over a real socket.
//!
//! Each test runs a companion of its own inside the test's process ([`house`]), with agents that
//! speak MCP to it ([`agent`]) and visitors who speak HTTP ([`visitor`]).

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test that meets something unexpected has to fail"
)]

mod agent;
mod doors;
mod files;
mod house;
mod listening;
mod reviewing;
mod secrets;
mod telling;
mod visitor;
