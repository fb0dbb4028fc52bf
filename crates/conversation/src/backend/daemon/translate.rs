//! What may be told of a daemon's events: deny by default.
//!
//! Each event is put together from fields that are named here; an event, a variant or a field that
//! is not named does not get out, however harmless it looks. In particular none of these can: the
//! daemon's address, the token, headers, the provider's address and key, values of settings, the ids
//! of sessions and of other clients, and errors in the words of whoever made them.

use daemon::TurnEnd;
use daemon::connection::{CloseReason, DisconnectReason, IdeEvent, InteractionRequest};
use daemon::sanitiser::{Held, Sanitiser};
use daemon::wire::{
    PermissionOutcome, Question, SessionUpdate, StopReason, ToolCall as DaemonToolCall,
    ToolContent, ToolLocation,
};

use crate::backend::{BackendEvent, Edit};
use crate::requests::{AgentRequest, Reply, RequestOption, RequestQuestion};
use crate::tools::{HostPath, ToolCall, ToolOutput};
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
}

impl Translator {
    /// A translator that hides and cuts what the sanitiser does.
    pub fn new(sanitiser: Sanitiser) -> Translator {
        Translator {
            sanitiser,
            held: None,
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
                self.held = None;
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
    fn say(&mut self, speaker: Speaker, piece: &str, told: &mut Vec<BackendEvent>) {
        let is_person = matches!(speaker, Speaker::Me | Speaker::Other);
        if is_person || self.held.as_ref().is_some_and(|(it, _)| *it != speaker) {
            told.extend(self.end_of_text());
        }
        let text = if is_person {
            self.sanitiser.text(piece)
        } else {
            let (_, held) = self.held.get_or_insert_with(|| (speaker, Held::default()));
            self.sanitiser.piece(held, piece)
        };
        if !text.is_empty() {
            told.push(BackendEvent::Said { speaker, text });
        }
    }

    /// Tells an event, and before it what was held back if the text does not go on after it.
    fn tell(&mut self, event: Option<BackendEvent>, told: &mut Vec<BackendEvent>) {
        if event.as_ref().is_some_and(ends_text) {
            told.extend(self.end_of_text());
        }
        told.extend(event);
    }

    fn end_of_text(&mut self) -> Option<BackendEvent> {
        let (speaker, mut held) = self.held.take()?;
        let text = self.sanitiser.rest(&mut held);
        (!text.is_empty()).then_some(BackendEvent::Said { speaker, text })
    }

    /// What may be told of an event that stands for itself.
    fn event(&self, event: &IdeEvent) -> Option<BackendEvent> {
        Some(match event {
            IdeEvent::Connected(connected) => BackendEvent::Connected {
                version: self.line_of(connected.capabilities.qwen_code_version.as_deref()),
                workspace: self.path(&connected.capabilities.workspace_cwd, None),
            },
            IdeEvent::RequestOpened(request) => BackendEvent::RequestOpened {
                request: Box::new(self.request(request)),
                edits: edits(request),
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
                outcome: self.outcome(end),
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
            PermissionOutcome::Cancelled => Reply::Decline,
        }
    }

    fn update(&self, update: &SessionUpdate) -> Option<BackendEvent> {
        let most = self.sanitiser.limits().entries;
        Some(match update {
            SessionUpdate::ToolCall(call) | SessionUpdate::ToolCallUpdate(call) => {
                BackendEvent::Tool(self.tool(call))
            }
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
            SessionUpdate::UserMessage(_)
            | SessionUpdate::AgentMessage(_)
            | SessionUpdate::AgentThought(_)
            | SessionUpdate::CurrentMode(_)
            | SessionUpdate::SessionInfo(_)
            | SessionUpdate::Other(_) => return None,
        })
    }

    /// How a turn ended. Not in the daemon's words: an error of a provider may quote its address and
    /// key.
    fn outcome(&self, end: &TurnEnd) -> TurnOutcome {
        match end {
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
        }
    }

    fn tool(&self, call: &DaemonToolCall) -> ToolCall {
        ToolCall {
            id: self.line(&call.tool_call_id),
            title: self.line_of(call.title.as_deref()),
            tool: self.line_of(call.tool_name()),
            kind: call.kind.as_ref().map(|it| self.line(it.as_str()).into()),
            status: call.status.as_ref().map(|it| self.line(it.as_str()).into()),
            content: call.content.as_deref().map(|content| self.output(content)),
            files: call.locations.as_deref().map(|files| self.files(files)),
            command: self.command(call.raw_input.as_ref()),
        }
    }

    fn request(&self, request: &InteractionRequest) -> AgentRequest {
        let most = self.sanitiser.limits().entries;
        let options = request.options.iter().map(|option| RequestOption {
            id: self.line(&option.option_id),
            title: self.line(option.title()),
            kind: option.kind.as_ref().map(|it| self.line(it.as_str()).into()),
        });
        let questions = request.questions.as_deref();
        AgentRequest {
            id: self.line(request.id.as_str()),
            title: self.line(&request.title),
            tool: ToolCall {
                id: self.line(request.tool_call_id.as_deref().unwrap_or_default()),
                tool: self.line_of(request.tool_name.as_deref()),
                kind: request
                    .kind
                    .as_ref()
                    .map(|it| self.line(it.as_str()).into()),
                content: Some(self.output(&request.content)),
                files: Some(self.files(&request.locations)),
                command: self.command(request.input.as_ref()),
                ..ToolCall::default()
            },
            options: options
                .collect::<crate::requests::RequestOptions>()
                .limited_to(most),
            questions: questions.map(|list| {
                let list = list.iter().take(most);
                list.map(|question| self.question(question)).collect()
            }),
            background: request.background,
            proposal: None,
            votes: None,
        }
    }

    fn question(&self, question: &Question) -> RequestQuestion {
        let answers = question
            .options
            .iter()
            .take(self.sanitiser.limits().entries);
        RequestQuestion {
            question: self.line(&question.question),
            header: self.line_of(question.header.as_deref()),
            answers: answers
                .map(|it| {
                    (
                        self.line(&it.label),
                        self.line_of(it.description.as_deref()),
                    )
                })
                .collect(),
            several: question.multi_select,
        }
    }

    /// The one argument of a tool that a person has to see to decide, and that no content shows.
    fn command(&self, input: Option<&serde_json::Value>) -> Option<String> {
        let command = input?.get("command")?.as_str()?;
        Some(self.sanitiser.content(command))
    }

    fn output(&self, content: &[ToolContent]) -> Vec<ToolOutput> {
        let one = |content: &ToolContent| {
            if let Some(diff) = content.as_diff() {
                return Some(ToolOutput::Diff {
                    path: self.path(diff.path, None),
                    old_text: diff.old_text.map(|it| self.sanitiser.content(it)),
                    new_text: self.sanitiser.content(diff.new_text),
                });
            }
            let text = self.sanitiser.content(content.as_text()?);
            Some(ToolOutput::Text(text))
        };
        content
            .iter()
            .filter_map(one)
            .take(self.sanitiser.limits().entries)
            .collect()
    }

    fn files(&self, files: &[ToolLocation]) -> Vec<HostPath> {
        let files = files.iter().take(self.sanitiser.limits().entries);
        files.map(|file| self.path(&file.path, file.line)).collect()
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

/// The edits of a request, whole: the review is on this machine, and a proposal must be the agent's
/// text.
fn edits(request: &InteractionRequest) -> Vec<Edit> {
    let diffs = request.content.iter().filter_map(ToolContent::as_diff);
    let edit = |diff: daemon::wire::Diff<'_>| Edit {
        path: diff.path.to_owned(),
        before: diff.old_text.map(str::to_owned),
        after: diff.new_text.to_owned(),
    };
    diffs.map(edit).collect()
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

/// Whether what is said after an event is another text. Before an event that is shown elsewhere, or
/// not at all, the text goes on.
fn ends_text(event: &BackendEvent) -> bool {
    match event {
        BackendEvent::Connected { .. }
        | BackendEvent::History { .. }
        | BackendEvent::Said { .. }
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
