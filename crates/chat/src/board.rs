//! The board: the conversation as everybody sees it, and how it got there.
//!
//! Whoever looks takes a snapshot and then follows the changes by number. Only the last changes are
//! kept; who is further behind than that takes a snapshot again. So a slow reader costs nothing.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use daemon::sanitiser::{AppEvent, Speaker};
use tokio::sync::watch;

use crate::transcript::{Limits, Transcript};
use crate::view::{
    Change, Connection, Locality, Numbered, Queued, Request, Snapshot, Status, Usage,
};

/// How many changes are kept for those who follow.
const KEPT: usize = 4096;

/// The state of prompts in the daemon's queue that are of interest here.
const WAITS: &str = "queued";
const RUNS: &str = "running";

/// The board. Clones are the same board.
#[derive(Clone, Debug)]
pub(crate) struct Board(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    face: Mutex<Face>,
    /// The number of the last change.
    seq: watch::Sender<u64>,
}

#[derive(Debug)]
struct Face {
    /// The name of this machine, which is the daemon's too: it is only reached over loopback.
    machine: Option<String>,
    transcript: Transcript,
    status: Status,
    requests: Vec<Request>,
    seq: u64,
    recent: VecDeque<Arc<Numbered>>,
}

/// What somebody who follows the board sees next.
#[derive(Clone, Debug)]
pub enum Step {
    /// Everything at once: at the beginning, and after falling behind.
    All(Box<Snapshot>),
    /// One change.
    One(Arc<Numbered>),
}

/// Somebody who follows the board.
#[derive(Debug)]
pub struct Follower {
    board: Board,
    news: watch::Receiver<u64>,
    /// The last change that was seen; `None` before the first snapshot.
    seen: Option<u64>,
}

impl Follower {
    /// What is to be seen next. May be dropped while it waits.
    pub async fn next(&mut self) -> Step {
        loop {
            if let Some(step) = self.step() {
                return step;
            }
            // The board is ours too, so there is always somebody who could tell.
            let _ = self.news.changed().await;
        }
    }

    fn step(&mut self) -> Option<Step> {
        let face = self.board.face();
        let Some(seen) = self.seen else {
            self.seen = Some(face.seq);
            return Some(Step::All(Box::new(face.snapshot())));
        };
        if seen == face.seq {
            return None;
        }
        let back = usize::try_from(face.seq.checked_sub(seen).unwrap_or(u64::MAX));
        let place = back
            .ok()
            .and_then(|back| face.recent.len().checked_sub(back));
        if let Some(change) = place.and_then(|place| face.recent.get(place)) {
            self.seen = Some(seen + 1);
            return Some(Step::One(change.clone()));
        }
        self.seen = Some(face.seq);
        Some(Step::All(Box::new(face.snapshot())))
    }
}

impl Board {
    pub(crate) fn new(limits: Limits, machine: Option<String>) -> Board {
        let face = Face {
            machine,
            transcript: Transcript::new(limits),
            status: Status::default(),
            requests: Vec::new(),
            seq: 0,
            recent: VecDeque::new(),
        };
        Board(Arc::new(Shared {
            face: Mutex::new(face),
            seq: watch::Sender::new(0),
        }))
    }

    /// Follows from the change `seen` on, or from a snapshot.
    pub(crate) fn follow(&self, seen: Option<u64>) -> Follower {
        Follower {
            board: self.clone(),
            news: self.0.seq.subscribe(),
            seen,
        }
    }

    pub(crate) fn snapshot(&self) -> Snapshot {
        self.face().snapshot()
    }

    /// Changes how things stand.
    pub(crate) fn update(&self, change: impl FnOnce(&mut Status)) {
        self.change(|face| {
            face.restate(change);
        });
    }

    /// Adds a line in our own words.
    pub(crate) fn note(&self, text: &str) {
        self.change(|face| {
            let note = face.transcript.note(text);
            face.tell([note]);
        });
    }

    /// Takes in an event of the daemon. If it asks for leave for an edit, the review may show that
    /// as a proposal.
    pub(crate) fn hear(&self, event: &AppEvent, proposal: Option<u64>) {
        self.change(|face| {
            let changes = face.transcript.hear(event);
            face.tell(changes);
            face.learn(event, proposal);
        });
    }

    fn change(&self, change: impl FnOnce(&mut Face)) {
        let mut face = self.face();
        change(&mut face);
        self.0.seq.send_replace(face.seq);
    }

    fn face(&self) -> MutexGuard<'_, Face> {
        self.0.face.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Face {
    fn snapshot(&self) -> Snapshot {
        Snapshot {
            seq: self.seq,
            shortened: self.transcript.is_shortened(),
            status: self.status.clone(),
            requests: self.requests.clone(),
            entries: self.transcript.entries().cloned().collect(),
        }
    }

    fn tell(&mut self, changes: impl IntoIterator<Item = Change>) {
        for change in changes {
            if self.recent.len() == KEPT {
                self.recent.pop_front();
            }
            self.seq += 1;
            let seq = self.seq;
            self.recent.push_back(Arc::new(Numbered { seq, change }));
        }
    }

    fn tell_requests(&mut self) {
        let requests = self.requests.clone();
        self.tell([Change::Requests { requests }]);
    }

    fn restate(&mut self, change: impl FnOnce(&mut Status)) {
        let before = self.status.clone();
        change(&mut self.status);
        if self.status != before {
            let status = Box::new(self.status.clone());
            self.tell([Change::Status { status }]);
        }
    }

    /// What an event says about how things stand, and about what waits for the person.
    fn learn(&mut self, event: &AppEvent, proposal: Option<u64>) {
        match event {
            AppEvent::Connected {
                daemon_version,
                workspace,
            } => {
                let place = Locality {
                    machine: self.machine.clone(),
                    workspace: workspace.clone(),
                    version: daemon_version.clone(),
                };
                self.restate(|status| {
                    let before = std::mem::take(status);
                    *status = Status {
                        connection: Connection::CatchingUp,
                        place: Some(place),
                        managed: before.managed,
                        models: before.models,
                        modes: before.modes,
                        ..Status::default()
                    };
                });
            }
            AppEvent::StartOver { events, busy, .. } => {
                // What the past says of the present is in its last words.
                for event in events {
                    self.learn(event, None);
                }
                self.restate(|status| {
                    status.busy = *busy;
                    status.suggestion = None;
                });
            }
            // What a person says begins a turn, whoever they are.
            AppEvent::Said {
                speaker: Speaker::Me | Speaker::Other,
                ..
            } => self.restate(|status| {
                status.busy = true;
                status.suggestion = None;
            }),
            AppEvent::Commands { commands } => {
                self.restate(|status| status.commands.clone_from(commands));
            }
            AppEvent::Usage { used, size } => self.restate(|status| {
                status.usage = Some(Usage {
                    used: *used,
                    size: *size,
                });
            }),
            AppEvent::Queue {
                prompt,
                text,
                state,
            } => self.queue(prompt, text.as_ref(), state),
            AppEvent::TurnEnded {
                prompt, background, ..
            } => self.restate(|status| {
                status.busy &= *background;
                status
                    .queue
                    .retain(|queued| Some(&queued.prompt) != prompt.as_ref());
            }),
            AppEvent::ModelChanged { model } => {
                self.restate(|status| status.model = Some(model.clone()));
            }
            AppEvent::ModeChanged { mode } => {
                self.restate(|status| status.mode = Some(mode.clone()));
            }
            AppEvent::Titled { title } => {
                self.restate(|status| status.title = Some(title.clone()));
            }
            AppEvent::Suggestion { text } => {
                self.restate(|status| status.suggestion = Some(text.clone()));
            }
            AppEvent::Interrupted => {
                self.restate(|status| status.connection = Connection::Reconnecting);
            }
            AppEvent::Restored => {
                self.restate(|status| status.connection = Connection::CatchingUp);
            }
            AppEvent::CaughtUp => self.restate(|status| status.connection = Connection::Live),
            AppEvent::Asked { .. }
            | AppEvent::Closed { .. }
            | AppEvent::Declined { .. }
            | AppEvent::VoteCounted { .. } => self.mind_requests(event, proposal),
            AppEvent::Disconnected {
                reason,
                can_reconnect,
            } => self.restate(|status| {
                status.connection = Connection::Lost {
                    why: departure(reason).to_owned(),
                    can_retry: *can_reconnect,
                };
                status.busy = false;
                status.queue.clear();
            }),
            AppEvent::Said { .. }
            | AppEvent::Tool(_)
            | AppEvent::Plan { .. }
            | AppEvent::ModelRefused { .. }
            | AppEvent::Gap => {}
        }
    }

    fn queue(&mut self, prompt: &str, text: Option<&String>, state: &str) {
        self.restate(|status| {
            status.queue.retain(|queued| queued.prompt != prompt);
            match state {
                WAITS => status.queue.push(Queued {
                    prompt: prompt.to_owned(),
                    text: text.cloned(),
                }),
                RUNS => {
                    status.busy = true;
                    status.suggestion = None;
                }
                _ => {}
            }
        });
    }

    fn mind_requests(&mut self, event: &AppEvent, proposal: Option<u64>) {
        match event {
            AppEvent::Asked {
                request,
                title,
                tool,
                options,
                questions,
                background,
            } => {
                // It may be asked again after a reconnect.
                self.requests.retain(|it| it.request != *request);
                self.requests.push(Request {
                    request: request.clone(),
                    title: title.clone(),
                    tool: tool.clone(),
                    options: options.clone(),
                    questions: questions.clone(),
                    background: *background,
                    proposal,
                    votes: None,
                });
            }
            AppEvent::Closed { request, .. } | AppEvent::Declined { request } => {
                self.requests.retain(|it| it.request != *request);
            }
            AppEvent::VoteCounted {
                request,
                received,
                needed,
            } => {
                for found in self.requests.iter_mut().filter(|it| it.request == *request) {
                    found.votes = received.zip(*needed);
                }
            }
            _ => return,
        }
        self.tell_requests();
    }
}

/// Why a connection is over, for people.
fn departure(reason: &str) -> &'static str {
    match reason {
        "left" => "You disconnected.",
        "closed" => "Somebody closed this conversation.",
        "died" => "The agent behind the daemon ended.",
        "lost" => "The daemon does not know this conversation any more.",
        "refused" => "The daemon does not let us in any more.",
        "unreachable" => "The daemon could not be reached for too long.",
        _ => "The connection is over.",
    }
}

#[cfg(test)]
mod tests;
