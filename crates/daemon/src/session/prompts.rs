//! How prompts end: exactly once each, whoever brings the news first.
//!
//! The end of a turn can become known in four ways: as an event, as a replayed event on a later
//! stream, from the daemon's record of the turn, or from the transcript after a restart. And it can
//! become known before the answer to the prompt itself has been read, because that travels on
//! another connection. So ends are remembered for a while even if nobody waits for them yet.

use std::collections::{HashMap, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};

use tokio::sync::oneshot;

use super::End;
use crate::error::Code;
use crate::event::{Body, Event};
use crate::wire::{
    PromptId, PromptTerminal, PromptTerminalKind, StopReason, TurnState, TurnStatus,
};

/// How many ends are remembered for prompts that nobody waits for yet. More than can happen between
/// a prompt and its answer.
const REMEMBERED: usize = 64;

/// How a turn ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TurnEnd {
    /// It is over; see the reason. A cancelled turn ends so too.
    Complete {
        /// Why.
        stop_reason: StopReason,
    },
    /// It failed.
    Failed {
        /// In words.
        message: String,
        /// By code.
        code: Option<Code>,
    },
    /// The daemon ended before the turn did.
    Interrupted {
        /// By code.
        code: Option<Code>,
    },
    /// Nobody can tell (any more). The turn may even be running.
    Unknown {
        /// Why not, for people.
        why: String,
    },
}

/// A turn on its way.
#[derive(Debug)]
pub struct Turn {
    id: Option<PromptId>,
    end: oneshot::Receiver<TurnEnd>,
}

impl Turn {
    /// The prompt; unknown for a daemon that only answers when the turn is over.
    pub fn id(&self) -> Option<&PromptId> {
        self.id.as_ref()
    }

    /// Waits for the end. Dropping it does not cancel the turn.
    pub async fn end(self) -> TurnEnd {
        self.end
            .await
            .unwrap_or_else(|_| unknown("the session was dropped"))
    }

    pub(super) fn over(end: TurnEnd) -> Turn {
        let (sender, receiver) = oneshot::channel();
        // The receiver is right here.
        let _ = sender.send(end);
        Turn {
            id: None,
            end: receiver,
        }
    }
}

fn unknown(why: impl Into<String>) -> TurnEnd {
    TurnEnd::Unknown { why: why.into() }
}

#[derive(Debug, Default)]
pub(super) struct Prompts(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    waiting: HashMap<PromptId, oneshot::Sender<TurnEnd>>,
    /// Ends that were seen, newest last.
    seen: VecDeque<(PromptId, TurnEnd)>,
    /// Ends that the daemon's records tell, while the event that tells them may still be on its way.
    recorded: HashMap<PromptId, TurnEnd>,
    /// Set when no more news can come.
    over: Option<TurnEnd>,
}

impl Prompts {
    /// The turn of a prompt that the daemon has accepted; it may be over already.
    pub(super) fn expect(&self, id: PromptId) -> Turn {
        let mut state = self.lock();
        let seen = state.seen.iter().find(|(it, _)| *it == id);
        let known = seen.map(|(_, end)| end.clone()).or(state.over.clone());
        let turn = if let Some(end) = known {
            Turn::over(end)
        } else {
            let (sender, end) = oneshot::channel();
            state.waiting.insert(id.clone(), sender);
            Turn { id: None, end }
        };
        Turn {
            id: Some(id),
            ..turn
        }
    }

    /// Takes note of an end. Only the first one for a prompt counts.
    pub(super) fn settle(&self, id: &PromptId, end: TurnEnd) {
        let mut state = self.lock();
        if state.seen.iter().any(|(it, _)| it == id) {
            return;
        }
        if state.seen.len() == REMEMBERED {
            state.seen.pop_front();
        }
        state.seen.push_back((id.clone(), end.clone()));
        state.recorded.remove(id);
        if let Some(waiting) = state.waiting.remove(id) {
            // Nobody may be interested any more.
            let _ = waiting.send(end);
        }
    }

    /// Takes note of an event, if it is the end of a turn.
    pub(super) fn hear(&self, event: &Event) {
        let (id, end) = match event.kind() {
            "turn_complete" | "turn_error" => match event.body() {
                Body::TurnComplete(turn) => {
                    let stop_reason = turn.stop_reason.unwrap_or(StopReason::EndTurn);
                    (turn.prompt_id, TurnEnd::Complete { stop_reason })
                }
                Body::TurnError(turn) => {
                    let (message, code) = (turn.message, turn.code);
                    (turn.prompt_id, TurnEnd::Failed { message, code })
                }
                // The type alone says that the turn of its envelope is over.
                _ => (
                    None,
                    unknown("the event that ended the turn could not be read"),
                ),
            },
            _ => return,
        };
        if let Some(id) = id.or_else(|| event.prompt_id()) {
            self.settle(&id, end);
        }
    }

    /// Takes note of what the transcript remembers.
    pub(super) fn recall(&self, terminals: &[PromptTerminal]) {
        for terminal in terminals {
            self.settle(&terminal.prompt_id, from_terminal(terminal));
        }
    }

    /// Takes note of what the daemon's record of a turn says. It counts only at the next call of
    /// [`Prompts::trust_records`], so that the text before the end is not overtaken by it.
    pub(super) fn record(&self, id: PromptId, end: TurnEnd) {
        let mut state = self.lock();
        if state.waiting.contains_key(&id) {
            state.recorded.insert(id, end);
        }
    }

    /// Everything that had happened when the records were read has been seen: what they say and no
    /// event has said will not be said any more.
    pub(super) fn trust_records(&self) {
        let recorded = std::mem::take(&mut self.lock().recorded);
        for (id, end) in recorded {
            self.settle(&id, end);
        }
    }

    /// The prompts without an end.
    pub(super) fn waiting(&self) -> Vec<PromptId> {
        self.lock().waiting.keys().cloned().collect()
    }

    /// No more news will come.
    pub(super) fn abandon(&self, end: &End) {
        let end = unknown(match end {
            End::Left => "we left the session".into(),
            End::Closed { .. } => "the session was closed".into(),
            End::Died { reason } => {
                format!(
                    "the session died: {}",
                    reason.as_deref().unwrap_or("no reason given")
                )
            }
            End::Lost => "the daemon has lost the session".into(),
            End::Refused { why } | End::Unreachable { why } => why.clone(),
        });
        let mut state = self.lock();
        state.over.get_or_insert_with(|| end.clone());
        for (_, waiting) in state.waiting.drain() {
            let _ = waiting.send(end.clone());
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What is known about a prompt that the daemon has no record of.
pub(super) fn without_record() -> TurnEnd {
    unknown("the daemon has no record of the prompt")
}

/// The end that the daemon's record of a turn tells, unless it is still to come.
pub(super) fn from_record(turn: TurnStatus) -> Option<TurnEnd> {
    match turn.state? {
        TurnState::Queued | TurnState::Running => None,
        TurnState::Cancelled => Some(TurnEnd::Complete {
            stop_reason: turn.stop_reason.unwrap_or(StopReason::Cancelled),
        }),
        TurnState::Completed => Some(TurnEnd::Complete {
            stop_reason: turn.stop_reason.unwrap_or(StopReason::EndTurn),
        }),
        TurnState::Error => {
            let error = turn.error;
            Some(TurnEnd::Failed {
                message: error
                    .as_ref()
                    .map_or_else(String::new, |it| it.message.clone()),
                code: error.and_then(|it| it.code),
            })
        }
        TurnState::Other(state) => {
            turn.ended_at?;
            Some(unknown(format!("the daemon calls the turn `{state}`")))
        }
    }
}

fn from_terminal(terminal: &PromptTerminal) -> TurnEnd {
    let stop = |default| TurnEnd::Complete {
        stop_reason: terminal.stop_reason.clone().unwrap_or(default),
    };
    match &terminal.terminal {
        PromptTerminalKind::Completed => stop(StopReason::EndTurn),
        PromptTerminalKind::Cancelled => stop(StopReason::Cancelled),
        PromptTerminalKind::Interrupted => TurnEnd::Interrupted {
            code: terminal.code.clone(),
        },
        PromptTerminalKind::Error => TurnEnd::Failed {
            message: "the turn failed".into(),
            code: terminal.code.clone(),
        },
        PromptTerminalKind::Other(name) => {
            unknown(format!("the transcript calls its end `{name}`"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(name: &str) -> PromptId {
        PromptId::new(name).unwrap()
    }

    fn complete() -> TurnEnd {
        TurnEnd::Complete {
            stop_reason: StopReason::EndTurn,
        }
    }

    #[tokio::test]
    async fn an_end_that_comes_before_the_answer_is_not_lost() {
        let prompts = Prompts::default();
        prompts.settle(&id("a"), complete());
        assert_eq!(prompts.expect(id("a")).end().await, complete());
    }

    #[tokio::test]
    async fn the_first_end_counts() {
        let prompts = Prompts::default();
        let turn = prompts.expect(id("a"));
        prompts.settle(&id("a"), complete());
        prompts.settle(&id("a"), unknown("later"));
        prompts.abandon(&End::Left);
        assert_eq!(turn.end().await, complete());
        // Also for somebody who asks again.
        assert_eq!(prompts.expect(id("a")).end().await, complete());
    }

    #[tokio::test]
    async fn nobody_waits_for_ever() {
        let prompts = Prompts::default();
        let before = prompts.expect(id("a"));
        prompts.abandon(&End::Lost);
        let lost = unknown("the daemon has lost the session");
        assert_eq!(before.end().await, lost);
        assert_eq!(prompts.expect(id("b")).end().await, lost);
        let dropped = {
            let prompts = Prompts::default();
            prompts.expect(id("a"))
        };
        assert_eq!(dropped.end().await, unknown("the session was dropped"));
    }

    #[test]
    fn memory_for_ends_is_bounded() {
        let prompts = Prompts::default();
        for n in 0..1000 {
            prompts.settle(&id(&n.to_string()), complete());
        }
        assert_eq!(prompts.lock().seen.len(), REMEMBERED);
    }
}
