//! The person's side of a companion over HTTP: the page, and the API that it shares with commands.
//!
//! The API is served under `/api` on the companion's own port. Two keys open it, which agents
//! never see: the commands' secret opens everything, the page's key only what a page needs
//! ([`Keys`]). `docs/api.md` describes every route; [`wire`] holds the bodies, [`router`] serves
//! them and [`Client`] asks for them.
//!
//! Nothing is decided in here: it encodes what the [`front`] says (`to_wire`) and hands on what the
//! person wants (`from_wire`). Each change is encoded once, however many pages are open.

mod assets;
mod client;
mod from_wire;
mod keys;
mod links;
mod response;
mod routes;
mod stream_slots;
mod to_wire;
pub mod wire;

pub use client::{Client, ClientError};
pub use keys::Keys;
pub use links::Links;
pub use routes::{Api, router};
