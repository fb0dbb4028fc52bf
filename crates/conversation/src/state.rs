//! The conversation as everybody sees it: what the owner holds.
//!
//! No channel, no clock, no backend: an event goes in, changes come out, and the changes over an
//! earlier snapshot give the later one.

use crate::backend::{BackendEvent, Choices};
use crate::names::QueueState;
use crate::requests::{AgentRequest, Requests};
use crate::transcript::{Transcript, TranscriptLimits};
use crate::view::{
    AgentPlace, Change, ConnectionState, ConversationStatus, Notice, QueuedPrompt, Snapshot,
    Speaker,
};

/// Transcript, status and requests of a conversation.
#[derive(Debug)]
pub struct ConversationState {
    /// The name of this machine. The agent is reached on it: over loopback, where a port can be
    /// forwarded, or as a child.
    machine: Option<String>,
    transcript: Transcript,
    status: ConversationStatus,
    requests: Requests,
}

impl ConversationState {
    /// A conversation that has not begun, on the machine of this name.
    pub fn new(limits: TranscriptLimits, machine: Option<String>) -> ConversationState {
        ConversationState {
            machine,
            transcript: Transcript::new(limits),
            status: ConversationStatus::default(),
            requests: Requests::default(),
        }
    }

    /// Everything at once.
    pub fn snapshot(&self) -> Snapshot {
        Snapshot {
            shortened: self.transcript.is_shortened(),
            status: self.status.clone(),
            requests: self.requests.as_slice().to_vec(),
            entries: self.transcript.entries().cloned().collect(),
        }
    }

    /// Connection, model, mode, queue and the like.
    pub fn status(&self) -> &ConversationStatus {
        &self.status
    }

    /// What waits for the person, oldest first.
    pub fn requests(&self) -> &[AgentRequest] {
        self.requests.as_slice()
    }

    /// Takes in an event. If it asks permission for an edit, the review may show that as a proposal.
    pub fn apply(&mut self, event: &BackendEvent, proposal: Option<u64>) -> Vec<Change> {
        let mut changes = self.transcript.apply(event);
        if let BackendEvent::RequestClosed {
            request,
            reply: Some(reply),
            ..
        } = event
            && let Some(tool) = self.requests.rejected_by(request, reply)
        {
            changes.extend(self.transcript.reject(tool));
        }
        self.apply_to_status(event, &mut changes);
        if self.apply_to_requests(event, proposal) {
            changes.push(Change::Requests(self.requests.as_slice().to_vec()));
        }
        changes
    }

    /// Adds a line in our own words.
    pub fn note(&mut self, text: &str) -> Vec<Change> {
        vec![self.transcript.note(text)]
    }

    /// A connection is being made, or could not be made.
    pub fn set_connection(&mut self, connection: ConnectionState) -> Vec<Change> {
        let mut changes = Vec::new();
        self.restate(&mut changes, |status| status.connection = connection);
        changes
    }

    /// The daemon was started from here.
    pub fn set_managed(&mut self) -> Vec<Change> {
        let mut changes = Vec::new();
        self.restate(&mut changes, |status| status.managed = true);
        changes
    }

    /// Changes the status, and says so if it is another one then.
    fn restate(&mut self, changes: &mut Vec<Change>, change: impl FnOnce(&mut ConversationStatus)) {
        let before = self.status.clone();
        change(&mut self.status);
        if self.status != before {
            changes.push(Change::Status(Box::new(self.status.clone())));
        }
    }

    fn apply_to_status(&mut self, event: &BackendEvent, changes: &mut Vec<Change>) {
        // Pieces of what the agent says are most of what happens, and change nothing here.
        if !changes_status(event) {
            return;
        }
        if let BackendEvent::History { events, .. } = event {
            // What the past says of the present is in its last words.
            for event in events {
                self.apply_to_status(event, changes);
            }
        }
        let machine = self.machine.clone();
        self.restate(changes, |status| update(status, event, machine));
    }

    /// Whether a request came, went or changed.
    fn apply_to_requests(&mut self, event: &BackendEvent, proposal: Option<u64>) -> bool {
        match event {
            BackendEvent::RequestOpened { request, .. } => self.requests.open(AgentRequest {
                proposal,
                ..(**request).clone()
            }),
            BackendEvent::RequestClosed { request, .. }
            | BackendEvent::RequestDeclined { request } => {
                self.requests.close(request);
            }
            BackendEvent::VoteCounted {
                request,
                received,
                needed,
            } => self.requests.count_votes(request, received.zip(*needed)),
            BackendEvent::History { events, .. } => {
                let mut changed = false;
                for event in events {
                    changed |= self.apply_to_requests(event, None);
                }
                return changed;
            }
            _ => return false,
        }
        true
    }
}

fn changes_status(event: &BackendEvent) -> bool {
    match event {
        BackendEvent::Said { speaker, .. } => matches!(speaker, Speaker::Me | Speaker::Other),
        BackendEvent::TurnBegan
        | BackendEvent::Attached { .. }
        | BackendEvent::Rewound { .. }
        | BackendEvent::Tool(_)
        | BackendEvent::Plan(_)
        | BackendEvent::ModelRefused { .. }
        | BackendEvent::RequestOpened { .. }
        | BackendEvent::RequestClosed { .. }
        | BackendEvent::RequestDeclined { .. }
        | BackendEvent::VoteCounted { .. }
        | BackendEvent::EventsLost => false,
        _ => true,
    }
}

/// What an event says about the status.
fn update(status: &mut ConversationStatus, event: &BackendEvent, machine: Option<String>) {
    match event {
        BackendEvent::Connected { version, workspace } => {
            let before = std::mem::take(status);
            *status = ConversationStatus {
                connection: ConnectionState::CatchingUp,
                place: Some(AgentPlace {
                    machine,
                    workspace: workspace.clone(),
                    version: version.clone(),
                }),
                managed: before.managed,
                models: before.models,
                modes: before.modes,
                ..ConversationStatus::default()
            };
        }
        BackendEvent::Choices(choices) => learn(status, choices),
        BackendEvent::Notice(Notice::FolderChanged { folder }) => {
            if let Some(place) = &mut status.place {
                place.workspace = folder.clone();
            }
        }
        BackendEvent::History { busy, .. } => {
            status.busy = *busy;
            status.suggestion = None;
        }
        // What a person says begins a turn, whoever they are.
        BackendEvent::Said { .. } => begin_turn(status),
        BackendEvent::Commands(commands) => status.commands.clone_from(commands),
        BackendEvent::Usage(usage) => status.usage = Some(*usage),
        BackendEvent::Queue {
            prompt,
            text,
            state,
        } => {
            status.queue.retain(|queued| queued.prompt != *prompt);
            match state {
                QueueState::Queued => status.queue.push(QueuedPrompt {
                    prompt: prompt.clone(),
                    text: text.clone(),
                }),
                QueueState::Running => begin_turn(status),
                QueueState::Completed | QueueState::Removed | QueueState::Other(_) => {}
            }
        }
        BackendEvent::TurnEnded {
            prompt, background, ..
        } => {
            status.busy &= *background;
            let ended = |queued: &QueuedPrompt| Some(&queued.prompt) == prompt.as_ref();
            status.queue.retain(|queued| !ended(queued));
        }
        BackendEvent::ModelChanged { model } => status.model = Some(model.clone()),
        BackendEvent::ModeChanged { mode } => status.mode = Some(mode.clone()),
        BackendEvent::TitleChanged { title } => status.title = Some(title.clone()),
        BackendEvent::Suggestion { text } => status.suggestion = Some(text.clone()),
        BackendEvent::ConnectionLost => status.connection = ConnectionState::Reconnecting,
        BackendEvent::ConnectionRestored => status.connection = ConnectionState::CatchingUp,
        BackendEvent::CaughtUp => status.connection = ConnectionState::Live,
        BackendEvent::Disconnected(reason) => {
            status.connection = ConnectionState::Lost(*reason);
            status.busy = false;
            status.queue.clear();
        }
        BackendEvent::TurnBegan
        | BackendEvent::Attached { .. }
        | BackendEvent::Rewound { .. }
        | BackendEvent::Notice(_)
        | BackendEvent::Tool(_)
        | BackendEvent::Plan(_)
        | BackendEvent::RequestOpened { .. }
        | BackendEvent::RequestClosed { .. }
        | BackendEvent::RequestDeclined { .. }
        | BackendEvent::VoteCounted { .. }
        | BackendEvent::ModelRefused { .. }
        | BackendEvent::EventsLost => {}
    }
}

fn begin_turn(status: &mut ConversationStatus) {
    status.busy = true;
    status.suggestion = None;
}

fn learn(status: &mut ConversationStatus, choices: &Choices) {
    let Choices {
        models,
        model,
        modes,
        mode,
    } = choices.clone();
    if let Some(models) = models {
        status.models = models;
    }
    if let Some(modes) = modes {
        status.modes = modes;
    }
    status.model = model.or(status.model.take());
    status.mode = mode.or(status.mode.take());
}
