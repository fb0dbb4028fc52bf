//! The link as editors meet it: whole conversations with a real desk and a real agent side.
//!
//! Each test has a folder, a desk and an endpoint for agents of its own ([`companion`]), plays
//! the agent over plain HTTP ([`testkit::McpPeer`]) and the editor over a connection in memory
//! ([`editor`]). What is compared is the whole conversation, without what differs from run to
//! run.

#![cfg(unix)]
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test that meets something unexpected has to fail"
)]

mod beginnings;
mod buffers;
mod companion;
mod document;
mod editor;
mod folders;
mod hunks;
mod natively;
mod presence;
mod sheets;
mod stock;
mod unreadable;
