//! The person's side of a companion over HTTP: the API that commands and pages use.
//!
//! It is served under `/api` on the companion's own port and guarded by a secret of its
//! own, which agents never see. `docs/api.md` describes every route; [`wire`] holds the
//! bodies, [`router`] serves them and [`Client`] asks for them.

mod client;
mod routes;
pub mod wire;

pub use client::{Client, ClientError};
pub use routes::{Api, Order, router};
