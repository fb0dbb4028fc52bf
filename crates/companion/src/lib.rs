//! The agent-facing half of outrigger: the server that terminal agents find and connect to.
//!
//! Four things are kept apart, because more agents will come with other transports and the
//! same needs: the *transport* ([`server`], [`mcp`]), the *dialect* of an agent (`agents`),
//! the *session* (`mailbox`, `feed`), and the *core* (the `workbench` crate), which the
//! [`desk`] owns. Nothing in here knows an editor.
//!
//! Start reading at [`mcp::router`], which shows what an agent can ask, and [`desk::State`],
//! which shows what happens then.

mod agents;
mod body;
pub mod desk;
mod feed;
pub mod gate;
pub mod journal;
mod limits;
mod mailbox;
pub mod mcp;
mod original;
mod place;
pub mod registry;
pub mod server;
mod token;

pub use feed::Ending;
pub use limits::Limits;
pub use mcp::ide::ClientInfo;
pub use place::locate;
pub use token::{Token, random_hex};
