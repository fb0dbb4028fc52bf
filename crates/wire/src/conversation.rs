//! The JSON of a conversation; `docs/editor-protocol.md` describes it.
//!
//! [`snapshot`], [`change`], [`event`] and [`earlier`] write; [`Target`], [`Reply`] and [`Prompt`]
//! read.

mod event;
mod read;
mod request;
mod status;
mod transcript;

use std::sync::Arc;

use conversation::view;
use serde::{Serialize, Serializer};

use request::RequestJson;
use status::StatusJson;
use transcript::EntryJson;

pub use event::event;
pub use read::{Prompt, Reply, Target};

/// Serialises a whole conversation.
pub fn snapshot(snapshot: &view::Snapshot) -> impl Serialize + '_ {
    SnapshotJson {
        shortened: snapshot.shortened,
        status: StatusJson(&snapshot.status),
        requests: snapshot.requests.iter().map(RequestJson::from).collect(),
        entries: snapshot.entries.iter().map(entry).collect(),
    }
}

/// A whole conversation that owns its data, for handlers that return before it is serialised.
#[derive(Clone, Debug)]
pub struct Snapshot(pub view::Snapshot);

impl Serialize for Snapshot {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        snapshot(&self.0).serialize(serializer)
    }
}

/// Serialises one change of a conversation.
pub fn change(change: &view::Change) -> impl Serialize + '_ {
    match change {
        view::Change::Put(put) => ChangeJson::Put { entry: entry(put) },
        view::Change::Append { id, text } => ChangeJson::Append { id: *id, text },
        view::Change::Shorten { first } => ChangeJson::Shorten { first: *first },
        view::Change::Clear => ChangeJson::Clear,
        view::Change::Status(status) => ChangeJson::Status {
            status: StatusJson(status),
        },
        view::Change::Requests(requests) => ChangeJson::Requests {
            requests: requests.iter().map(RequestJson::from).collect(),
        },
    }
}

/// The list of earlier sessions that can be connected to again.
pub fn earlier(sessions: &[view::EarlierSession]) -> Vec<EarlierSession> {
    let session = |session: &view::EarlierSession| EarlierSession {
        key: session.key,
        title: session.title.clone(),
        updated_at: session.updated_at.clone(),
        busy: session.busy,
        current: session.current,
    };
    sessions.iter().map(session).collect()
}

/// An earlier session. Its `key` is valid for the list that it came in.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct EarlierSession {
    key: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    title: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    updated_at: Option<String>,
    busy: bool,
    current: bool,
}

#[derive(Serialize)]
struct SnapshotJson<'a> {
    shortened: bool,
    status: StatusJson<'a>,
    requests: Vec<RequestJson<'a>>,
    entries: Vec<EntryJson<'a>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase", tag = "change")]
enum ChangeJson<'a> {
    Put { entry: EntryJson<'a> },
    Append { id: u64, text: &'a str },
    Shorten { first: u64 },
    Clear,
    Status { status: StatusJson<'a> },
    Requests { requests: Vec<RequestJson<'a>> },
}

fn entry(entry: &Arc<view::TranscriptEntry>) -> EntryJson<'_> {
    EntryJson::from(&**entry)
}
