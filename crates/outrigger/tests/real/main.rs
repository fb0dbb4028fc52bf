//! The published agents, as they are, against the program.
//!
//! Few and slow: each of these proves that the whole chain works, from the agent's own search for an
//! editor to the bytes on disk. Without the clients on the machine they say so and pass, unless `CI`
//! is set.

#![allow(
    clippy::unwrap_used,
    clippy::format_push_string,
    reason = "a test may stop at the first surprise, and none of this is hot"
)]

mod bytes;
mod chat;
mod conformance;
mod daemon;
mod editor;
mod edits;
mod emacs;
mod neovim;
mod page;
mod restarts;
mod several;
mod stock;
mod story;
mod talks;
mod versions;
mod vim;

use testkit::{Clients, Household};

/// The program under test.
const PROGRAM: &str = env!("CARGO_BIN_EXE_outrigger");

/// A person's machine; `None` if there are no agents to put on it.
fn household() -> Option<Household> {
    Some(Household::new(PROGRAM, &Clients::find()?))
}

/// The same with a companion for the workspace.
fn served_household() -> Option<Household> {
    let mut house = household()?;
    house.serve();
    Some(house)
}

/// Whether the agent asks its question in the terminal.
fn asks(screen: &str) -> bool {
    screen.to_lowercase().contains("allow once")
}
