//! A conversation with a `qwen serve` daemon, as pages and editors may see it.
//!
//! The host ([`Chat`]) owns the daemon's address, its token, the session and what is needed to go on
//! after a break; nobody who holds one can get at them. What it shows is a *board*: a list of
//! entries, how things stand, and what waits for the person. Whoever shows it takes a [`Snapshot`]
//! and follows the changes ([`Follower`]); so a page that is reloaded, a second tab and an editor
//! all see the same, whole and in order.
//!
//! Edits that the daemon asks leave for also stand in the review, beside those of every other agent
//! (`edits`). Files that go with a prompt pass the same privacy filter as any context (`attach`).
//!
//! Start reading at [`Chat`], then `board.rs`.

mod attach;
mod board;
mod edits;
mod files;
mod host;
mod listener;
mod memory;
mod transcript;
mod trouble;
pub mod view;

pub use attach::Prompt;
pub use board::{Follower, Step};
pub use host::{Chat, Reply, Settings, Which};
pub use trouble::Trouble;
pub use view::{Change, Snapshot};
