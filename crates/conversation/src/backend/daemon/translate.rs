//! What may be told of a daemon's events: deny by default.
//!
//! Each event is put together from fields that are named here; an event, a variant or a field that
//! is not named does not get out, however harmless it looks. In particular none of these can: the
//! daemon's address, the token, headers, the provider's address and key, values of settings, the ids
//! of sessions and of other clients, and errors in the words of whoever made them.

mod messages;
mod requests;
mod session;
mod shell;

use std::collections::HashSet;

use daemon::TurnEnd;
use daemon::connection::{CloseReason, DisconnectReason, IdeEvent};
use daemon::sanitiser::{Held, Sanitiser};
use daemon::wire::{PermissionOutcome, PromptId, SessionUpdate, StopReason};

use crate::backend::BackendEvent;
use crate::requests::Reply;
use crate::tools::HostPath;
use crate::view::{EndReason, PlanStep, Speaker, TurnOutcome, Usage};

/// Turns what a daemon tells into what may be told. One for each connection, from its beginning.
///
/// ```
/// use conversation::backend::BackendEvent;
/// use conversation::backend::daemon::Translator;
/// use daemon::connection::IdeEvent;
/// use daemon::sanitiser::{Sanitiser, TextLimits};
///
/// let mut translator = Translator::new(Sanitiser::new(TextLimits::default()));
/// let event = IdeEvent::ConnectionLost { why: "no daemon answers at http://127.0.0.1:4170".into() };
/// assert_eq!(translator.translate(&event), [BackendEvent::ConnectionLost]);
/// ```
#[derive(Debug)]
pub struct Translator {
    sanitiser: Sanitiser,
    /// Who spoke last, and the end of what was said that may be the beginning of a secret.
    held: Option<(Speaker, Held)>,
    /// The prompt whose parts a person is saying or has said last.
    prompt: LastPrompt,
    /// What a background task said last, which the daemon says twice.
    task: Option<String>,
    /// The command of a person that runs.
    shell: Option<shell::Shell>,
    /// How many commands there were whose beginning did not come.
    unnamed_shells: usize,
    /// What was named because it is not shown, by its kind.
    unshown: HashSet<String>,
    /// Whether it was said that the agent can no longer write the conversation down.
    is_loss_told: bool,
}

/// The last prompt whose parts were told.
#[derive(Debug, Default)]
struct LastPrompt {
    id: Option<PromptId>,
    /// Whether nothing but its parts came since.
    is_open: bool,
}

impl LastPrompt {
    /// A person says something; whether that begins another prompt. A prompt has a part for each of
    /// its blocks.
    fn begins(&mut self, id: Option<&PromptId>) -> bool {
        let begins = match id {
            Some(id) => self.id.as_ref() != Some(id),
            None => !self.is_open,
        };
        self.id = id.cloned();
        self.is_open = true;
        begins
    }
}

impl Translator {
    /// A translator that hides and cuts what the sanitiser does.
    pub fn new(sanitiser: Sanitiser) -> Translator {
        Translator {
            sanitiser,
            held: None,
            prompt: LastPrompt::default(),
            task: None,
            shell: None,
            unnamed_shells: 0,
            unshown: HashSet::new(),
            is_loss_told: false,
        }
    }

    /// What may be told of an event, in order: nothing, or the event, after what was held back of the
    /// text before it.
    pub fn translate(&mut self, event: &IdeEvent) -> Vec<BackendEvent> {
        let mut told = Vec::new();
        match event {
            IdeEvent::HistoryLoaded {
                events,
                busy,
                incomplete,
                ..
            } => {
                // What was shown is replaced, and so is what was to be shown.
                *self = Translator::new(self.sanitiser.clone());
                let mut events: Vec<_> = events.iter().flat_map(|it| self.translate(it)).collect();
                if !busy {
                    events.extend(self.end_of_text());
                }
                told.push(BackendEvent::History {
                    events,
                    busy: *busy,
                    incomplete: *incomplete,
                });
            }
            IdeEvent::Update {
                update,
                prompt,
                mine,
            } => match update {
                SessionUpdate::UserMessage(chunk) => {
                    let speaker = if *mine { Speaker::Me } else { Speaker::Other };
                    if self.prompt.begins(prompt.as_ref()) {
                        self.tell(Some(BackendEvent::TurnBegan), &mut told);
                    }
                    self.message(speaker, chunk, &mut told);
                }
                SessionUpdate::AgentMessage(chunk) => self.agent_message(chunk, &mut told),
                SessionUpdate::AgentThought(chunk) => {
                    self.message(Speaker::Thought, chunk, &mut told);
                }
                SessionUpdate::ToolCall(call) | SessionUpdate::ToolCallUpdate(call) => {
                    self.tool_call(call, &mut told);
                }
                SessionUpdate::ShellOutput(piece) => self.shell_output(&piece.output, &mut told),
                SessionUpdate::Other(fields) => {
                    let kind = fields.get("sessionUpdate").and_then(|it| it.as_str());
                    let kind = kind.unwrap_or("an update without a kind");
                    self.not_shown(kind, || serde_json::to_string(fields), &mut told);
                }
                update => self.tell(self.update(update), &mut told),
            },
            IdeEvent::Other(event) => self.session_event(event, &mut told),
            event => self.tell(self.event(event), &mut told),
        }
        if told.iter().any(ends_prompt) {
            self.prompt.is_open = false;
        }
        told
    }

    /// What may be told of an event that stands for itself.
    fn event(&self, event: &IdeEvent) -> Option<BackendEvent> {
        Some(match event {
            IdeEvent::Connected(connected) => BackendEvent::Connected {
                version: self.line_of(connected.capabilities.qwen_code_version.as_deref()),
                workspace: self.path(&connected.folder, None),
            },
            IdeEvent::RequestOpened(request) => BackendEvent::RequestOpened {
                request: Box::new(self.request(request)),
                edits: requests::edits(request),
            },
            IdeEvent::RequestClosed { request, reason } => BackendEvent::RequestClosed {
                request: self.line(request.as_str()),
                by_me: matches!(reason, CloseReason::Mine(_)),
                reply: match reason {
                    CloseReason::Mine(outcome) | CloseReason::Elsewhere(outcome) => {
                        outcome.as_ref().map(|outcome| self.reply(outcome))
                    }
                    CloseReason::Gone | CloseReason::Disconnected => None,
                },
            },
            IdeEvent::RequestDeclined { request, .. } => BackendEvent::RequestDeclined {
                request: self.line(request.as_str()),
            },
            IdeEvent::VoteCounted {
                request,
                received,
                needed,
            } => BackendEvent::VoteCounted {
                request: self.line(request.as_str()),
                received: *received,
                needed: *needed,
            },
            IdeEvent::TurnEnded {
                prompt,
                end,
                background,
            } => BackendEvent::TurnEnded {
                // The ids of background turns contain the session's.
                prompt: prompt
                    .as_ref()
                    .filter(|_| !background)
                    .map(|it| self.line(it.as_str())),
                outcome: self.outcome(end)?,
                background: *background,
            },
            IdeEvent::QueueChanged {
                prompt,
                text,
                state,
            } => BackendEvent::Queue {
                prompt: self.line(prompt.as_str()),
                text: text.as_deref().map(|text| self.sanitiser.text(text)),
                state: self.line(state.as_str()).into(),
            },
            IdeEvent::ModelChanged { model } => BackendEvent::ModelChanged {
                model: self.line(model),
            },
            IdeEvent::ModelRefused { model } => BackendEvent::ModelRefused {
                model: self.line_of(model.as_deref()),
            },
            IdeEvent::ModeChanged { mode } => BackendEvent::ModeChanged {
                mode: self.line(mode.as_str()),
            },
            IdeEvent::TitleChanged { title } => BackendEvent::TitleChanged {
                title: self.line(title),
            },
            IdeEvent::Suggestion { text } => BackendEvent::Suggestion {
                text: self.line(text),
            },
            IdeEvent::ConnectionLost { .. } => BackendEvent::ConnectionLost,
            IdeEvent::ConnectionRestored => BackendEvent::ConnectionRestored,
            IdeEvent::Gap { .. } => BackendEvent::EventsLost,
            IdeEvent::Disconnected { reason, .. } => BackendEvent::Disconnected(reason.into()),
            IdeEvent::CaughtUp => BackendEvent::CaughtUp,
            IdeEvent::HistoryLoaded { .. } | IdeEvent::Update { .. } | IdeEvent::Other(_) => {
                return None;
            }
        })
    }

    fn reply(&self, outcome: &PermissionOutcome) -> Reply {
        match outcome {
            PermissionOutcome::Selected { option_id } => Reply::Option(self.line(option_id)),
            // An outcome that a later daemon adds allows nothing that we know of.
            _ => Reply::Decline,
        }
    }

    fn update(&self, update: &SessionUpdate) -> Option<BackendEvent> {
        let most = self.sanitiser.limits().entries;
        Some(match update {
            SessionUpdate::Plan(plan) => {
                let steps = plan.entries.iter().take(most).map(|entry| PlanStep {
                    text: self.line(&entry.content),
                    status: entry
                        .status
                        .as_ref()
                        .map(|it| self.line(it.as_str()).into()),
                });
                BackendEvent::Plan(steps.collect())
            }
            SessionUpdate::AvailableCommands(list) => {
                let commands = list.available_commands.iter().take(most).map(|it| {
                    let description = self.line_of(it.description.as_deref());
                    (self.line(&it.name), description)
                });
                BackendEvent::Commands(commands.collect())
            }
            SessionUpdate::Usage(usage) => BackendEvent::Usage(Usage {
                used: usage.used,
                size: usage.size,
            }),
            // The others are told before it comes to this, or belong to nobody.
            _ => return None,
        })
    }

    /// How a turn ended. Not in the daemon's words: an error of a provider may quote its address and
    /// key.
    fn outcome(&self, end: &TurnEnd) -> Option<TurnOutcome> {
        Some(match end {
            TurnEnd::Complete { stop_reason } => match stop_reason {
                StopReason::Cancelled => TurnOutcome::Cancelled,
                StopReason::EndTurn => TurnOutcome::Complete { early: None },
                early => TurnOutcome::Complete {
                    early: Some(self.line(early.as_str())),
                },
            },
            TurnEnd::Failed { code, .. } => TurnOutcome::Failed {
                code: code.as_ref().map(|code| self.line(&code.to_string())),
            },
            TurnEnd::Interrupted { .. } => TurnOutcome::Interrupted,
            TurnEnd::Unknown { .. } => TurnOutcome::Unknown,
            // There is no turn, and whoever sent the prompt gets the error.
            TurnEnd::NotAccepted { .. } => return None,
        })
    }

    fn path(&self, path: &str, line: Option<u64>) -> HostPath {
        HostPath {
            path: self.line(path),
            line,
        }
    }

    fn line(&self, text: &str) -> String {
        self.sanitiser.line(text)
    }

    fn line_of(&self, text: Option<&str>) -> Option<String> {
        text.map(|text| self.line(text))
    }
}

/// Whether what a person says after this event is another prompt.
fn ends_prompt(event: &BackendEvent) -> bool {
    match event {
        BackendEvent::Said { speaker, .. } | BackendEvent::Attached { speaker, .. } => {
            !matches!(speaker, Speaker::Me | Speaker::Other)
        }
        BackendEvent::Tool(_)
        | BackendEvent::Plan(_)
        | BackendEvent::RequestOpened { .. }
        | BackendEvent::TurnEnded { .. }
        | BackendEvent::History { .. } => true,
        _ => false,
    }
}

/// Whether what is said after an event is another text. Before an event that is shown elsewhere, or
/// not at all, the text goes on.
fn ends_text(event: &BackendEvent) -> bool {
    match event {
        BackendEvent::Connected { .. }
        | BackendEvent::History { .. }
        | BackendEvent::TurnBegan
        | BackendEvent::Said { .. }
        | BackendEvent::Attached { .. }
        | BackendEvent::Rewound { .. }
        | BackendEvent::Notice(_)
        | BackendEvent::Tool(_)
        | BackendEvent::Plan(_)
        | BackendEvent::RequestOpened { .. }
        | BackendEvent::RequestDeclined { .. }
        | BackendEvent::TurnEnded { .. }
        | BackendEvent::Disconnected(_) => true,
        BackendEvent::Choices(_)
        | BackendEvent::Commands(_)
        | BackendEvent::Usage(_)
        | BackendEvent::RequestClosed { .. }
        | BackendEvent::VoteCounted { .. }
        | BackendEvent::Queue { .. }
        | BackendEvent::ModelChanged { .. }
        | BackendEvent::ModelRefused { .. }
        | BackendEvent::ModeChanged { .. }
        | BackendEvent::TitleChanged { .. }
        | BackendEvent::Suggestion { .. }
        | BackendEvent::ConnectionLost
        | BackendEvent::ConnectionRestored
        | BackendEvent::CaughtUp
        | BackendEvent::EventsLost => false,
    }
}

impl From<&DisconnectReason> for EndReason {
    fn from(departure: &DisconnectReason) -> EndReason {
        match departure {
            DisconnectReason::Left => EndReason::Left,
            DisconnectReason::Closed { .. } => EndReason::Closed,
            DisconnectReason::Died { .. } => EndReason::Died,
            DisconnectReason::Lost => EndReason::Forgotten,
            DisconnectReason::Refused { .. } => EndReason::Refused,
            DisconnectReason::Unreachable { .. } => EndReason::Unreachable,
        }
    }
}
