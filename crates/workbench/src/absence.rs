//! When an agent that is silent counts as absent, and when it is forgotten.
//!
//! A published client is away for a second whenever a stream ends, and comes
//! back. So an agent that is not connected keeps its proposals for a while. After
//! that nobody waits for them any more, but the agent itself may still come back
//! and is remembered for much longer.
//!
//! Where the agent's process is known, nothing has to be guessed: while it runs,
//! the agent may come back, and when it has ended, the agent is gone.

use std::time::Duration;

/// Whether an agent is here, judged by how long it has been silent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Attendance {
    /// It is connected, or expected back. Its proposals are kept.
    Present,
    /// It has been away for too long, and its proposals are orphaned. Its
    /// session is kept, with the verdicts that it has not received.
    Absent,
    /// It is not expected back. Its session ends.
    Forgotten,
}

/// What is known of an agent's process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Existence {
    /// Nothing: its silence has to tell.
    Unknown,
    /// It runs.
    Running,
    /// It has ended.
    Ended,
}

/// How long an agent may be silent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AbsenceRule {
    /// Up to this long it counts as present.
    pub grace: Duration,
    /// Up to this long its session is kept. A value below `grace` counts as
    /// `grace`.
    pub memory: Duration,
}

impl AbsenceRule {
    /// Judges an agent that has sent nothing for this long; `None` for an agent
    /// with an open stream. An agent whose process has ended is absent even with
    /// a stream: its process can have left another one behind, which nobody sees.
    pub fn judge(&self, silence: Option<Duration>, existence: Existence) -> Attendance {
        match (existence, silence) {
            (Existence::Running, _) | (Existence::Unknown, None) => Attendance::Present,
            (_, Some(silence)) if silence > self.grace.max(self.memory) => Attendance::Forgotten,
            (Existence::Ended, _) => Attendance::Absent,
            (Existence::Unknown, Some(silence)) if silence > self.grace => Attendance::Absent,
            (Existence::Unknown, Some(_)) => Attendance::Present,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attendance_by_silence() {
        use Attendance::{Absent, Forgotten, Present};
        let cases = [
            (60, 600, None, Present),
            (60, 600, Some(0), Present),
            (60, 600, Some(60), Present),
            (60, 600, Some(61), Absent),
            (60, 600, Some(600), Absent),
            (60, 600, Some(601), Forgotten),
            (0, 600, Some(0), Present),
            (0, 600, Some(1), Absent),
            (0, 0, Some(1), Forgotten),
            (0, 0, None, Present),
            // A memory shorter than the grace takes nothing from the grace.
            (60, 10, Some(30), Present),
            (60, 10, Some(61), Forgotten),
        ];
        for (grace, memory, silence, expected) in cases {
            let rule = AbsenceRule {
                grace: Duration::from_secs(grace),
                memory: Duration::from_secs(memory),
            };
            let silence = silence.map(Duration::from_secs);
            let judged = rule.judge(silence, Existence::Unknown);
            assert_eq!(judged, expected, "{rule:?} after {silence:?}");
        }
    }

    #[test]
    fn attendance_by_process() {
        use Attendance::{Absent, Forgotten, Present};
        use Existence::{Ended, Running};
        let rule = AbsenceRule {
            grace: Duration::from_mins(1),
            memory: Duration::from_mins(10),
        };
        let cases = [
            (Running, None, Present),
            (Running, Some(0), Present),
            (Running, Some(100_000), Present),
            (Ended, None, Absent),
            (Ended, Some(0), Absent),
            (Ended, Some(600), Absent),
            (Ended, Some(601), Forgotten),
        ];
        for (existence, silence, expected) in cases {
            let judged = rule.judge(silence.map(Duration::from_secs), existence);
            assert_eq!(judged, expected, "{existence:?} after {silence:?}");
        }
    }
}
