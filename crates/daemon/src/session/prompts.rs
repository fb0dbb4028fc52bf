//! Ends every prompt exactly once, whichever source reports its end first.
//!
//! The end of a turn can become known in four ways: as an event, as a replayed event on a later
//! stream, from the daemon's record of the turn, or from the transcript after a restart. It can
//! become known before the response to the prompt has been read, because that arrives on another
//! connection. So ends are kept for a while even if nobody waits for them yet.

use std::collections::{HashMap, VecDeque};
use std::sync::{Mutex, MutexGuard};

use tokio::sync::watch;

use super::SessionEndReason;
use crate::error::ErrorCode;
use crate::event::{DaemonEvent, EventBody};
use crate::wire::{
    PromptId, PromptTerminal, PromptTerminalKind, StopReason, TurnState, TurnStatus,
};

/// How many ends are kept for prompts that nobody waits for yet: more than can happen between a
/// prompt and its response.
const REMEMBERED: usize = 64;

/// How a turn ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TurnEnd {
    /// The turn ran to its end, or was cancelled.
    Complete {
        /// Why it stopped.
        stop_reason: StopReason,
    },
    /// The turn failed.
    Failed {
        /// The error message.
        message: String,
        /// The error code of the agent or the daemon.
        code: Option<ErrorCode>,
    },
    /// The daemon ended during the turn.
    Interrupted {
        /// The daemon's code for the interruption.
        code: Option<ErrorCode>,
    },
    /// The request that carries the prompt failed, and its error was returned to whoever sent it.
    /// After a timeout or a broken connection the turn may be running all the same.
    NotAccepted {
        /// The error, for people.
        why: String,
    },
    /// The end cannot be known (any more). The turn may even be running.
    Unknown {
        /// Why it is unknown, for people.
        why: String,
    },
}

/// The turn of a prompt that the daemon has accepted. Dropping it changes nothing; clones wait for the
/// same end.
#[derive(Clone, Debug)]
pub struct Turn {
    id: Option<PromptId>,
    end: watch::Receiver<Option<TurnEnd>>,
}

impl Turn {
    /// The prompt id. Unknown for an old daemon that answers only when the turn has ended.
    pub fn id(&self) -> Option<&PromptId> {
        self.id.as_ref()
    }

    /// Waits for the end of the turn. It comes whether or not anybody takes the events. Dropping the
    /// future does not cancel the turn.
    pub async fn end(mut self) -> TurnEnd {
        let known = self.end.wait_for(Option::is_some).await;
        let end = known.ok().and_then(|end| end.clone());
        end.unwrap_or_else(|| unknown("the session was dropped"))
    }

    pub(super) fn over(end: TurnEnd) -> Turn {
        Turn {
            id: None,
            end: watch::Sender::new(Some(end)).subscribe(),
        }
    }
}

fn unknown(why: impl Into<String>) -> TurnEnd {
    TurnEnd::Unknown { why: why.into() }
}

#[derive(Debug, Default)]
pub(super) struct Prompts(Mutex<PromptTable>);

#[derive(Debug, Default)]
struct PromptTable {
    waiting: HashMap<PromptId, watch::Sender<Option<TurnEnd>>>,
    /// Known ends, newest last.
    seen: VecDeque<(PromptId, TurnEnd)>,
    /// Ends from the daemon's records, whose events may not have arrived yet.
    recorded: HashMap<PromptId, TurnEnd>,
    /// Set when the session has ended: no more ends will become known.
    over: Option<TurnEnd>,
}

impl Prompts {
    /// The turn of a prompt that the daemon has accepted. It may have ended already.
    pub(super) fn expect(&self, id: PromptId) -> Turn {
        let mut state = self.lock();
        let seen = state.seen.iter().find(|(it, _)| *it == id);
        let known = seen.map(|(_, end)| end.clone()).or(state.over.clone());
        let turn = if let Some(end) = known {
            Turn::over(end)
        } else {
            let sender = watch::Sender::new(None);
            let end = sender.subscribe();
            state.waiting.insert(id.clone(), sender);
            Turn { id: None, end }
        };
        Turn {
            id: Some(id),
            ..turn
        }
    }

    /// Records the end of a turn. Only the first one for a prompt counts.
    pub(super) fn finish(&self, id: &PromptId, end: TurnEnd) {
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
            waiting.send_replace(Some(end));
        }
    }

    /// Records the end of a turn if the event is one.
    pub(super) fn observe(&self, event: &DaemonEvent) {
        let (id, end) = match event.kind() {
            "turn_complete" | "turn_error" => match event.body() {
                EventBody::TurnComplete(turn) => {
                    let stop_reason = turn.stop_reason.unwrap_or(StopReason::EndTurn);
                    (turn.prompt_id, TurnEnd::Complete { stop_reason })
                }
                EventBody::TurnError(turn) => {
                    let (message, code) = (turn.message, turn.code);
                    (turn.prompt_id, TurnEnd::Failed { message, code })
                }
                // The type alone tells that the turn named in the envelope has ended.
                _ => (
                    None,
                    unknown("the event that ended the turn could not be read"),
                ),
            },
            _ => return,
        };
        if let Some(id) = id.or_else(|| event.prompt_id()) {
            self.finish(&id, end);
        }
    }

    /// Records the ends that are in the transcript.
    pub(super) fn recall(&self, terminals: &[PromptTerminal]) {
        for terminal in terminals {
            self.finish(&terminal.prompt_id, from_terminal(terminal));
        }
    }

    /// Records the end from the daemon's record of a turn. It counts only from the next call of
    /// [`Prompts::trust_records`] on, so that it does not overtake the text of the turn.
    pub(super) fn record(&self, id: PromptId, end: TurnEnd) {
        let mut state = self.lock();
        if state.waiting.contains_key(&id) {
            state.recorded.insert(id, end);
        }
    }

    /// Call this when all events from before the records were read have arrived: an end that only
    /// the records hold will not come as an event any more.
    pub(super) fn trust_records(&self) {
        let recorded = std::mem::take(&mut self.lock().recorded);
        for (id, end) in recorded {
            self.finish(&id, end);
        }
    }

    /// The prompts whose end is not known.
    pub(super) fn waiting(&self) -> Vec<PromptId> {
        self.lock().waiting.keys().cloned().collect()
    }

    /// The session has ended, so no more ends will become known.
    pub(super) fn abandon(&self, end: &SessionEndReason) {
        let end = unknown(match end {
            SessionEndReason::Left => "we left the session".into(),
            SessionEndReason::Closed { .. } => "the session was closed".into(),
            SessionEndReason::Died { reason } => {
                format!(
                    "the session died: {}",
                    reason.as_deref().unwrap_or("no reason given")
                )
            }
            SessionEndReason::Lost => "the daemon has lost the session".into(),
            SessionEndReason::Refused { why } | SessionEndReason::Unreachable { why } => {
                why.clone()
            }
        });
        let mut state = self.lock();
        state.over.get_or_insert_with(|| end.clone());
        for (_, waiting) in state.waiting.drain() {
            waiting.send_replace(Some(end.clone()));
        }
    }

    fn lock(&self) -> MutexGuard<'_, PromptTable> {
        crate::locked(&self.0)
    }
}

/// The end of a prompt that the daemon has no record of.
pub(super) fn without_record() -> TurnEnd {
    unknown("the daemon has no record of the prompt")
}

/// The end in the daemon's record of a turn; `None` while the turn is queued or running.
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
        prompts.finish(&id("a"), complete());
        assert_eq!(prompts.expect(id("a")).end().await, complete());
    }

    #[tokio::test]
    async fn the_first_end_counts() {
        let prompts = Prompts::default();
        let turn = prompts.expect(id("a"));
        prompts.finish(&id("a"), complete());
        prompts.finish(&id("a"), unknown("later"));
        prompts.abandon(&SessionEndReason::Left);
        assert_eq!(turn.end().await, complete());
        // Also for a later caller.
        assert_eq!(prompts.expect(id("a")).end().await, complete());
    }

    #[tokio::test]
    async fn nobody_waits_for_ever() {
        let prompts = Prompts::default();
        let before = prompts.expect(id("a"));
        prompts.abandon(&SessionEndReason::Lost);
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
            prompts.finish(&id(&n.to_string()), complete());
        }
        assert_eq!(prompts.lock().seen.len(), REMEMBERED);
    }
}
