//! The JSON of the person's side that HTTP and LSP share, so that both use the same shapes. What
//! only one of them uses is in the crate `web` or `editor`.
//!
//! Domain types do not implement serde. Serialised types borrow from them, so that changes and
//! snapshots are not copied; deserialised types are converted to domain types at once.

pub mod conversation;
mod fault;
mod hunk;

pub use fault::Fault;
pub use hunk::Hunk;
