//! The Neovim plugin in a real Neovim, with real agents.
//!
//! Everything is tried in the oldest Neovim that the plugin supports and in a newer one.

mod chat;
mod lives;
pub(crate) mod nvim;
mod reviews;
mod terminals;
mod units;

use testkit::{Household, NEOVIM};

/// The two Neovims, by their place in `Clients::neovims`.
pub(crate) const OLD: usize = 0;
pub(crate) const NEW: usize = 1;

/// What has to be installed for the tests in this Neovim.
fn needs(which: usize) -> &'static [&'static str] {
    if which == NEW { &[NEOVIM.0] } else { &[] }
}

/// A person's machine, for a test in this Neovim.
pub(crate) fn household(which: usize) -> Option<Household> {
    crate::household_with(needs(which))
}
