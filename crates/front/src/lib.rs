//! The person's side of a companion: what a person can do and see, once for all front ends.
//!
//! A [`Front`] belongs to the folders that a person works in. It has *commands* (decide, draft,
//! focus, pause, folders, everything of a conversation) and *one feed*: a [`Snapshot`] and numbered
//! [`Change`]s of proposals, agents, what is shared and held back, the log and the conversation.
//! The crate `web` encodes them for HTTP (the page and the program's commands), the crate `editor`
//! for the language server protocol.
//!
//! Several editors can be in one companion. Each reports what it has open through its own
//! [`Presence`]; everything else is common to all.
//!
//! All types are domain types without a wire format, and all commands are asynchronous requests.
//!
//! There are no rules in here; those are the `workbench`'s. Start reading at [`Front`],
//! then `pump.rs`, which turns events of the desk into changes.

mod change;
mod error;
mod feed;
mod file_watch;
mod front;
mod presence;
mod present;
mod pump;
mod reader;
mod review;
mod service;
mod snapshot;
pub mod words;

pub use change::{Change, Counts, ProposalSummary, Topic, who};
pub use error::{FrontError, NoConversation};
pub use feed::{Interest, NumberedChange};
pub use front::{Front, PublishChange};
pub use presence::Presence;
pub use reader::{Item, Reader};
pub use review::{hunks, off_thread};
pub use service::{Editors, JoinedEditor, ServiceCommand, ServiceCommands, ServiceFacts};
pub use snapshot::{HeldBackFile, Overview, Shared, Snapshot};
