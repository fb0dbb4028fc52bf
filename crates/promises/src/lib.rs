//! What must hold for every input: one module for each promise, each with a function from bytes that
//! fails if the promise does not hold.
//!
//! There are two ways to try them. `cargo test` replays the recorded cases of `fuzz/corpus` and makes
//! some variations of each, the same ones every time. `cargo xtask fuzz` lets libFuzzer look for new
//! ones (`fuzz/`). `docs/reliability.md` says what was tried and what was found.
//!
//! A promise is judged by other code than the product's, or by the product from another side.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "this is test support: a promise that does not hold must stop the test, with its reason"
)]
#![allow(
    clippy::unnecessary_debug_formatting,
    reason = "a path that breaks a promise is to be seen with all its odd characters"
)]

pub mod agent_messages;
pub mod configuration;
pub mod conversation;
pub mod daemon_events;
pub mod discovery_files;
pub mod editor_frames;
pub mod editor_session;
pub mod ignore_patterns;
mod input;
pub mod journal;
mod lines;
pub mod live_buffer;
pub mod page_requests;
pub mod registry;
pub mod review;
mod scratch;
pub mod skimmed_json;
pub mod text;
pub mod three_way;
mod workplace;

use std::future::Future;

use tokio::runtime::{Builder, Runtime};

/// A promise: its name, and what tries it with one case.
pub type Promise = (&'static str, fn(&[u8]));

/// All promises. The names are those of the programs and of the folders of the corpus.
pub const ALL: &[Promise] = &[
    ("agent_messages", agent_messages::check),
    ("configuration", configuration::check),
    ("conversation", conversation::check),
    ("daemon_events", daemon_events::check),
    ("discovery_files", discovery_files::check),
    ("editor_frames", editor_frames::check),
    ("editor_session", editor_session::check),
    ("ignore_patterns", ignore_patterns::check),
    ("journal", journal::check),
    ("live_buffer", live_buffer::check),
    ("page_requests", page_requests::check),
    ("registry", registry::check),
    ("review", review::check),
    ("skimmed_json", skimmed_json::check),
    ("text", text::check),
    ("three_way", three_way::check),
];

/// Runs what is asynchronous to its end. Everything is on one thread, so that the same case always
/// does the same.
fn block_on<R>(work: impl Future<Output = R>) -> R {
    thread_local!(static RUNTIME: Runtime = runtime());
    RUNTIME.with(|runtime| runtime.block_on(work))
}

fn runtime() -> Runtime {
    let mut builder = Builder::new_current_thread();
    builder
        .enable_all()
        .max_blocking_threads(2)
        .build()
        .unwrap()
}
