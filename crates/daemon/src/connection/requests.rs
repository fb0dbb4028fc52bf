//! The requests that wait for the person, and who is answering them.

use std::collections::HashMap;
use std::future::Future;
use std::sync::Mutex;

use tokio::sync::watch;

use super::{Answer, Request, lock};
use crate::wire::{Ballot, RequestId};

/// How many requests may be open. No agent asks so much at once; a daemon that does is not believed.
const MOST: usize = 256;

#[derive(Debug, Default)]
pub(super) struct Requests(Mutex<Table>);

#[derive(Debug, Default)]
struct Table {
    entries: HashMap<RequestId, Entry>,
    /// The place of the next one in the order of opening.
    next: u64,
}

#[derive(Debug)]
struct Entry {
    request: Request,
    place: u64,
    /// Whether our vote is under way, or was taken and is not the last one needed.
    voted: bool,
    /// Dropped when the request is closed, which is what dialogs wait for.
    open: watch::Sender<()>,
}

impl Requests {
    /// Opens a request. `false` if it is open already, or if there are too many.
    pub(super) fn add(&self, request: Request) -> bool {
        let mut table = lock(&self.0);
        if table.entries.contains_key(&request.id) || table.entries.len() >= MOST {
            return false;
        }
        let place = table.next;
        table.next += 1;
        let id = request.id.clone();
        let entry = Entry {
            request,
            place,
            voted: false,
            open: watch::Sender::new(()),
        };
        table.entries.insert(id, entry);
        true
    }

    /// Whether a request is open.
    pub(super) fn has(&self, id: &RequestId) -> bool {
        lock(&self.0).entries.contains_key(id)
    }

    /// Closes a request. `false` if it was not open.
    pub(super) fn close(&self, id: &RequestId) -> bool {
        lock(&self.0).entries.remove(id).is_some()
    }

    /// Closes all, oldest first.
    pub(super) fn close_all(&self) -> Vec<RequestId> {
        let mut entries: Vec<Entry> = lock(&self.0).entries.drain().map(|(_, it)| it).collect();
        entries.sort_by_key(|entry| entry.place);
        entries.into_iter().map(|entry| entry.request.id).collect()
    }

    /// All that are open, oldest first.
    pub(super) fn open(&self) -> Vec<Request> {
        let table = lock(&self.0);
        let mut entries: Vec<&Entry> = table.entries.values().collect();
        entries.sort_by_key(|entry| entry.place);
        entries
            .into_iter()
            .map(|entry| entry.request.clone())
            .collect()
    }

    /// The ids of all that are open now.
    pub(super) fn ids(&self) -> Vec<RequestId> {
        lock(&self.0).entries.keys().cloned().collect()
    }

    /// The vote for an answer, if the request is open and nobody here is voting on it.
    pub(super) fn begin(&self, id: &RequestId, answer: &Answer) -> Option<Ballot> {
        let mut table = lock(&self.0);
        let entry = table.entries.get_mut(id).filter(|entry| !entry.voted)?;
        entry.voted = true;
        Some(entry.request.ballot(answer))
    }

    /// The vote did not get through: the person may try again.
    pub(super) fn reopen(&self, id: &RequestId) {
        if let Some(entry) = lock(&self.0).entries.get_mut(id) {
            entry.voted = false;
        }
    }

    /// Resolves when the request is closed; `None` if it is.
    pub(super) fn closing(&self, id: &RequestId) -> Option<impl Future<Output = ()> + use<>> {
        let mut open = lock(&self.0).entries.get(id)?.open.subscribe();
        Some(async move {
            // Nothing is ever sent: the sender only goes away.
            while open.changed().await.is_ok() {}
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn request(id: &str) -> Request {
        let request = json!({"requestId": id, "toolCall": {"toolCallId": "t"}, "options": [{"optionId": "y", "kind": "allow_once"}]});
        Request::asked(serde_json::from_value(request).unwrap()).unwrap()
    }

    #[tokio::test]
    async fn a_request_is_voted_on_once_until_the_vote_fails() {
        let requests = Requests::default();
        let id = request("a").id;
        assert!(requests.add(request("a")) && !requests.add(request("a")));
        assert!(requests.begin(&id, &Answer::Allow).is_some());
        assert!(requests.begin(&id, &Answer::Allow).is_none());
        requests.reopen(&id);
        assert!(requests.begin(&id, &Answer::Decline).is_some());
        let closing = requests.closing(&id).unwrap();
        assert!(requests.close(&id) && !requests.close(&id));
        closing.await;
        assert!(requests.closing(&id).is_none());
    }

    #[test]
    fn a_daemon_cannot_fill_the_memory_with_requests() {
        let requests = Requests::default();
        let taken = (0..1000)
            .filter(|n| requests.add(request(&n.to_string())))
            .count();
        assert_eq!((taken, requests.open().len()), (MOST, MOST));
        assert_eq!(requests.open()[0].id.as_str(), "0");
    }
}
