//! Conversations with the published daemon, held by the companion for pages and editors.

mod access;
mod attachments;
mod beside;
mod choices;
mod company;
mod editors;
mod endings;
mod host;
mod hostile;
mod modes;
pub(crate) mod peer;
mod requests;
mod scene;
mod screen;
mod troubles;
mod turns;
