//! The commands that send a request to a running companion, a room for each kind: what is there
//! (`status`), what agents want (`proposals`), what the person decides (`decide`), where the person
//! is (`focus`), and the companion itself (`service`).

mod decide;
mod focus;
mod proposals;
mod service;
mod status;

use companion::registry::Record;
use web::Client;

pub(crate) use decide::{accept, reject};
pub(crate) use focus::focus;
pub(crate) use proposals::{proposals, show};
pub(crate) use service::{env, restart, stop, url};
pub(crate) use status::status;

/// A client of this companion, which runs.
pub(crate) fn client(record: &Record) -> Client {
    Client::new(record.port, record.secret.clone()).of_process(record.pid)
}
