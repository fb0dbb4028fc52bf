//! Everything a test needs to put a *published* terminal agent in front of a companion.
//!
//! The agents are the real npm packages, unpatched; only the model behind them is a fake
//! ([`Model`]), because a test must decide which edits are asked for. A [`Household`] is one person's
//! machine: a home, a temporary folder, a workspace, the model, the companion, and the commands the
//! person types. A [`Terminal`] is a real pty with one agent in it. An [`IdeClient`] is the agent's
//! own connection code without its screen, which makes old versions cheap to try. A
//! [`ScriptedEditor`] is the editor's end of `outrigger lsp`, for those who try or write a plugin. A
//! [`Browser`] is a real Chromium with the page in it.
//!
//! The kit never asserts anything about the product. It does panic when the world around a test is
//! not as it must be, and its panics show what the person would have seen.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "this is test support: a broken precondition must stop the test, with its reason"
)]
#![allow(
    clippy::format_push_string,
    reason = "nothing here is hot, and the plain form reads best"
)]

mod agent;
mod browser;
mod clients;
mod commands;
mod companion;
mod daemon;
mod editor;
mod household;
mod ideclient;
mod model;
mod proxy;
mod tasks;
mod terminal;
mod waiting;

pub use agent::Agent;
pub use browser::{Browser, Look, Tab};
pub use clients::{Clients, KAKOUNE_LSP, NEOVIM, SDK, SETS, crate_folder, missing, wheel_folder};
pub use commands::{Proposal, run_to_end};
pub use companion::Companion;
pub use daemon::{Daemon, TOKEN};
pub use editor::{ScriptedEditor, uri};
pub use household::Household;
pub use ideclient::{IdeClient, PendingDiff, Start};
pub use model::{Call, Model, Speech};
pub use proxy::Proxy;
pub use terminal::{Key, Terminal};
pub use waiting::{PATIENCE, wait_for};
