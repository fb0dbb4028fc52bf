//! What events, and whole histories, mean for a connection.

use super::Pump;
use crate::connection::IdeEvent;
use crate::event::{Body, Event};
use crate::session::{History, TurnEnd};
use crate::wire::{PendingPrompt, QueueState, SessionUpdate, StopReason};

impl Pump {
    /// The conversation was sent anew. Requests in it may be over; they are looked at later.
    pub(super) async fn start_over(&mut self, history: History) {
        self.held.clear();
        let mut events = Vec::new();
        let mut size = 0;
        for event in history.events {
            size += event.text().len();
            match event.body() {
                Body::PermissionRequest(request) => self.hold(request),
                Body::PermissionResolved(it) | Body::PermissionAlreadyResolved(it) => {
                    self.held.retain(|held| held.id != it.request_id);
                }
                body => events.extend(self.translate(event, body)),
            }
        }
        let over = IdeEvent::StartOver {
            cause: history.cause,
            events,
            busy: history.has_active_prompt,
            incomplete: history.incomplete,
        };
        self.tell(over, size).await;
        if let Some(mode) = history.state.modes.and_then(|it| it.current_mode_id) {
            self.mode_is(mode).await;
        }
        if let Some(model) = history.state.models.and_then(|it| it.current_model_id) {
            self.model_is(model).await;
        }
    }

    /// The event to tell. What only the session or the stream is about has none.
    pub(super) fn translate(&self, event: Event, body: Body) -> Option<IdeEvent> {
        Some(match body {
            Body::SessionUpdate(SessionUpdate::CurrentMode(it)) => IdeEvent::ModeChanged {
                mode: it.current_mode_id,
            },
            Body::SessionUpdate(SessionUpdate::SessionInfo(it)) => IdeEvent::Titled {
                title: it.title?,
            },
            Body::SessionUpdate(update) => IdeEvent::Update {
                update,
                prompt: event.prompt_id(),
                mine: event.originator().is_some_and(|it| self.is_us(&it)),
            },
            Body::TurnComplete(turn) => IdeEvent::TurnEnded {
                background: turn.rest.contains_key("backgroundTurn"),
                prompt: turn.prompt_id.or_else(|| event.prompt_id()),
                end: TurnEnd::Complete {
                    stop_reason: turn.stop_reason.unwrap_or(StopReason::EndTurn),
                },
            },
            Body::TurnError(turn) => IdeEvent::TurnEnded {
                background: turn.rest.contains_key("backgroundTurn"),
                prompt: turn.prompt_id.or_else(|| event.prompt_id()),
                end: TurnEnd::Failed {
                    message: turn.message,
                    code: turn.code,
                },
            },
            Body::PendingPromptAdded(it) => queued(it, QueueState::Queued),
            Body::PendingPromptStarted(it) => queued(it, QueueState::Running),
            Body::PendingPromptCompleted(it) => queued(it, QueueState::Completed),
            Body::ModelSwitched(it) => IdeEvent::ModelChanged { model: it.model_id },
            Body::ModelSwitchFailed(it) => IdeEvent::ModelRefused {
                model: it.requested_model_id,
            },
            Body::ApprovalModeChanged(it) => IdeEvent::ModeChanged { mode: it.next },
            Body::SessionMetadataUpdated(it) => IdeEvent::Titled {
                title: it.display_name?,
            },
            Body::FollowupSuggestion(it) => IdeEvent::Suggestion {
                text: it.suggestion,
            },
            Body::PermissionPartialVote(it) => IdeEvent::VoteCounted {
                request: it.request_id,
                received: it.votes_received,
                needed: it.votes_needed,
            },
            Body::HistoryTruncated(_) => IdeEvent::Gap {
                what: "the oldest part of the conversation is not shown".into(),
            },
            Body::Malformed(why) => IdeEvent::Gap {
                what: format!("an event of type {} could not be read: {why}", event.kind()),
            },
            // These end the connection, or tell of the stream; both is told in other ways.
            Body::SessionDied(_)
            | Body::SessionClosed(_)
            | Body::ClientEvicted(_)
            | Body::StreamError(_)
            | Body::SlowClientWarning(_)
            | Body::StateResyncRequired(_)
            | Body::ReplayComplete(_)
            | Body::SessionSnapshot(_)
            // And these are kept track of elsewhere.
            | Body::PermissionRequest(_)
            | Body::PermissionResolved(_)
            | Body::PermissionAlreadyResolved(_)
            // A cancelled turn still has its end to come.
            | Body::PromptCancelled(_) => return None,
            Body::PermissionForbidden(_)
            | Body::BackgroundTurnComplete(_)
            | Body::Noted
            | Body::Unknown => IdeEvent::Other(event),
        })
    }

    fn is_us(&self, client: &crate::wire::ClientId) -> bool {
        self.live.session.client_id().as_ref() == Some(client)
    }
}

fn queued(news: crate::event::PendingPromptNews, state: QueueState) -> IdeEvent {
    PendingPrompt {
        prompt_id: news.prompt_id,
        state: news.state.or(Some(state)),
        text: news.text,
        rest: news.rest,
    }
    .into()
}
