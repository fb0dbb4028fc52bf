//! The page and its API as a browser uses them, over a real socket.
//!
//! Each test runs a companion of its own inside the test's process ([`companion`]), with agents
//! that speak MCP to it ([`testkit::McpPeer`]) and clients of its HTTP API ([`api_client`]).

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test that meets something unexpected has to fail"
)]

mod access;
mod api_client;
mod companion;
mod events;
mod files;
mod live;
mod proposals;
mod secrets;
mod strangers;
