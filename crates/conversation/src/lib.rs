//! A conversation with an agent, as pages and editors may see it.
//!
//! One task owns it: the transcript, the status, what waits for the person, and the [`Backend`] that
//! holds the agent. Everybody else holds a [`Conversation`], which is a channel to that task. Whoever
//! shows the conversation takes a [`Snapshot`] and follows the [`Change`]s; so a page that is
//! reloaded, a second tab and an editor all see the same, whole and in order.
//!
//! Addresses, tokens and ids of sessions stay in the backend and its owner; nobody who holds a
//! conversation can get at them. Edits that the agent asks permission for also stand in the review, beside
//! those of every other agent (`review`). Files that go with a prompt pass the same privacy filter as
//! any context (`attach`).
//!
//! Start reading at [`Conversation`], then `owner.rs`; whoever writes a backend begins with
//! [`backend`]. There is no JSON here: that is in the crate `wire`.

mod attach;
pub mod attachment;
pub mod backend;
mod conversation;
mod files;
mod machine;
mod memory;
mod mode;
pub mod names;
mod owner;
mod recovery;
pub mod requests;
mod review;
mod state;
pub mod tools;
mod transcript;
mod trouble;
pub mod view;

pub use attach::Prompt;
pub use backend::{Backend, BackendEvent};
pub use conversation::{Conversation, Settings, Target};
pub use machine::machine_name;
pub use mode::{unreviewed, unreviewed_with};
pub use requests::Reply;
pub use state::ConversationState;
pub use transcript::TranscriptLimits;
pub use trouble::{Trouble, TroubleKind};
pub use view::{Change, Snapshot};
