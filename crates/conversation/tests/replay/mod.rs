//! What a change means to somebody who took a snapshot and has seen nothing since but the changes.

use std::sync::Arc;

use conversation::view::{ConversationStatus, EntryContent};
use conversation::{Change, Snapshot};

pub(crate) fn replay(snapshot: &mut Snapshot, change: &Change) {
    match change {
        Change::Clear => {
            snapshot.entries.clear();
            snapshot.shortened = false;
        }
        Change::Put(entry) => match (snapshot.entries.iter_mut()).find(|it| it.id == entry.id) {
            Some(known) => *known = entry.clone(),
            None => snapshot.entries.push(entry.clone()),
        },
        Change::Append { id, text: more } => {
            let entry = snapshot.entries.iter_mut().find(|it| it.id == *id);
            match &mut Arc::make_mut(entry.unwrap()).content {
                EntryContent::Said { text, .. } => text.push_str(more),
                content => panic!("only what is said goes on, not {content:?}"),
            }
        }
        Change::Shorten { first } => {
            snapshot.entries.retain(|it| it.id >= *first);
            snapshot.shortened = true;
        }
        Change::Status(status) => snapshot.status = ConversationStatus::clone(status),
        Change::Requests(requests) => snapshot.requests.clone_from(requests),
    }
}
