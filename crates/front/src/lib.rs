//! The person's side of a companion: what a person can do and see, once for all who show it.
//!
//! A [`Front`] belongs to the folders that a person works in. It has *commands* (decide, draft,
//! focus, pause, folders, everything of a conversation) and *one feed*: a [`Snapshot`] and numbered
//! [`Change`]s of proposals, agents, what is shared and held back, the log and the conversation.
//! The page, the editors and the commands of the program are encoders of these: HTTP in the crate
//! `web`, the language server protocol in the crate `editor`.
//!
//! All types are domain types without a wire format, and all commands are asynchronous questions
//! that could be asked of another process. So whoever holds a `Front` need not know which process
//! serves the folder.
//!
//! Nothing is decided in here; the rules are those of the `workbench`. Start reading at [`Front`],
//! then `pump.rs`, which turns events of the desk into changes.

mod change;
mod error;
mod feed;
mod front;
mod presence;
mod pump;
mod reader;
mod review;
mod service;
mod snapshot;
pub mod words;

pub use change::{Change, Counts, ProposalSummary, Topic};
pub use error::FrontError;
pub use feed::{Interest, Numbered};
pub use front::{Front, PublishChange};
pub use reader::{Item, Reader};
pub use review::{hunks, off_thread};
pub use service::{ServiceCommand, ServiceCommands};
pub use snapshot::{HeldBackFile, Overview, Shared, Snapshot};
