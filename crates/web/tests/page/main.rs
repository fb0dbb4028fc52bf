//! The page's side of a companion as a browser meets it: whole visits over a real socket.
//!
//! Each test runs a companion of its own inside the test's process ([`companion`]), with agents
//! that speak MCP to it ([`testkit::McpPeer`]) and clients of its HTTP API ([`api_client`]).

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test that meets something unexpected has to fail"
)]

mod api_client;
mod companion;
mod doors;
mod files;
mod listening;
mod reviewing;
mod secrets;
mod telling;
