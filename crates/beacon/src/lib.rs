//! Discovery files: how terminal agents find a companion.
//!
//! An agent in a terminal learns about a companion from a small JSON file that says on which
//! port it listens, for which folders, and with which token. Each agent, and nearly each
//! version of it, looks in a place of its own. This crate knows these places and the content of
//! the files; it writes, restores and removes them. It never uses the network, and it knows
//! nothing of what happens once an agent has found the companion.
//!
//! Start reading at [`Beacon`], which does the work. The rules are pure functions: [`places`]
//! (which files there are), [`Announcement`] (what is in them) and [`environment`] (variables
//! with the same information, for a terminal that we start). What they need to know about the
//! machine comes in from outside: [`Surroundings`] has the folders and variables, [`process`] the
//! process ids.
//!
//! ```
//! use std::collections::BTreeMap;
//!
//! use outrigger_beacon::{Agent, Announcement, Beacon, IdeInfo, Surroundings};
//!
//! # let scratch = tempfile::tempdir().expect("a temporary folder");
//! # let (home, tmp) = (scratch.path().join("home"), scratch.path().join("tmp"));
//! // A program calls `Surroundings::capture()`; an example stays away from the real home.
//! let surroundings = Surroundings {
//!     tmp,
//!     ..Surroundings::new(Some(home.clone()), scratch.path().to_path_buf())
//! };
//! let announcement = Announcement {
//!     port: 4711,
//!     roots: vec![scratch.path().to_path_buf()],
//!     ide: IdeInfo { name: "helix".into(), display_name: "Helix".into() },
//!     tokens: BTreeMap::from([(Agent::Qwen, "a secret".into())]),
//!     serves: std::process::id(),
//!     stdio: None,
//! };
//! let pids = outrigger_beacon::process::candidates(std::process::id(), None);
//! let beacon = Beacon::announce(surroundings, &[Agent::Qwen], announcement, &pids);
//!
//! assert!(beacon.problems().is_empty());
//! let lock = home.join(".qwen").join("ide").join("4711.lock");
//! assert!(lock.exists());
//! drop(beacon);
//! assert!(!lock.exists());
//! ```

mod announcement;
mod beacon;
mod dotenv;
mod environment;
mod gemini;
mod leftovers;
mod places;
mod problem;
pub mod process;
mod qwen;
mod remover;
mod surroundings;

pub use announcement::{
    Announcement, AnnouncementError, IdeInfo, LeftOut, LeftOutReason, Stdio, Workspace,
};
pub use beacon::Beacon;
pub use environment::environment;
pub use leftovers::Leftovers;
pub use places::{DiscoveryPath, places};
pub use problem::Problem;
pub use remover::Remover;
pub use surroundings::{Surroundings, System};
pub use workbench::Agent;
