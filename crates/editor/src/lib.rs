//! The editor-facing half of outrigger: a language server on a pair of pipes.
//!
//! Every editor has a client for the language server protocol, and that protocol already
//! carries what a companion needs: the editor's process, its folders, its open files with
//! their live texts, its end. An editor without a plugin (level 0) gets context from the
//! requests that its client sends anyway, and reviews proposals as documents. A thin plugin
//! (level 1) adds focus, selections and native diffs with the `outrigger/*` methods of
//! `docs/editor-protocol.md`.
//!
//! Nothing in here knows an agent. Start reading at [`Link::run`].

pub mod buffer;
mod connection;
mod documents;
pub mod frame;
mod link;
mod presence;
mod record;
mod reviews;
pub mod rpc;
mod sheet;
mod talk;
pub mod uri;
mod verdicts;
mod wire;

pub use connection::{Connection, MemoryEditor};
pub use link::{Hello, Host, Left, Link, Opened};
pub use record::Recorder;
pub use wire::Options;
