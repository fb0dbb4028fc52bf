//! Paths and texts of others in the notations that this program writes: `file:` URIs, words of
//! a shell, single lines on a terminal.
//!
//! Pure functions of their arguments. Nothing here knows what the texts are about.

pub mod file_uri;
pub mod shell;
pub mod show;
