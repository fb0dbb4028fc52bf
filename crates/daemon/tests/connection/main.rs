//! The IDE connection against a daemon that runs inside the test's process.
//!
//! [`upstream`] and [`upstream_requests`] have a counterpart for each test case of the published
//! adapter, under the same name; [`gaps`] has a test for each of its known gaps; [`mapping`] has a row
//! for each row of the tables in its design. The rest is ours.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test that meets something unexpected has to fail"
)]

#[path = "../fake/mod.rs"]
mod fake;
mod gaps;
mod mapping;
mod ordering;
mod person;
mod requests;
mod sanitising;
mod setup;
mod upstream;
mod upstream_requests;
