//! What turns the updates of a session into the events of a connection.
//!
//! The pump never waits for a person. It waits for room at the listener, and for nothing else.
//!
//! Requests need care after a reconnect. What was missed may hold a request and, later, its answer;
//! and a request that was seen before is not sent again. So while the past is being sent, requests
//! are only collected; then the daemon is asked what really waits, and its word decides.

use std::collections::VecDeque;
use std::sync::Arc;

use serde::Deserialize;
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinSet;

use super::events::{Closing, IdeEvent};
use super::{Live, Request, Shared, lock};
use crate::event::{Body, Event};
use crate::session::{End, Turn, TurnEnd, Update, Updates};
use crate::wire::{ApprovalMode, PromptId, RequestId};
use waiting::Check;

mod translate;
mod waiting;

/// How many ids of things that are over are remembered, so that they do not come back.
const REMEMBERED: usize = 512;
/// What an event takes of the listener's room besides its text.
const OVERHEAD: usize = 256;

/// What others tell the pump.
#[derive(Debug)]
pub(super) enum Message {
    /// A prompt was accepted.
    Expect {
        turn: Turn,
        tell: oneshot::Sender<TurnEnd>,
    },
    /// The daemon says that a request is over.
    Lost(RequestId),
}

pub(super) struct Pump {
    shared: Arc<Shared>,
    live: Live,
    updates: Updates,
    messages: mpsc::UnboundedReceiver<Message>,
    turns: JoinSet<(Option<PromptId>, TurnEnd)>,
    /// Turns whose end has been told.
    told: VecDeque<PromptId>,
    /// Whether the past is being sent.
    replaying: bool,
    /// Whether the listener has been told that the daemon is out of reach.
    interrupted: bool,
    /// Requests that may be over already.
    held: Vec<Request>,
    /// Requests that are over.
    resolved: VecDeque<RequestId>,
    checks: JoinSet<Check>,
    model: Option<String>,
    mode: Option<ApprovalMode>,
}

impl Pump {
    pub(super) fn new(
        shared: Arc<Shared>,
        live: Live,
        updates: Updates,
        messages: mpsc::UnboundedReceiver<Message>,
    ) -> Self {
        Self {
            shared,
            live,
            updates,
            messages,
            turns: JoinSet::new(),
            told: VecDeque::new(),
            replaying: true,
            interrupted: false,
            held: Vec::new(),
            resolved: VecDeque::new(),
            checks: JoinSet::new(),
            model: None,
            mode: None,
        }
    }

    /// Works until the session is over.
    pub(super) async fn run(mut self) {
        loop {
            // In this order: the end of a turn must not overtake what was said in it.
            tokio::select! {
                biased;
                update = self.updates.next() => match update {
                    Some(Update::Ended(end)) => return self.finish(end).await,
                    Some(update) => self.take(update).await,
                    None => return self.finish(End::Left).await,
                },
                Some(message) = self.messages.recv() => match message {
                    Message::Expect { turn, tell } => self.expect(turn, tell),
                    Message::Lost(request) => self.close(&request, Closing::Gone).await,
                },
                Some(Ok(check)) = self.checks.join_next() => self.reconcile(check).await,
                Some(Ok((prompt, end))) = self.turns.join_next() => {
                    if let Some(event) = self.turn_ended(prompt, end, false) {
                        self.tell(event, 0).await;
                    }
                }
            }
        }
    }

    fn expect(&mut self, turn: Turn, tell: oneshot::Sender<TurnEnd>) {
        self.turns.spawn(async move {
            let id = turn.id().cloned();
            let end = turn.end().await;
            // Whoever sent it may not be interested.
            let _ = tell.send(end.clone());
            (id, end)
        });
    }

    async fn finish(mut self, end: End) {
        // Prompts that were accepted at the last moment still get their end.
        self.messages.close();
        while let Some(message) = self.messages.recv().await {
            if let Message::Expect { turn, tell } = message {
                self.expect(turn, tell);
            }
        }
        while let Some(ended) = self.turns.join_next().await {
            if let Ok((prompt, end)) = ended
                && let Some(event) = self.turn_ended(prompt, end, false)
            {
                self.shared.outbox.tell(event);
            }
        }
        let resume = self.live.session.resume_state();
        *lock(&self.shared.left_at) = Some(resume.clone());
        let mut live = lock(&self.shared.live);
        if live
            .as_ref()
            .is_some_and(|it| it.number == self.live.number)
        {
            *live = None;
        }
        drop(live);
        for request in self.live.requests.close_all() {
            let how = Closing::Disconnected;
            self.shared.outbox.tell(IdeEvent::Closed { request, how });
        }
        let reason = end.into();
        self.shared
            .outbox
            .tell(IdeEvent::Disconnected { reason, resume });
    }

    async fn take(&mut self, update: Update) {
        match update {
            Update::Event(event) => self.event(event).await,
            Update::History(history) => self.start_over(*history).await,
            Update::Connected => {
                self.replaying = true;
                if std::mem::take(&mut self.interrupted) {
                    self.tell(IdeEvent::Restored, 0).await;
                }
            }
            Update::Disconnected { why } => {
                self.interrupted = true;
                self.tell(IdeEvent::Interrupted { why }, 0).await;
            }
            Update::Unreadable { why, .. } => {
                let what = format!("an event could not be read: {why}");
                self.tell(IdeEvent::Gap { what }, 0).await;
                // It may have been a request.
                self.check();
            }
            Update::Missing { from, to } => {
                let what = format!("the events {from} to {to} did not come");
                self.tell(IdeEvent::Gap { what }, 0).await;
                self.check();
            }
            Update::Ended(_) => {}
        }
    }

    async fn event(&mut self, event: Event) {
        match event.body() {
            Body::PermissionRequest(request) => self.request(request).await,
            Body::PermissionResolved(it) | Body::PermissionAlreadyResolved(it) => {
                self.resolve(&it).await;
            }
            Body::Malformed(why) if event.kind() == "permission_request" => {
                let id = event
                    .field("requestId")
                    .and_then(|id| RequestId::deserialize(id).ok());
                match id {
                    Some(id) => self.decline(id, why).await,
                    // The daemon knows its id.
                    None => self.check(),
                }
            }
            Body::ReplayComplete(_) => {
                self.replaying = false;
                self.check();
                self.tell(IdeEvent::CaughtUp, 0).await;
            }
            Body::ModelSwitched(it) => self.model_is(it.model_id).await,
            Body::ApprovalModeChanged(it) => self.mode_is(it.next).await,
            Body::SessionSnapshot(it) => {
                if let Some(model) = it.current_model_id {
                    self.model_is(model).await;
                }
                if let Some(mode) = it.current_approval_mode {
                    self.mode_is(mode).await;
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
                    self.tell(told, size).await;
                }
            }
        }
    }

    async fn model_is(&mut self, model: String) {
        if self.model.replace(model.clone()).as_ref() != Some(&model) {
            self.tell(IdeEvent::ModelChanged { model }, 0).await;
        }
    }

    async fn mode_is(&mut self, mode: ApprovalMode) {
        if self.mode.replace(mode.clone()).as_ref() != Some(&mode) {
            self.tell(IdeEvent::ModeChanged { mode }, 0).await;
        }
    }

    /// The end of a turn, unless it has been told.
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

    async fn tell(&self, event: IdeEvent, size: usize) {
        let size = size.saturating_add(OVERHEAD);
        self.shared
            .outbox
            .tell_when_there_is_room(event, size, &self.live.room)
            .await;
    }
}

/// Takes note of an id, and forgets the oldest one when there are too many.
fn remember<T>(ids: &mut VecDeque<T>, id: T) {
    if ids.len() == REMEMBERED {
        ids.pop_front();
    }
    ids.push_back(id);
}
