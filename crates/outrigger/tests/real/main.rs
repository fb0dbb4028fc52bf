//! The published agents, as they are, against the program.
//!
//! Few and slow: each of these proves that the whole chain works, from the agent's own search for an
//! editor to the bytes on disk. Without the clients that it uses on the machine a test says so and
//! passes, unless `CI` is set.

#![allow(
    clippy::unwrap_used,
    clippy::format_push_string,
    clippy::print_stderr,
    reason = "a test may stop at the first surprise, and none of this is hot"
)]

mod bytes;
mod chat;
mod conformance;
mod daemon;
mod editor;
mod edits;
mod emacs;
mod first;
mod identities;
mod looks;
mod neovim;
mod page;
mod restarts;
mod several;
mod sharing;
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
    household_with(&[])
}

/// The same for a test that needs more than the newest agents, see [`Clients::find_with`].
fn household_with(more: &[&str]) -> Option<Household> {
    Some(Household::new(PROGRAM, &Clients::find_with(more)?))
}

/// A person's machine on which Qwen Code asks nobody about anything, unless it is told otherwise.
fn unasking_household() -> Option<Household> {
    let house = household()?;
    let path = house.home().join(".qwen/settings.json");
    let text = std::fs::read_to_string(&path).unwrap();
    let mut settings: serde_json::Value = serde_json::from_str(&text).unwrap();
    settings["tools"]["approvalMode"] = "yolo".into();
    std::fs::write(path, settings.to_string()).unwrap();
    Some(house)
}

/// A person's machine with a companion for the workspace.
fn served_household() -> Option<Household> {
    served_household_with(&[])
}

/// The same for a test that needs more than the newest agents.
fn served_household_with(more: &[&str]) -> Option<Household> {
    let mut house = household_with(more)?;
    house.serve();
    Some(house)
}

/// Whether the agent asks its question in the terminal.
fn asks(screen: &str) -> bool {
    screen.to_lowercase().contains("allow once")
}
