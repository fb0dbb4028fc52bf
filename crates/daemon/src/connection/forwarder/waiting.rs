//! Keeps the open requests in agreement with the daemon.

use serde::Deserialize;
use serde_json::Value;

use super::{EventForwarder, remember};
use crate::connection::{CloseReason, IdeEvent, InteractionRequest};
use crate::error::DaemonError;
use crate::event::PermissionResolved;
use crate::session::with_retries;
use crate::wire::{
    PendingInteraction, PermissionRequest, PermissionVote, RequestId, SessionSummary,
};

/// The daemon's list of open requests, and which ones were open here when it was fetched.
pub(super) struct PendingCheck {
    open: Vec<RequestId>,
    status: Result<SessionSummary, DaemonError>,
}

impl EventForwarder {
    pub(super) fn hold(&mut self, request: PermissionRequest) {
        let ours = request
            .session_id
            .as_ref()
            .is_none_or(|it| it == self.live.session.id());
        if ours && let Some(request) = InteractionRequest::asked(request) {
            self.held.retain(|held| held.id != request.id);
            self.held.push(request);
        }
    }

    /// A `permission_request` event arrived.
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
        match InteractionRequest::asked(request) {
            Some(request) => self.open(request).await,
            None => {
                self.decline(id, "it offers nothing to choose from".into())
                    .await;
            }
        }
    }

    async fn open(&mut self, request: InteractionRequest) {
        let id = request.id.clone();
        if self.resolved.contains(&id) || self.live.requests.has(&id) {
            return;
        }
        if self.live.requests.add(request.clone()) {
            self.send(IdeEvent::RequestOpened(Box::new(request)), 0)
                .await;
        } else {
            self.decline(id, "there are too many requests".into()).await;
        }
    }

    /// A `permission_resolved` event arrived.
    pub(super) async fn resolve(&mut self, resolved: &PermissionResolved) {
        let outcome = resolved.known_outcome();
        let us = self.live.session.client_id();
        let mine = us.is_some() && resolved.voter_client_id == us;
        let reason = if mine {
            CloseReason::Mine(outcome)
        } else {
            CloseReason::Elsewhere(outcome)
        };
        self.close(&resolved.request_id, reason).await;
    }

    pub(super) async fn close(&mut self, id: &RequestId, reason: CloseReason) {
        self.held.retain(|held| held.id != *id);
        remember(&mut self.resolved, id.clone());
        if self.live.requests.close(id) {
            let request = id.clone();
            self.send(IdeEvent::RequestClosed { request, reason }, 0)
                .await;
        }
    }

    /// Rejects a request that nobody can answer, so that the agent does not wait for ever.
    pub(super) async fn decline(&mut self, request: RequestId, why: String) {
        // No agent asks that much at once. A daemon that makes it up gets no votes for the rest.
        if let Ok(room) = self.declines.clone().try_acquire_owned() {
            let (session, id) = (self.live.session.clone(), request.clone());
            tokio::spawn(async move {
                let no = PermissionVote::cancel();
                let vote = with_retries(|| session.vote(&id, &no)).await;
                if let Err(error) = vote {
                    tracing::warn!(%error, "a request that nobody can answer could not be declined");
                }
                drop(room);
            });
        }
        // The vote may have to be repeated; the event is sent once.
        if !self.resolved.contains(&request) {
            remember(&mut self.resolved, request.clone());
            self.send(IdeEvent::RequestDeclined { request, why }, 0)
                .await;
        }
    }

    /// Fetches the daemon's list of open requests in the background. One look at a time: whatever
    /// happens during it is found by one more.
    pub(super) fn check(&mut self) {
        if !self.checks.is_empty() {
            self.check_again = true;
            return;
        }
        let session = self.live.session.clone();
        let open = self.live.requests.ids();
        self.checks.spawn(async move {
            let status = with_retries(|| session.status()).await;
            PendingCheck { open, status }
        });
    }

    /// Makes the open requests agree with the daemon's list.
    pub(super) async fn reconcile(&mut self, check: PendingCheck) {
        if std::mem::take(&mut self.check_again) {
            self.check();
        }
        // A replay has begun since, and what it brings is newer. Its end starts another check.
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
            self.close(gone, CloseReason::Gone).await;
        }
        for (raw, id) in waiting.iter().filter_map(|raw| Some((raw, id_of(raw)?))) {
            let told = held.iter().find(|held| held.id == id).cloned();
            let pending = || {
                PendingInteraction::deserialize(raw)
                    .ok()
                    .and_then(InteractionRequest::pending)
            };
            match told.or_else(pending) {
                Some(request) => self.open(request).await,
                None if self.live.requests.has(&id) => {}
                None => self.decline(id, "it cannot be read".into()).await,
            }
        }
    }
}
