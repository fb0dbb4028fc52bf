//! Files and folders that only this user can read, and connections that only this user makes.
//!
//! Tokens are kept in small files, and some of those files have to live in places that every
//! user of the machine can write to, such as `/tmp`. This crate creates, reads and removes
//! them so that no other user can read the content, or redirect us with a symlink to a file of
//! their choice. It does not know what the files are for.
//!
//! There are two kinds of path. A *base* (a home folder, the temporary folder) is chosen
//! by the user or by the system and may well be a symlink. What lies *below* it is ours, and
//! must be a real folder that belongs to this user.
//!
//! Files of the person's that others may have put in their place are read here too
//! ([`RegularFile`]): in bounded memory, and without waiting for anybody.
//!
//! ```
//! # fn main() -> Result<(), outrigger_private::Error> {
//! # let base = tempfile::tempdir().expect("a temporary folder");
//! let folder = outrigger_private::ensure_folder(base.path(), &["outrigger", "state"])?;
//! outrigger_private::write(&folder, "secret", b"42")?;
//! let secret = outrigger_private::read(&folder.join("secret"), 1024)?;
//! assert_eq!(secret.as_deref(), Some(&b"42"[..]));
//! outrigger_private::remove(&folder.join("secret"))?;
//! # Ok(())
//! # }
//! ```

mod error;
mod file;
mod folder;
mod peer;
#[cfg(unix)]
#[path = "unix.rs"]
mod platform;
#[cfg(windows)]
#[path = "windows.rs"]
mod platform;
mod regular;
mod stamp;
#[cfg(target_os = "linux")]
mod stat;

pub use error::Error;
pub use file::{read, remove, replace, sweep, sync, write};
pub use folder::ensure_folder;
pub use peer::{Peer, listening_peer, peer, peer_process};
pub use regular::{RegularFile, Unreadable, read_regular};
pub use stamp::{Stamp, stamp, stamp_of_target};
#[cfg(target_os = "linux")]
pub use stat::{ProcessStat, process_stat};
