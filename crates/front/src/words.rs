//! Sentences for people, each made in one place, so that every editor says the same. Whoever encodes
//! them hands them on.
//!
//! Names and versions that agents chose pass [`one_line`]: an editor shows these sentences as they
//! are.

use std::ffi::OsStr;
use std::path::Path;

use companion::agents::AgentProcess;
use companion::desk::{AgentSession, Dispatched, Presence};
use text::show::one_line;
use workbench::{Agent, Outcome};

use crate::change::Counts;

/// How things stand, in one line.
pub fn summary(agents: &[AgentSession], counts: Counts) -> String {
    let mut parts = vec![
        self::agents(agents),
        format!("{} pending", counts.pending),
        format!("{} held back", counts.held_back.total()),
    ];
    if counts.paused {
        parts.push("paused".into());
    }
    parts.join("; ")
}

/// The same in a few words, for a status line: only what is out of the ordinary, and no names.
pub fn short(agents: &[AgentSession], counts: Counts) -> String {
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
    parts.join(", ")
}

/// Who is here, and which of them are away. The only one of its kind is named in short.
pub fn agents(agents: &[AgentSession]) -> String {
    if agents.is_empty() {
        return "no agent connected".into();
    }
    let named = agents.iter().map(|session| {
        let alike = agents.iter().filter(|other| other.agent == session.agent);
        let name = if alike.count() == 1 {
            product(session.agent, session.process.as_deref())
        } else {
            label(session)
        };
        match session.presence {
            Presence::Connected => name,
            presence => format!("{name} ({})", presence.as_str()),
        }
    });
    named.collect::<Vec<_>>().join(", ")
}

/// What tells an agent apart from others of its kind: version, terminal, process, and the folder that
/// it is in if that is none of those that are served.
pub fn label(session: &AgentSession) -> String {
    let process = session.process.as_deref();
    let name = process_label(session.agent, process);
    match process.and_then(|process| process.folder.as_ref()) {
        Some(folder) if session.elsewhere => format!("{name} · in {}", one_line(folder.display())),
        _ => name,
    }
}

/// The same without the folder, of an agent that may have left.
pub fn process_label(agent: Agent, process: Option<&AgentProcess>) -> String {
    let mut parts = vec![product(agent, process)];
    if let Some(process) = process {
        parts.extend(process.terminal.as_deref().map(one_line));
        parts.push(format!("process {}", process.pid()));
    }
    parts.join(" · ")
}

/// The product with its version, as far as that is known. What the client says of itself is not the
/// product's version.
fn product(agent: Agent, process: Option<&AgentProcess>) -> String {
    let agent = process.and_then(|process| process.product).unwrap_or(agent);
    match process.and_then(|process| process.version.as_deref()) {
        Some(version) => format!("{agent} {}", one_line(version)),
        None => agent.to_string(),
    }
}

/// Who makes a proposal: the agent in that session, or the chat if it is of no session.
pub fn who(agent: Agent, session: Option<&AgentSession>) -> String {
    session.map_or_else(|| format!("{agent} · chat"), label)
}

/// What a person should know about an agent, if it is not simply connected and asks.
pub fn note(session: &AgentSession) -> Option<String> {
    match session.presence {
        Presence::Connected => unasking(session),
        Presence::Away => Some(
            "away: its connection is closed; it may come back, and gets what you decide then"
                .into(),
        ),
        Presence::Gone => Some(format!(
            "gone: it has ended, or did not come back; {} not reach it",
            match session.undelivered {
                1 => "a decision of yours did".to_owned(),
                several => format!("{several} decisions of yours did"),
            }
        )),
    }
}

/// That an agent was started in a mode in which it does not ask, and the way out.
pub fn unasking(session: &AgentSession) -> Option<String> {
    let mode = session.process.as_ref()?.unasking.as_ref()?;
    Some(format!(
        "it was started in {} mode, which does not ask before it writes, so there is nothing to review; to be asked, {}",
        mode.name, mode.remedy
    ))
}

/// How to start an agent so that it is connected and asks: the one instruction that people get.
pub fn how_to_start(agents: &[Agent]) -> String {
    let commands: Vec<_> = agents
        .iter()
        .map(|agent| format!("`{}`", start_command(*agent)))
        .collect();
    format!(
        "start an agent in another terminal, in this folder: {}",
        commands.join(" or ")
    )
}

/// The command that starts an agent.
pub fn start_command(agent: Agent) -> String {
    format!("outrigger run -- {}", agent.slug())
}

/// That the proposal for the file at `path` is over. How is not always known to somebody who was
/// behind.
pub fn closed(path: &str, outcome: Option<Outcome>) -> String {
    let name = Path::new(path).file_name().and_then(OsStr::to_str);
    let name = one_line(name.unwrap_or(path));
    match outcome {
        Some(outcome) => format!("{name}: {outcome}"),
        None => format!("{name}: no longer pending"),
    }
}

/// What became of a decision, for the person who made it.
pub fn decided(dispatched: &Dispatched) -> String {
    let closed = closed(&dispatched.path, Some(dispatched.outcome));
    if dispatched.streaming {
        closed
    } else {
        format!("{closed}; the agent is away and hears it when it is back")
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use companion::agents::UnaskingMode;
    use companion::desk::AgentClient;
    use workbench::{HeldBack, SessionId};

    use super::*;

    /// An agent whose process has the number 4711 and more, if its version is known.
    fn session(agent: Agent, version: &str, streaming: bool) -> AgentSession {
        let process = AgentProcess {
            line: vec![process_id(4711), process_id(4712)],
            terminal: Some("pts/3".into()),
            folder: Some("/w/below".into()),
            product: None,
            version: Some(version.into()),
            unasking: None,
        };
        AgentSession {
            id: SessionId::new("s"),
            agent,
            client: AgentClient {
                name: "streamable-http-client".into(),
                version: "1.0.0".into(),
            },
            process: (!version.is_empty()).then(|| Arc::new(process)),
            elsewhere: false,
            opened_at: 0,
            streaming,
            presence: if streaming {
                Presence::Connected
            } else {
                Presence::Away
            },
            undelivered: 0,
        }
    }

    fn process_id(pid: u32) -> beacon::process::ProcessId {
        beacon::process::ProcessId { pid, started: 1 }
    }

    #[test]
    fn agents_are_told_apart() {
        let qwen = session(Agent::Qwen, "0.24.4", true);
        let with = |change: fn(&mut AgentProcess), elsewhere| {
            let mut process = qwen.process.as_deref().unwrap().clone();
            change(&mut process);
            AgentSession {
                process: Some(Arc::new(process)),
                elsewhere,
                ..qwen.clone()
            }
        };
        for (session, expected) in [
            (qwen.clone(), "Qwen Code 0.24.4 · pts/3 · process 4711"),
            (
                with(|_| {}, true),
                "Qwen Code 0.24.4 · pts/3 · process 4711 · in /w/below",
            ),
            (
                with(|it| it.version = None, false),
                "Qwen Code · pts/3 · process 4711",
            ),
            (
                with(|it| it.terminal = None, false),
                "Qwen Code 0.24.4 · process 4711",
            ),
            (
                with(|it| it.version = Some("1\n2".into()), false),
                "Qwen Code 1␊2 · pts/3 · process 4711",
            ),
            // A bridge does not say for whom it speaks; the process does.
            (
                AgentSession {
                    agent: Agent::Unnamed,
                    ..with(|it| it.product = Some(Agent::Qwen), false)
                },
                "Qwen Code 0.24.4 · pts/3 · process 4711",
            ),
            (super::tests::session(Agent::Qwen, "", true), "Qwen Code"),
        ] {
            assert_eq!(label(&session), expected);
            assert_eq!(who(Agent::Qwen, Some(&session)), expected);
        }
        assert_eq!(who(Agent::Qwen, None), "Qwen Code · chat");
    }

    #[test]
    fn what_is_out_of_the_ordinary_is_said() {
        let mut qwen = session(Agent::Qwen, "0.24.4", true);
        assert_eq!(note(&qwen), None);
        let mut process = qwen.process.as_deref().unwrap().clone();
        process.unasking = Some(UnaskingMode {
            name: "auto".into(),
            remedy: "type `/approval-mode default` there".into(),
        });
        qwen.process = Some(Arc::new(process));
        let said = "it was started in auto mode, which does not ask before it writes, so there is nothing to review; to be asked, type `/approval-mode default` there";
        assert_eq!(note(&qwen).as_deref(), Some(said));
        qwen.presence = Presence::Away;
        let said =
            "away: its connection is closed; it may come back, and gets what you decide then";
        assert_eq!(note(&qwen).as_deref(), Some(said));
        qwen.presence = Presence::Gone;
        for (undelivered, said) in [
            (1, "a decision of yours did not reach it"),
            (2, "2 decisions of yours did not reach it"),
        ] {
            qwen.undelivered = undelivered;
            assert!(note(&qwen).unwrap().ends_with(said), "{:?}", note(&qwen));
        }
    }

    #[test]
    fn one_instruction_starts_an_agent() {
        assert_eq!(
            how_to_start(&Agent::DISCOVERING),
            "start an agent in another terminal, in this folder: `outrigger run -- qwen` or `outrigger run -- gemini`"
        );
    }

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
            assert_eq!(super::summary(&agents, counts), summary);
            assert_eq!(super::short(&agents, counts), short, "{summary}");
        }
    }

    #[test]
    fn how_a_proposal_ended() {
        for (path, outcome, said) in [
            ("/w/a.txt", Some(Outcome::Accepted), "a.txt: accepted"),
            ("/w/a.txt", Some(Outcome::Rejected), "a.txt: rejected"),
            (
                "/w/b/é ü.txt",
                Some(Outcome::Withdrawn),
                "é ü.txt: taken back by its agent",
            ),
            (
                "a.txt",
                Some(Outcome::Replaced),
                "a.txt: replaced by its agent",
            ),
            (
                "/w/a\nb.txt",
                Some(Outcome::Orphaned),
                "a␊b.txt: left by its agent",
            ),
            ("/w/a.txt", None, "a.txt: no longer pending"),
            ("/", None, "/: no longer pending"),
        ] {
            assert_eq!(closed(path, outcome), said);
        }
    }

    #[test]
    fn a_verdict_that_has_to_wait_is_told() {
        let mut dispatched = Dispatched {
            agent: Agent::Qwen,
            path: "/w/a.txt".into(),
            outcome: Outcome::Accepted,
            streaming: true,
        };
        assert_eq!(decided(&dispatched), "a.txt: accepted");
        dispatched.streaming = false;
        assert_eq!(
            decided(&dispatched),
            "a.txt: accepted; the agent is away and hears it when it is back"
        );
    }
}
