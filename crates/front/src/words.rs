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
use workbench::{Agent, Fault, FileChange, Outcome, ProposalId, Scope};

use crate::change::{Counts, ProposalSummary};

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

/// What a fault has closed, and where it is.
pub fn fault(fault: &Fault) -> String {
    let closed = match &fault.scope {
        Scope::Everywhere => "nothing is shared with agents".to_owned(),
        Scope::Below(root) => format!("nothing of {} is shared with agents", root.display()),
    };
    one_line(format_args!("{closed} until this is mended: {fault}"))
}

/// What has become of the faults, a sentence for each that is new, and for each source that is in
/// order again.
pub fn faults_changed(before: &[Fault], now: &[Fault]) -> Vec<String> {
    let new = now.iter().filter(|fault| !before.contains(fault));
    let mut said: Vec<_> = new.map(fault).collect();
    let mut mended: Vec<&str> = before.iter().map(|fault| fault.source.as_str()).collect();
    mended.dedup();
    mended.retain(|source| now.iter().all(|fault| fault.source != *source));
    let rest = if now.is_empty() {
        "agents are told again what is open"
    } else {
        "other faults remain"
    };
    said.extend(
        mended
            .iter()
            .map(|source| one_line(format_args!("{source} is mended; {rest}"))),
    );
    said
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

/// That the file of a proposal has changed since the agent read it, and what that means.
pub fn stale(change: FileChange, conflicts: usize) -> String {
    let what = match change {
        FileChange::Changed => {
            "the file has changed since the agent read it; the edit is shown on top of what is there now"
        }
        FileChange::Created => {
            "the file did not exist when the agent looked; the edit is shown on top of what is there now"
        }
        FileChange::Deleted => {
            "the file was deleted since the agent read it; accepting makes it anew"
        }
    };
    match conflicts {
        0 => what.into(),
        1 => format!("{what}; one place is in conflict"),
        several => format!("{what}; {several} places are in conflict"),
    }
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

/// That an agent has come, with its version.
pub fn connected(agent: &AgentSession) -> String {
    let unasking = unasking(agent).map_or_else(String::new, |it| format!("; {it}"));
    format!("{} is connected{unasking}", label(agent))
}

/// That an agent has left.
pub fn gone(agent: &AgentSession) -> String {
    format!("{} is gone", label(agent))
}

/// That an agent proposes something for the file that the person knows as `path`.
pub fn proposed(proposal: &ProposalSummary, path: &str) -> String {
    let ProposalSummary { id, added, .. } = proposal;
    let (path, who) = (one_line(path), &proposal.who);
    let removed = proposal.removed;
    match &proposal.terminal_only {
        Some(why) => {
            let why = one_line(why);
            format!("proposal {id}: {path} by {who}, to be decided in its own terminal: {why}")
        }
        None if proposal.new_file => {
            format!("proposal {id}: {path} (new file) +{added} −{removed} by {who}")
        }
        None => format!("proposal {id}: {path} +{added} −{removed} by {who}"),
    }
}

/// That the proposal with this number is over, for the file that the person knows as `path`.
pub fn ended(id: ProposalId, path: &str, outcome: Option<Outcome>) -> String {
    let path = one_line(path);
    match outcome {
        Some(outcome) => format!("proposal {id}: {path} {outcome}"),
        None => format!("proposal {id}: {path} no longer pending"),
    }
}

/// What became of a decision, for the person who made it.
pub fn decided(dispatched: &Dispatched) -> String {
    let mut said = closed(&dispatched.path, Some(dispatched.outcome));
    if !dispatched.streaming {
        said.push_str("; the agent is away and hears it when it is back");
    }
    if dispatched.may_read_again {
        said.push_str(
            "; it may read the file again first, because that has changed, and propose its edit anew",
        );
    }
    said
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use companion::agents::UnaskingMode;
    use companion::desk::AgentClient;
    use workbench::{HeldBack, Position, SessionId};

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

    fn broken(source: &str, message: &str, scope: Scope) -> Fault {
        Fault {
            source: source.into(),
            position: Some(Position {
                line: 1,
                column: 10,
            }),
            message: message.into(),
            scope,
        }
    }

    #[test]
    fn a_fault_is_told_when_it_appears_and_when_it_is_mended() {
        let one = || broken("/w/a", "bad\n\u{1b}[2J", Scope::Below("/w".into()));
        let other = || broken("/w/a", "worse", Scope::Below("/w".into()));
        let mine = || broken("V", "bad", Scope::Everywhere);
        for (before, now, said) in [
            (vec![], vec![], ""),
            (
                vec![],
                vec![one(), mine()],
                "nothing of /w is shared with agents until this is mended: /w/a:1:10: bad␊␛[2J | \
                 nothing is shared with agents until this is mended: V:1:10: bad",
            ),
            (vec![one()], vec![one()], ""),
            (
                vec![one()],
                vec![other()],
                "nothing of /w is shared with agents until this is mended: /w/a:1:10: worse",
            ),
            (vec![one(), other()], vec![other()], ""),
            (
                vec![one(), other(), mine()],
                vec![mine()],
                "/w/a is mended; other faults remain",
            ),
            (
                vec![one(), other()],
                vec![],
                "/w/a is mended; agents are told again what is open",
            ),
        ] {
            assert_eq!(faults_changed(&before, &now).join(" | "), said);
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
    fn a_stale_proposal_is_explained() {
        let clean = stale(FileChange::Changed, 0);
        assert!(clean.ends_with("on top of what is there now"), "{clean}");
        let one = stale(FileChange::Created, 1);
        assert!(one.ends_with("; one place is in conflict"), "{one}");
        let several = stale(FileChange::Deleted, 2);
        assert!(several.ends_with("; 2 places are in conflict"), "{several}");
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

    #[test]
    fn what_is_proposed_and_what_became_of_it() {
        let summary = |new_file, terminal_only: Option<&str>| ProposalSummary {
            id: ProposalId::new(7),
            path: "/w/a\nb.txt".into(),
            agent: Agent::Qwen,
            who: "Qwen Code".into(),
            session: SessionId::new("s"),
            opened_at: 0,
            new_file,
            hunks: 2,
            added: 3,
            removed: 2,
            revision: 1,
            file_change: None,
            conflicts: 0,
            editable: true,
            terminal_only: terminal_only.map(str::to_owned),
        };
        for (summary, path, said) in [
            (
                summary(false, None),
                "src/greet.py",
                "proposal 7: src/greet.py +3 −2 by Qwen Code",
            ),
            (
                summary(true, None),
                "a\n\u{1b}[2J",
                "proposal 7: a␊␛[2J (new file) +3 −2 by Qwen Code",
            ),
            (
                summary(false, Some("it is not\nUTF-8")),
                "a.bin",
                "proposal 7: a.bin by Qwen Code, to be decided in its own terminal: it is not␊UTF-8",
            ),
        ] {
            assert_eq!(proposed(&summary, path), said);
        }
        let id = ProposalId::new(7);
        for (outcome, said) in [
            (Some(Outcome::Accepted), "proposal 7: a␊b accepted"),
            (Some(Outcome::Orphaned), "proposal 7: a␊b left by its agent"),
            (None, "proposal 7: a␊b no longer pending"),
        ] {
            assert_eq!(ended(id, "a\nb", outcome), said);
        }
    }

    #[test]
    fn a_verdict_that_has_to_wait_is_told() {
        let mut dispatched = Dispatched {
            agent: Agent::Qwen,
            path: "/w/a.txt".into(),
            outcome: Outcome::Accepted,
            streaming: true,
            may_read_again: false,
        };
        assert_eq!(decided(&dispatched), "a.txt: accepted");
        dispatched.streaming = false;
        assert_eq!(
            decided(&dispatched),
            "a.txt: accepted; the agent is away and hears it when it is back"
        );
        dispatched.streaming = true;
        dispatched.may_read_again = true;
        assert_eq!(
            decided(&dispatched),
            "a.txt: accepted; it may read the file again first, because that has changed, and propose its edit anew"
        );
    }
}
