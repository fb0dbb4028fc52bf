//! The person's side of a companion over HTTP: the page, and the API that it shares with commands.
//!
//! The API is served under `/api` on the companion's own port. Two keys open it, which agents
//! never see: the commands' secret opens everything, the page's key only what a page needs
//! ([`Keys`]). `docs/api.md` describes every route; [`wire`] holds the bodies, [`router`] serves
//! them and [`Client`] asks for them.
//!
//! Nothing is decided in here. What happens at the desk is turned into announcements by one
//! task (`recorder`), and every open page reads the same ring of them (`announcements`).

mod announcements;
mod answer;
mod assets;
mod client;
mod keys;
mod links;
mod recorder;
mod routes;
mod seats;
mod view;
pub mod wire;

pub use client::{Client, ClientError};
pub use keys::Keys;
pub use links::Links;
pub use routes::{Api, Order, router};
