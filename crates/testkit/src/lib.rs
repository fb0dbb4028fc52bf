//! Everything a test needs to put a *published* terminal agent in front of a companion.
//!
//! The agents are the real npm packages, unpatched; only the model behind them is a fake
//! ([`Model`]), because a test must decide which edits are asked for. A [`Machine`] is one person's: a
//! home, a temporary folder, a workspace, and the commands the person types. A [`Household`] is a
//! machine with the agents, the model and a companion; a [`Daemon`] is `qwen serve` on it. A
//! [`Terminal`] is a real pty with one agent in it. An [`IdeClient`] is the agent's own connection code
//! without its screen, which makes old versions cheap to try. A [`ScriptedEditor`] is the editor's end
//! of `outrigger lsp`, for those who try or write a plugin. A [`Browser`] is a real Chromium with the
//! page in it. [`fake_daemon`] is a daemon in the test's own process, for what a real one cannot be
//! made to do.
//!
//! An [`InProcessCompanion`] is the whole companion without the program around it, and an
//! [`McpPeer`] is an agent's client that hides nothing, for what published clients never send. A
//! [`PlayedAgent`] is such a client for tests that block, where no published agent is needed.
//!
//! The kit never asserts anything about the product, except that an [`McpPeer`] gives up on what
//! published clients give up on. It does panic when the world around a test is
//! not as it must be, and its panics show what the person would have seen.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "this is test support: a broken precondition must stop the test, with its reason"
)]
#![allow(
    clippy::print_stderr,
    clippy::disallowed_methods,
    reason = "whoever runs the tests reads it, not the person"
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
pub mod fake_daemon;
mod household;
pub mod http;
mod ideclient;
mod in_process;
mod machine;
mod mcp_peer;
mod model;
mod packages;
pub mod picture;
mod played_agent;
mod proxy;
pub mod scripted_backend;
mod tasks;
mod terminal;
mod waiting;

pub use agent::Agent;
pub use browser::{Browser, Look, Tab};
pub use clients::Clients;
pub use commands::{Done, Proposal, finish, run_suite, run_to_end};
pub use companion::Companion;
pub use daemon::{Daemon, TOKEN};
pub use editor::{ScriptedEditor, uri};
pub use household::Household;
pub use ideclient::{IdeClient, PendingDiff, Start};
pub use in_process::{InProcessBuilder, InProcessCompanion, RouterParts, quiet_limits};
pub use machine::Machine;
pub use mcp_peer::{McpPeer, indent};
pub use model::{Call, Model, Speech};
pub use packages::{KAKOUNE_LSP, NEOVIM, NEWEST, SDK, SETS, crate_folder, wheel_folder};
pub use played_agent::PlayedAgent;
pub use proxy::Proxy;
pub use terminal::{Key, Terminal};
pub use waiting::{PATIENCE, soon, until, wait_for};
