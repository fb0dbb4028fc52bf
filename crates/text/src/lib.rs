//! Encodes untrusted paths and texts for where this program writes them: `file:` URIs, shell
//! words, lines on a terminal.
//!
//! All functions are pure. Nothing here knows what the texts are about.

pub mod file_uri;
pub mod shell;
pub mod show;
