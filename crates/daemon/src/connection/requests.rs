//! The open requests of a connection, and whether a vote on each is being sent.

use std::collections::HashMap;
use std::future::Future;
use std::sync::Mutex;

use tokio::sync::watch;

use super::{InteractionRequest, UserAnswer};
use crate::locked;
use crate::wire::{PermissionVote, RequestId};

/// How many requests may be open. No agent asks that much at once; it bounds what a faulty daemon
/// can make us hold.
const MOST: usize = 256;

#[derive(Debug, Default)]
pub(super) struct OpenRequests(Mutex<RequestTable>);

#[derive(Debug, Default)]
struct RequestTable {
    entries: HashMap<RequestId, RequestEntry>,
    /// The sequence number of the next request.
    next: u64,
}

#[derive(Debug)]
struct RequestEntry {
    request: InteractionRequest,
    place: u64,
    /// Whether our vote is being sent, or was counted and more votes are needed.
    voted: bool,
    /// Dropped when the request is closed. Dialogs wait for that.
    open: watch::Sender<()>,
}

impl OpenRequests {
    /// Adds a request. `false` if it is open already, or if there are too many.
    pub(super) fn add(&self, request: InteractionRequest) -> bool {
        let mut table = locked(&self.0);
        if table.entries.contains_key(&request.id) || table.entries.len() >= MOST {
            return false;
        }
        let place = table.next;
        table.next += 1;
        let id = request.id.clone();
        let entry = RequestEntry {
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
        locked(&self.0).entries.contains_key(id)
    }

    /// Removes a request. `false` if it was not open.
    pub(super) fn close(&self, id: &RequestId) -> bool {
        locked(&self.0).entries.remove(id).is_some()
    }

    /// Removes all requests and returns their ids, oldest first.
    pub(super) fn close_all(&self) -> Vec<RequestId> {
        let mut entries: Vec<RequestEntry> =
            locked(&self.0).entries.drain().map(|(_, it)| it).collect();
        entries.sort_by_key(|entry| entry.place);
        entries.into_iter().map(|entry| entry.request.id).collect()
    }

    /// The open requests, oldest first.
    pub(super) fn open(&self) -> Vec<InteractionRequest> {
        let table = locked(&self.0);
        let mut entries: Vec<&RequestEntry> = table.entries.values().collect();
        entries.sort_by_key(|entry| entry.place);
        entries
            .into_iter()
            .map(|entry| entry.request.clone())
            .collect()
    }

    /// The ids of the open requests, in no order.
    pub(super) fn ids(&self) -> Vec<RequestId> {
        locked(&self.0).entries.keys().cloned().collect()
    }

    /// The vote for an answer. `None` if the request is not open, or if a vote is being sent.
    pub(super) fn begin(&self, id: &RequestId, answer: &UserAnswer) -> Option<PermissionVote> {
        let mut table = locked(&self.0);
        let entry = table.entries.get_mut(id).filter(|entry| !entry.voted)?;
        entry.voted = true;
        Some(entry.request.vote(answer))
    }

    /// The vote could not be sent: the user may answer again.
    pub(super) fn reopen(&self, id: &RequestId) {
        if let Some(entry) = locked(&self.0).entries.get_mut(id) {
            entry.voted = false;
        }
    }

    /// A future that resolves when the request is closed; `None` if it is not open.
    pub(super) fn closing(&self, id: &RequestId) -> Option<impl Future<Output = ()> + use<>> {
        let mut open = locked(&self.0).entries.get(id)?.open.subscribe();
        Some(async move {
            // Nothing is ever sent; the loop ends when the sender is dropped.
            while open.changed().await.is_ok() {}
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn request(id: &str) -> InteractionRequest {
        let request = json!({"requestId": id, "toolCall": {"toolCallId": "t"}, "options": [{"optionId": "y", "kind": "allow_once"}]});
        InteractionRequest::asked(serde_json::from_value(request).unwrap()).unwrap()
    }

    #[tokio::test]
    async fn a_request_is_voted_on_once_until_the_vote_fails() {
        let requests = OpenRequests::default();
        let id = request("a").id;
        assert!(requests.add(request("a")) && !requests.add(request("a")));
        assert!(requests.begin(&id, &UserAnswer::Allow).is_some());
        assert!(requests.begin(&id, &UserAnswer::Allow).is_none());
        requests.reopen(&id);
        assert!(requests.begin(&id, &UserAnswer::Decline).is_some());
        let closing = requests.closing(&id).unwrap();
        assert!(requests.close(&id) && !requests.close(&id));
        closing.await;
        assert!(requests.closing(&id).is_none());
    }

    #[test]
    fn a_daemon_cannot_fill_the_memory_with_requests() {
        let requests = OpenRequests::default();
        let taken = (0..1000)
            .filter(|n| requests.add(request(&n.to_string())))
            .count();
        assert_eq!((taken, requests.open().len()), (MOST, MOST));
        assert_eq!(requests.open()[0].id.as_str(), "0");
    }
}
