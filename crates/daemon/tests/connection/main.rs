//! The IDE connection against a daemon that runs inside the test's process.
//!
//! [`upstream`] and [`upstream_requests`] have a counterpart for each test case of the published
//! adapter, under the same name; [`gaps`] has a test for each of its known gaps; [`mapping`] has a row
//! for each row of the table in its design that is about the connection. The rest is ours.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test that meets something unexpected has to fail"
)]

mod gaps;
mod handle;
mod mapping;
mod ordering;
mod person;
#[path = "../quick/mod.rs"]
mod quick;
mod requests;
mod setup;
mod standstill;
mod upstream;
mod upstream_requests;

/// The kit's daemon, under the name that the tests use.
mod fake {
    pub(crate) use testkit::fake_daemon::*;
}
