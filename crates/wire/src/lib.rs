//! The JSON of the person's side, shared by HTTP and LSP, so that the same thing looks the same in
//! both. What only one of them says is in that crate.
//!
//! Domain types have no JSON of their own. What is written here borrows from them, so nothing is
//! copied on the way to a page; what is read here becomes a domain type at once.

pub mod conversation;
mod hunk;

pub use hunk::Hunk;
