//! The agent-facing half of outrigger: the server that terminal agents find and connect to.
//!
//! Four things are kept apart, because more agents will come with other transports and the
//! same needs: the *transport* ([`server`], [`mcp`]), which alone makes bytes; the
//! *dialect* of an agent ([`agents`]); the *session* (`mailbox`); and the *core* (the `workbench`
//! crate), which the [`desk`] owns. Nothing in here knows an editor.
//!
//! Start reading at [`mcp::router`], which shows what an agent can ask, and [`desk::State`],
//! which shows what happens then.

pub mod agents;
mod body;
pub mod desk;
#[doc(hidden)]
pub mod fuzzing;
pub mod gate;
mod ignore_files;
pub mod journal;
mod limits;
mod mailbox;
pub mod mcp;
pub mod original;
mod place;
pub mod registry;
pub mod server;
pub mod settings_file;
mod token;

pub use ignore_files::IgnoreFiles;
pub use limits::Limits;
pub use mcp::Ending;
pub use place::locate;
pub use token::{Token, random_hex};

use std::sync::{Mutex, MutexGuard};

/// Locks a mutex. Nothing that holds one can panic, and the program ends at the first panic,
/// so a poisoned lock is never seen.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex
        .lock()
        .expect("no thread panics while it holds a lock")
}
