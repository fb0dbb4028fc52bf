//! Keeping the list of what waits for the person true.

use std::future::Future;
use std::time::Duration;

use serde::Deserialize;
use serde_json::Value;

use super::{Pump, remember};
use crate::connection::{Closing, IdeEvent, Request};
use crate::error::{DaemonError, Reason};
use crate::event::PermissionResolved;
use crate::wire::{Ballot, PendingInteraction, PermissionRequest, RequestId, SessionSummary};

/// How often something is asked that may be asked again, and how long to wait in between.
const TRIES: u32 = 3;
const PAUSE: Duration = Duration::from_millis(250);

/// What the daemon says is waiting, and what was open here when it was asked.
pub(super) struct Check {
    open: Vec<RequestId>,
    status: Result<SessionSummary, DaemonError>,
}

impl Pump {
    pub(super) fn hold(&mut self, request: PermissionRequest) {
        let ours = request
            .session_id
            .as_ref()
            .is_none_or(|it| it == self.live.session.id());
        if ours && let Some(request) = Request::asked(request) {
            self.held.retain(|held| held.id != request.id);
            self.held.push(request);
        }
    }

    /// The agent asks something.
    pub(super) async fn request(&mut self, request: PermissionRequest) {
        if request
            .session_id
            .as_ref()
            .is_some_and(|it| it != self.live.session.id())
        {
            tracing::debug!("a request of another session");
            return;
        }
        if self.replaying {
            return self.hold(request);
        }
        let id = request.request_id.clone();
        match Request::asked(request) {
            Some(request) => self.open(request).await,
            None => {
                self.decline(id, "it offers nothing to choose from".into())
                    .await;
            }
        }
    }

    async fn open(&mut self, request: Request) {
        let id = request.id.clone();
        if self.resolved.contains(&id) || self.live.requests.has(&id) {
            return;
        }
        if self.live.requests.add(request.clone()) {
            self.tell(IdeEvent::Asked(Box::new(request)), 0).await;
        } else {
            self.decline(id, "there are too many requests".into()).await;
        }
    }

    /// Somebody has answered.
    pub(super) async fn resolve(&mut self, resolved: &PermissionResolved) {
        let outcome = resolved.known_outcome();
        let us = self.live.session.client_id();
        let mine = us.is_some() && resolved.voter_client_id == us;
        let how = if mine {
            Closing::Mine(outcome)
        } else {
            Closing::Elsewhere(outcome)
        };
        self.close(&resolved.request_id, how).await;
    }

    pub(super) async fn close(&mut self, id: &RequestId, how: Closing) {
        self.held.retain(|held| held.id != *id);
        remember(&mut self.resolved, id.clone());
        if self.live.requests.close(id) {
            let request = id.clone();
            self.tell(IdeEvent::Closed { request, how }, 0).await;
        }
    }

    /// Says no to what nobody can answer, so that the agent does not wait for ever.
    pub(super) async fn decline(&mut self, request: RequestId, why: String) {
        let (session, id) = (self.live.session.clone(), request.clone());
        tokio::spawn(async move {
            let no = Ballot::cancel();
            let vote = again(|| session.vote(&id, &no)).await;
            if let Err(error) = vote {
                tracing::warn!(%error, "a request that nobody can answer could not be declined");
            }
        });
        // The daemon may have to be told again, the person not.
        if !self.resolved.contains(&request) {
            remember(&mut self.resolved, request.clone());
            self.tell(IdeEvent::Declined { request, why }, 0).await;
        }
    }

    /// Asks the daemon what waits for a person.
    pub(super) fn check(&mut self) {
        let session = self.live.session.clone();
        let open = self.live.requests.ids();
        self.checks.spawn(async move {
            let status = again(|| session.status()).await;
            Check { open, status }
        });
    }

    /// Goes by the daemon's word on what waits for a person.
    pub(super) async fn reconcile(&mut self, check: Check) {
        // More may be on the way that makes this answer old.
        if self.replaying {
            return;
        }
        let held = std::mem::take(&mut self.held);
        let waiting = match check.status {
            Ok(status) => status.pending_interactions,
            Err(error) => {
                tracing::warn!(%error, "the daemon does not tell what waits for a person");
                for request in held {
                    self.open(request).await;
                }
                return;
            }
        };
        let id_of = |raw: &Value| RequestId::deserialize(raw.get("requestId")?).ok();
        let ids: Vec<RequestId> = waiting.iter().filter_map(id_of).collect();
        for gone in check.open.iter().filter(|open| !ids.contains(open)) {
            self.close(gone, Closing::Gone).await;
        }
        for (raw, id) in waiting.iter().filter_map(|raw| Some((raw, id_of(raw)?))) {
            let told = held.iter().find(|held| held.id == id).cloned();
            let pending = || {
                PendingInteraction::deserialize(raw)
                    .ok()
                    .and_then(Request::pending)
            };
            match told.or_else(pending) {
                Some(request) => self.open(request).await,
                None if self.live.requests.has(&id) => {}
                None => self.decline(id, "it cannot be read".into()).await,
            }
        }
    }
}

/// Asks for something that may be asked again, a few times.
async fn again<T, F: Future<Output = Result<T, DaemonError>>>(
    ask: impl Fn() -> F,
) -> Result<T, DaemonError> {
    for _ in 1..TRIES {
        match ask().await {
            Err(error) if error.reason().is_none_or(Reason::is_temporary) => {
                let wait = error.refusal().and_then(|it| it.retry_after);
                tokio::time::sleep(wait.unwrap_or(PAUSE)).await;
            }
            done => return done,
        }
    }
    ask().await
}
