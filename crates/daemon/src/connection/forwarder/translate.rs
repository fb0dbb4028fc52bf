//! Translates daemon events and histories into the events of a connection.

use super::EventForwarder;
use crate::connection::IdeEvent;
use crate::event::{DaemonEvent, EventBody, is_about_session};
use crate::session::{History, TurnEnd};
use crate::wire::{ClientId, PendingPrompt, PromptId, QueueState, SessionUpdate, StopReason};

impl EventForwarder {
    /// Sends a history. Requests in it may be closed already, so they are held until the daemon's
    /// status is known.
    pub(super) async fn start_over(&mut self, history: History) {
        self.held.clear();
        let mut events = Vec::new();
        let mut size = 0;
        for event in history.events {
            size += event.text().len();
            match event.body() {
                EventBody::PermissionRequest(request) => self.hold(request),
                EventBody::PermissionResolved(it) | EventBody::PermissionAlreadyResolved(it) => {
                    self.held.retain(|held| held.id != it.request_id);
                }
                body => events.extend(self.translate(event, body)),
            }
        }
        let over = IdeEvent::HistoryLoaded {
            cause: history.cause,
            events,
            busy: history.has_active_prompt,
            incomplete: history.incomplete,
        };
        self.send(over, size).await;
        if let Some(mode) = history.state.modes.and_then(|it| it.current_mode_id) {
            self.mode_is(mode).await;
        }
        if let Some(model) = history.state.models.and_then(|it| it.current_model_id) {
            self.model_is(model).await;
        }
    }

    /// The event to send; `None` for events that concern only the session or the stream.
    pub(super) fn translate(&self, event: DaemonEvent, body: EventBody) -> Option<IdeEvent> {
        translate(event, body, |client| {
            self.live.session.client_id().as_ref() == Some(client)
        })
    }
}

/// The event that a daemon event becomes, if any; `is_us` tells which client this is.
pub(crate) fn translate(
    event: DaemonEvent,
    body: EventBody,
    is_us: impl Fn(&ClientId) -> bool,
) -> Option<IdeEvent> {
    Some(match body {
        EventBody::SessionUpdate(SessionUpdate::CurrentMode(it)) => IdeEvent::ModeChanged {
            mode: it.current_mode_id,
        },
        EventBody::SessionUpdate(SessionUpdate::SessionInfo(it)) => IdeEvent::TitleChanged {
            title: it.title?,
        },
        EventBody::SessionUpdate(update) => IdeEvent::Update {
            prompt: event.prompt_id().or_else(|| prompt_of(&update)),
            update,
            mine: event.originator().is_some_and(|it| is_us(&it)),
        },
        EventBody::TurnComplete(turn) => IdeEvent::TurnEnded {
            background: turn.rest.contains_key("backgroundTurn"),
            prompt: turn.prompt_id.or_else(|| event.prompt_id()),
            end: TurnEnd::Complete {
                stop_reason: turn.stop_reason.unwrap_or(StopReason::EndTurn),
            },
        },
        EventBody::TurnError(turn) => IdeEvent::TurnEnded {
            background: turn.rest.contains_key("backgroundTurn"),
            prompt: turn.prompt_id.or_else(|| event.prompt_id()),
            end: TurnEnd::Failed {
                message: turn.message,
                code: turn.code,
            },
        },
        EventBody::PendingPromptAdded(it) => queue_changed(it, QueueState::Queued),
        EventBody::PendingPromptStarted(it) => queue_changed(it, QueueState::Running),
        EventBody::PendingPromptCompleted(it) => queue_changed(it, QueueState::Completed),
        EventBody::ModelSwitched(it) => IdeEvent::ModelChanged { model: it.model_id },
        EventBody::ModelSwitchFailed(it) => IdeEvent::ModelRefused {
            model: it.requested_model_id,
        },
        EventBody::ApprovalModeChanged(it) => IdeEvent::ModeChanged { mode: it.next },
        EventBody::SessionMetadataUpdated(it) => IdeEvent::TitleChanged {
            title: it.display_name?,
        },
        EventBody::FollowupSuggestion(it) => IdeEvent::Suggestion {
            text: it.suggestion,
        },
        EventBody::PermissionPartialVote(it) => IdeEvent::VoteCounted {
            request: it.request_id,
            received: it.votes_received,
            needed: it.votes_needed,
        },
        EventBody::HistoryTruncated(_) => IdeEvent::Gap {
            what: "the oldest part of the conversation is not shown".into(),
        },
        EventBody::Malformed(why) if is_about_session(event.kind()) => IdeEvent::Gap {
            what: format!("an event of type {} could not be read: {why}", event.kind()),
        },
        // The mode and the model in it are those that are known.
        EventBody::SessionSnapshot(it) if it.recording_degraded != Some(true) => return None,
        // These end the connection or the stream, which is reported in other ways.
        EventBody::SessionDied(_)
        | EventBody::SessionClosed(_)
        | EventBody::ClientEvicted(_)
        | EventBody::StreamError(_)
        | EventBody::SlowClientWarning(_)
        | EventBody::StateResyncRequired(_)
        | EventBody::ReplayComplete(_)
        // Requests are tracked in `waiting`.
        | EventBody::PermissionRequest(_)
        | EventBody::PermissionResolved(_)
        | EventBody::PermissionAlreadyResolved(_)
        // The end of the cancelled turn still follows.
        | EventBody::PromptCancelled(_) => return None,
        // Whoever wants to show one of these reads its body.
        _ => IdeEvent::Other(event),
    })
}

/// The prompt that a message of a user belongs to. A history that was restored from disk has it in
/// the message and not in the envelope.
fn prompt_of(update: &SessionUpdate) -> Option<PromptId> {
    let SessionUpdate::UserMessage(chunk) = update else {
        return None;
    };
    let id = chunk.meta.as_ref()?.get("promptId")?.as_str()?;
    PromptId::new(id).ok()
}

fn queue_changed(prompt: PendingPrompt, default: QueueState) -> IdeEvent {
    IdeEvent::QueueChanged {
        prompt: prompt.prompt_id,
        text: prompt.text,
        state: prompt.state.unwrap_or(default),
    }
}
