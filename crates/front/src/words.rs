//! Sentences for people, each made in one place, so that every editor says the same. Whoever encodes
//! them hands them on.
//!
//! Names and versions that agents chose pass [`one_line`](text::show::one_line): an editor shows these sentences as they
//! are.

mod agents;
mod faults;
mod proposals;

use companion::desk::AgentSession;
use workbench::Fault;

use crate::change::Counts;

pub use agents::{
    agents, connected, gone, how_to_start, label, note, process_label, start_command, unasking, who,
};
pub use faults::{fault, faults_changed};
pub use proposals::{
    closed, decided, ended, heard, proposed, stale, unsaved_decision, unsaved_state, withheld,
};

/// How things stand, in one line.
pub fn summary(agents: &[AgentSession], counts: Counts, faults: &[Fault]) -> String {
    let mut parts = vec![
        self::agents(agents),
        format!("{} pending", counts.pending),
        format!("{} held back", counts.held_back.total()),
    ];
    if counts.paused {
        parts.push("paused".into());
    }
    parts.extend(faults.iter().map(fault));
    parts.join("; ")
}

/// The same in a few words, for a status line: only what is out of the ordinary, and no names.
pub fn short(agents: &[AgentSession], counts: Counts, faults: &[Fault]) -> String {
    let mut parts = vec![match agents.iter().filter(|it| it.streaming).count() {
        0 => "no agent".into(),
        1 => "1 agent".into(),
        several => format!("{several} agents"),
    }];
    if counts.pending > 0 {
        parts.push(format!("{} pending", counts.pending));
    }
    if counts.paused {
        parts.push("paused".into());
    }
    if !faults.is_empty() {
        parts.push("closed".into());
    }
    parts.join(", ")
}

#[cfg(test)]
mod tests {
    use workbench::{Agent, HeldBack, Scope};

    use super::agents::tests::session;
    use super::faults::tests::broken;
    use super::*;

    #[test]
    fn the_same_words_stand_for_the_same_state() {
        let qwen = session(Agent::Qwen, "1.0", true);
        let gemini = session(Agent::Gemini, "1.0", false);
        let counts = |pending, ignored, paused| Counts {
            pending,
            held_back: HeldBack {
                ignored,
                ..HeldBack::default()
            },
            paused,
        };
        for (agents, counts, summary, short) in [
            (
                vec![],
                Counts::default(),
                "no agent connected; 0 pending; 0 held back",
                "no agent",
            ),
            (
                vec![qwen.clone(), gemini.clone()],
                counts(2, 1, true),
                "Qwen Code 1.0, Gemini CLI 1.0 (away); 2 pending; 1 held back; paused",
                "1 agent, 2 pending, paused",
            ),
            (
                vec![qwen.clone(), qwen],
                counts(1, 3, false),
                "Qwen Code 1.0 · pts/3 · process 4711, Qwen Code 1.0 · pts/3 · process 4711; 1 pending; 3 held back",
                "2 agents, 1 pending",
            ),
            (
                vec![gemini],
                counts(1, 0, false),
                "Gemini CLI 1.0 (away); 1 pending; 0 held back",
                "no agent, 1 pending",
            ),
            (
                vec![session(Agent::Qwen, "", true)],
                counts(0, 0, true),
                "Qwen Code; 0 pending; 0 held back; paused",
                "1 agent, paused",
            ),
            (
                vec![session(Agent::Qwen, "1\n\u{1b}[2J", false)],
                counts(0, 0, false),
                "Qwen Code 1␊␛[2J (away); 0 pending; 0 held back",
                "no agent",
            ),
        ] {
            assert_eq!(super::summary(&agents, counts, &[]), summary);
            assert_eq!(super::short(&agents, counts, &[]), short, "{summary}");
        }
        let faults = [broken(
            "/w/.outrigger.toml",
            "no list",
            Scope::Below("/w".into()),
        )];
        assert_eq!(
            super::summary(&[], counts(0, 0, true), &faults),
            "no agent connected; 0 pending; 0 held back; paused; nothing of /w is shared with agents until this is mended: /w/.outrigger.toml:1:10: no list"
        );
        assert_eq!(
            super::short(&[], counts(0, 0, true), &faults),
            "no agent, paused, closed"
        );
    }
}
