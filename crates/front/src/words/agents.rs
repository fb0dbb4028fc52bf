//! Who the agents are, and what there is to know about each.

use companion::agents::AgentProcess;
use companion::desk::{AgentSession, Presence};
use text::show::one_line;
use workbench::Agent;

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

/// That an agent has come, with its version.
pub fn connected(agent: &AgentSession) -> String {
    let unasking = unasking(agent).map_or_else(String::new, |it| format!("; {it}"));
    format!("{} is connected{unasking}", label(agent))
}

/// That an agent has left.
pub fn gone(agent: &AgentSession) -> String {
    format!("{} is gone", label(agent))
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

#[cfg(test)]
pub(super) mod tests {
    use std::sync::Arc;

    use companion::agents::UnaskingMode;
    use companion::desk::AgentClient;
    use workbench::SessionId;

    use super::*;

    /// An agent whose process has the number 4711 and more, if its version is known.
    pub(in super::super) fn session(agent: Agent, version: &str, streaming: bool) -> AgentSession {
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
            (self::session(Agent::Qwen, "", true), "Qwen Code"),
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
    fn agents_come_and_go() {
        let qwen = session(Agent::Qwen, "0.24\u{1b}[2J", true);
        assert_eq!(
            connected(&qwen),
            "Qwen Code 0.24␛[2J · pts/3 · process 4711 is connected"
        );
        assert_eq!(
            gone(&session(Agent::Gemini, "", false)),
            "Gemini CLI is gone"
        );
    }
}
