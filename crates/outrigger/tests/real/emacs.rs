//! The Emacs package in a real Emacs, with real agents.

mod chat;
pub(crate) mod driver;
mod lives;
mod reviews;
mod units;
