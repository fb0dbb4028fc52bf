//! The person's side of a companion over HTTP: the page, and the API that it shares with commands.
//!
//! The API is served under `/api` on the companion's own port. It has two keys, which agents never
//! see: the commands' secret is valid for all routes, the page's key only for those that a page
//! needs ([`Keys`]). `docs/api.md` describes every route; [`wire`] holds the bodies, [`router`]
//! serves them and [`Client`] requests them.
//!
//! There are no rules in here: responses are converted from the [`front`]'s types (`to_wire`), and
//! requests to them (`from_wire`). Each change is encoded once for all open pages.

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
pub use routes::{Api, EditorDoor, EditorKnock, EditorPipe, EditorSeat, NoSeat, Owner, router};
