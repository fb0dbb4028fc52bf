//! Turns the events of a session into the events of a connection.
//!
//! The forwarder never waits for a user. It waits for room in the channel, and for nothing else.
//!
//! Requests need care after a reconnect. The replay may hold a request and, later, its answer; and
//! a request that was received before is not sent again. So requests are only collected during a
//! replay; then the daemon is asked which ones are open, and its list decides.

use std::collections::VecDeque;
use std::sync::Arc;

use serde::Deserialize;
use tokio::sync::{Semaphore, mpsc};
use tokio::task::JoinSet;

use super::events::{CloseReason, IdeEvent, Place};
use super::{InteractionRequest, LeftSession, LiveConnection, SharedConnection};
use crate::event::{DaemonEvent, EventBody};
use crate::locked;
use crate::session::{SessionEndReason, SessionEvent, SessionEvents, Turn, TurnEnd};
use crate::wire::{ApprovalMode, PromptId, RequestId};
use waiting::PendingCheck;

mod translate;
mod waiting;

pub(crate) use translate::translate;

/// How many ids of ended turns and closed requests are kept, so that a late event does not report
/// them again.
const REMEMBERED: usize = 512;
/// How many requests that nobody can answer may be declined at the same time.
const DECLINES: usize = 16;
/// What an event takes of the room besides its text, in bytes.
const OVERHEAD: usize = 256;

/// Messages of the handles to the forwarder.
#[derive(Debug)]
pub(super) enum ForwarderMessage {
    /// The daemon accepted a prompt. Its end is to be reported.
    Expect(Turn),
    /// The request with a prompt failed, for this reason.
    NotAccepted(String),
    /// The daemon rejected a vote because the request is closed.
    Lost(RequestId),
}

pub(super) struct EventForwarder {
    shared: Arc<SharedConnection>,
    live: LiveConnection,
    updates: SessionEvents,
    messages: mpsc::UnboundedReceiver<ForwarderMessage>,
    turns: JoinSet<(Option<PromptId>, TurnEnd)>,
    /// Ends of turns that are known, while the text before them is still to come.
    ended: VecDeque<(Option<PromptId>, TurnEnd)>,
    /// Turns whose end has been reported.
    told: VecDeque<PromptId>,
    /// Whether missed events are being replayed.
    replaying: bool,
    /// Whether [`IdeEvent::ConnectionLost`] was sent and not yet followed by `ConnectionRestored`.
    interrupted: bool,
    /// Requests seen during a replay. They may be closed already.
    held: Vec<InteractionRequest>,
    /// Requests that are closed.
    resolved: VecDeque<RequestId>,
    /// The look at the daemon's list of open requests that is under way.
    checks: JoinSet<PendingCheck>,
    /// Whether something has happened since it began.
    check_again: bool,
    /// Bounds how many requests are declined at the same time.
    declines: Arc<Semaphore>,
    model: Option<String>,
    mode: Option<ApprovalMode>,
}

impl EventForwarder {
    pub(super) fn new(
        shared: Arc<SharedConnection>,
        live: LiveConnection,
        updates: SessionEvents,
        messages: mpsc::UnboundedReceiver<ForwarderMessage>,
    ) -> Self {
        Self {
            shared,
            live,
            updates,
            messages,
            turns: JoinSet::new(),
            ended: VecDeque::new(),
            told: VecDeque::new(),
            replaying: true,
            interrupted: false,
            held: Vec::new(),
            resolved: VecDeque::new(),
            checks: JoinSet::new(),
            check_again: false,
            declines: Arc::new(Semaphore::new(DECLINES)),
            model: None,
            mode: None,
        }
    }

    /// Runs until the session has ended.
    pub(super) async fn run(mut self) {
        loop {
            // In this order: what was said about what has happened since may already be known.
            tokio::select! {
                biased;
                update = self.updates.next() => match update {
                    Some(SessionEvent::Ended(end)) => return self.finish(end).await,
                    Some(update) => self.take(update).await,
                    None => return self.finish(SessionEndReason::Left).await,
                },
                Some(message) = self.messages.recv() => match message {
                    ForwarderMessage::Expect(turn) => self.expect(turn),
                    ForwarderMessage::NotAccepted(why) => {
                        let end = TurnEnd::NotAccepted { why };
                        self.ended.push_back((None, end));
                    }
                    ForwarderMessage::Lost(request) => {
                        self.close(&request, CloseReason::Gone).await;
                    }
                },
                Some(Ok(check)) = self.checks.join_next() => self.reconcile(check).await,
                Some(Ok(ended)) = self.turns.join_next() => self.ended.push_back(ended),
            }
            // The text of a turn comes before its end, also if a history has to bring it.
            while self.updates.is_up_to_date()
                && let Some((prompt, end)) = self.ended.pop_front()
            {
                if let Some(event) = self.turn_ended(prompt, end, false) {
                    self.send(event, 0).await;
                }
            }
        }
    }

    fn expect(&mut self, turn: Turn) {
        self.turns.spawn(async move {
            let id = turn.id().cloned();
            (id, turn.end().await)
        });
    }

    async fn finish(mut self, end: SessionEndReason) {
        // Prompts that were accepted at the last moment still get their end.
        self.messages.close();
        while let Some(message) = self.messages.recv().await {
            match message {
                ForwarderMessage::Expect(turn) => self.expect(turn),
                ForwarderMessage::NotAccepted(why) => {
                    self.ended.push_back((None, TurnEnd::NotAccepted { why }));
                }
                ForwarderMessage::Lost(_) => {}
            }
        }
        while let Some(ended) = self.turns.join_next().await {
            self.ended.extend(ended);
        }
        for (prompt, end) in std::mem::take(&mut self.ended) {
            if let Some(event) = self.turn_ended(prompt, end, false) {
                self.shared.events.send(event);
            }
        }
        let resume = self.live.session.resume_state();
        *locked(&self.shared.left) = Some(LeftSession {
            at: resume.clone(),
            mode: self.live.session.approval_mode(),
        });
        let mut live = locked(&self.shared.live);
        if live
            .as_ref()
            .is_some_and(|it| it.number == self.live.number)
        {
            *live = None;
        }
        drop(live);
        for request in self.live.requests.close_all() {
            let reason = CloseReason::Disconnected;
            self.shared
                .events
                .send(IdeEvent::RequestClosed { request, reason });
        }
        let reason = end.into();
        self.shared
            .events
            .send(IdeEvent::Disconnected { reason, resume });
    }

    async fn take(&mut self, update: SessionEvent) {
        match update {
            SessionEvent::Event(event) => self.event(event).await,
            SessionEvent::History(history) => self.start_over(*history).await,
            SessionEvent::Connected => {
                self.replaying = true;
                if std::mem::take(&mut self.interrupted) {
                    self.send(IdeEvent::ConnectionRestored, 0).await;
                }
            }
            SessionEvent::Disconnected { why } => {
                self.interrupted = true;
                self.send(IdeEvent::ConnectionLost { why }, 0).await;
            }
            SessionEvent::Unreadable { why, .. } => {
                let what = format!("an event could not be read: {why}");
                self.send(IdeEvent::Gap { what }, 0).await;
                // The lost event may have been a request.
                self.check();
            }
            SessionEvent::Missing { from, to } => {
                let what = format!("the events {from} to {to} did not come");
                self.send(IdeEvent::Gap { what }, 0).await;
                self.check();
            }
            SessionEvent::Ended(_) => {}
        }
    }

    async fn event(&mut self, event: DaemonEvent) {
        match event.body() {
            EventBody::PermissionRequest(request) => self.request(request).await,
            EventBody::PermissionResolved(it) | EventBody::PermissionAlreadyResolved(it) => {
                self.resolve(&it).await;
            }
            EventBody::Malformed(why) if event.kind() == "permission_request" => {
                let id = event
                    .field("requestId")
                    .and_then(|id| RequestId::deserialize(id).ok());
                match id {
                    Some(id) => self.decline(id, why).await,
                    // The status of the session holds the id.
                    None => self.check(),
                }
            }
            EventBody::ReplayComplete(_) => {
                self.replaying = false;
                self.check();
                self.send(IdeEvent::CaughtUp, 0).await;
            }
            EventBody::ModelSwitched(it) => self.model_is(it.model_id).await,
            EventBody::ApprovalModeChanged(it) => self.mode_is(it.next).await,
            EventBody::SessionSnapshot(it) => {
                if let Some(model) = it.current_model_id.clone() {
                    self.model_is(model).await;
                }
                if let Some(mode) = it.current_approval_mode.clone() {
                    self.mode_is(mode).await;
                }
                let size = event.text().len();
                if let Some(told) = self.translate(event, EventBody::SessionSnapshot(it)) {
                    self.send(told, size).await;
                }
            }
            body => {
                let size = event.text().len();
                let told = match self.translate(event, body) {
                    Some(IdeEvent::TurnEnded {
                        prompt,
                        end,
                        background,
                    }) => self.turn_ended(prompt, end, background),
                    Some(IdeEvent::ModeChanged { mode }) => return self.mode_is(mode).await,
                    told => told,
                };
                if let Some(told) = told {
                    self.send(told, size).await;
                }
            }
        }
    }

    async fn model_is(&mut self, model: String) {
        if self.model.replace(model.clone()).as_ref() != Some(&model) {
            self.send(IdeEvent::ModelChanged { model }, 0).await;
        }
    }

    async fn mode_is(&mut self, mode: ApprovalMode) {
        if self.mode.replace(mode.clone()).as_ref() != Some(&mode) {
            self.send(IdeEvent::ModeChanged { mode }, 0).await;
        }
    }

    /// The event for the end of a turn, unless it was sent before.
    fn turn_ended(
        &mut self,
        prompt: Option<PromptId>,
        end: TurnEnd,
        background: bool,
    ) -> Option<IdeEvent> {
        if let Some(id) = &prompt {
            if self.told.contains(id) {
                return None;
            }
            remember(&mut self.told, id.clone());
        }
        Some(IdeEvent::TurnEnded {
            prompt,
            end,
            background,
        })
    }

    async fn send(&self, event: IdeEvent, size: usize) {
        let size = size.saturating_add(OVERHEAD);
        let at = Place {
            connection: self.live.number,
            cursor: self.updates.position(),
        };
        self.shared
            .events
            .send_when_there_is_room(event, at, size, &self.live.room)
            .await;
    }
}

/// Adds an id, and drops the oldest one when there are too many.
fn remember<T>(ids: &mut VecDeque<T>, id: T) {
    if ids.len() == REMEMBERED {
        ids.pop_front();
    }
    ids.push_back(id);
}
