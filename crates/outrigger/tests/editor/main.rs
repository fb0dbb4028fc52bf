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

#[path = "../commands/agent.rs"]
#[allow(dead_code, reason = "written for the commands, which need more of it")]
mod agent;
mod lives;
mod noise;
#[path = "../commands/sandbox.rs"]
#[allow(dead_code, reason = "written for the commands, which need more of it")]
mod sandbox;
mod stage;
mod takeovers;
mod traces;
