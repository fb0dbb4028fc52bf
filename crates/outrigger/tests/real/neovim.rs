//! The Neovim plugin in a real Neovim, with real agents.
//!
//! Everything is tried in the oldest Neovim that the plugin supports and in a newer one.

mod chat;
mod lives;
mod nvim;
mod reviews;
mod terminals;
mod units;

/// The two Neovims, by their place in `Clients::neovims`.
const OLD: usize = 0;
const NEW: usize = 1;
