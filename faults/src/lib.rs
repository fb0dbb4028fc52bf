//! Random schedules of faults against the real program, and what it promises in spite of them.
//!
//! A *schedule* is a list of steps that follows from a seed: agents propose, the person decides by
//! page, command or editor, and meanwhile processes are killed and frozen, disks are full, files
//! disappear and connections are cut. Beside it a [`ledger::Ledger`] writes down what was
//! acknowledged. When all faults are over, everything that was acknowledged has to be true, everybody
//! is reachable again, and a clean end leaves nothing behind. The promises are in
//! `docs/reliability.md`.
//!
//! Nothing here shares code with the program, apart from the kit that tests use.

// It tells a developer how it goes; nothing foreign is printed.
#![allow(clippy::print_stdout, clippy::print_stderr)]

mod agent;
pub mod disk;
mod editor;
mod http;
pub mod ledger;
mod link;
mod page;
mod random;
pub mod run;
pub mod schedule;
mod world;
