//! Sentences for people, each made in one place, so that every editor says the same. Whoever encodes
//! them hands them on.
//!
//! Names and versions that agents chose pass [`one_line`]: an editor shows these sentences as they
//! are.

use std::ffi::OsStr;
use std::path::Path;

use companion::desk::{AgentSession, Dispatched};
use text::show::one_line;
use workbench::{Fault, FileChange, Outcome, ProposalId, Scope};

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

/// Who is here, with versions, and which of them are away.
pub fn agents(agents: &[AgentSession]) -> String {
    if agents.is_empty() {
        return "no agent connected".into();
    }
    let named = agents.iter().map(|session| {
        let presence = if session.streaming { "" } else { " (away)" };
        format!("{}{presence}", name(session))
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

/// An agent and its version.
fn name(agent: &AgentSession) -> String {
    let name = format!("{} {}", agent.agent, one_line(&agent.client.version));
    name.trim_end().to_owned()
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
    format!("{} is connected", name(agent))
}

/// That an agent has left.
pub fn gone(agent: &AgentSession) -> String {
    format!("{} is gone", name(agent))
}

/// That an agent proposes something for the file that the person knows as `path`.
pub fn proposed(proposal: &ProposalSummary, path: &str) -> String {
    let ProposalSummary {
        id, agent, added, ..
    } = proposal;
    let path = one_line(path);
    let removed = proposal.removed;
    match &proposal.terminal_only {
        Some(why) => {
            let why = one_line(why);
            format!("proposal {id}: {path} by {agent}, to be decided in its own terminal: {why}")
        }
        None if proposal.new_file => {
            format!("proposal {id}: {path} (new file) +{added} −{removed} by {agent}")
        }
        None => format!("proposal {id}: {path} +{added} −{removed} by {agent}"),
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
    use companion::desk::AgentClient;
    use workbench::{Agent, HeldBack, Position, SessionId};

    use super::*;

    fn session(agent: Agent, version: &str, streaming: bool) -> AgentSession {
        AgentSession {
            id: SessionId::new("s"),
            agent,
            client: AgentClient {
                name: "client".into(),
                version: version.into(),
            },
            opened_at: 0,
            streaming,
            undelivered: 0,
        }
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
                "Qwen Code 1.0, Qwen Code 1.0; 1 pending; 3 held back",
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
        assert_eq!(connected(&qwen), "Qwen Code 0.24␛[2J is connected");
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
