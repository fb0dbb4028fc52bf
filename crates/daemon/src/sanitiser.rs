//! What may leave this process: deny by default.
//!
//! A page, and the window of an editor, gets [`AppEvent`]s and nothing else. Each is put together
//! from fields that are named here; an event, a variant or a field that is not named does not get
//! out, however harmless it looks. In particular none of these can: the daemon's address, the token,
//! headers, the provider's address and key, values of settings, the ids of sessions and of other
//! clients, and errors in the words of whoever made them.
//!
//! ```
//! use daemon::connection::IdeEvent;
//! use daemon::sanitiser::{Limits, Sanitiser};
//!
//! let mut sanitiser = Sanitiser::new(Limits::default());
//! let event = IdeEvent::Interrupted { why: "no daemon answers at http://127.0.0.1:4170".into() };
//! let told = sanitiser.sanitise(&event);
//! assert_eq!(serde_json::to_string(&told).unwrap(), r#"[{"event":"interrupted"}]"#);
//! ```

mod app;
mod pieces;
mod secrets;

use crate::address::Address;
use crate::connection::{Closing, Departure, IdeEvent};
use crate::session::TurnEnd;
use crate::token::Token;
use crate::wire::{SessionUpdate, StopReason};
use secrets::Secrets;

pub use app::{
    AppEvent, AppOption, AppQuestion, AppStep, AppTool, HostPath, Shown, Speaker, TurnResult,
};

/// How much of what gets out, in characters and in entries of lists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Of what the agent says, in one piece.
    pub text: usize,
    /// Of a file in a change, or of what a tool shows.
    pub content: usize,
    /// Of titles, names, paths and ids.
    pub line: usize,
    /// Of any list.
    pub entries: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            text: 256 * 1024,
            content: 1024 * 1024,
            line: 2048,
            entries: 512,
        }
    }
}

/// What stands where something had to be cut.
const CUT: &str = "…";

/// Decides what may leave this process. One for each listener of a connection, from its beginning.
#[derive(Clone, Debug)]
pub struct Sanitiser {
    limits: Limits,
    secrets: Secrets,
    /// Who spoke last, and the end of what was said that may be the beginning of a secret.
    held: Option<(Speaker, String)>,
}

impl Sanitiser {
    /// A sanitiser that cuts at these limits.
    pub fn new(limits: Limits) -> Self {
        Self {
            limits,
            secrets: Secrets::default(),
            held: None,
        }
    }

    /// Also hides this token and this address wherever they stand in a text: an agent can read its
    /// own environment, and say what it found.
    #[must_use]
    pub fn hiding(mut self, token: Option<Token>, address: &Address) -> Self {
        let token = token.map(|it| it.expose().to_owned());
        self.secrets = Secrets::new(token.into_iter().chain(address.spellings()));
        self
    }

    /// What a page may know of an event, in order: nothing, or the event, after what was held back
    /// of the text before it.
    pub fn sanitise(&mut self, event: &IdeEvent) -> Vec<AppEvent> {
        let mut told = Vec::new();
        match event {
            IdeEvent::StartOver {
                events,
                busy,
                incomplete,
                ..
            } => {
                // What was shown is replaced, and so is what was to be shown.
                self.held = None;
                let mut events: Vec<AppEvent> =
                    events.iter().flat_map(|it| self.sanitise(it)).collect();
                if !busy {
                    events.extend(self.end_of_text());
                }
                told.push(AppEvent::StartOver {
                    events,
                    busy: *busy,
                    incomplete: *incomplete,
                });
            }
            IdeEvent::Update { update, mine, .. } => match said(update, *mine) {
                Some((speaker, text)) => self.say(speaker, text, &mut told),
                None => self.tell(self.update(update), &mut told),
            },
            event => self.tell(self.event(event), &mut told),
        }
        told
    }

    /// Tells what somebody says: all of what a person says, who says it at once; of a piece of the
    /// agent's as much as cannot be the beginning of a secret.
    fn say(&mut self, speaker: Speaker, piece: &str, told: &mut Vec<AppEvent>) {
        let is_person = matches!(speaker, Speaker::Me | Speaker::Other);
        if is_person || self.held.as_ref().is_some_and(|(it, _)| *it != speaker) {
            told.extend(self.end_of_text());
        }
        let text = if is_person {
            self.clean(piece, self.limits.text)
        } else {
            let (_, held) = self.held.get_or_insert_with(|| (speaker, String::new()));
            let text = self.secrets.hide_in_pieces(held, piece);
            cut(text, self.limits.text)
        };
        if !text.is_empty() {
            told.push(AppEvent::Said { speaker, text });
        }
    }

    /// Tells an event, and before it what was held back if the text does not go on after it.
    fn tell(&mut self, event: Option<AppEvent>, told: &mut Vec<AppEvent>) {
        if event.as_ref().is_some_and(AppEvent::ends_text) {
            told.extend(self.end_of_text());
        }
        told.extend(event);
    }

    fn end_of_text(&mut self) -> Option<AppEvent> {
        let (speaker, held) = self.held.take()?;
        let text = self.secrets.hide(&held);
        (!text.is_empty()).then_some(AppEvent::Said { speaker, text })
    }

    /// What a page may know of an event that stands for itself.
    fn event(&self, event: &IdeEvent) -> Option<AppEvent> {
        Some(match event {
            IdeEvent::Connected(connected) => AppEvent::Connected {
                daemon_version: self.lines(connected.capabilities.qwen_code_version.as_deref()),
                workspace: self.path(&connected.capabilities.workspace_cwd, None),
            },
            IdeEvent::Asked(request) => self.asked(request),
            IdeEvent::Closed { request, how } => AppEvent::Closed {
                request: self.line(request.as_str()),
                by_me: matches!(how, Closing::Mine(_)),
            },
            IdeEvent::Declined { request, .. } => AppEvent::Declined {
                request: self.line(request.as_str()),
            },
            IdeEvent::VoteCounted {
                request,
                received,
                needed,
            } => AppEvent::VoteCounted {
                request: self.line(request.as_str()),
                received: *received,
                needed: *needed,
            },
            IdeEvent::TurnEnded {
                prompt,
                end,
                background,
            } => {
                let (how, why) = self.end(end);
                AppEvent::TurnEnded {
                    // The ids of background turns contain the session's.
                    prompt: prompt
                        .as_ref()
                        .filter(|_| !background)
                        .map(|it| self.line(it.as_str())),
                    how,
                    why,
                    background: *background,
                }
            }
            IdeEvent::Queue {
                prompt,
                text,
                state,
            } => AppEvent::Queue {
                prompt: self.line(prompt.as_str()),
                text: text
                    .as_deref()
                    .map(|text| self.clean(text, self.limits.text)),
                state: self.line(state.as_str()),
            },
            IdeEvent::ModelChanged { model } => AppEvent::ModelChanged {
                model: self.line(model),
            },
            IdeEvent::ModelRefused { model } => AppEvent::ModelRefused {
                model: self.lines(model.as_deref()),
            },
            IdeEvent::ModeChanged { mode } => AppEvent::ModeChanged {
                mode: self.line(mode.as_str()),
            },
            IdeEvent::Titled { title } => AppEvent::Titled {
                title: self.line(title),
            },
            IdeEvent::Suggestion { text } => AppEvent::Suggestion {
                text: self.line(text),
            },
            IdeEvent::Interrupted { .. } => AppEvent::Interrupted,
            IdeEvent::Restored => AppEvent::Restored,
            IdeEvent::Gap { .. } => AppEvent::Gap,
            IdeEvent::Disconnected { reason, .. } => AppEvent::Disconnected {
                reason: match reason {
                    Departure::Left => "left",
                    Departure::Closed { .. } => "closed",
                    Departure::Died { .. } => "died",
                    Departure::Lost => "lost",
                    Departure::Refused { .. } => "refused",
                    Departure::Unreachable { .. } => "unreachable",
                },
                can_reconnect: reason.can_reconnect(),
            },
            IdeEvent::CaughtUp => AppEvent::CaughtUp,
            IdeEvent::StartOver { .. } | IdeEvent::Update { .. } | IdeEvent::Other(_) => {
                return None;
            }
        })
    }

    fn update(&self, update: &SessionUpdate) -> Option<AppEvent> {
        Some(match update {
            SessionUpdate::ToolCall(call) | SessionUpdate::ToolCallUpdate(call) => {
                AppEvent::Tool(self.tool(call))
            }
            SessionUpdate::Plan(plan) => {
                let steps = plan
                    .entries
                    .iter()
                    .take(self.limits.entries)
                    .map(|entry| AppStep {
                        text: self.line(&entry.content),
                        status: entry.status.as_ref().map(|it| self.line(it.as_str())),
                    });
                AppEvent::Plan {
                    steps: steps.collect(),
                }
            }
            SessionUpdate::AvailableCommands(list) => {
                let commands = list.available_commands.iter().take(self.limits.entries);
                let commands =
                    commands.map(|it| (self.line(&it.name), self.lines(it.description.as_deref())));
                AppEvent::Commands {
                    commands: commands.collect(),
                }
            }
            SessionUpdate::Usage(usage) => AppEvent::Usage {
                used: usage.used,
                size: usage.size,
            },
            SessionUpdate::UserMessage(_)
            | SessionUpdate::AgentMessage(_)
            | SessionUpdate::AgentThought(_)
            | SessionUpdate::CurrentMode(_)
            | SessionUpdate::SessionInfo(_)
            | SessionUpdate::Other(_) => return None,
        })
    }

    /// How a turn ended, in our own words: an error of a provider may quote its address and key.
    fn end(&self, end: &TurnEnd) -> (TurnResult, Option<String>) {
        match end {
            TurnEnd::Complete {
                stop_reason: StopReason::Cancelled,
            } => (TurnResult::Cancelled, None),
            TurnEnd::Complete {
                stop_reason: StopReason::EndTurn,
            } => (TurnResult::Complete, None),
            TurnEnd::Complete { stop_reason } => {
                (TurnResult::Complete, Some(self.line(stop_reason.as_str())))
            }
            TurnEnd::Failed { code, .. } => {
                let why = match code {
                    Some(code) => format!("the model or the agent failed ({code})"),
                    None => "the model or the agent failed".into(),
                };
                (TurnResult::Failed, Some(self.line(&why)))
            }
            TurnEnd::Interrupted { .. } => (
                TurnResult::Failed,
                Some("the daemon ended before the turn did".into()),
            ),
            TurnEnd::Unknown { .. } => (TurnResult::Unknown, None),
        }
    }

    fn lines(&self, text: Option<&str>) -> Option<String> {
        text.map(|text| self.line(text))
    }

    /// A title, a name or an id that did not come in an event, as a page may see it.
    pub fn line(&self, text: &str) -> String {
        self.clean(text, self.limits.line)
    }

    /// A text without what must not get out, cut to `limit` characters.
    fn clean(&self, text: &str, limit: usize) -> String {
        cut(self.secrets.hide(text), limit)
    }
}

/// Who says what, if anybody says something.
fn said(update: &SessionUpdate, mine: bool) -> Option<(Speaker, &str)> {
    Some(match update {
        SessionUpdate::UserMessage(chunk) if mine => (Speaker::Me, chunk.text()),
        SessionUpdate::UserMessage(chunk) => (Speaker::Other, chunk.text()),
        SessionUpdate::AgentMessage(chunk) => (Speaker::Agent, chunk.text()),
        SessionUpdate::AgentThought(chunk) => (Speaker::Thought, chunk.text()),
        _ => return None,
    })
}

fn cut(mut text: String, limit: usize) -> String {
    if let Some((end, _)) = text.char_indices().nth(limit) {
        text.truncate(end);
        text.push_str(CUT);
    }
    text
}
