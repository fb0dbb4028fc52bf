//! The editor-facing half of outrigger: a language server on a pair of pipes.
//!
//! Every editor has a client for the language server protocol, and that protocol already
//! carries what a companion needs: the editor's process, its folders, its open files with
//! their live texts, its end. An editor without a plugin (level 0) gets context from the
//! requests that its client sends anyway, and reviews proposals as documents. A thin plugin
//! (level 1) adds focus, selections and native diffs with the `outrigger/*` methods of
//! `docs/editor-protocol.md`.
//!
//! Nothing in here knows an agent, and nothing is decided here: what the person can do and see is
//! the [`front`], this crate puts it into the protocol (`to_wire`, `from_wire`). Start reading at
//! [`EditorSession::run`], then `client.rs`.

pub mod buffer;
mod client;
mod connection;
mod conversation;
mod daemon_options;
mod documents;
pub mod frame;
mod from_wire;
mod greeting;
mod handshake;
mod message;
mod presence;
mod proposals;
mod requests;
mod reviews;
pub mod rpc;
mod session;
mod sheet;
mod to_wire;
mod trace;
mod wire;

pub use connection::{Connection, MemoryEditor, PipeTasks};
pub use daemon_options::DaemonOptions;
pub use greeting::{Greeting, Hello};
pub use handshake::{EditorInfo, EditorService, ServiceHost};
pub use session::{EditorSession, SessionEnd};
pub use text::file_uri as uri;
pub use trace::{Recording, Trace};
pub use wire::Options;
