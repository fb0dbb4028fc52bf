//! What to do when the agent's process ended: bring it back, and say what was lost with it.

use std::time::{Duration, Instant};

use crate::view::TurnOutcome;

/// How often a conversation whose agent died is taken up again by itself, and in which time.
const REVIVALS: usize = 3;
const REVIVALS_IN: Duration = Duration::from_mins(1);

/// What is said after a break that a turn did not survive.
pub(crate) const UNANSWERED: &str =
    "The agent ended before it had answered. Say it again if you still want it.";

/// What is remembered over the end of an agent.
#[derive(Debug, Default)]
pub(crate) struct Recovery {
    /// When agents that died were brought back.
    revivals: Vec<Instant>,
    /// Whether something that the person said was lost with the connection.
    unanswered: bool,
    /// Whether the last turn failed, which is what is told of it right before the agent's end.
    failed: bool,
}

impl Recovery {
    pub(crate) fn turn_ended(&mut self, outcome: &TurnOutcome) {
        match outcome {
            TurnOutcome::Interrupted | TurnOutcome::Unknown => self.unanswered = true,
            TurnOutcome::Failed { .. } => self.failed = true,
            TurnOutcome::Complete { .. } | TurnOutcome::Cancelled => self.failed = false,
        }
    }

    /// The past has been shown again; whether something in it was never answered. Only then may that
    /// be said, because what was shown before is replaced after a break.
    pub(crate) fn caught_up(&mut self) -> bool {
        std::mem::take(&mut self.unanswered)
    }

    /// The agent ended; whether to bring it back, or to leave that to the person.
    pub(crate) fn agent_died(&mut self, now: Instant) -> bool {
        self.unanswered |= std::mem::take(&mut self.failed);
        self.revivals
            .retain(|at| now.saturating_duration_since(*at) < REVIVALS_IN);
        let may = self.revivals.len() < REVIVALS;
        if may {
            self.revivals.push(now);
        }
        may
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_agent_is_brought_back_three_times_in_a_minute() {
        let mut recovery = Recovery::default();
        let start = Instant::now();
        // (seconds since the first death, whether it is brought back)
        for (at, back) in [
            (0, true),
            (1, true),
            (2, true),
            (3, false),
            (59, false),
            (60, true),
            (60, false),
            (61, true),
        ] {
            let now = start + Duration::from_secs(at);
            assert_eq!(recovery.agent_died(now), back, "after {at} s");
        }
    }

    #[test]
    fn a_turn_that_was_lost_is_noted_once() {
        let failed = TurnOutcome::Failed { code: None };
        let complete = TurnOutcome::Complete { early: None };
        // (how turns ended, whether the agent died then, whether something is unanswered)
        for (outcomes, died, unanswered) in [
            (vec![TurnOutcome::Interrupted], false, true),
            (vec![TurnOutcome::Unknown], false, true),
            (vec![failed.clone()], false, false),
            (vec![failed.clone()], true, true),
            (vec![failed, complete.clone()], true, false),
            (vec![complete, TurnOutcome::Cancelled], true, false),
        ] {
            let mut recovery = Recovery::default();
            for outcome in &outcomes {
                recovery.turn_ended(outcome);
            }
            if died {
                recovery.agent_died(Instant::now());
            }
            assert_eq!(recovery.caught_up(), unanswered, "{outcomes:?}");
            assert!(!recovery.caught_up());
        }
    }
}
